"""All pairs of attributes of a survey."""
