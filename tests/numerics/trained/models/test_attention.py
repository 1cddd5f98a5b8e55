"""The written-out module on examples by hand: RoPE's layout, windows, soft-caps, norms, groups."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from numerics.trained.models.attention import (
    AttentionWeights,
    HeadNorms,
    attention_logits,
    attention_pattern,
    rms_norm,
    turn,
    visible_keys,
)
from numerics.trained.models.layers import by_head, head_bias

U = 2**-53


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Seeded normal values in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def identity_weights(d: int, **changes: object) -> AttentionWeights:
    """One head with every matrix the identity, no biases and scale 1."""
    eye, none = torch.eye(d, dtype=torch.float64)[None], torch.zeros((1, d), dtype=torch.float64)
    weights = AttentionWeights(eye, none, eye, none, eye, none, eye, none[0], 1.0)
    return replace(weights, **changes)  # type: ignore[arg-type]


def angles(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """RoPE of base 100 on 4 channels: planes turn by i and i / 10 at position i."""
    at = torch.arange(n, dtype=torch.float64)[:, None] * torch.tensor([1, 0.1]).double()
    both = torch.cat((at, at), dim=-1)
    return both.cos(), both.sin()


def interleaved(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """RoPE whose planes are channels (0, 1) and (2, 3)."""
    even, odd = x[..., 0::2], x[..., 1::2]
    c, s = cos[:, :2], sin[:, :2]
    return torch.stack((even * c - odd * s, odd * c + even * s), dim=-1).flatten(-2)


def test_logits_of_turned_tokens_depend_on_the_distance_alone() -> None:
    q, k = draw(4, seed=1), draw(4, seed=2)
    cos, sin = angles(12)
    turned = [turn(v.expand(1, 12, 4), cos, sin)[0] for v in (q, k)]
    for i, j in ((3, 1), (7, 5), (11, 9)):
        found, first = turned[0][i] @ turned[1][j], turned[0][2] @ turned[1][0]
        # Cosines and sines of single precision's positions: a few roundings of |q| |k|.
        assert abs(found - first) < 32 * U * q.norm() * k.norm(), f"({i}, {j}): {found} {first}"


def test_rope_layouts_differ_unless_channels_are_permuted() -> None:
    q, k, (cos, sin) = draw(1, 6, 4, seed=3), draw(1, 6, 4, seed=4), angles(6)
    order = [0, 2, 1, 3]
    split = (turn(q, cos, sin)[0, 3] @ turn(k, cos, sin)[0, 5]).item()
    other = (interleaved(q, cos, sin)[0, 3] @ interleaved(k, cos, sin)[0, 5]).item()
    q, k = q[..., order], k[..., order]
    permuted = (interleaved(q, cos, sin)[0, 3] @ interleaved(k, cos, sin)[0, 5]).item()
    assert abs(split - other) > 0.1, f"positions 3 and 5: {split} and {other} do not tell"
    assert abs(split - permuted) < 32 * U * (q.norm() * k.norm()).item(), f"{split} {permuted}"


@pytest.mark.parametrize("window", [1, 2, 3, 4, 9, None])
def test_a_window_counts_the_token_itself(window: int | None) -> None:
    n = 6
    allowed = visible_keys(n, identity_weights(2, causal=True, window=window))
    expected = [min(i + 1, window or n) for i in range(n)]
    assert allowed.sum(dim=1).tolist() == expected, f"window {window}: {allowed}"
    assert bool(allowed.diagonal().all())
    assert not bool(allowed.triu(1).any()), "a key after its query is visible"


def test_an_encoder_sees_all_keys() -> None:
    assert bool(visible_keys(5, identity_weights(2)).all())


def test_a_query_with_one_visible_key_attends_to_it_alone() -> None:
    z = draw(5, 3, seed=5)
    pattern = attention_pattern(z, identity_weights(3, causal=True, window=1))
    assert torch.equal(pattern[0], torch.eye(5).double()), f"{pattern}"
    causal = attention_pattern(z, identity_weights(3, causal=True))[0]
    assert causal[0].tolist() == [1, 0, 0, 0, 0]
    assert bool((causal.tril() > 0).equal(torch.ones(5, 5).tril() > 0)), f"{causal}"


def test_a_soft_cap_bounds_the_logits_and_keeps_their_slope_at_0() -> None:
    z = 30 * draw(4, 3, seed=6)
    free, capped = (attention_logits(z, identity_weights(3, softcap=c))[0] for c in (None, 7.0))
    assert float(free.abs().max()) > 100
    assert float(capped.abs().max()) <= 7
    expected = [[7 * math.tanh(v / 7) for v in row] for row in free.tolist()]
    error = (capped - torch.tensor(expected).double()).abs().max().item()
    assert error < 7 * 4 * U, f"off by {error}"


def test_rms_norm_by_hand() -> None:
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=torch.float64)
    found = rms_norm(x, torch.tensor([2.0, -1.0]).double(), 12.5)
    # mean (9 + 16) / 2 = 12.5, with eps 25: divided by 5
    expected = torch.tensor([[1.2, -0.8], [0.0, 0.0]], dtype=torch.float64)
    assert float((found - expected).abs().max()) < 4 * U, f"{found}"


def test_head_norms_come_before_the_turn_and_the_gains_are_their_own() -> None:
    z, gains = draw(6, 4, seed=7), (1 + draw(4, seed=8), 1 + draw(4, seed=9))
    weights = identity_weights(4, rotary=angles, norms=HeadNorms(*gains, eps=0.1))
    cos, sin = angles(6)
    query, key = (turn(rms_norm(z, gain, 0.1)[None], cos, sin)[0] for gain in gains)
    found = attention_logits(z, weights)[0]
    # Sums of four products below 10; the order of addition may differ.
    error = (found - query @ key.mT).abs().max().item()
    assert error < 8 * 10 * U, f"off by {error}: {found}"
    late = rms_norm(turn(z[None], cos, sin), gains[0], 0.1)[0]
    assert float((late - query).abs().max()) > 0.1, "norm and turn commute: this shows nothing"


def test_query_heads_read_grouped_heads_in_blocks() -> None:
    heads, stored, d, width = 6, 3, 4, 2
    rows = torch.arange(d * stored * width).reshape(d, stored * width).double()
    found = by_head(rows, stored, heads)
    assert found.shape == (heads, d, width)
    for h in range(heads):
        block = rows[:, width * (h // 2) : width * (h // 2 + 1)]
        assert torch.equal(found[h], block), f"head {h} reads {found[h]}"
    biases = head_bias(torch.arange(6).double(), stored, heads, width)
    assert biases[:, 0].tolist() == [0, 0, 2, 2, 4, 4]
    assert head_bias(None, stored, heads, width).abs().sum() == 0
