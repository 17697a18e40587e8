import json

import numpy as np
import pytest

import collector
from deptriad.clients.wire import Wire


@pytest.fixture(scope="module")
def wire(plan):
    return Wire.of(plan)


def by_view(wire, view, count=400):
    """A report of a view."""
    every = collector.messages(wire.strategy, count, np.random.default_rng(3))
    return next(each for each in every if each["view"] == view)


def test_what_is_sent_is_read_as_it_is_whatever_the_mechanism(wire, rng):
    sent = collector.messages(wire.strategy, 500, rng)
    read = wire.parsed(json.dumps(sent).encode())
    assert [(each.id, each.view, json.loads(each.answers)) for each in read] == [
        (each["id"], each["view"], each["answers"]) for each in sent
    ]
    assert {each.view for each in read} == set(range(1, 8))
    assert len({each.id for each in read}) == 500


def test_what_is_sent_are_the_cells_that_perturb_writes(plan, wire):
    import pandas as pd

    codes = np.random.default_rng(1).integers(0, 2, (300, len(plan.schema)))
    labels = {
        each.name: [each.values[code] for code in codes[:, place]]
        for place, each in enumerate(plan.schema)
    }
    frame = plan.perturb(pd.DataFrame(labels), np.random.default_rng(9))
    for row, sent in zip(
        frame.to_dict("records"), wire.sent(codes, np.random.default_rng(9)), strict=True
    ):
        assert sent["view"] == row.pop("view")
        assert sent["answers"] == {name: text for name, text in row.items() if text == text}


@pytest.mark.parametrize(
    "view, change, said",
    [
        (1, {"format": "deptriad plan"}, '"format": \'deptriad plan\', expected "deptriad report"'),
        (1, {"version": 2}, '"version": 2, expected 1'),
        (1, {"version": True}, '"version": True, expected 1'),
        (1, {"plan": "0" * 64}, "of the plan '0000"),
        (1, {"id": "A" * 32}, "expected 32 hexadecimal digits"),
        (1, {"id": 5}, "expected 32 hexadecimal digits"),
        (1, {"view": 0}, "expected 1 to 7"),
        (1, {"view": 8}, "expected 1 to 7"),
        (1, {"view": 1.0}, "expected 1 to 7"),
        (1, {"view": True}, "expected 1 to 7"),
        (1, {"view": 2}, "expected text"),
        (1, {"time": "noon"}, "has the key 'time'"),
        (1, {"answers": {"sex": "f"}}, "expected one text for each of 'sex', 'income'"),
        (1, {"answers": {"sex": "f", "income": "low", "by grr": "a"}}, "expected one text"),
        (1, {"answers": {"sex": "f", "income": None}}, "has|have None for 'income'"),
        (1, {"answers": {"sex": "f", "income": "huge"}}, "'huge' of 'income' is none of its"),
        (1, {"answers": {"sex": "f", "income": "\ud800"}}, "of 'income' is none of its"),
        (3, {"answers": {"sex": "f", "by olh": "x" + "f" * 20}}, "digits of reports"),
        (3, {"answers": {"sex": "f", "by olh": "x00"}}, "expected a report of OLH"),
        (4, {"answers": {"sex": "f", "by oue": "xff"}}, "a bit set beyond the 5 values"),
        (5, {"answers": {"sex": "f", "by subset": "x1f"}}, "a set of 5 values, expected 1"),
        (6, {"answers": {"sex": "f", "by hadamard": "x000000ff"}}, "expected 0"),
        (7, {"answers": {"sex": "f", "by staircase": "z"}}, "none of its values"),
    ],
)
def test_what_is_no_report_of_the_plan_is_refused(wire, view, change, said):
    report = by_view(wire, view)
    assert wire.read(report)
    with pytest.raises(ValueError, match=said):
        wire.read(report | change)


@pytest.mark.parametrize(
    "body, said",
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not (JSON|text)"),
        (b"[]", "0 reports"),
        (b"[1]", '"format": None'),
        (b'"text"', '"format": None'),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": 1, "format": 2}', "'format' twice"),
        (b"[" + b"0," * 10_000 + b"0]", "10,001 reports"),
        (b'{"format": "deptriad report", "version": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b'{"format": "deptriad report", "version": NaN}', "expected 1"),
    ],
)
def test_what_is_no_message_is_refused(wire, body, said):
    with pytest.raises(ValueError, match=said):
        wire.parsed(body)
