"""Counting in plain Python, by the words of the schema."""

import itertools

import numpy as np


def plain_code(attribute, value):
    """The code of one value, by the words of the schema."""
    if value is None or value != value:
        label = {"category": "(missing)", "other": "(other)"}[attribute.missing]
        return attribute.values.index(label)
    if attribute.edges is None and value in attribute.categories:
        return list(attribute.categories).index(value)
    if attribute.edges is not None and attribute.edges[0] <= value <= attribute.edges[-1]:
        return min(sum(edge <= value for edge in attribute.edges) - 1, len(attribute.edges) - 2)
    return attribute.values.index("(other)")


def plain_table(rows, schema, source, target, weight=None):
    """One table, counted in plain Python: rows for target values, columns for source values."""
    table = np.zeros((schema[target].size, schema[source].size))
    for row in rows:
        place = tuple(plain_code(schema[name], row[name]) for name in (target, source))
        table[place] += 1 if weight is None else row[weight]
    return table


def assert_counts(counts, rows, schema, weight=None):
    """Every table and every single of these counts is what plain Python counts."""
    assert counts.records == len(rows)
    assert counts.weighted == (weight is not None)
    for source, target in itertools.permutations(schema.names, 2):
        expected = plain_table(rows, schema, source, target, weight)
        assert np.array_equal(counts.table(source, target), expected)
        assert np.array_equal(counts.single(source), expected.sum(axis=0))
        plain = plain_table(rows, schema, source, target)
        assert np.array_equal(counts.table(source, target, weighted=False), plain)
        assert np.array_equal(counts.single(target, weighted=False), plain.sum(axis=1))
