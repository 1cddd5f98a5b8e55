"""Oscillations, contraction coefficients and norms against exact values, and their own limits."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, arb_mat, ctx

from numerics.collapse import oscillation as collapse
from numerics.rounding.roundoff import gamma
from numerics.walks import softmax_walk

U = 2.0**-53


def tokens(seed: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def squares(x: np.ndarray) -> list[int]:
    """Squared distances of integer tokens, exactly."""
    return [sum(int(a - b) ** 2 for a, b in zip(r, s, strict=True)) for r, s in combinations(x, 2)]


@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 5), (7, 2), (64, 9)])
@pytest.mark.parametrize("power", [-1000, -600, 0, 400])
def test_osc_is_the_largest_distance_at_every_scale(n: int, d: int, power: int) -> None:
    x = np.random.default_rng(n).integers(-40, 41, size=(n, d)).astype(float)
    found = float(collapse.osc(np.ldexp(x, power)))
    with ctx.workprec(120):
        exact = arb(max(squares(x))).sqrt() * arb(2) ** power
        assert abs(arb(found) - exact) <= (d + 8) * U * exact


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_osc_keeps_kind_dtype_and_batch(dtype: str) -> None:
    x = torch.tensor(tokens(1, 3, 2, 5, 4)).to(getattr(torch, dtype))
    found = collapse.osc(x)
    assert (found.dtype, found.shape) == (x.dtype, (3, 2))
    assert found[1, 0] == collapse.osc(x[1, 0])
    if dtype != "bfloat16":
        assert found[1, 0].item() == collapse.osc(x[1, 0].numpy()).item()


def test_osc_of_equal_tokens_or_of_one_is_zero_and_a_common_shift_is_not_seen() -> None:
    assert collapse.osc(np.full((4, 3), 0.1)) == 0
    assert collapse.osc(np.ones((1, 2))) == 0
    near = 1e8 + np.array([[0.0], [2.0**-20], [2.0**-26]])
    assert collapse.osc(near) == 2.0**-20


def test_dobrushin_of_named_matrices() -> None:
    assert collapse.dobrushin(np.eye(3)) == 1
    assert collapse.dobrushin(np.full((3, 4), 0.25)) == 0
    assert collapse.dobrushin(np.array([[0.75, 0.25], [0.25, 0.75]])) == 0.5
    # Negative weights of the same row sum may spread tokens apart.
    signed = np.array([[2.0, -1.0], [-1.0, 2.0]])
    assert collapse.dobrushin(signed) == 3
    assert collapse.osc(signed @ np.array([[0.0], [1.0]])) == 3


@pytest.mark.parametrize("m", [2, 3, 8, 64])
def test_total_variation_of_softmax_is_at_most_tanh_of_a_quarter_spread(m: int) -> None:
    S = 3 * tokens(m, 200, 2, m)
    spread = collapse.score_spread(S).difference
    A = softmax_walk(S)
    rounding = gamma(8 * (m + 40), U)
    assert np.all(collapse.dobrushin(A) <= np.tanh(spread / 4) * (1 + 8 * U) + rounding)
    # A quarter is the constant: an eighth would be too small.
    assert np.any(collapse.dobrushin(A) > np.tanh(spread / 8))


@pytest.mark.parametrize("m", [2, 3, 8, 64])
@pytest.mark.parametrize("spread", [0.01, 1.0, 9.0])
def test_the_total_variation_bound_is_attained_for_every_number_of_keys(
    m: int, spread: float
) -> None:
    # One key of weight 1/(1 + e^{spread/2}) grows by e^spread; the others share the rest.
    base = np.zeros(m)
    base[0] = -spread / 2 + np.log(m - 1)
    S = np.stack([base, base])
    S[1, 0] += spread
    found = collapse.dobrushin(softmax_walk(S)) / np.tanh(spread / 4)
    rounding = gamma(8 * (m + 40), U) * (1 + 1 / np.tanh(spread / 4)) * (2 + spread)
    assert abs(found - 1) <= rounding


def test_score_spreads_of_named_scores() -> None:
    S = np.array([[0.0, 2.0], [3.0, -1.0]])
    found = collapse.score_spread(S)
    assert (found.difference, found.row) == (6, 4)
    # Terms of a row are not seen, and Delta = 2 B is possible.
    shifted = collapse.score_spread(S + np.array([[5.0], [-7.0]]))
    assert (shifted.difference, shifted.row) == (6, 4)
    opposite = collapse.score_spread(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert opposite.difference == 2 * opposite.row


@pytest.mark.parametrize("seed", range(5))
def test_spread_of_differences_is_the_largest_over_pairs_of_rows(seed: int) -> None:
    S = np.random.default_rng(seed).integers(-9, 10, size=(6, 4)).astype(float)
    pairs = [np.ptp(a - b) for a in S for b in S]
    assert collapse.score_spread(S).difference == max(pairs) <= 2 * collapse.score_spread(S).row


@pytest.mark.parametrize(
    ("W", "norm"),
    [
        (np.array([[3.0, 4.0], [-4.0, 3.0]]), 5),
        (np.ones((7, 7)), 7),
        (np.ones((2, 8)), 4),
        (np.array([[2.0**-300]]), arb(2) ** -300),
        (np.diag([1.0, 1 + 2.0**-40, 0.0]), 1 + 2.0**-40),
    ],
)
def test_spectral_norm_is_rounded_up_and_by_little(W: np.ndarray, norm: Any) -> None:
    found = arb(float(collapse.spectral_norm(W)))
    assert norm <= found <= arb(norm) * (1 + max(W.shape) ** 2 * 2.0**-48)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 6), (24, 24)])
def test_spectral_norm_is_above_the_largest_singular_value(shape: tuple[int, int]) -> None:
    # Approximate eigenvalues at 400 bits are nearer than any bound in float64.
    W = tokens(5, *shape)
    found = float(collapse.spectral_norm(W))
    with ctx.workprec(400):
        exact = arb_mat([[arb(float(v)) for v in row] for row in W])
        least = min(shape)
        gram = exact * exact.transpose() if shape[0] == least else exact.transpose() * exact
        values = gram.eig(algorithm="approx")
        top = max(values, key=lambda v: float(v.real)).real.sqrt()
        assert top <= arb(found) <= top * (1 + arb(64 + 8 * max(shape) ** 2) * U)


def test_contraction_adds_heads_up() -> None:
    norms, spreads = np.array([1.0, 0.5]), np.array([4.0, 2.0])
    exact = arb(1).tanh() + arb(0.5).tanh() / 2
    found = arb(float(collapse.contraction(norms, spreads)))
    assert exact <= found <= exact * (1 + 64 * U)
    # Two equal heads of half-mixing attention double what one leaves: a maximum would be false.
    A = np.array([[0.75, 0.25], [0.25, 0.75]])
    x = np.array([[0.0], [1.0]])
    assert collapse.osc(A @ x + A @ x) == collapse.osc(x)
    spread = float(collapse.score_spread(np.log(A)).difference)
    both = float(collapse.contraction(np.ones(2), np.full(2, spread)))
    assert both >= 1 > float(collapse.contraction(np.ones(1), np.array([spread])))


def test_collapse_bound_is_the_product_of_contractions() -> None:
    norms, spreads = np.full((3, 2), 0.5), np.array([[2.0, 2.0], [4.0, 0.0], [0.0, 0.0]])
    found = collapse.collapse_bound(2.0, norms, spreads)
    assert found[0] == 2
    exact = [arb(2) * arb(0.5).tanh()]
    exact += [exact[0] * arb(1).tanh() / 2]
    for value, bound in zip(exact, found[1:], strict=False):
        assert value <= arb(float(bound)) <= value * (1 + 200 * U)
    assert 0 < found[3] < 1e-300
    assert np.all(collapse.collapse_bound(0.0, norms, spreads) == 0)
    same = collapse.collapse_bound(2.0, torch.tensor(norms), torch.tensor(spreads))
    assert isinstance(same, torch.Tensor)
    assert same.shape == (4,)


def exact_step(x: np.ndarray, scores: np.ndarray, transports: np.ndarray) -> list[list[arb]]:
    """The step in balls, every sum literally; -inf has weight 0."""
    n, d = x.shape
    out = [[arb(0)] * d for _ in range(n)]
    for S, T in zip(scores, transports, strict=True):
        for i in range(n):
            powers = [arb(0) if s == -np.inf else arb(float(s)).exp() for s in S[i]]
            total = sum(powers, arb(0))
            for a in range(d):
                for j in range(n):
                    moved = sum((arb(float(T[a, b])) * float(x[j, b]) for b in range(d)), arb(0))
                    out[i][a] += powers[j] / total * moved
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 30.0])
def test_a_step_is_within_its_error(dtype: Any, causal: bool, scale: float) -> None:
    n, d, heads = 5, 3, 2
    x, S = tokens(1, n, d, dtype=dtype), (scale * tokens(2, heads, n, n)).astype(dtype)
    T = tokens(3, heads, d, d, dtype=dtype)
    mask = np.tri(n, dtype=bool) if causal else None
    step = collapse.attention_step(x, S, T, mask)
    with ctx.workprec(200):
        exact = exact_step(x, S if mask is None else np.where(mask, S, -np.inf), T)
        off = np.array([[float(abs(arb(float(step.x[i, a])) - exact[i][a])) for a in range(d)]
                        for i in range(n)])  # fmt: skip
    assert np.all(off <= step.error)
    assert np.max(off / step.error) > 1e-3
    doubled = collapse.attention_step(x, S, 2 * T, mask)
    assert np.any(np.abs(doubled.x - step.x) > step.error + doubled.error)


def test_a_step_takes_a_batch_and_tensors() -> None:
    x, S, T = tokens(1, 4, 5, 3), tokens(2, 4, 2, 5, 5), tokens(3, 4, 2, 3, 3)
    batch = collapse.attention_step(torch.tensor(x), torch.tensor(S), torch.tensor(T))
    one = collapse.attention_step(x[2], S[2], T[2])
    assert np.all(np.abs(batch.x[2].numpy() - one.x) <= batch.error[2].numpy() + one.error)
    assert tuple(batch.spread_error().shape) == (4,)
    size = np.sqrt(np.max(np.sum(one.error**2, axis=1)))
    assert 2 * size <= one.spread_error() <= 2 * size * (1 + 1e-14)
