// Runs before the first paint, so that a chosen theme does not flash. A file of its own because of the content policy.
try {
	const theme = localStorage.getItem('medcite-theme');
	if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
	// Storage may be forbidden; the system's preference holds then.
}
