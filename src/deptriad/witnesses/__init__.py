"""What records give away at least."""
