"""From numbered evidence to an answer: by a chat model, or by quotation."""
