"""Spreads of transports on factors whose singular values are known."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from numerics.rounding.roundoff import gamma
from numerics.trained.measures.transports import (
    Factors,
    distinct_tokens,
    factors,
    joined,
    pair_variation,
    singular_values,
    spread,
    squared_gaps,
    value_heads,
)
from numerics.trained.models.layers import ValueFold

U = 2.0**-53


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape))


def orthonormal(d: int, k: int, seed: int) -> torch.Tensor:
    return torch.linalg.qr(draw(d, k, seed=seed))[0]


def with_values(d: int, sigma: torch.Tensor, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors v (d, k), o (k, d) of a transport with exactly these nonzero singular values."""
    k = len(sigma)
    return orthonormal(d, k, seed) * sigma, orthonormal(d, k, seed + 1).mT


@pytest.mark.parametrize("sigma", [[3.0, 1.0, 0.5], [1.0, 8e-3, 2e-4], [2.0, 2.0, 2.0]])
def test_singular_values_are_those_that_the_factors_were_built_from(sigma: list[float]) -> None:
    wanted = torch.tensor(sigma, dtype=torch.float64)
    found = singular_values(*with_values(11, wanted, seed=1))
    # Backward stable QR and SVD: every value is off by a few d k U of the largest.
    bound = 4 * gamma(11 * 3, U) * sigma[0]
    assert found.shape == (3,)
    assert float((found - wanted).abs().max()) <= bound, f"{found} for {sigma}"


def test_only_scaled_isometries_have_no_spread() -> None:
    even = spread(torch.full((4,), 7.0, dtype=torch.float64))
    assert (even.cv.item(), even.condition.item(), even.participation.item()) == (0, 1, 1)
    one = spread(torch.tensor([5.0, 0, 0, 0], dtype=torch.float64))
    assert one.participation.item() == 0.25
    assert one.condition.item() == float("inf")
    assert one.cv.item() == pytest.approx(3**0.5, rel=4 * U, abs=0)


def test_spread_by_hand() -> None:
    found = spread(torch.tensor([3.0, 1.0], dtype=torch.float64))
    assert found.cv.item() == pytest.approx(0.5, rel=8 * U, abs=0)
    assert found.condition.item() == pytest.approx(3, rel=8 * U, abs=0)
    assert found.participation.item() == pytest.approx(100 / 164, rel=8 * U, abs=0)


def test_a_zero_transport_has_no_spread() -> None:
    assert bool(torch.isnan(spread(torch.zeros(3, dtype=torch.float64)).cv))


@pytest.mark.parametrize("bad", [[1.0, -1.0], [float("nan"), 0.0], [float("inf"), 1.0]])
def test_what_is_no_singular_value_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="sigma must be nonnegative and finite"):
        spread(torch.tensor(bad))


def test_query_heads_that_read_one_value_head_are_found() -> None:
    shared = draw(2, 9, 3)
    assert value_heads(shared[[0, 0, 1, 1]]) == (0, 0, 1, 1)
    assert value_heads(draw(3, 9, 3)) == (0, 1, 2)


@pytest.mark.parametrize("owner", [(0, 1, 2), (0, 0, 1), (0, 0, 0)])
def test_joined_factors_give_the_weighted_sum_of_transports(owner: tuple[int, ...]) -> None:
    v, o, mix = draw(max(owner) + 1, 10, 2), draw(3, 2, 10), torch.tensor([0.5, 2.0, -1.0]).double()
    expected = sum(mix[h] * v[owner[h]] @ o[h] for h in range(3))
    left, right = joined(Factors(v, o, owner), mix)
    assert left.shape == (10, 2 * (max(owner) + 1)), "more columns than value heads give"
    size = float(left.norm() * right.norm())
    assert float((left @ right - expected).norm()) <= 4 * gamma(12, U) * size


def test_draws_are_joined_one_by_one() -> None:
    v, o, mix = draw(4, 2, 7, 3), draw(4, 2, 3, 7), draw(4, 2)
    left, right = joined(Factors(v, o, (0, 1)), mix)
    for one in range(4):
        alone = joined(Factors(v[one], o[one], (0, 1)), mix[one])
        assert torch.equal(left[one], alone[0])
        assert torch.equal(right[one], alone[1])


@pytest.mark.parametrize("centred", [True, False])
def test_the_folded_factor_reads_the_raw_stream(centred: bool) -> None:
    """z = gain * (C) x / size(x): the folded transport of x is that of z, up to size(x)."""
    from numerics.trained.models.attention import AttentionWeights

    none, gain, x = torch.zeros(1), draw(8) + 3, draw(8)
    w_v, w_o = draw(1, 8, 3), draw(1, 3, 8)
    weights = AttentionWeights(w_v, none, w_v, none, w_v, none, w_o, none, 1.0)
    folded = factors(weights, ValueFold(gain, centred))
    z = gain * (x - x.mean() if centred else x)
    found, expected = x @ folded.v[0], z @ w_v[0]
    size = float(gain.abs().max() * x.norm() * w_v.norm())
    assert float((found - expected).abs().max()) <= 8 * gamma(16, U) * size
    assert float((x @ factors(weights).v[0] - expected).abs().max()) > 0.1, "nothing was folded"


def test_repeated_tokens_leave() -> None:
    assert distinct_tokens([5, 7, 5, 5, 9, 7]) == [0, 1, 4]


def test_variation_over_pairs_is_that_of_all_pairs_listed() -> None:
    texts = [draw(5, 3), draw(4, 3)]
    metric = draw(3, 3)
    metric = metric @ metric.mT
    lengths = [
        float(((x[i] - x[j]) @ metric @ (x[i] - x[j])) ** 0.5)
        for x in texts for i in range(len(x)) for j in range(i)
    ]  # fmt: skip
    found = pair_variation([squared_gaps(x, metric) for x in texts]).item()
    # The sum of squares loses the digits of (mean / std)^2, about ten here.
    assert found == pytest.approx(np.std(lengths) / np.mean(lengths), rel=1e3 * U, abs=0)


def test_two_tokens_have_no_spread_of_pairs() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        squared_gaps(draw(2, 3))
