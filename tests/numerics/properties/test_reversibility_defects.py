"""CW9's property holds, is tight and can fail; the plain norm of W - W* has no such bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from numerics.laplacians import laplacian as laplacians
from numerics.properties import reversibility_defects as cw9
from numerics.walks.chains import is_irreducible, multiplicative_reversibilisation, period
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
ADJOINT, MEAN = cw9.CLAUSES


def adjoint_of(change: Callable[..., dict[str, Any]]) -> Plant:
    """The adjoint of a walk where some of (P, T, G, pi) are changed."""

    def wrong(sound: Any, P: Any, T: Any, G: Any, pi: Any) -> Any:
        parts = {"P": P, "T": T, "G": G, "pi": pi}
        return sound(*(parts | change(**parts)).values())

    return Plant(ADJOINT, "adjoint", wrong)


def inverse(G: np.ndarray) -> np.ndarray:
    inverted = np.linalg.inv(G.astype(np.float64))
    return ((inverted + np.swapaxes(inverted, 1, 2)) / 2).astype(G.dtype)


FALSEHOODS = {
    "blocks not transposed": adjoint_of(lambda T, **_: {"T": np.swapaxes(T, 2, 3).copy()}),
    "edges not reversed": adjoint_of(lambda T, **_: {"T": np.swapaxes(T, 0, 1).copy()}),
    "law left out": adjoint_of(lambda pi, **_: {"pi": np.ones_like(pi)}),
    "metrics left out": adjoint_of(lambda **_: {"G": None}),
    "metrics inverted": adjoint_of(lambda G, **_: {"G": inverse(G)}),
    "mean with the transpose": Plant(
        MEAN, "additive_reversibilisation", lambda _, P: (P + P.T) / 2),
    "product instead of mean": Plant(
        MEAN, "additive_reversibilisation", lambda _, P: multiplicative_reversibilisation(P)),
    "every edge counted twice": Plant(
        MEAN, "energy", lambda sound, walk, sample: 2 * sound(walk, sample)),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    for clause in cw9.CLAUSES:
        of_clause = [sample for sample in seen if sample.clause == clause]
        assert {len(sample.pi) for sample in of_clause} >= {1, 2, 3, 6}
        assert {sample.x.shape[1] for sample in of_clause} == {1, 2, 3, 4}
        assert {sample.P.dtype.name for sample in of_clause} == {"float64", "float32"}
    killed = [sample for sample in seen if sample.clause == ADJOINT]
    assert any((np.triu(s.P, 1) == 0).all() and len(s.P) > 1 for s in killed)
    assert any(not s.T.any(axis=(2, 3)).all() for s in killed)
    assert any((np.triu(s.frames[0], 1) != 0).any() for s in killed)
    chains = [sample for sample in seen if sample.clause == MEAN]
    assert any(not is_irreducible(s.P) for s in chains)
    assert any(is_irreducible(s.P) and period(s.P) > 2 for s in chains)
    assert any(0 < np.abs(s.x).max() < np.finfo(s.x.dtype).tiny for s in chains)


@pytest.mark.parametrize("kind", sorted(set(cw9.FLOWS)))
@pytest.mark.parametrize("seed", range(5))
def test_circulations_have_a_dyadic_walk_with_their_row_sums_as_law(kind: str, seed: int) -> None:
    flow = cw9.circulation(np.random.default_rng(seed), 6, kind)
    assert (flow >= 0).all()
    pi = [Fraction(total) for total in flow.sum(axis=1)]
    P = (flow / flow.sum(axis=1)[:, None]).astype(np.float32)
    walk = [[Fraction(float(entry)) for entry in row] for row in P]
    assert all(sum(row) == 1 for row in walk)
    assert [sum(pi[i] * walk[i][j] for i in range(6)) for j in range(6)] == pi
    assert all(pi[i] * walk[i][j] == flow[i, j] for i in range(6) for j in range(6))


@pytest.mark.parametrize("seed", range(5))
def test_frames_are_the_cholesky_factors_of_their_metrics(seed: int) -> None:
    F = cw9.frames(np.random.default_rng(seed), 4, 4)
    G = np.swapaxes(F, 1, 2) @ F
    assert (np.swapaxes(np.linalg.cholesky(G), 1, 2) == F).all()
    assert (np.triu(F, 1) != 0).any()


Rational = list[list[Fraction]]


def plain_ratio(P: Rational, T: Rational, pi: list[Fraction]) -> Fraction:
    """|W - W*|_F^2 / (4 |W|_F^2) without weights, d = 1, G = 1."""
    states = range(len(P))
    W = [[P[i][j] * T[i][j] for j in states] for i in states]
    starred = [[pi[j] / pi[i] * W[j][i] for j in states] for i in states]
    gap = sum((W[i][j] - starred[i][j]) ** 2 for i in states for j in states)
    return Fraction(gap) / (4 * sum(w**2 for row in W for w in row))


def operator_defect(P: Rational, T: Rational) -> float:
    weights, transports = (np.array(part, dtype=np.float64) for part in (P, T))
    return laplacians.operator_defect(weights, transports[:, :, None, None])


def test_plain_norm_exceeds_one_on_two_states() -> None:
    half = Fraction(1, 2)
    P = [[Fraction(0), Fraction(1)], [half, half]]
    T = [[Fraction(0), Fraction(0)], [Fraction(1), Fraction(0)]]
    assert plain_ratio(P, T, [Fraction(1, 3), Fraction(2, 3)]) == Fraction(5, 4)
    # One entry of A: |A - A^T|^2 = 2 |A|^2, so the weighted defect is 1/sqrt(2) for every law.
    assert abs(operator_defect(P, T) - 0.5**0.5) <= 16 * 2.0**-53


def test_plain_norm_exceeds_one_with_equal_transports() -> None:
    """Seven hubs with four leaves each: hub to its leaves, leaf to every hub."""
    hubs, leaves = 7, 4
    n = hubs * (1 + leaves)
    P = [[Fraction(0)] * n for _ in range(n)]
    for hub in range(hubs):
        for leaf in range(hubs + leaves * hub, hubs + leaves * (hub + 1)):
            P[hub][leaf] = Fraction(1, leaves)
            for other in range(hubs):
                P[leaf][other] = Fraction(1, hubs)
    pi = [Fraction(1, 14)] * hubs + [Fraction(1, 56)] * (n - hubs)
    assert [sum(pi[i] * P[i][j] for i in range(n)) for j in range(n)] == pi
    ones = [[Fraction(1)] * n for _ in range(n)]
    assert plain_ratio(P, ones, pi) == Fraction(51, 46)
    assert operator_defect(P, ones) < 1
