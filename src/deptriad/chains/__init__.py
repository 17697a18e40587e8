"""The same answer over time: what its releases together tell about the answer at each time (maths §12)."""
