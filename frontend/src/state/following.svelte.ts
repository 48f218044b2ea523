// The page scrolls with an answer that is being written, but only while its reader is at the bottom.

/** Nearer to the bottom than this, in px, is at the bottom. */
const nearPx = 48;

export class Following {
	isAtBottom = $state(true);

	/** Watch where the reader is; returns what stops it. */
	watch(): () => void {
		const look = () => {
			const { scrollHeight } = document.documentElement;
			this.isAtBottom = scrollHeight - window.innerHeight - window.scrollY < nearPx;
		};
		addEventListener('scroll', look, { passive: true });
		addEventListener('resize', look, { passive: true });
		return () => {
			removeEventListener('scroll', look);
			removeEventListener('resize', look);
		};
	}

	/** The answer has grown. */
	follow(): void {
		if (this.isAtBottom) this.toBottom();
	}

	toBottom(): void {
		window.scrollTo({ top: document.documentElement.scrollHeight });
		this.isAtBottom = true;
	}
}
