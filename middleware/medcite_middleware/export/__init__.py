"""Records as files that reference managers and spreadsheets read."""
