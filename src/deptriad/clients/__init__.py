"""The plan on people's own devices: the script, the survey page, the collector."""
