"""Shares from new reports, without the way through a frame."""

from deptriad.collection import report_format
from deptriad.collection.sample import Sample
from deptriad.collection.score_sums import Records


def read(question, column):
    if isinstance(column, report_format.Labels):
        return column.codes
    return report_format.read(question.mechanism, column.astype("U").tolist(), question.name)


def quick(strategy, rng, names, codes):
    """Shares from new reports, without the way through a frame, which other tests take."""
    columns, n = strategy.report(codes, rng), len(codes)
    if isinstance(strategy, Sample):
        asked, told, found = columns["view"].codes, columns["report"], []
        for place in strategy._places(names):
            question, own = strategy.questions[place], told[asked == place]
            one = question.read(own.tolist())
            found.append(Records((question.mechanism,), (one,), n))
    else:
        own = [each for name in names for each in strategy.questions if each.name == name]
        reports = tuple(read(each, columns[each.name]) for each in own)
        found = [Records(tuple(each.mechanism for each in own), reports, n)]
    return strategy.shares(found, names)
