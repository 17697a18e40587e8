"""Mechanisms against multi-freq-ldpy, in one run on the same records: ratios of time, warm.

    python benchmarks/mechanisms.py [RECORDS ...]

50 values, ε = 1. The peer takes a record at a time, so it is timed on at most 10^5 of them (OLH estimates: 2000) and
its time per record is compared; ours is timed on all. Each pair is timed several times, turn by turn, and the best of
each counts. Without the peer this says so and ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from _history import add, at_least, seconds

from deptriad.mechanisms import GRR, OLH, OUE

SIZE, BUDGET = 50, 1.0
RECORDS = (100_000, 1_000_000, 10_000_000)
PEER_RECORDS = {"OLH estimate": 2_000}
GOALS = {
    "GRR perturb, seeded": at_least(50),
    "GRR perturb, secure": at_least(15),
    "GRR estimate": at_least(30),
    "OUE perturb, seeded": at_least(10),
    "OUE perturb, secure": None,
    "OLH estimate": at_least(100),
}
"""How many times faster than the peer."""

Pair = tuple[Callable[[], Any], Callable[[], Any]]


def pairs(codes: np.ndarray, peer: Any) -> dict[str, Pair]:
    """Ours on all records, and the peer on the first ones, for each task."""
    grr, oue, olh = (make(SIZE, BUDGET) for make in (GRR, OUE, OLH))
    rng = np.random.default_rng(1)
    few = {task: codes[: PEER_RECORDS.get(task, 100_000)].tolist() for task in GOALS}
    told, hashed = grr.perturb(codes, rng), olh.perturb(codes, rng)
    peer_told = told[:100_000].tolist()
    peer_hashed = [peer.LH.LH_Client(code, SIZE, BUDGET) for code in few["OLH estimate"]]

    def peer_grr() -> Any:
        return [peer.GRR.GRR_Client(code, SIZE, BUDGET) for code in few["GRR perturb, seeded"]]

    def peer_oue() -> Any:
        return [peer.UE.UE_Client(code, SIZE, BUDGET) for code in few["OUE perturb, seeded"]]

    return {
        "GRR perturb, seeded": (lambda: grr.perturb(codes, rng), peer_grr),
        "GRR perturb, secure": (lambda: grr.perturb(codes), peer_grr),
        "GRR estimate": (
            lambda: grr.estimate(told),
            lambda: peer.GRR.GRR_Aggregator_MI(peer_told, SIZE, BUDGET),
        ),
        "OUE perturb, seeded": (lambda: oue.perturb(codes, rng), peer_oue),
        "OUE perturb, secure": (lambda: oue.perturb(codes), peer_oue),
        "OLH estimate": (
            lambda: olh.estimate(hashed),
            lambda: peer.LH.LH_Aggregator_MI(peer_hashed, SIZE, BUDGET),
        ),
    }


def compare(records: int, peer: Any) -> dict[str, dict[str, float]]:
    codes = np.random.default_rng(0).integers(0, SIZE, records)
    results = {}
    for task, (ours, theirs) in pairs(codes, peer).items():
        ours()  # compiled and warm
        times = [(seconds(ours), seconds(theirs)) for _ in range(2 if records > 10**6 else 5)]
        mine, other = (min(column) for column in zip(*times, strict=True))
        other_records = min(records, PEER_RECORDS.get(task, 100_000))
        ratio = (other / other_records) / (mine / records)
        results[task] = {"million_per_second": records / mine / 1e6, "ratio": ratio}
        print(
            f"{records:>10,}  {task:20} {records / mine / 1e6:8.1f} M/s  {ratio:8.0f} × multi-freq-ldpy"
        )
    return results


def main() -> None:
    try:
        import multi_freq_ldpy.pure_frequency_oracles as peer
        from multi_freq_ldpy.pure_frequency_oracles import GRR as _GRR  # noqa: F401
        from multi_freq_ldpy.pure_frequency_oracles import LH as _LH  # noqa: F401
        from multi_freq_ldpy.pure_frequency_oracles import UE as _UE  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}; pip install 'xxhash<4' multi-freq-ldpy==0.2.5 brings the peer")
        return
    wanted = tuple(int(number) for number in sys.argv[1:]) or RECORDS
    results = {str(records): compare(records, peer) for records in wanted}
    if wanted == RECORDS:
        goals = {f"{n} / {task} / ratio": goal for n in results for task, goal in GOALS.items()}
        add("mechanisms", results, goals)


if __name__ == "__main__":
    main()
