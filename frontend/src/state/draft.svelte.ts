// The question being written; it outlives the box, which moves from the start page to the foot of the conversation.

export class Draft {
	text = $state('');
}
