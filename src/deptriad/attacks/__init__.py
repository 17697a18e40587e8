"""Attribute-inference attacks on what was collected, and an audit of the promise."""
