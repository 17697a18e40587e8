"""Table 5: budgets at equal error, then attacks; on a small sample of real records."""

import pytest

from deptriad.paper import table_5
from deptriad.paper.figures import column, those
from paper_items import as_read_back, quick

pytest.importorskip("torch", reason="the attack table needs torch: pip install 'deptriad[attack]'")


@pytest.fixture(scope="module")
def outcome(library):
    return quick(table_5, library)


def test_all_attacks_are_there_and_none_is_out_of_bounds(outcome):
    assert {row["attribute"] for row in outcome.rows} == {"SEX", "CIT"}
    assert {(row["strategy"], row["attacker"]) for row in outcome.rows} == {
        ("plan (sum)", "tabtransformer"),
        ("plan (sum)", "bayes"),
        ("plan (certified)", "bayes"),
        ("plan (best views)", "bayes"),
        ("random view", "bayes"),
        ("split", "tabtransformer"),
        ("split", "bayes"),
    }
    for row in outcome.rows:
        assert 0.0 <= row["low"] <= row["macro_f1"] <= row["high"] <= 1.0
        assert row["attained"] <= row["allowed"]
        assert row["train"] + row["evaluation"] == 1200


def test_the_certified_plan_costs_more_than_the_sum_and_less_than_splitting(outcome):
    plan, sure, split = (
        column(those(outcome.rows, strategy=name), "epsilon")[0]
        for name in (table_5.SUM, table_5.CERTIFIED, table_5.SPLIT)
    )
    assert plan <= sure <= split


def test_the_best_views_cost_least(outcome):
    assert table_5._cheapest(outcome.rows).holds is True


def test_claims_are_read_from_the_rows(outcome):
    worse = [
        {**row, "macro_f1": 0.9 if row["strategy"] == "split" else 0.1} for row in outcome.rows
    ]
    assert not any(claim.holds for claim in table_5._alike(worse))
    dear = [{**row, "epsilon": 5.0} for row in outcome.rows]
    assert not any(claim.holds for claim in table_5._budgets(dear))
    lost = [{**row, "epsilon": 1.0 if row["strategy"] == "split" else 5.0} for row in outcome.rows]
    assert table_5._cheapest(lost).holds is False
    failed = [{**row, "holds": False} for row in outcome.rows]
    assert table_5._audited(failed).holds is False


def test_the_table_to_read_has_every_attack(outcome):
    shown = table_5.table(as_read_back(outcome.rows))
    assert [line["attribute"] for line in shown] == ["SEX", "CIT"]
    for line in shown:
        assert len(line) == 2 + 2 + 7  # what it is about, the two ends, and seven attacks
    (first,) = those(outcome.rows, strategy="split", attacker="bayes", attribute="SEX")
    assert shown[0]["split, bayes"].startswith(f"{first['macro_f1']:.3f} ({first['low']:.3f} to")
