"""What the page says about an analysis."""

import warnings

import pytest

import deptriad as dt
from deptriad.report import words


@pytest.mark.parametrize("number, said", [(9, "fewer than 10"), (10, "10"), (12345, "12,345")])
def test_counts_below_the_threshold_are_not_told(number, said):
    assert words.count(number, 10) == said


def test_blank_names_and_labels_can_be_seen():
    assert [words.label(text) for text in ("", "  ", "a b")] == ["“”", "“  ”", "a b"]


@pytest.mark.parametrize("thin, said", [("keep", "single people"), ("drop", "not protected")])
def test_what_became_of_thin_values_is_a_caveat(records, thin, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prior = dt.Prior.from_data(records, dt.Schema.infer(records), thin=thin)
    assert any(said in each for each in words.caveats(dt.analyze(prior)))


@pytest.mark.parametrize("kind", [dt.Relative(0.1), dt.Absolute(0.01), dt.Confidence(0.9)])
def test_every_uncertainty_has_a_title(analysis, kind):
    found = words.certainty(dt.analyze(analysis.prior, kind))
    assert found["title"].startswith("Allowed for: ")
