// What jsdom lacks and the page's parts touch when they are mounted.
if (typeof window !== 'undefined')
	window.matchMedia ??= (query: string) =>
		({
			matches: query.includes('min-width'),
			media: query,
			addEventListener: () => undefined,
			removeEventListener: () => undefined,
		}) as unknown as MediaQueryList;
