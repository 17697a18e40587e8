"""Shares from new reports, without the way through a frame."""

from deptriad.collection.score_sums import Told, add_told


def quick(strategy, rng, names, codes, weights=None):
    """Shares from new reports, without the way through a frame, which other tests take."""
    answers = strategy.tell(codes, rng)
    sums = [strategy.needed(names, power) for power in range(1 if weights is None else 3)]
    told = {
        place: Told(answers.views == question.view, answers.reports[place])
        for place, question in enumerate(strategy.questions)
    }
    add_told([each for power in sums for each in power], told, len(codes), weights)
    return strategy.shares(sums, names)
