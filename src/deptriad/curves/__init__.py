"""What one source says about one target: profiles, triads, leakage."""
