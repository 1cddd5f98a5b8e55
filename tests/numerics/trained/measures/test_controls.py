"""Controls keep what they say they keep and redraw the rest; known heads stand out from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from numerics.trained.decisions import LEAST_DRAWS
from numerics.trained.measures import controls
from numerics.trained.measures.controls import KINDS, Scene, control, haar, measured, with_norms
from numerics.trained.measures.transports import Factors, singular_values

D, WIDTH, HEADS = 48, 6, 8
SEED = (3, 1)


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape))


def scene(d: int = D, heads: int = HEADS) -> Scene:
    gates = torch.softmax(draw(5, heads), dim=-1)
    return Scene((draw(9, d, seed=1), draw(7, d, seed=2)), gates)


def gaussian(d: int = D, k: int = WIDTH, heads: int = HEADS, values: int = HEADS) -> Factors:
    owner = tuple(h * values // heads for h in range(heads))
    return Factors(draw(values, d, k, seed=4), draw(heads, k, d, seed=5), owner)


def isometric() -> Factors:
    v = torch.linalg.qr(draw(HEADS, D, WIDTH, seed=6))[0]
    o = 3 * torch.linalg.qr(draw(HEADS, D, WIDTH, seed=7))[0].mT
    return Factors(v, o, tuple(range(HEADS)))


def drawn(kind: str, found: Factors, draws: int = 2) -> Factors:
    parts = list(controls._redrawn(kind, found, draws, SEED))
    return Factors(torch.cat([p.v for p in parts]), torch.cat([p.o for p in parts]), found.owner)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "k"), [(48, 6), (64, 4), (96, 12)])
def test_gaussian_factors_are_near_isometries_by_themselves(d: int, k: int) -> None:
    found = control("gaussian", gaussian(d, k), scene(d), LEAST_DRAWS, SEED)
    ratio = float(found["cv"].median()) / (k / (2 * d)) ** 0.5
    assert k / d <= 1 / 8
    assert 0.9 <= ratio <= 1.1, f"d = {d}, d_h = {k}: control / sqrt(d_h / 2d) = {ratio}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_exactly_isometric_heads_stand_out_from_every_control_that_can_move(kind: str) -> None:
    found, own = isometric(), measured(isometric(), scene())
    assert float(own["cv"].max()) < 1e-12, f"isometric heads have CV {own['cv']}"
    drawn_cv = control(kind, found, scene(), 40, SEED)["cv"]
    if kind in ("haar", "permuted"):  # flat spectra leave nothing to realign or permute
        assert float(drawn_cv.max()) < 1e-6
    else:
        assert float(drawn_cv.min()) > 0.1, f"{kind} draws isometries"


@pytest.mark.slow
def test_random_heads_do_not_stand_out() -> None:
    found = gaussian()
    own = measured(found, scene())
    for kind in KINDS:
        cv = control(kind, found, scene(), 200, SEED)["cv"]
        low, high = torch.quantile(cv, torch.tensor([0.05, 0.95]).double(), dim=0)
        outside = float(((own["cv"] < low) | (own["cv"] > high)).double().mean())
        assert outside <= 0.5, f"{kind}: {outside:.0%} of random heads stand out"


@pytest.mark.parametrize("values", [HEADS, 2, 1])
def test_fast_statistics_of_a_module_are_its_measured_ones(values: int) -> None:
    found, at = gaussian(values=values), scene()
    batch = Factors(found.v[None], found.o[None], found.owner)
    fast, own = controls._fast_statistics(batch, at, at.gates[:1]), measured(found, at)
    for name in ("cv", "condition", "participation", "functional"):
        error = (fast[name][0] / own[name] - 1).abs().max()
        # Gram matrices square the condition number, below 100 here.
        assert float(error) < 1e4 * 2.0**-52, f"{name} is off by {error}"
    for name, expected in (("summed", own["summed"]), ("mixed", own["mixed"][0])):
        # Single precision, with the roots of small eigenvalues.
        assert float((fast[name][0] / expected - 1).abs()) < 1e-3, f"{name}: {fast[name]}"


def test_shared_value_heads_are_drawn_once() -> None:
    for kind in KINDS:
        assert drawn(kind, gaussian(values=2)).v.shape == (2, 2, D, WIDTH)


def test_realignment_keeps_the_spectra_of_both_factors_and_moves_their_product() -> None:
    found = gaussian()
    again = drawn("haar", found)
    for name in ("v", "o"):
        before = torch.linalg.svdvals(getattr(found, name))
        after = torch.linalg.svdvals(getattr(again, name))
        assert float((after / before - 1).abs().max()) < 1e3 * 2.0**-52, name
    moved = singular_values(again.v, again.o) / singular_values(found.v, found.o) - 1
    assert float(moved.abs().amax(dim=-1).min()) > 1e-3, "a product kept its spectrum"


def test_permuted_spectra_keep_values_and_frames() -> None:
    found = gaussian()
    again = drawn("permuted", found)
    before, after = torch.linalg.svd(found.v, full_matrices=False), torch.linalg.svdvals(again.v)
    assert float((after / before.S - 1).abs().max()) < 1e3 * 2.0**-52
    inner = before.U.mT @ again.v[0] @ before.Vh.mT  # a permuted diagonal
    off = inner - torch.diag_embed(inner.diagonal(dim1=-2, dim2=-1))
    assert float(off.abs().max()) < 1e3 * 2.0**-52 * float(before.S.max())
    assert not torch.allclose(again.v[0], found.v, rtol=1e-3, atol=0), "nothing was permuted"


def test_shuffles_keep_the_entries_and_norm_controls_the_lengths() -> None:
    found = gaussian()
    shuffled = drawn("shuffled", found)
    assert torch.equal(shuffled.v[0].flatten(1).sort().values, found.v.flatten(1).sort().values)
    assert not torch.equal(shuffled.v[0], found.v)
    assert not torch.equal(shuffled.v[0], shuffled.v[1])
    uneven = (draw(12, 5, seed=8) * torch.logspace(0, 2, 5)).numpy()
    again = with_norms(np.random.default_rng(9).standard_normal((3, 12, 5)), uneven)
    for axis in (0, 1):
        lengths = np.linalg.norm(again, axis=axis + 1)
        np.testing.assert_allclose(
            lengths, np.tile(np.linalg.norm(uneven, axis=axis), (3, 1)), rtol=0.03, atol=0,
            err_msg="a few sweeps leave about a percent",
        )  # fmt: skip


def test_haar_draws_are_orthogonal_and_have_no_preferred_sign() -> None:
    q = haar(np.random.default_rng(2), 500, 3)
    np.testing.assert_allclose(
        q @ q.transpose(0, 2, 1), np.tile(np.eye(3), (500, 1, 1)), rtol=0, atol=2.0**-48,
        err_msg="rounding of one QR",
    )  # fmt: skip
    # The mean of an entry is 0 with deviation 1 / sqrt(3 * 500) = 0.026: five of them.
    assert float(np.abs(q.mean(axis=0)).max()) < 0.13, f"{q.mean(axis=0)}"


@pytest.mark.slow
def test_draws_depend_on_seed_layer_and_head_and_on_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, at = gaussian(values=2), scene()
    one = controls.all_controls(found, at, 7, SEED, workers=2)
    monkeypatch.setattr(controls, "CHUNK_BYTES", 1)
    two = controls.all_controls(found, at, 7, SEED)
    for kind in KINDS:
        # Batches of another size may add in another order.
        np.testing.assert_allclose(
            one[kind]["cv"], two[kind]["cv"], rtol=1e-9, atol=0, err_msg=f"{kind} by chunks"
        )
        other = control(kind, found, at, 7, (3, 2))["cv"]
        assert kind == "permuted" or not torch.equal(one[kind]["cv"], other), f"{kind}: one seed"
    heads = one["gaussian"]["cv"]
    assert len({float(x) for x in heads[0]}) == HEADS, "two heads were drawn alike"


def test_rank_deficient_factors_are_measured_by_qr() -> None:
    found = gaussian()
    found.v[..., -1] = 0
    cv = control("haar", found, scene(), 3, SEED)["cv"]
    assert bool(torch.isfinite(cv).all())
    assert float(cv.min()) > 1 / WIDTH**0.5 / 2


def test_equal_tokens_and_unknown_controls_are_refused() -> None:
    with pytest.raises(ValueError, match="1 equal pairs"):
        Scene((torch.tensor([[1.0, 0], [1.0, 0], [0, 1.0]]).double(),), torch.ones((1, 1)).double())
    with pytest.raises(ValueError, match="kind must be one of"):
        control("other", gaussian(), scene(), 1, SEED)
