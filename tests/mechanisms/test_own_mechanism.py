"""A mechanism is one file: mechanisms of one's own, defined here, do everything that those of the library do."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

import deptriad as dt
from deptriad.attacks.audit import check_mechanism
from deptriad.collection.marginal import estimate
from deptriad.collection.perturb import perturb, perturb_file
from deptriad.mechanisms import Mechanism, Support, expected_error, mechanisms
from deptriad.mechanisms.moment_curve import BUDGETS
from deptriad.mechanisms.rational import exp_below
from worlds import dependent, draw, frame_of, schema_of

SCHEMA = schema_of([2, 3, 4])


@dataclass(frozen=True)
class Silence(Mechanism):
    """Half of all say nothing, which is the report ``size``; the others report as by GRR. A report is a number."""

    @cached_property
    def _other(self):
        """The chance of each false value, in units of 2^-40."""
        return math.ceil(2**39 / (exp_below(self.epsilon) + self.size - 1))

    @property
    def letters(self):
        return self.size + 1

    @property
    def worst_ratio(self):
        return Fraction(2**39 - (self.size - 1) * self._other, self._other)

    def matrix(self):
        false = self._other / 2**40
        true = np.where(np.eye(self.size), 0.5 - (self.size - 1) * false, false)
        return np.column_stack([true, np.full(self.size, 0.5)])

    def scores(self, reports):
        return np.linalg.pinv(self.matrix())[self._checked(reports)]

    def _report(self, codes, words):
        drawn = words(codes.size) >> np.uint64(24)
        told = drawn // np.uint64(self._other)
        spoken = np.where(told < self.size, told, codes)
        return np.where(drawn < 2**39, spoken, self.size)


@dataclass(frozen=True)
class Denial(Support):
    """Names a value that is not the true one, or seldom; hidden by a pad. A report is a row of two numbers."""

    @cached_property
    def _true(self):
        """The chance that the true value is denied, in units of 2^-40."""
        return math.ceil(2**40 / ((self.size - 1) * exp_below(self.epsilon) + 1))

    @property
    def probabilities(self):
        true = Fraction(self._true, 2**40)
        return 1 - true, 1 - (1 - true) / (self.size - 1)

    @property
    def levels(self):
        p, q = self.probabilities
        return (1 - q) / self.size, (1 - p) / self.size

    @property
    def _report_format(self):
        return (2,), np.uint16

    @property
    def alphabet(self):
        return np.indices((self.size, self.size), dtype=np.uint16).reshape(2, -1).T

    def matrix(self):
        high, low = map(float, self.levels)
        return np.where(self.supported(self.alphabet).T, high, low)

    def supported(self, reports):
        every = self._checked(reports).astype(int)
        denied = (every[:, 0] + every[:, 1]) % self.size
        return denied[:, None] != np.arange(self.size)

    def _report(self, codes, words):
        seldom = words(codes.size) >> np.uint64(24) < self._true
        step = words(codes.size) % np.uint64(self.size - 1) + np.uint64(1)
        denied = (codes + np.where(seldom, 0, step).astype(int)) % self.size
        pad = (words(codes.size) % np.uint64(self.size)).astype(int)
        return np.column_stack([(denied - pad) % self.size, pad])


KINDS = pytest.mark.parametrize("kind", [Silence, Denial])


@pytest.fixture
def own(kind, monkeypatch):
    """The key of a mechanism that is in the table for the time of a test."""
    monkeypatch.setitem(mechanisms, "own", kind)
    return "own"


@pytest.fixture
def people(rng):
    joint = dependent([2, 3, 4], rng, 0.6)
    return draw(joint, 20_000, rng)


def counts_of(codes):
    counts = np.zeros((2, 3, 4), dtype=int)
    np.add.at(counts, tuple(codes.T), 1)
    return counts


def near(marginal, counts, names):
    """Unbiased estimates within seven standard errors of what the records say, but for a chance below 1e-10."""
    others = tuple(place for place, name in enumerate("abc") if name not in names)
    true = counts.sum(axis=others) / counts.sum()
    return (np.abs(marginal.unbiased - true) < 7.0 * marginal.standard_errors + 1e-12).all()


@KINDS
def test_it_is_one(kind, rng):
    mechanism = kind(4, 1.0)
    assert mechanism.realised_epsilon <= 1.0 < mechanism.realised_epsilon + 1e-6
    assert mechanism.matrix().sum(axis=1) == pytest.approx(1.0)
    assert mechanism.matrix() @ mechanism.weights == pytest.approx(np.eye(4), abs=1e-9)
    codes = rng.integers(0, 4, 40_000)
    found = mechanism.estimate(mechanism.perturb(codes, rng))
    share = np.bincount(codes) / len(codes)
    assert (np.abs(found.frequencies - share) < 7.0 * found.standard_errors).all()
    assert mechanism.variance(100, share) == pytest.approx(
        (mechanism.matrix().T @ share) @ mechanism.weights**2 / 100 - share / 100
    )


@KINDS
@pytest.mark.parametrize("made", [dt.Split, dt.Sample, lambda *a: dt.Sample(*a, k=2)])
def test_it_collects_and_estimates(own, made, people, rng, tmp_path):
    strategy, counts, frame = made(SCHEMA, 6.0, own), counts_of(people), frame_of(people, SCHEMA)
    reports, path = perturb(strategy, frame, rng), tmp_path / "reports.parquet"
    assert perturb_file(strategy, frame, path, rng) == len(people)
    for told in (reports, path, dt.simulate(counts, strategy, rng)):
        assert near(estimate(strategy, told, "b", seeded=True), counts, "b")
        if getattr(strategy, "k", 2) > 1:
            assert near(estimate(strategy, told, ["a", "c"], seeded=True), counts, "ac")


@pytest.mark.parametrize("kind", [Denial])
def test_it_hides_among_fakes_where_it_supports_values(own, people, rng):
    strategy, counts = dt.SampleWithFakes(SCHEMA, 3.0, own), counts_of(people)
    assert near(estimate(strategy, dt.simulate(counts, strategy, rng), "c"), counts, "c")


@KINDS
@pytest.mark.parametrize("k", [None, 2])
def test_it_teaches_a_prior(own, k, people, rng):
    strategy = dt.Split(SCHEMA, 15.0, own) if k is None else dt.Sample(SCHEMA, 6.0, own, k=k)
    counts = counts_of(people)
    prior = dt.Prior.from_reports(dt.simulate(100 * counts, strategy, rng), strategy)
    box, pairs = prior.box("b", "a", dt.Confidence(1.0 - 1e-9)), counts.sum(axis=2)
    true = pairs / pairs.sum(axis=1, keepdims=True)
    assert (box.lower <= true).all()
    assert (true <= box.upper).all()
    assert (box.upper - box.lower).max() < 0.6


@KINDS
def test_it_is_attacked_and_audited(kind, own, people, rng):
    assert check_mechanism(kind(3, 1.0), rng, 40_000).holds
    frame = frame_of(people, SCHEMA)
    for strategy in (dt.Split(SCHEMA, 6.0, own), dt.Sample(SCHEMA, 3.0, own, k=2)):
        assert dt.attack(frame, strategy, "a", rng=rng).holds

    class Loud(kind):
        def _report(self, codes, words):
            return kind(self.size, 10.0 * self.epsilon)._report(codes, words)

    assert not check_mechanism(Loud(3, 0.3), rng, 40_000).holds


@KINDS
def test_it_is_planned_with(kind, own, people, rng, tmp_path):
    counts, frame = counts_of(people), frame_of(people, SCHEMA)
    analysis = dt.analyze(dt.Prior.from_data(frame, SCHEMA))
    plan = dt.calibrate(analysis, 6.0, views="all", mechanism=own)
    assert set(plan.mechanisms.values()) == {own}
    assert max(each.certified for each in analysis.totals(plan.budgets).values()) <= 6.0
    plan.save(tmp_path / "plan.json")
    assert dt.Plan.load(tmp_path / "plan.json") == plan
    assert near(plan.estimate(plan.perturb(frame, rng), ["b", "c"]), counts, "bc")
    row = plan.compare()["b"]
    moment = kind.moment(plan.budgets["b"], 3)
    assert row.error == pytest.approx(math.sqrt(moment / plan.users))


@pytest.mark.parametrize("kind", [Silence, Denial, *mechanisms.values()])
@pytest.mark.parametrize("size", [2, 3, 11])
def test_moments_are_those_of_the_mechanism(kind, size):
    """Closed forms are those of ideal chances, so that rounding shows; OLH has no list of reports to sum over."""
    for epsilon in (0.3, 1.0, 2.5):
        mechanism = kind(size, epsilon)
        assert kind.moment(epsilon, size) == pytest.approx(mechanism._moment(), rel=1e-2)
        if mechanism.alphabet is not None:
            squares = mechanism.matrix() @ (mechanism.weights**2).sum(axis=1)
            assert mechanism._moment() == pytest.approx(squares.max(), rel=1e-6)


@pytest.mark.parametrize("kind", [Silence, Denial])
def test_curves_without_a_closed_form_are_near_and_have_their_slopes(kind):
    epsilon, size = np.array([0.05, 0.3, 1.0, 4.0]), np.array([2.0, 5.0, 3.0, 7.0])
    value, slope = kind.smooth_moment(epsilon, size)
    exact = [kind.moment(e, int(b)) for e, b in zip(epsilon, size, strict=True)]
    assert value == pytest.approx(exact, rel=1e-3)
    step = 1e-5 * epsilon
    ends = [kind.smooth_moment(epsilon + side * step, size)[0] for side in (1, -1)]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4)


def test_one_that_does_not_say_how_its_reports_look_is_told_so():
    class Mute(Silence):
        letters = 0

    with pytest.raises(NotImplementedError, match="Mute says neither letters nor _report_format"):
        Mute(3, 1.0).perturb([0, 1])


@pytest.mark.parametrize("name", mechanisms)
def test_all_of_the_table_can_be_planned_with(name):
    """The curve is compared where it touches: the staircase, for one, has steps between."""
    epsilon = BUDGETS[85]
    value, slope = expected_error.smooth_moment(name, np.array([epsilon]), np.array([5.0]))
    assert value[0] == pytest.approx(expected_error.moment(name, epsilon, 5), rel=0.05)
    assert np.isfinite(slope[0])
