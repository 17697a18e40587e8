"""Frames and files become codes and counts."""
