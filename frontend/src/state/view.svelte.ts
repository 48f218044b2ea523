// Which of the page's views is shown: answers to questions, or the list of records. It stands in the address.
import { setParameters } from '../lib/address';

export type ViewName = 'answers' | 'records';

export class View {
	name = $state<ViewName>(viewIn(location.search));

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
	return new URLSearchParams(search).get('view') === 'records' ? 'records' : 'answers';
}
