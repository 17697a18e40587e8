"""Transitions from records: neighbouring times only, each row once, and intervals that hold."""

import numpy as np
import pytest

import deptriad as dt
from deptriad.chains import sequences
from deptriad.chains.intervals import share_intervals

pd = pytest.importorskip("pandas")
COLUMNS = {"person": "id", "time": "month", "value": "job"}
FORWARD = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]])
STAYS = np.array([0.3, 0.47, 0.23])


def panel(rng, persons=300, times=6, start=STAYS, forward=FORWARD):
    rows, now = [], rng.choice(3, size=persons, p=start)
    for time in range(times):
        rows.append(
            pd.DataFrame({"id": range(persons), "month": time, "job": np.array(list("abc"))[now]})
        )
        draws = rng.random(persons)[:, None]
        now = (draws > np.cumsum(forward[now], axis=1)[:, :-1]).sum(axis=1)
    return pd.concat(rows, ignore_index=True)


def plainly(frame):
    """Transitions between neighbouring times, in a loop."""
    order = sorted(set(frame["month"]))
    found, values = {}, sorted(set(frame["job"]))
    seen = {(row.id, order.index(row.month)): row.job for row in frame.itertuples()}
    for (person, time), job in seen.items():
        if (person, time + 1) in seen:
            pair = job, seen[person, time + 1]
            found[pair] = found.get(pair, 0) + 1
    return np.array([[found.get((one, two), 0) for two in values] for one in values])


def counted(frame, **options):
    return sequences.transitions(
        frame, *COLUMNS.values(), options.get("schema"), options.get("query")
    )


def test_transitions_are_counted_between_neighbouring_times_in_any_order(rng):
    frame = panel(rng)
    frame = frame[rng.random(len(frame)) < 0.8].sample(frac=1.0, random_state=rng)
    assert (counted(frame).counts == plainly(frame)).all()
    frame["month"] = pd.to_datetime("2026-01-15") + pd.to_timedelta(30 * frame["month"], unit="D")
    assert (counted(frame).counts == plainly(frame)).all()
    frame["month"] = frame["month"].dt.strftime("%Y-%m-%d")
    assert (counted(frame).counts == plainly(frame)).all()


def test_a_missed_time_breaks_the_run():
    frame = pd.DataFrame({"id": [1, 1, 1, 2], "month": [1, 2, 4, 3], "job": ["a", "b", "a", "b"]})
    found = counted(frame)
    assert found.counts.tolist() == [[0, 1], [0, 0]]
    assert (found.persons, found.runs, found.times) == (2, 3, 4)


def test_the_chain_has_the_tables_of_both_directions_and_the_labels(rng):
    frame = panel(rng)
    counts = plainly(frame)
    chain = dt.Chain.from_sequences(frame, **COLUMNS)
    assert chain.forward.table == pytest.approx(counts / counts.sum(axis=1, keepdims=True))
    assert chain.backward.table == pytest.approx(counts.T / counts.sum(axis=0)[:, None])
    assert chain.forward.target_values == ("a", "b", "c")
    assert repr(chain) == "Chain(job, 3 values, assumed stationary, known table)"
    unknown = dt.Chain.from_sequences(frame, **COLUMNS, initial=None)
    assert unknown.backward is None
    assert unknown.limit(0.5) >= chain.limit(0.5)


def test_files_and_queries_are_read(rng, tmp_path):
    pytest.importorskip("duckdb")
    frame = panel(rng)
    frame.to_csv(tmp_path / "panel.csv", index=False)
    whole = dt.Chain.from_sequences(tmp_path / "panel.csv", **COLUMNS)
    assert (whole.forward.table == dt.Chain.from_sequences(frame, **COLUMNS).forward.table).all()
    part = counted(tmp_path / "panel.csv", query="select * from data where month < 3")
    assert part.counts.sum() == 600


@pytest.mark.parametrize(
    "frame, message",
    [
        ({"id": [1, 1], "month": [1, 1], "job": ["a", "b"]}, "person 1 has 2 rows for one time"),
        (
            {"id": [1, 2], "month": [1, 2], "job": ["a", "b"]},
            "no person with values at two neighbouring times",
        ),
        ({"id": [1, None], "month": [1, 2], "job": ["a", "b"]}, "'id' has missing values"),
        ({"id": [1, 1], "month": [1, None], "job": ["a", "b"]}, "'month' has missing values"),
        ({"id": [1, 1], "month": [1, 2], "job": ["a", "b"]}, "row 1 .'b'. has no counts"),
        ({"id": [1, 1], "month": [1, 2]}, "there is no column 'job'"),
    ],
)
def test_what_cannot_be_counted_is_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        dt.Chain.from_sequences(pd.DataFrame(frame), **COLUMNS)


def test_three_columns_and_values_of_the_schema_are_expected(rng):
    frame = panel(rng, persons=5)
    with pytest.raises(ValueError, match="expected three columns"):
        dt.Chain.from_sequences(frame, person="id", time="id", value="job")
    schema = dt.Schema([dt.Attribute("job", categories=["a", "b"])])
    frame.loc[0, "job"] = "c"
    with pytest.raises(ValueError, match="undeclared values"):
        dt.Chain.from_sequences(frame, **COLUMNS, schema=schema)
    with pytest.raises(ValueError, match=r"expected Confidence\(level\)"):
        dt.Chain.from_sequences(panel(rng), **COLUMNS, uncertainty=dt.Relative(0.1))


def test_values_that_nobody_has_are_left_out_and_declared_ones_warned_of(rng):
    frame = panel(rng)
    alike = dt.Schema([dt.Attribute("job", categories=["a", "b", "c"])])  # and none is missing
    chain = dt.Chain.from_sequences(frame, **COLUMNS, schema=alike)
    assert chain.forward.target_values == ("a", "b", "c")
    more = dt.Schema([dt.Attribute("job", categories=["a", "x", "b", "c"])])
    with pytest.warns(UserWarning, match="nobody was seen to leave or come to"):
        other = dt.Chain.from_sequences(frame, **COLUMNS, schema=more)
    assert (other.forward.table == chain.forward.table).all()


def test_a_panel_that_drifts_is_warned_of(rng):
    with pytest.warns(UserWarning, match="stationary chain moves"):
        dt.Chain.from_sequences(panel(rng, start=[0.0, 0.0, 1.0]), **COLUMNS)


# --- intervals ------------------------------------------------------------------------------------------------------


def test_boxes_hold_the_truth_in_both_directions(rng):
    """At a level of 1 − 1e-10 a miss is a fault: the chance of one by bad luck is below 1e-9."""
    forward = np.array([[0.9, 0.1, 0.0], [0.3, 0.6, 0.1], [0.0, 0.5, 0.5]])
    shares = np.array([15.0, 5.0, 1.0]) / 21.0  # it is reversible: 15·0.1 = 5·0.3, 5·0.1 = 1·0.5
    frame = panel(rng, start=shares, forward=forward)
    chain = dt.Chain.from_sequences(frame, **COLUMNS, uncertainty=dt.Confidence(1 - 1e-10))
    for box in (chain.forward, chain.backward):
        assert (box.lower <= forward).all()
        assert (forward <= box.upper).all()
    assert chain.limit_total(0.1) >= dt.Chain(forward, "stationary").limit_total(0.1)


def test_intervals_hold_at_the_worst_moment_to_stop(rng):
    """Stopping where the share looks furthest off defeats intervals for a fixed number, and not these."""
    truth, runs, visits = 0.3, 400, 300
    drawn = np.cumsum(rng.random((runs, visits)) < truth, axis=1)
    numbers = np.arange(1, visits + 1)
    off = np.abs(drawn - truth * numbers) / np.sqrt(numbers)
    worst = off[:, 9:].argmax(axis=1) + 9
    hits = drawn[np.arange(runs), worst]
    counts = np.column_stack([hits, worst + 1 - hits])
    lower, upper = share_intervals(counts, 0.05)
    missed = int(((lower[:, 0] > truth) | (upper[:, 0] < truth)).sum())
    # binomial(400, 0.05) exceeds 60 with a probability of 1e-14
    assert missed <= 60
    from deptriad.tables.uncertainty import share_ends

    low, high = share_ends(hits, worst + 1, 0.025)
    assert ((low > truth) | (high < truth)).sum() > missed


def test_intervals_of_nothing_are_everything():
    lower, upper = share_intervals(np.array([[0, 0], [5, 0]]), 0.01)
    assert lower[0].tolist() == [0.0, 0.0]
    assert upper[0].tolist() == [1.0, 1.0]
    assert upper[1, 0] == 1.0
    assert lower[1, 1] == 0.0
