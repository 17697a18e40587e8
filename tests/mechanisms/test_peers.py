"""The mechanisms against other libraries."""

import numpy as np
import pytest

from deptriad.mechanisms import GRR, OLH, OUE, SUE, HadamardResponse, SubsetSelection

PEERS = "pip install 'xxhash<4' multi-freq-ldpy==0.2.5 pure-ldp==1.2 scikit-learn"


@pytest.fixture
def multi_freq_ldpy():
    reason = f"multi-freq-ldpy cannot be imported: {PEERS}"
    return {
        name: pytest.importorskip(f"multi_freq_ldpy.pure_frequency_oracles.{name}", reason=reason)
        for name in ("GRR", "UE", "SS", "LH", "Variance_PURE")
    }


@pytest.fixture
def pure_ldp():
    reason = f"pure-ldp cannot be imported: {PEERS}"
    return pytest.importorskip("pure_ldp.frequency_oracles", reason=reason)


def normalised(mechanism, reports):
    clipped = mechanism.estimate(reports).frequencies.clip(0)
    return clipped / clipped.sum() if clipped.any() else clipped


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 5, 20])
def test_estimates_agree_with_multi_freq_ldpy(multi_freq_ldpy, size, epsilon, rng):
    codes = rng.integers(0, size, 3000)
    grr, sue, oue, subset = (kind(size, epsilon) for kind in (GRR, SUE, OUE, SubsetSelection))
    told = grr.perturb(codes, rng)
    theirs = multi_freq_ldpy["GRR"].GRR_Aggregator_MI(told.tolist(), size, epsilon)
    np.testing.assert_allclose(theirs, normalised(grr, told), atol=1e-4)
    for unary, optimal in ((sue, False), (oue, True)):
        told = unary.perturb(codes, rng)
        rows = list(unary.supported(told).astype(float))
        theirs = multi_freq_ldpy["UE"].UE_Aggregator_MI(rows, epsilon, optimal)
        np.testing.assert_allclose(theirs, normalised(unary, told), atol=1e-9)
    told = subset.perturb(codes, rng)
    sets = [np.flatnonzero(row) for row in subset.supported(told)]
    assert {len(chosen) for chosen in sets} == {subset.width}
    theirs = multi_freq_ldpy["SS"].SS_Aggregator_MI(sets, size, epsilon)
    np.testing.assert_allclose(theirs, normalised(subset, told), atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5, 5.0])
def test_variance_agrees_with_multi_freq_ldpy(multi_freq_ldpy, epsilon):
    base = np.exp(epsilon)
    cells = round(base) + 1
    peer = multi_freq_ldpy["Variance_PURE"].VAR_Pure
    half = np.exp(epsilon / 2)
    parameters = {
        GRR: (base / (base + 19), 1 / (base + 19)),
        SUE: (half / (half + 1), 1 / (half + 1)),
        OUE: (0.5, 1 / (base + 1)),
        OLH: (base / (base + cells - 1), 1 / cells),
        HadamardResponse: (base / (base + 1), 0.5),
    }
    for kind, (p, q) in parameters.items():
        mechanism = kind(20, epsilon)
        np.testing.assert_allclose(
            [float(chance) for chance in mechanism.probabilities], (p, q), rtol=1e-6
        )
        assert mechanism.variance(1000, 0.3) == pytest.approx(peer(p, q, 1000, 0.3), rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5, 5.0])
def test_parameters_agree_with_pure_ldp(pure_ldp, epsilon):
    from pure_ldp.frequency_oracles.direct_encoding import DEClient
    from pure_ldp.frequency_oracles.local_hashing import LHClient
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    hashing = LHClient(epsilon, 20, use_olh=True)
    assert OLH(20, epsilon).cells == hashing.g
    pairs = [
        (GRR(20, epsilon).probabilities, DEClient(epsilon, 20)),
        (SUE(20, epsilon).probabilities, UEClient(epsilon, 20)),
        (OUE(20, epsilon).probabilities, UEClient(epsilon, 20, use_oue=True)),
        (OLH(20, epsilon).levels, hashing),
    ]
    for ours, theirs in pairs:
        np.testing.assert_allclose(
            [float(chance) for chance in ours], (theirs.p, theirs.q), rtol=1e-6
        )
