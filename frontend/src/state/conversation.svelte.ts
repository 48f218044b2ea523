// The questions asked on this page, in order, each with its own run and its own sources.
import type { SearchFilter } from '../lib/filters';
import type { StoredTurn } from '../lib/stored';
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
	/** The question is whole as it is: no earlier turn goes with it. */
	readonly standsAlone: boolean;
	run = $state.raw() as Run;

	constructor(id: string, question: string, filter: SearchFilter, run: Run, standsAlone = false) {
		this.id = id;
		this.question = question;
		this.filter = filter;
		this.standsAlone = standsAlone;
		this.run = run;
	}
}

export class Conversation {
	turns = $state<Turn[]>([]);
	readonly running = $derived(this.turns.find((turn) => !turn.run.isOver) ?? null);
	#made = 0;

	/** Ask a question; it is answered in a new turn at the end. */
	ask(question: string, filter: SearchFilter, standsAlone = false): Turn {
		const turn = this.#turn(question, filter, standsAlone, this.turns);
		this.turns.push(turn);
		void turn.run.follow();
		return turn;
	}

	/** Ask a turn's question again, in its place: the other turns stay as they are. */
	retry(turn: Turn): void {
		turn.run.stop();
		const earlier = this.turns.slice(0, this.turns.indexOf(turn));
		turn.run = newRun(turn.question, turn.filter, turn.standsAlone ? [] : earlier);
		void turn.run.follow();
	}

	clear(): void {
		this.running?.run.stop();
		this.turns = [];
	}

	/** The conversation as it can be kept. */
	toStored(): StoredTurn[] {
		return this.turns.map(({ question, filter, standsAlone, run }) => {
			return { question, filter, standsAlone, run: run.toStored() };
		});
	}

	/** Show a kept conversation in place of this one; an answer that was being written is taken up again. */
	restore(kept: readonly StoredTurn[]): void {
		this.clear();
		for (const { question, filter, standsAlone, run } of kept) {
			const turn = this.#turn(question, filter, standsAlone, this.turns);
			turn.run.restore(run);
			this.turns.push(turn);
			void turn.run.resume();
		}
	}

	#turn(question: string, filter: SearchFilter, standsAlone: boolean, earlier: readonly Turn[]): Turn {
		const run = newRun(question, filter, standsAlone ? [] : earlier);
		return new Turn(`turn-${++this.#made}`, question, filter, run, standsAlone);
	}
}

function newRun(question: string, filter: SearchFilter, earlier: readonly Turn[]): Run {
	return Run.outliving('/api/ask', { question, filters: filter, history: historyOf(earlier) });
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
