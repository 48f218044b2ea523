"""From the sentences of an answer to verdicts with proofs."""
