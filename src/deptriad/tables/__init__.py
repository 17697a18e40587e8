"""A table p(source | target), and boxes of tables that are not known for sure."""
