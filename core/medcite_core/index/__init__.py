"""Adapters that store and search records and chunks."""
