"""Spreads of tokens, the factors of RA11, and the pure stacks of a small model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from numerics.trained.formats.checkpoint import open_checkpoint
from numerics.trained.forward import Stream, passage, sinks
from numerics.trained.measures import collapse
from numerics.trained.measures.collapse import (
    Stacks,
    factor,
    gainless_norm,
    spread_factor,
    spread_of,
)
from numerics.trained.models.architectures import open_model
from numerics.trained.tokens import read_text, tokenise

TOKENS = torch.tensor([[0.0, 0], [3, 4], [3, 0]], dtype=torch.float64)


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape))


def walks(heads: int, n: int, causal: bool = False) -> torch.Tensor:
    weights = draw(heads, n, n).exp()
    weights = weights.tril() if causal else weights
    return weights / weights.sum(dim=-1, keepdim=True)


def test_spread_of_three_tokens_by_hand() -> None:
    found = spread_of(TOKENS)
    assert found["osc"] == found["from_first"] == 5
    # mean (2, 4/3): squares 4 + 16/9, 1 + 64/9, 1 + 16/9 add to 50/3; |X|^2 = 34
    assert found["relative"] == pytest.approx((50 / 3 / 34) ** 0.5, rel=2**-50, abs=0)
    assert spread_of(TOKENS, (1,))["osc"] == 3
    assert spread_of(torch.ones((4, 2)).double())["relative"] == 0
    with pytest.raises(ValueError, match="besides the sinks"):
        spread_of(TOKENS, (0, 1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("causal", [True, False])
def test_factors_bound_what_a_layer_leaves(causal: bool) -> None:
    for seed in range(20):
        A, T, x = walks(3, 6, causal), draw(3, 4, 4, seed=seed), draw(6, 4, seed=seed)
        norms = torch.linalg.matrix_norm(T, ord=2)
        before, after = spread_of(x), spread_of((A @ x @ T).sum(dim=0) + draw(4))
        key = "from_first" if causal else "osc"
        assert after[key] <= factor(A, norms, causal) * before[key] * (1 + 1e-12)
        if not causal:
            assert factor(A, norms, causal) <= spread_factor(A, norms) * (1 + 1e-12)


def test_the_causal_factor_is_what_no_row_gives_to_the_first_token() -> None:
    A = torch.tensor([[[1.0, 0], [0.25, 0.75]]]).double()
    assert factor(A, torch.tensor([2.0]).double(), causal=True) == 1.5
    assert spread_factor(A, torch.tensor([2.0]).double()) == 2, "a zero has an infinite spread"


def test_equal_rows_collapse_at_once() -> None:
    A = torch.full((1, 4, 4), 0.25, dtype=torch.float64)
    assert factor(A, torch.ones(1).double(), causal=False) == 0
    assert spread_of((A @ draw(4, 3))[0])["relative"] < 1e-15


def test_stacks_keep_and_drop_what_they_say(tiny: Path, text: Path) -> None:
    checkpoint = open_checkpoint(tiny)
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, read_text(text), model.positions)
    x = model.embed(tokens.ids, tokens.type_ids)
    stacks = Stacks(model.causal)
    stacks.start(x)
    bare = frozen = normed = x
    products = dict.fromkeys(("bare", "frozen"), spread_of(x)["osc"])
    stream = Stream(model, [tokens])
    for index in range(model.depth):
        layer, weights, (real,) = stream.advance(index)
        norms = collapse.transport_norms(weights)
        found = stacks.advance(layer, weights, real.pattern, norms)
        own = passage(layer, weights, bare)

        def moved(P: torch.Tensor, z: torch.Tensor, w=weights) -> torch.Tensor:
            return sum(P[h] @ (z @ w.w_v[h] + w.b_v[h]) @ w.w_o[h] for h in range(3)) + w.b_o

        frozen, bare = moved(real.pattern, frozen), moved(own.pattern, bare)
        normed = gainless_norm(moved(passage(layer, weights, normed).pattern, normed))
        for name, expected in (("bare", bare), ("frozen", frozen), ("normed", normed)):
            state = stacks.state[name]
            assert state is not None
            error = float((state - expected).norm() / expected.norm())
            assert error < 1e-13, f"{name} after layer {index}: off by {error}"
        for name in ("bare", "frozen"):
            entry = found[name]
            assert entry is not None
            products[name] *= entry["factor"]
            assert entry["bound"] == products[name], "the bound is the product of the factors"
            assert entry["osc"] <= entry["bound"] * (1 + 1e-12), f"{name}: {entry}"


def test_a_stack_that_leaves_the_range_has_ended(
    tiny: Path, text: Path, make_bert: Callable[..., Path]
) -> None:
    checkpoint = open_checkpoint(tiny)
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, read_text(text), model.positions)
    stacks, stream = Stacks(False), Stream(model, [tokens])
    stacks.start(1e99 * stream.states[0])
    layer, weights, (real,) = stream.advance(0)
    for _ in range(3):
        found = stacks.advance(layer, weights, real.pattern, collapse.transport_norms(weights))
    assert found["frozen"] is None
    assert found["normed"] is not None


def test_sinks_are_the_first_token_and_the_closing_ones(tiny: Path, text: Path) -> None:
    tokens = tokenise(open_checkpoint(tiny), read_text(text), 12)
    assert sinks(tokens, causal=False) == (0, 9)
    assert sinks(tokens, causal=True) == (0,)
