"""Citations of records in the styles of journals."""
