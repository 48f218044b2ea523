// The page's address: each part of the page owns some of its parameters and leaves the others alone.

export type ParameterValues = Readonly<Record<string, string | readonly string[] | null>>;

/** `search` with these parameters set; null and empty values take theirs away, all others stay as they are. */
export function withParameters(search: string, values: ParameterValues): string {
	const parameters = new URLSearchParams(search);
	for (const [name, value] of Object.entries(values)) {
		parameters.delete(name);
		for (const one of typeof value === 'string' ? [value] : (value ?? [])) if (one) parameters.append(name, one);
	}
	const text = parameters.toString();
	return text && `?${text}`;
}

/** Put these parameters into the page's address; with `isStep`, the browser's back button undoes it. */
export function setParameters(values: ParameterValues, isStep = false): void {
	const search = withParameters(location.search, values);
	if (search === location.search) return;
	const address = `${location.pathname}${search}${location.hash}`;
	if (isStep) history.pushState(null, '', address);
	else history.replaceState(history.state, '', address);
}
