"""Retrieval, answering, verification and the HTTP service."""
