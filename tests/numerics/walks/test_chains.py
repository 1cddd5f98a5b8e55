"""Classes, periods and stationary laws, against exact rationals of the stored entries."""

from fractions import Fraction
from math import gcd
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_mat

from numerics.properties.vocabulary import stochastic
from numerics.walks import chains, softmax_walk
from numerics.walks.chains import (
    closed_classes,
    logit_support,
    stationary_distribution,
    time_reversal,
)
from numerics.walks.elimination import Wide

KINDS = [np.asarray, torch.from_numpy]
CYCLE = np.roll(np.eye(3), 1, axis=1)
U = Fraction(1, 2**53)


def rational(x: Any) -> fmpq:
    f = Fraction(float(x))
    return fmpq(f.numerator, f.denominator)


def exact_law(P: np.ndarray) -> list[Fraction]:
    """The law of an irreducible chain, over Q, whose diagonal is what the rest of a row leaves."""
    n = len(P)
    rows = [[rational(P[i, j]) if i != j else fmpq(0) for j in range(n)] for i in range(n)]
    for i in range(n):
        rows[i][i] = -sum(rows[i], fmpq(0))
    system = [[rows[i][j] for i in range(n)] for j in range(n - 1)] + [[fmpq(1)] * n]
    law = fmpq_mat(system).solve(fmpq_mat([[fmpq(0)]] * (n - 1) + [[fmpq(1)]]))
    return [Fraction(int(law[i, 0].p), int(law[i, 0].q)) for i in range(n)]


def completed(off: np.ndarray) -> np.ndarray:
    """The walk with these entries off the diagonal."""
    off = off * (1 - np.eye(len(off)))
    return off + np.diag(1 - off.sum(axis=1))


def worst(law: Any, P: np.ndarray) -> Fraction:
    """Largest relative error of a law over the bound (n + 2)^3 u + a rounding to the dtype."""
    n, stored = len(P), np.asarray(law)
    assert np.isfinite(stored).all()
    bound = (n + 2) ** 3 * U + Fraction(float(np.finfo(stored.dtype).eps)) / 2
    pairs = zip(exact_law(P), stored, strict=True)
    return max(abs(Fraction(float(p)) - exact) / exact for exact, p in pairs) / bound


def rare(rng: np.random.Generator, n: int, low: int) -> np.ndarray:
    return completed(10.0 ** rng.uniform(low, -1, size=(n, n)) / n)


def nearly_reducible(rng: np.random.Generator, n: int) -> np.ndarray:
    P = stochastic(rng, n)
    far = np.arange(n)[:, None] % 2 != np.arange(n)[None, :] % 2
    return completed(np.where(far, 1e-17 * P, P))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", range(1, 9))
def test_every_entry_of_the_law_is_accurate(n: int, kind: Any) -> None:
    rng = np.random.default_rng(n)
    for P in (stochastic(rng, n), rare(rng, n, -30), nearly_reducible(rng, n)):
        assert worst(stationary_distribution(kind(P)), P) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_rare_transitions_neither_under_nor_overflow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = rare(rng, int(rng.integers(2, 7)), -307)
    # Weights below the smallest normal number are compared through the wide numbers.
    law = chains._law(P)
    for k, exact in enumerate(exact_law(P)):
        e = 0 if law.exponent is None else int(law.exponent[k])
        found = Fraction(float(law.mantissa[k])) * Fraction(2) ** (256 * e)
        assert abs(found - exact) <= (len(P) + 2) ** 3 * U * exact


def test_two_rare_steps_in_a_row() -> None:
    """Their product, 1e-400, is no float64."""
    P = np.array([[1, 1e-200, 0], [0, 1, 1e-200], [1e-200, 0, 1]])
    assert stationary_distribution(P).tolist() == [1 / 3] * 3


def test_the_bound_rejects_a_least_squares_law() -> None:
    P = nearly_reducible(np.random.default_rng(0), 6)
    system = np.vstack([(P - np.eye(6)).T, np.ones(6)])
    law = np.linalg.lstsq(system, np.append(np.zeros(6), 1.0), rcond=None)[0]
    assert worst(law, P) > 8
    assert worst(stationary_distribution(P), P) <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_lower_precision_costs_one_rounding(dtype: Any) -> None:
    P = stochastic(np.random.default_rng(5), 5).astype(dtype)
    law = stationary_distribution(P)
    assert law.dtype == dtype
    assert worst(law, P.astype(np.float64)) <= 1


def test_law_of_a_digraph_with_51_nodes() -> None:
    rng = np.random.default_rng(51)
    edges = (rng.random((51, 51)) < 0.05) | (np.roll(np.eye(51), 1, axis=1) > 0)
    P = edges / edges.sum(axis=1, keepdims=True)
    law = stationary_distribution(P)
    assert worst(law, P) <= 1
    assert law.min() > 0
    # It is the left null vector: the right one is constant.
    assert np.abs(law @ P - law).max() <= 53**3 * 2.0**-53 * law.max()
    assert np.ptp(law) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_a_periodic_chain_has_its_law(kind: Any) -> None:
    assert np.asarray(stationary_distribution(kind(CYCLE))).tolist() == [1 / 3] * 3
    assert chains.period(kind(CYCLE)) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_closed_classes_are_averaged_and_transient_states_get_nothing(kind: Any) -> None:
    P = np.array([[0.5, 0, 0, 0.5], [0.25, 0.5, 0.25, 0], [0, 0, 1, 0], [0.25, 0, 0, 0.75]])
    law = np.asarray(stationary_distribution(kind(P)))
    assert closed_classes(kind(P)) == ((0, 3), (2,))
    assert chains.transient_states(kind(P)) == (1,)
    assert law[1] == 0
    assert law[2] == 0.5
    for k, exact in ((0, Fraction(1, 6)), (3, Fraction(1, 3))):
        assert abs(Fraction(float(law[k])) - exact) <= 4**3 * U * exact


def test_weights_return_to_their_states() -> None:
    """The classes in order are 1, 2 | 0: a permutation that is not its own inverse."""
    P = np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.0, 0.25, 0.75]])
    for k, exact in enumerate((Fraction(0), Fraction(1, 3), Fraction(2, 3))):
        assert abs(Fraction(float(stationary_distribution(P)[k])) - exact) <= 5**3 * U * exact


def test_causal_walk_ends_in_its_first_token() -> None:
    P = softmax_walk(np.random.default_rng(3).normal(size=(6, 6)), np.tri(6) > 0)
    assert stationary_distribution(P).tolist() == [1, 0, 0, 0, 0, 0]
    assert chains.transient_states(P) == (1, 2, 3, 4, 5)
    assert not chains.is_irreducible(P)


@pytest.mark.parametrize("kind", KINDS)
def test_connectivity_is_decided_on_the_logits(kind: Any) -> None:
    """Scores that differ by 110 leave exact zeros in float32."""
    logits = np.array([[0.0, -110.0], [-110.0, 0.0]])
    single = softmax_walk(kind(logits.astype(np.float32)))
    assert single[0, 1] == 0
    assert closed_classes(single) == ((0,), (1,))
    assert closed_classes(logit_support(kind(logits.astype(np.float32)))) == ((0, 1),)
    assert closed_classes(softmax_walk(kind(logits))) == ((0, 1),)
    logits[0, 1] = -np.inf
    assert closed_classes(logit_support(kind(logits))) == ((0,),)
    causal = np.tri(2) > 0
    assert closed_classes(logit_support(kind(0 * np.tri(2)), kind(causal))) == ((0,),)


def boolean_power_period(edges: np.ndarray) -> int:
    found, power = 0, np.eye(len(edges), dtype=bool)
    for length in range(1, len(edges) ** 2 + 1):
        power = (power.astype(int) @ edges) > 0
        found = gcd(found, length) if power.diagonal().any() else found
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_classes_and_periods_on_random_digraphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    edges = rng.random((n, n)) < rng.choice([0.15, 0.3, 0.6])
    graph = nx.from_numpy_array(edges.astype(int), create_using=nx.DiGraph)
    components = sorted(tuple(sorted(c)) for c in nx.strongly_connected_components(graph))
    assert chains.communicating_classes(edges) == tuple(components)
    attracting = sorted(tuple(sorted(c)) for c in nx.attracting_components(graph))
    assert closed_classes(edges) == tuple(attracting)
    assert chains.is_irreducible(edges) == nx.is_strongly_connected(graph)
    for members in components:
        part = edges[np.ix_(members, members)]
        if part.any():
            assert chains.period(part) == boolean_power_period(part)


@pytest.mark.parametrize("kind", KINDS)
def test_reversal_keeps_the_law_and_reverses_the_flow(kind: Any) -> None:
    P = stochastic(np.random.default_rng(7), 5)
    law = stationary_distribution(P)
    back = np.asarray(time_reversal(kind(P)))
    chains.row_stochastic(back)
    flow, reverse = law[:, None] * P, law[:, None] * back
    assert np.abs(reverse - flow.T).max() <= 2 * 7**3 * 2.0**-53 * flow.max()
    for other in (chains.additive_reversibilisation, chains.multiplicative_reversibilisation):
        Q = np.asarray(other(kind(P)))
        assert np.abs(law @ Q - law).max() <= 4 * 7**3 * 2.0**-53
        symmetric = law[:, None] * Q
        assert np.abs(symmetric - symmetric.T).max() <= 4 * 7**3 * 2.0**-53 * symmetric.max()
        assert np.abs(flow - flow.T).max() > 1e-3


def test_the_cycle_reversed_runs_backwards_and_there_and_back_stays() -> None:
    """P P* = I: the multiplicative reversibilisation of an irreducible walk can be reducible."""
    assert (time_reversal(CYCLE) == CYCLE.T).all()
    assert (chains.multiplicative_reversibilisation(CYCLE) == np.eye(3)).all()
    assert not chains.is_irreducible(chains.multiplicative_reversibilisation(CYCLE))


def test_additive_reversibilisation_keeps_the_quadratic_form_only() -> None:
    A, f = chains.additive_reversibilisation(CYCLE), np.array([1.0, 2.0, 4.0])
    assert f @ A @ f == f @ CYCLE @ f
    assert CYCLE[0, 1] == 1
    assert A[0, 1] == 0.5


def test_reversal_of_two_classes_and_of_rare_states() -> None:
    P = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1.0]])
    assert (time_reversal(P) == P).all()
    rare_walk = np.array([[1.0, 1e-200], [1.0, 0.0]])
    assert (time_reversal(rare_walk) == rare_walk).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_softmax_rows_of_any_precision_are_row_stochastic(dtype: Any) -> None:
    logits = torch.randn(64, 1024, generator=torch.Generator().manual_seed(0)).to(dtype)
    chains.row_stochastic(torch.softmax(logits, -1))
    chains.row_stochastic(softmax_walk(logits))
    P = torch.full((1, 2), 0.5, dtype=dtype)
    P[0, 1] *= 1 + 2.0**9 * torch.finfo(dtype).eps if dtype != torch.bfloat16 else 1.05
    with pytest.raises(ValueError, match=r"P must be row-stochastic .*in row 0"):
        chains.row_stochastic(P)


def wide_numbers(rng: np.random.Generator, size: int) -> tuple[Wide, list[Fraction]]:
    mantissas = rng.uniform(1, 2, size=size) * (rng.random(size) < 0.8)
    scales = 10.0 ** rng.integers(-150, 150, size=size)
    powers = Wide.of(mantissas * scales) * Wide.of(scales)
    exact = [Fraction(float(m * s)) * Fraction(float(s))
             for m, s in zip(mantissas, scales, strict=True)]  # fmt: skip
    return powers, exact


def fractions(wide: Wide) -> list[Fraction]:
    exponents = [0] * len(wide.mantissa) if wide.exponent is None else wide.exponent.tolist()
    return [Fraction(float(m)) * Fraction(2) ** (256 * int(e)) if m else Fraction(0)
            for m, e in zip(wide.mantissa, exponents, strict=True)]  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_wide_numbers_have_the_relative_error_of_floats(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (a, x), (b, y) = wide_numbers(rng, 12), wide_numbers(rng, 12)
    products = [p * q for p, q in zip(x, y, strict=True)]
    sums = [p + q for p, q in zip(x, y, strict=True)]
    for found, exact in ((fractions(a * b), products), (fractions(a + b), sums)):
        for value, true in zip(found, exact, strict=True):
            assert abs(value - true) <= 8 * U * true
    assert abs(fractions(a.sum()[None])[0] - sum(x)) <= 16 * U * sum(x)
    tiny, nothing = Wide.of(np.array([1e-300])), Wide.of(np.zeros(1))
    assert fractions(nothing + tiny * tiny) == fractions(tiny * tiny) != [0]
    assert (Wide.of(np.array([5e-324, 1e308, 0.0, 1.0])).value() == [5e-324, 1e308, 0, 1]).all()


def test_gradients_flow_through_the_elimination() -> None:
    """d pi_1 / d P_01 = pi_0 pi_1 / P_01 for two states."""
    P = torch.tensor([[0.75, 0.25], [0.5, 0.5]], dtype=torch.float64, requires_grad=True)
    stationary_distribution(P)[1].backward()
    assert P.grad is not None
    assert abs(P.grad[0, 1].item() - 8 / 9) <= 64 * 2.0**-53
    assert abs(P.grad[1, 0].item() + 4 / 9) <= 64 * 2.0**-53
