"""JointCounts: joint tables that are kept with counts."""

import itertools
import json

import numpy as np
import pytest

import deptriad as dt
from deptriad.data.joint_counting import kept_counts

pd = pytest.importorskip("pandas")


def made(rng, records=400):
    """Records of four attributes with weights and a group."""
    codes = rng.integers(0, [2, 3, 2, 4], (records, 4))
    codes[:, 1] = np.where(rng.random(records) < 0.6, codes[:, 0], codes[:, 1])
    frame = pd.DataFrame(codes, columns=list("abcd"))
    schema = dt.Schema(
        [
            dt.Attribute(n, list(range(k)), missing="error")
            for n, k in zip("abcd", (2, 3, 2, 4), strict=True)
        ]
    )
    return frame.assign(w=rng.integers(1, 4, records), g=rng.choice(["x", "y"], records)), schema


@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"by": "g"}, {"by": "g", "weight": "w"}])
def test_every_table_is_that_of_the_records(rng, tmp_path, options):
    frame, schema = made(rng)
    kept_counts(frame, schema, **options).save(tmp_path / "c.npz")
    kept = dt.Prior.from_counts(dt.Counts.load(tmp_path / "c.npz"))
    prior = dt.Prior.from_data(frame, schema, **options)
    for size in (1, 2, 3, 4):
        for names in itertools.permutations("abcd", size):
            one, two = kept.joint(names), prior.joint(names)
            assert np.allclose(one.counts, two.counts, rtol=1e-12, atol=0.0)
            assert np.allclose(one.given(names[0]), two.given(names[0]), rtol=1e-12, atol=0.0)


def test_a_plan_from_counts_is_that_from_records_and_totals_are_the_same(rng, tmp_path):
    frame, schema = made(rng)
    kept_counts(frame, schema).save(tmp_path / "c.npz")
    kept = dt.analyze(dt.Prior.from_counts(dt.Counts.load(tmp_path / "c.npz")))
    own = dt.analyze(dt.Prior.from_data(frame, schema))
    one, two = (each.totals(0.7, mechanisms="grr")["a"].joint for each in (kept, own))
    assert one == two is not None
    plans = [dt.calibrate(each, total=1.5) for each in (kept, own)]
    assert plans[0].guarantee == "joint"
    for pair in (("a", "b"), ("c", "d")):
        assert plans[0].expected(pair) == pytest.approx(plans[1].expected(pair), rel=0.05)


def test_only_small_tables_are_kept_and_the_others_are_missed_by_name(rng):
    frame, schema = made(rng)
    prior = dt.Prior.from_counts(kept_counts(frame, schema, cells=12))
    assert prior.knows(["a", "c"])
    assert not prior.knows("abcd")
    with pytest.raises(ValueError, match="no joint table of a, b, c, d"):
        prior.joint(["a", "b", "c", "d"])
    total = dt.analyze(prior).totals(1.0, mechanisms="grr")["a"]
    assert total.joint is None
    assert "no joint table of all that is released" in total.joint_reason
    dt.calibrate(dt.analyze(prior), total=1.0)  # plans go on with what there is


def test_counts_in_pieces_add_up_and_merging_goes_through(rng):
    frame, schema = made(rng)
    both = kept_counts(frame[:150], schema) + kept_counts(frame[150:], schema)
    whole = kept_counts(frame, schema)
    for one, two in zip(both.joint.tables, whole.joint.tables, strict=True):
        assert (one == two).all()
    rare = frame.assign(d=np.where(frame["d"] == 3, 3, 0)).assign(c=[1] * 5 + [0] * 395)
    kept = dt.Prior.from_counts(kept_counts(rare, schema), thin="merge", min_records=10)
    own = dt.Prior.from_data(rare, schema, thin="merge", min_records=10)
    assert kept.schema == own.schema != schema
    assert (kept.joint(list("dcba")).counts == own.joint(list("dcba")).counts).all()
    assert (whole + dt.Counts.from_data(frame, schema)).joint is None


def test_a_file_that_was_changed_is_refused(rng, tmp_path):
    frame, schema = made(rng)
    counts = kept_counts(frame, schema)
    counts.save(tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as held:
        content = dict(held)
    for change, said in (
        ({"joint": content["joint"] + 1}, "do not add up"),
        ({"joint": content["joint"][1:]}, "expected those of its sets"),
        (
            {"about": np.array(json.dumps(json.loads(str(content["about"])) | {"joint": [[9]]}))},
            "does not have",
        ),
    ):
        np.savez(tmp_path / "d.npz", **(content | change))
        with pytest.raises(ValueError, match=said):
            dt.Counts.load(tmp_path / "d.npz")
