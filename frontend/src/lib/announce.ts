// What a screen reader is told while an answer is made: the stages, then how it ended. Never the growing text.
import type { Run } from '../state/run.svelte';
import { finishedAnnouncement, stageText } from './verdicts';

/** The sentence for the live region; it changes only when there is news. */
export function announcement(run: Run | null, firstStage = 'search'): string {
	if (!run) return '';
	switch (run.state) {
		case 'running':
			// Without the counts, which would be read out again and again.
			return `${stageText(run.stage.name || firstStage)}.`;
		case 'reconnecting':
			return 'Connection lost; taking it up again.';
		case 'finished':
			return run.answer ? finishedAnnouncement(run.answer) : '';
		case 'incomplete':
			return run.mode === 'given' ? 'This check is incomplete.' : 'This answer is incomplete.';
		case 'cancelled':
			return 'Stopped.';
		case 'failed':
			return `No answer. ${run.error?.message ?? ''}`;
	}
}
