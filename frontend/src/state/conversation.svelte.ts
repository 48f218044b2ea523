// The questions asked on this page, in order, each with its own run and its own sources.
import type { SearchFilter } from '../lib/filters';
import { Run } from './run.svelte';

// The service takes 20 messages, that is ten questions with their answers.
const maxPairs = 10;

export interface Message {
	role: 'user' | 'assistant';
	text: string;
}

export class Turn {
	readonly id: string;
	readonly question: string;
	readonly filter: SearchFilter;
	run = $state.raw() as Run;

	constructor(id: string, question: string, filter: SearchFilter, run: Run) {
		this.id = id;
		this.question = question;
		this.filter = filter;
		this.run = run;
	}
}

export class Conversation {
	turns = $state<Turn[]>([]);
	readonly running = $derived(this.turns.find((turn) => !turn.run.isOver) ?? null);
	#made = 0;

	/** Ask a question; it is answered in a new turn at the end. */
	ask(question: string, filter: SearchFilter): Turn {
		const turn = new Turn(`turn-${++this.#made}`, question, filter, this.#run(question, filter, this.turns));
		this.turns.push(turn);
		void turn.run.follow();
		return turn;
	}

	/** Ask a turn's question again, in its place: the other turns stay as they are. */
	retry(turn: Turn): void {
		turn.run.stop();
		turn.run = this.#run(turn.question, turn.filter, this.turns.slice(0, this.turns.indexOf(turn)));
		void turn.run.follow();
	}

	clear(): void {
		this.running?.run.stop();
		this.turns = [];
	}

	#run(question: string, filter: SearchFilter, earlier: readonly Turn[]): Run {
		return new Run('/api/ask', { question, filters: filter, history: historyOf(earlier) });
	}
}

/** Earlier turns as the service wants them: only answers that were finished, never a piece of one. */
export function historyOf(turns: readonly Turn[]): Message[] {
	return turns
		.filter((turn) => turn.run.answer?.outcome === 'answered')
		.slice(-maxPairs)
		.flatMap((turn): Message[] => [
			{ role: 'user', text: turn.question },
			{ role: 'assistant', text: turn.run.text },
		]);
}
