"""Ask, report, estimate."""
