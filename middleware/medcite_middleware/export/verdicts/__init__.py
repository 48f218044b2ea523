"""Reports of checked claims: one shape, and the formats it is written in."""
