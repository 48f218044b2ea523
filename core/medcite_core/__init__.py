"""Types, ports and the adapters that every part of medcite shares; the bottom layer."""
