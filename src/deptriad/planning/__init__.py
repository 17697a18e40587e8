"""A promise becomes a plan."""
