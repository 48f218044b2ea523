"""Measuring how good retrieval, citation and verification are."""
