"""From a question and a filter to ranked passages."""
