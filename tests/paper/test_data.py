"""The datasets: names that match, binnings that differ, samples that stay the same."""

import numpy as np


def test_lfw_names_are_those_of_celeba(library):
    faces, portraits = (library.records(name)[1].names for name in ("celeba", "lfw"))
    shared = set(faces) & set(portraits)
    assert "5_o_Clock_Shadow" in shared
    assert len(shared) > 30
    assert max(map(len, portraits)) < 40  # no header that runs on


def test_bins_of_equal_counts_and_of_equal_width_differ(library):
    weight = [library.records("cvd", binning)[1]["weight"] for binning in ("quantile", "width")]
    widths = [np.diff(np.array(each.edges[1:-1])) for each in weight]
    assert np.ptp(widths[0]) > 1.0
    assert np.ptp(widths[1]) < 1e-9


def test_a_sample_is_made_once(library):
    first = library.sample_prior("cvd", most=500)
    assert library.sample_prior("cvd", most=500) is first
    assert first.counts.singles("gender").sum() == 500
