"""The audit catches what spends more than it claims, and nothing else."""

import numpy as np
import pytest
from scipy import stats

import deptriad as dt
from deptriad.attacks import field, target
from deptriad.attacks.audit import audit_attack, check_mechanism
from deptriad.attacks.events import Counted, Cut, Preferred, choose_cuts
from deptriad.collection.split import Separate, Split
from deptriad.mechanisms import GRR, OLH, OUE, Channel, Staircase, mechanisms
from deptriad.mechanisms.olh import digits
from worlds import Louder, dependent, draw, frame_of, schema_of

NEVER = 1e-11
"""A level at which the honest are not called broken in a lifetime of tests."""


@pytest.fixture
def level(monkeypatch):
    """Sets the chance of a false alarm of all audits of an attack together."""

    def change(to):
        monkeypatch.setattr(field, "LEVEL", to)
        monkeypatch.setattr(target, "LEVEL", to)

    return change


@pytest.mark.parametrize("key", [*mechanisms, "channel"])
def test_honest_mechanisms_pass_and_come_close(key, rng):
    if key == "channel":
        mechanism = Channel([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4], [0.3, 0.3, 0.4]])
    else:
        mechanism = mechanisms[key](4, 1.0)
    assert check_mechanism(mechanism, rng, 40_000, level=NEVER).holds
    audit = check_mechanism(mechanism, rng, 40_000)
    assert audit.attained > 0.6 * mechanism.realised_epsilon
    assert 0 < audit.tested <= 8


def test_a_mechanism_that_spends_more_than_it_claims_is_caught(rng):
    audit = check_mechanism(Louder(3, 0.2), rng, 6000)
    assert not audit.holds
    assert 0.2 < audit.attained < 2.0
    assert "BROKEN" in repr(audit)
    assert "the report" in audit.event
    assert audit.margin == pytest.approx(0.2 - audit.attained)


def test_one_leaky_value_among_many_is_caught(rng):
    table = np.full((10, 10), 0.1)
    table[7] = [0.01] * 7 + [0.91] + [0.01] * 2
    honest = Channel(table)

    class Claims(Channel):
        pass

    leaky = Claims(table)
    object.__setattr__(leaky, "epsilon", 1.0)
    assert check_mechanism(honest, rng, level=NEVER).holds
    assert not check_mechanism(leaky, rng).holds


class Renamed(GRR):
    """Claims its budget, and reports the next value with ten times as much."""

    def _report(self, codes, words):
        following = (codes + 1) % np.uint32(self.size)
        return GRR(self.size, 10.0 * self.epsilon)._report(following, words)


@pytest.mark.parametrize("size", [2, 5])
def test_what_leaks_by_another_name_is_caught(size, rng):
    assert not check_mechanism(Renamed(size, 0.2), rng, 100_000).holds


@pytest.mark.parametrize("kind", [GRR, OUE, Staircase])
def test_what_no_value_by_itself_could_prove_is_caught(kind, rng):
    """Ten reports of each value to count: even if all of them showed an event, that would prove nothing.

    Of the thousand people, 300 or more report their own value, and 20 or fewer another's: chances of it being
    otherwise, by Chernoff, are below 1e-9.
    """

    class Loud(kind):
        def _report(self, codes, words):
            return kind(self.size, 25.0 * self.epsilon)._report(codes, words)

    audit = check_mechanism(Loud(100, 0.2), rng, 2000)
    assert not audit.holds
    assert audit.pair is None
    assert "over pairs of values" in audit.event
    assert check_mechanism(kind(100, 2.0), rng, 2000, level=NEVER).holds


def test_a_hash_told_with_too_little_noise_is_caught(rng):
    class Loud(OLH):
        def _report(self, codes, words):
            truth = super()._report(codes, words)
            truth[:, 1] = digits(codes, truth[:, 0], self.cells)
            return truth

    assert check_mechanism(OLH(6, 1.0), rng, 4000, level=NEVER).holds
    assert not check_mechanism(Loud(6, 1.0), rng, 4000).holds


def test_very_many_values_take_little_time(rng):
    assert check_mechanism(OLH(5000, 1.0), rng, 2000, level=NEVER).holds


@pytest.mark.parametrize("wrong", [{"n": 1}, {"n": 1.5}, {"level": 2.0}])
def test_checks_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is "):
        check_mechanism(GRR(3, 1.0), **wrong)


def test_who_is_compared_with_whom(rng):
    """Everybody of another value, once on either side; of one value nobody."""
    grr = GRR(3, 1.0)
    event, values = Preferred(grr), np.array([2, 0, 0, 1, 2, 1])
    told = np.eye(3, dtype=bool)[values]
    counted = event.counted(told, values)
    assert counted == Counted(6, 6, 0, 6)  # the truth speaks for the own value, always
    assert event.counted(~told, values) == Counted(0, 6, 6, 6)
    assert event.counted(told[1:3], values[1:3]) == Counted(0, 0, 0, 0)


def test_given_tables_are_not_held_to_what_was_learnt_of_the_training_records(rng, level):
    """Independent answers, of which a hundred values of b are learnt by heart: nothing is broken."""
    schema = schema_of([2, 400])
    population = np.column_stack([rng.integers(0, 2, 200_000), rng.integers(0, 400, 200_000)])
    prior = dt.Prior.from_data(frame_of(population, schema), schema, min_records=0)
    strategy = Separate(schema, {"b": GRR(400, 12.0)})
    some = frame_of(population[:1200], schema)
    level(NEVER)
    given = dt.attack(some, strategy, "a", analysis=dt.analyze(prior), ceiling=False, rng=rng)
    assert given.audit.holds
    level(0.1)
    assert dt.attack(some, strategy, "a", ceiling=False, rng=rng).audit.attained > given.allowed


SCHEMA = schema_of([2, 2, 2])


def world(n, rng):
    return frame_of(draw(dependent([2, 2, 2], rng, 0.98), n, rng), SCHEMA)


def test_a_planted_fault_is_caught_through_others_and_directly(rng, level):
    level(NEVER)
    plain = {name: GRR(2, 0.2) for name in "abc"}
    faulty = Separate(SCHEMA, plain | {"b": Louder(2, 0.2)})
    found = dt.attack(world(8000, rng), faulty, "a", ceiling=False, rng=rng)
    assert not found.holds
    assert not found.audit.holds  # a's own report is not seen: this comes from b
    assert found.audit.attained > found.audit.allowed == found.allowed
    assert [audit.holds for audit in found.mechanisms] == [True, False, True]
    assert "AUDIT FAILED" in repr(found)
    every = dt.attack_all(world(8000, rng), faulty, ceiling=False, rng=rng)
    assert not every.holds
    audits = [each.audit for each in every.values()] + list(every["a"].mechanisms)
    assert every.audit == min(audits, key=lambda audit: audit.allowed - audit.attained)
    assert every.audit.margin == min(audit.margin for audit in audits)
    assert not every.audit.holds
    assert "BROKEN" in repr(every)
    assert every["b"].audit.holds  # who does not see b's report sees honest ones only


def test_the_fault_is_caught_by_an_attacker_that_learns(rng):
    pytest.importorskip("sklearn")
    faulty = Separate(SCHEMA, {"a": GRR(2, 0.2), "b": Louder(2, 0.2), "c": GRR(2, 0.2)})
    found = dt.attack(world(8000, rng), faulty, "a", "boosting", ceiling=False, rng=rng)
    assert not found.audit.holds


def test_the_honest_are_hardly_ever_called_broken(rng, level):
    """Promises that are nearly used up: strong dependence, one source, GRR.

    An audit that is right has more alarms than are allowed with a chance below 1e-9; one that is wrong in a case of
    10 has not more than them with a chance of 1 %.
    """
    attacks, chance = 100, 1e-5
    level(chance)
    alarms = 0
    for _ in range(attacks):
        frame = world(300, rng)
        strategy = Separate(SCHEMA, {"b": GRR(2, float(rng.choice([0.2, 1.0, 3.0])))})
        found = dt.attack(frame, strategy, "a", own=True, ceiling=False, rng=rng)
        assert found.audit.holds == (found.audit.attained <= found.allowed)
        alarms += not found.holds
    allowed = stats.binom.isf(1e-9, attacks, chance)
    assert stats.binom.cdf(allowed, attacks, 0.1) < 0.01
    assert alarms <= allowed


def test_the_level_is_kept_where_it_is_tight(rng):
    """Clopper and Pearson's level for events of exactly the allowed ratio: far fewer alarms than twice the level."""
    grr = GRR(2, 1.0)
    alarms = sum(not check_mechanism(grr, rng, 2000, level=0.2).holds for _ in range(400))
    assert alarms <= stats.binom.isf(1e-10, 400, 0.2)


def test_it_comes_close_to_what_is_allowed(rng, level):
    level(NEVER)
    frame = world(60_000, rng)
    strategy = Separate(SCHEMA, {"b": GRR(2, 1.0)})
    found = dt.attack(frame, strategy, "a", ceiling=False, rng=rng)
    assert 0.8 * found.allowed < found.audit.attained <= found.allowed


def test_cuts_are_chosen_where_they_tell_most(rng):
    target = np.repeat([0, 1], 1000)
    told = np.where(target == 0, rng.random(2000) < 0.9, rng.random(2000) < 0.1)
    ratios = np.column_stack([np.where(told, 2.0, -2.0), np.zeros(2000)])
    cuts = choose_cuts(ratios, target, np.array([True, True]))
    assert {cut.pair for cut in cuts} == {(0, 1), (1, 0)}
    counted = next(cut for cut in cuts if cut.pair == (0, 1)).counted(ratios, target)
    assert counted.hits == np.count_nonzero(told[:1000])
    assert counted.others == np.count_nonzero(told[1000:])
    assert choose_cuts(ratios, target, np.array([True, False])) == []


def test_nothing_to_count_proves_nothing():
    ratios, target = np.zeros((5, 2)), np.zeros(5, dtype=np.int64)
    audit = audit_attack("a", ["x", "y"], [Cut((0, 1), 0.0)], ratios, target, 1.0)
    assert (audit.holds, audit.attained, audit.pair, audit.tested) == (True, 0.0, None, 0)


def test_the_records_are_split_so_that_counted_reports_are_fresh(rng, level):
    """Who remembers the reports it learnt from finds nothing there that the audit would count."""

    class Memory:
        name = "memory"

        def fit(self, tokens, target, size, rng, progress=None):
            rows = np.concatenate(tokens.supports, axis=1)
            self.known = {row.tobytes(): int(code) for row, code in zip(rows, target, strict=True)}
            return self

        def log_posterior(self, tokens):
            rows = np.concatenate(tokens.supports, axis=1)
            guess = np.array([self.known.get(row.tobytes(), 0) for row in rows])
            return np.where(np.eye(2)[guess] > 0, -1e-9, -20.0)

    level(NEVER)
    schema = schema_of([2, 200, 200])
    codes = np.column_stack([rng.integers(0, size, 1500) for size in schema.sizes])
    found = dt.attack(frame_of(codes, schema), Split(schema, 0.6, "oue"), "a", Memory(), rng=rng)
    assert found.audit.holds
    assert found.audit.attained < 0.5
