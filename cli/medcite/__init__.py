"""The command line and the public Python interface of medcite; the top layer."""

__version__ = "0.1.0"
