"""Defects of walks against closed forms, the theorems' own functions, and their controls."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from numerics.laplacians.reversibility import logit_gradient_defect, reversibility_defect
from numerics.trained.measures import pattern_reversibility as pattern
from numerics.trained.measures.pattern_reversibility import (
    Cell,
    curl,
    defects,
    measure,
    noise,
    of_models,
    shuffled_rows,
    stationary,
    trimmed,
)
from numerics.walks.chains import stationary_distribution

CYCLE = torch.tensor([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]).double()


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape))


def walk(n: int, seed: int = 0, peak: float = 1.0) -> torch.Tensor:
    return torch.softmax(peak * draw(n, n, seed=seed), dim=-1)


def symmetric(n: int, seed: int = 0) -> torch.Tensor:
    """softmax of symmetric logits: reversible, not symmetric."""
    scores = draw(n, n, seed=seed)
    return torch.softmax(scores + scores.mT, dim=-1)


def causal(n: int) -> torch.Tensor:
    weights = draw(n, n).exp().tril()
    return weights / weights.sum(dim=1, keepdim=True)


def test_a_directed_cycle_has_the_largest_defects() -> None:
    found = defects(CYCLE, torch.full((3,), 1 / 3, dtype=torch.float64))
    assert found["raw"].item() == pytest.approx(2**0.5, rel=2**-50, abs=0)
    assert found["flow"].item() == pytest.approx(1, rel=2**-50, abs=0)
    # F - pi pi^T has entries 2/9 and -1/9 and norm sqrt(2)/3; F - F^T has norm sqrt(6)/3.
    assert found["centred"].item() == pytest.approx(3**0.5, rel=2**-49, abs=0)


def test_reversible_walks_have_none_and_random_walks_have_those_of_noise() -> None:
    P, law = symmetric(20), stationary(symmetric(20))
    for name, value in defects(P, law).items():
        assert value.item() < 1e-12, f"{name} = {value} of a reversible walk"
    assert curl(P.log()).item() < 1e-12
    n, found = 60, walk(60, peak=0.1)
    assert abs(defects(found, stationary(found))["centred"].item() / noise(n)["centred"] - 1) < 0.05
    assert abs(curl(draw(n, n)).item() / noise(n)["curl"] - 1) < 0.05


@pytest.mark.parametrize("n", [3, 6, 10])
def test_noise_at_few_tokens_is_below_its_limit(n: int) -> None:
    logits = draw(4000, n, n)
    found = torch.softmax(1e-3 * logits, dim=-1)
    squares = {
        "centred": defects(found, stationary(found))["centred"].square(),
        "curl": curl(logits).square(),
    }
    for name, square in squares.items():
        deviation = float(square.std()) / len(square) ** 0.5
        gap = abs(float(square.mean()) - noise(n)[name] ** 2)
        assert gap < 5 * deviation + 1e-3, f"{name} at n = {n} is off by {gap}"
        limit = {"centred": 2, "curl": 0.5}[name]
        assert limit - noise(n)[name] ** 2 > 10 * deviation, "the limit would pass too"


def test_uniform_rows_have_no_structure() -> None:
    P = torch.full((5, 5), 0.2, dtype=torch.float64)
    assert bool(torch.isnan(defects(P, stationary(P))["centred"]))
    assert bool(torch.isnan(curl(P.log())))
    found = measure(P, (), 5, [0])["whole"]
    assert isinstance(found, Cell)
    assert found.defects["centred"] == "no structure"


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 7, 30])
def test_batched_forms_are_the_functions_of_the_theorems(n: int) -> None:
    P = torch.stack([walk(n, seed=1), symmetric(n, seed=2), walk(n, seed=3, peak=3.0)])
    law, flow, curls = stationary(P), defects(P, stationary(P))["flow"], curl(P.log())
    for one in range(3):
        expected = stationary_distribution(P[one])
        np.testing.assert_allclose(
            law[one], expected, rtol=1e-10, atol=0, err_msg="a solve of condition below 1e5"
        )
        assert abs(flow[one].item() - reversibility_defect(P[one]).defect) < 1e-10
        assert abs(curls[one].item() - logit_gradient_defect(P[one].log())) < 1e-12


def test_curl_is_gauge_invariant_and_the_raw_defect_is_not_fooled_for_long() -> None:
    S = draw(9, 9)
    moved = S + draw(9, 1) + draw(1, 9)
    assert abs(curl(S).item() - curl(moved).item()) < 1e-12
    # A sink takes nearly all the flow to itself: the raw defect drops, the centred one does not.
    sunk = S.clone()
    sunk[:, 0] += 8
    P = torch.softmax(sunk, dim=-1)
    found = defects(P, stationary(P))
    assert found["raw"].item() < 0.05, f"{found}"
    assert found["centred"].item() > 0.3, f"{found}"


def test_removing_sinks_renormalises_drops_empty_rows_and_counts_them() -> None:
    P = torch.tensor(
        [[0.1, 0.3, 0.3, 0.3], [0.2, 0.2, 0.3, 0.3], [1.0, 0, 0, 0], [0.5, 0.2, 0.2, 0.1]]
    )
    found = trimmed(P.double(), (0,), diagonal=True)
    assert (found.kept, found.empty) == ((1, 3), 1)
    assert found.walk.tolist() == [[0, 1], [1, 0]]
    whole = trimmed(P.double(), (0,))
    assert whole.kept == (1, 3)
    assert whole.walk.sum(dim=1).tolist() == pytest.approx([1, 1], rel=2**-50, abs=0)


def test_dropping_a_row_can_empty_another() -> None:
    P = torch.tensor([[0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0], [0.5, 0, 0, 0.5], [1, 0, 0, 0]]).double()
    assert trimmed(P, (0,), diagonal=True).empty == 3


@pytest.mark.parametrize("diagonal", [True, False])
def test_shuffled_rows_keep_the_entries_of_every_row(diagonal: bool) -> None:
    P = walk(6)
    found = shuffled_rows(P, 40, [1], diagonal)
    wanted = P.sort(dim=1).values.expand(40, -1, -1)
    assert torch.equal(found.sort(dim=2).values, wanted)
    kept = torch.equal(found.diagonal(dim1=1, dim2=2), P.diagonal().expand(40, -1))
    assert kept == diagonal
    assert len({tuple(row) for row in found[:, 2].tolist()}) > 20, "rows are not redrawn"


@pytest.mark.slow
def test_exactly_reversible_heads_are_recognised_and_random_ones_are_not() -> None:
    below = {"reversible": 0, "random": 0}
    for seed in range(12):
        for kind, P in (("reversible", symmetric(12, seed)), ("random", walk(12, seed))):
            found = measure(P, (0, 11), 200, [seed])["reduced"]
            assert isinstance(found, Cell)
            centred = found.defects["centred"]
            assert isinstance(centred, list)
            value, _, low, _ = centred
            below[kind] += value < low
    assert below["reversible"] == 12, f"{below}"
    assert below["random"] <= 4, f"{below}: more than chance at 5%"


def test_a_diagonal_taken_out_is_not_shuffled_back_in(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def seen(P: torch.Tensor, draws: int, seed: list[int], diagonal: bool) -> torch.Tensor:
        kept.append(diagonal)
        return shuffled_rows(P, draws, seed, diagonal)

    monkeypatch.setattr(pattern, "shuffled_rows", seen)
    measure(walk(6), (0,), 5, [0])
    assert kept == [False, True], "whole rows move, rows without a diagonal move beside it"


def test_causal_walks_are_undefined_and_never_0() -> None:
    found = measure(causal(7), (0,), 5, [0])
    assert found == {"whole": pattern.NO_LAW, "reduced": pattern.NO_LAW}
    assert "undefined" in pattern.CAUSAL


def test_two_closed_classes_have_no_law_and_end_no_run() -> None:
    swap = torch.tensor([[0.0, 1], [1, 0]]).double()
    P = torch.block_diag(swap, swap)
    assert measure(P, (), 5, [0])["whole"] == pattern.NO_LAW
    assert of_models([P[None]], ())["whole"] == {}
    assert bool(torch.isnan(stationary(P)).all())
    both = stationary(torch.stack([P, walk(4)]))
    assert bool(torch.isnan(both[0]).all())
    assert torch.equal(both[1], stationary(walk(4)))


def test_a_control_without_laws_is_none_and_never_nan() -> None:
    sunk = torch.softmax(10 * torch.tensor([[30.0, 0, 0], [30, 0, 1], [30, 1, 0]]).double(), dim=-1)
    found = measure(sunk, (), 20, [0])["whole"]
    assert isinstance(found, Cell)
    assert found.draws_lost >= 10
    assert found.defects["raw"] is None, f"a value beside no control: {found}"
    assert json.loads(json.dumps(found.defects, allow_nan=False)) == found.defects
    swapped = torch.tensor([[0.0, 1], [1, 0]]).double()
    assert measure(torch.block_diag(swapped, swapped), (), 20, [0])["whole"] == pattern.NO_LAW
    assert "centred" not in of_models([torch.full((1, 4, 4), 0.25).double()], ())["whole"]


def test_a_law_below_rounding_is_unknown() -> None:
    P = torch.tensor([[1 - 1e-30, 1e-30, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]).double()
    assert bool(torch.isnan(stationary(P)).all())


def test_models_without_training_give_points_over_their_heads() -> None:
    patterns = [torch.stack([walk(8, seed) for seed in range(4)]), symmetric(8)[None]]
    found = of_models(patterns, (0, 7))
    assert set(found["whole"]) == set(pattern.MEASURES)
    median, low, high = found["whole"]["centred"]
    assert low <= median <= high
    assert low < 0.4, "the reversible head is among them"
    assert "curl" not in found["reduced"]


def test_two_tokens_have_no_curl() -> None:
    with pytest.raises(ValueError, match="n >= 3"):
        curl(torch.zeros((2, 2)))
    with pytest.raises(ValueError, match="logits must be finite"):
        curl(torch.full((3, 3), float("-inf")))
