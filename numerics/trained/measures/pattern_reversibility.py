"""How far attention is from a reversible walk, against shuffled rows and untrained models.

Satisfies, for a row-stochastic P (n, n) with stationary pi > 0 and flow F = Pi P:
  raw      ||F - F^T||_F / ||F||_F in [0, sqrt 2];
  flow     (1/2) sum_ij |F_ij - F_ji| in [0, 1] (CW9);
  centred  ||F - F^T||_F / ||F - pi pi^T||_F in [0, 2]: about sqrt(2 (n - 2) / (n - 1)) where P has
           no structure, and 0/0 ("no structure" itself) at P = 1 pi^T;
  curl     ||B - grad u||_F / ||J S J||_F in [0, 1], S = log P, n >= 3 (CW8): about
           sqrt((n - 2) / (2 (n - 1))) for independent logits, 0/0 at J S J = 0.
All are 0 iff the walk is reversible. A walk that settles on two tokens is nearly so whatever its
weights, and shuffled rows settle elsewhere: hence the second control. A causal walk that moves
has transient states, hence no pi > 0: nothing is defined there, and 0 would be wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from numerics.walks.chains import is_irreducible, stationary_distribution

CAUSAL = "undefined (reducible; CW9 convention 1)"
NO_LAW = "undefined (reducible: exact zeros)"
NOISE = 2.0**-52
NO_STRUCTURE = "no structure"
MEASURES = ("raw", "flow", "centred", "curl")
DEFINED = {"whole": MEASURES, "reduced": MEASURES[:3]}  # a diagonal taken out is no logit


@dataclass(frozen=True)
class Cell:
    """One walk in one view: n tokens, rows dropped as empty, draws of the control without a law.

    defects by measure: [value, control median, 5%, 95%]; NO_STRUCTURE for 0/0; None where half
    of the draws give no control. curl is absent where the walk has no logits.
    """

    n: int
    empty_rows: int
    draws_lost: int
    defects: Mapping[str, list[float] | str | None]


@dataclass(frozen=True)
class Trimmed:
    """A walk (m, m) without sinks: the tokens kept, and how many rows were empty and left."""

    walk: torch.Tensor
    kept: tuple[int, ...]
    empty: int


def trimmed(P: torch.Tensor, sinks: Collection[int], diagonal: bool = False) -> Trimmed:
    """P (n, n) on the tokens that are no sinks, rows renormalised; without the diagonal if asked.

    Rows left with nothing are dropped, with their columns, until none is.
    """
    kept = [i for i in range(len(P)) if i not in sinks]
    rest = P[kept][:, kept].clone()
    if diagonal:
        rest.fill_diagonal_(0)
    before = len(kept)
    while len(rest):
        full = rest.sum(dim=1) > 0
        if bool(full.all()):
            break
        rest = rest[full][:, full]
        kept = [i for i, stays in zip(kept, full.tolist(), strict=True) if stays]
    sums = rest.sum(dim=1, keepdim=True)
    return Trimmed(rest / sums, tuple(kept), before - len(kept))


def stationary(walks: torch.Tensor) -> torch.Tensor:
    """Stationary laws (..., n) of irreducible walks (..., n, n): pi (I - P + 11^T) = 1^T.

    NaN where the solution is not positive or leaves a residual: a law below rounding is unknown.
    """
    n = walks.shape[-1]
    system = torch.eye(n, dtype=walks.dtype) - walks + 1
    # A singular system, of a walk with several closed classes, gives no exception here.
    law = torch.linalg.solve_ex(system.mT, torch.ones_like(walks[..., :1]))[0][..., 0]
    residual = ((law[..., None, :] @ walks)[..., 0, :] - law).abs().amax(dim=-1)
    known = (law > 0).all(dim=-1) & (residual <= 8 * n * NOISE)
    return torch.where(known[..., None], law, torch.nan)


def defects(walks: torch.Tensor, law: torch.Tensor) -> dict[str, torch.Tensor]:
    """raw, flow and centred (...) of walks (..., n, n) with laws (..., n); NaN for no structure.

    Source: CW9.
    """
    flow = law[..., None] * walks
    gap = flow - flow.mT
    apart = _size(flow - law[..., None] * law[..., None, :])
    size = _size(flow)
    apart = torch.where(apart > walks.shape[-1] * NOISE * size, apart, torch.nan)
    return {
        "raw": _size(gap) / size,
        "flow": gap.abs().sum(dim=(-2, -1)) / 2,
        "centred": _size(gap) / apart,
    }


def curl(logits: torch.Tensor) -> torch.Tensor:
    """||B - grad u||_F / ||J S J||_F (...) of logits S (..., n, n); NaN where J S J = 0.

    Raises: ValueError for n < 3, where every S is a gradient, and for logits not finite.
    Source: CW8; `numerics.laplacians.reversibility.logit_gradient_defect` for one S.
    """
    if logits.shape[-1] < 3:
        raise ValueError(f"logits must have n >= 3, got n = {logits.shape[-1]}")
    if not bool(torch.isfinite(logits).all()):
        raise ValueError("logits must be finite")
    rows = logits - logits.mean(dim=-1, keepdim=True)
    centred = rows - rows.mean(dim=-2, keepdim=True)
    size = _size(centred)
    known = logits.shape[-1] * NOISE * _size(logits)
    return _size((centred - centred.mT) / 2) / torch.where(size > known, size, torch.nan)


def shuffled_rows(
    P: torch.Tensor, draws: int, seed: Collection[int], diagonal: bool
) -> torch.Tensor:
    """P (n, n) with the entries of each row permuted, (draws, n, n); the diagonal stays if told.

    What is left of P is how peaked its rows are: any relation between i -> j and j -> i is gone.
    """
    n = len(P)
    rng = np.random.default_rng(list(seed))
    off = ~np.eye(n, dtype=bool) if diagonal else np.ones((n, n), dtype=bool)
    entries = P.numpy()[off].reshape(n, -1)
    out = np.zeros((draws, n, n))
    if diagonal:
        out[:, np.arange(n), np.arange(n)] = P.diagonal().numpy()
    stacked = np.broadcast_to(entries, (draws, *entries.shape))
    out[:, off] = rng.permuted(stacked, axis=2).reshape(draws, -1)
    return torch.from_numpy(out)


def measure(
    P: torch.Tensor, sinks: Collection[int], draws: int, seed: Collection[int]
) -> dict[str, Cell | str]:
    """Defects of one walk (n, n) whole and reduced (no sinks, no diagonal), beside their controls.

    By view a cell, or the reason why nothing is defined.
    """
    reduced = trimmed(P, sinks, diagonal=True)
    found: dict[str, Cell | str] = {}
    for name, walk, empty in (("whole", P, 0), ("reduced", reduced.walk, reduced.empty)):
        if len(walk) < 3 or not is_irreducible(walk):
            found[name] = NO_LAW
            continue
        controls = shuffled_rows(walk, draws, [*seed, len(found)], diagonal=name == "reduced")
        values = defects(walk, stationary_distribution(walk))
        against = defects(controls, stationary(controls))
        if name == "whole" and bool((walk > 0).all()):
            values["curl"] = curl(walk.log())
            against["curl"] = curl(controls.log())
        found[name] = Cell(
            n=len(walk),
            empty_rows=empty,
            draws_lost=int(torch.isnan(against["raw"]).sum()),
            defects={m: _beside(values[m], against[m]) for m in values},
        )
    return found


def of_models(
    patterns: Sequence[torch.Tensor], sinks: Collection[int]
) -> dict[str, dict[str, list[float]]]:
    """The defects over all heads of untrained models, patterns (H, n, n): [median, 5%, 95%]."""
    found: dict[str, dict[str, list[torch.Tensor]]] = {"whole": {}, "reduced": {}}
    for P in (head for pattern in patterns for head in pattern):
        for name, walk in (("whole", P), ("reduced", trimmed(P, sinks, diagonal=True).walk)):
            if len(walk) < 3 or not is_irreducible(walk):
                continue
            values = defects(walk, stationary(walk))
            if name == "whole" and bool((walk > 0).all()):
                values["curl"] = curl(walk.log())
            for measure, value in values.items():
                found[name].setdefault(measure, []).append(value)
    return {
        name: {
            m: _points(torch.stack(values))
            for m, values in measures.items()
            if not all(bool(torch.isnan(v)) for v in values)
        }
        for name, measures in found.items()
    }


def noise(n: int) -> dict[str, float]:
    """What walks and logits without structure give at n tokens."""
    return {"centred": (2 * (n - 2) / (n - 1)) ** 0.5, "curl": ((n - 2) / (2 * (n - 1))) ** 0.5}


def _beside(value: torch.Tensor, control: torch.Tensor) -> list[float] | str | None:
    """A value with its control; None where half the draws have no law: the rest are chosen."""
    if bool(torch.isnan(value)):
        return NO_STRUCTURE
    if 2 * int(torch.isnan(control).sum()) >= len(control):
        return None
    return [value.item(), *_points(control)]


def _points(control: torch.Tensor) -> list[float]:
    """Median, 5% and 95% points of what is defined."""
    points = torch.tensor([0.5, 0.05, 0.95], dtype=control.dtype)
    return torch.nanquantile(control, points).tolist()


def _size(matrices: torch.Tensor) -> torch.Tensor:
    return matrices.square().sum(dim=(-2, -1)).sqrt()
