// Which of the page's views is shown: answers to questions, the list of records, or a text under check. It stands in the address.
import { setParameters } from '../lib/address';

export type ViewName = 'answers' | 'records' | 'check';

/** Where the keyboard goes past the header. */
const skips: Record<ViewName, { at: string; words: string }> = {
	answers: { at: '#question', words: 'the question box' },
	records: { at: '#chat-container', words: 'the records' },
	check: { at: '#check-text', words: 'the text to check' },
};

export class View {
	name = $state<ViewName>(viewIn(location.search));
	readonly skipTo = $derived(skips[this.name]);

	show(name: ViewName): void {
		if (name === this.name) return;
		this.name = name;
		setParameters({ view: name === 'answers' ? null : name }, true);
	}

	/** Follow the browser's back and forward buttons; returns what stops it. */
	watch(): () => void {
		const onMove = () => {
			this.name = viewIn(location.search);
		};
		addEventListener('popstate', onMove);
		return () => removeEventListener('popstate', onMove);
	}
}

/** An unknown view is the first one. */
export function viewIn(search: string): ViewName {
	const name = new URLSearchParams(search).get('view');
	return name === 'records' || name === 'check' ? name : 'answers';
}
