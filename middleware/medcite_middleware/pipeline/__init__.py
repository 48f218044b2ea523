"""The one place that states the order in which an answer is made and checked."""
