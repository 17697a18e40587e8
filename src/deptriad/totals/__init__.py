"""What all sources together say about one target, with a proof."""
