// Files that the page hands to the reader.

/** Save a file under a name, as if it had been downloaded. */
export function saveFile(file: Blob, name: string): void {
	const link = document.createElement('a');
	link.href = URL.createObjectURL(file);
	link.download = name;
	link.click();
	// The browser has taken the file over by then.
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The name in a reply's `Content-Disposition`, or another when it names none. */
export function fileNameOf(response: Response, other: string): string {
	return /filename="?([\w.-]+)"?/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? other;
}
