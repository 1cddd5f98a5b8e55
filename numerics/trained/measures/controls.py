"""Random factors against which the spread of transports is read, and what a module measures.

Each control keeps something of the trained factors W_V^h, W_O^h and redraws the rest:
  gaussian   their shapes and Frobenius norms: independent normal entries;
  haar       both spectra, realigned: W_V^h Q W_O^h, Q uniform in O(k);
  permuted   both frames of singular vectors, each spectrum permuted;
  shuffled   the entries of each factor, permuted;
  norms      the lengths of the rows and columns of each factor, otherwise normal.
Gaussian factors are near isometries by themselves: their CV is about sqrt(k / (2 d)) for k << d.
Query heads that read one value head share its draw. Streams are seeded by (seed, layer, head).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch

from numerics.trained.measures.transports import (
    Factors,
    joined,
    pair_variation,
    singular_values,
    spread,
    squared_gaps,
)

KINDS = ("gaussian", "haar", "permuted", "shuffled", "norms")
CHUNK_BYTES = 2**23  # of redrawn factors: they stay near a core's cache
SWEEPS = 4  # of row and column scalings; the lengths then agree to about a percent


@dataclass(frozen=True)
class Scene:
    """What transports act on: tokens of each text, (n, d), and gates of sampled edges (E, H).

    Raises: ValueError for tokens that are equal within a text.
    """

    tokens: tuple[torch.Tensor, ...]
    gates: torch.Tensor
    inverse_gaps: tuple[torch.Tensor, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Sets inverse_gaps, 1 / |z_i - z_j|^2 off the diagonal of every text, (n, n)."""
        gaps = [squared_gaps(z) for z in self.tokens]
        equal = sum(int((g == 0).sum()) - len(g) for g in gaps)
        if equal:
            raise ValueError(f"tokens must differ within a text, got {equal // 2} equal pairs")
        inverse = [torch.where(g > 0, 1 / g, g) for g in gaps]
        object.__setattr__(self, "inverse_gaps", tuple(inverse))


Statistics = dict[str, torch.Tensor]
"""cv, condition, participation, functional (..., H); spectrum (..., H, k), of mean 1; summed and
mixed (...)."""


def measured(found: Factors, scene: Scene) -> Statistics:
    """The statistics of a module's own factors; mixed is (E,), one value an edge.

    Source: CW2.
    """
    sigma = singular_values(found.v[list(found.owner)], found.o)
    both = Factors(found.v[None], found.o[None], found.owner)
    edges = [_joined_cv(found, mix) for mix in scene.gates]
    return {
        **vars(spread(sigma)),
        "spectrum": sigma / sigma.mean(dim=-1, keepdim=True),
        "functional": _functional(both, both.o @ both.o.mT, scene)[0],
        "summed": _joined_cv(found, torch.ones(len(found.o), dtype=found.o.dtype)),
        "mixed": torch.stack(edges),
    }


def control(kind: str, found: Factors, scene: Scene, draws: int, seed: Sequence[int]) -> Statistics:
    """The statistics of `draws` redrawn modules, stacked in front; one random edge a draw.

    Raises: ValueError for an unknown kind or no draws.
    """
    if kind not in KINDS or draws < 1:
        raise ValueError(f"kind must be one of {KINDS} with draws >= 1, got {kind!r}, {draws}")
    edges = np.random.default_rng([*seed, 10**6, KINDS.index(kind)])
    chosen = torch.from_numpy(edges.integers(len(scene.gates), size=draws))
    parts: list[Statistics] = []
    done = 0
    for drawn in _redrawn(kind, found, draws, seed):
        count = len(drawn.v)
        mix = scene.gates[chosen[done : done + count]]
        parts.append(_fast_statistics(drawn, scene, mix))
        done += count
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def all_controls(
    found: Factors, scene: Scene, draws: int, seed: Sequence[int], workers: int = 1
) -> dict[str, Statistics]:
    """Every kind of control; the result does not depend on `workers`."""
    draw = partial(control, found=found, scene=scene, draws=draws, seed=seed)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        return dict(zip(KINDS, pool.map(draw, KINDS), strict=True))


def _fast_statistics(drawn: Factors, scene: Scene, mix: torch.Tensor) -> Statistics:
    metric = drawn.o @ drawn.o.mT
    sigma = _by_head(drawn, metric)
    summed, mixed = _joined_cvs(drawn, (torch.ones_like(mix), mix))
    return {
        **vars(spread(sigma)),
        "spectrum": sigma / sigma.mean(dim=-1, keepdim=True),
        "functional": _functional(drawn, metric, scene),
        "summed": summed,
        "mixed": mixed,
    }


def _joined_cv(found: Factors, mix: torch.Tensor) -> torch.Tensor:
    return spread(singular_values(*joined(found, mix))).cv


def _functional(drawn: Factors, metric: torch.Tensor, scene: Scene) -> torch.Tensor:
    """CV of |(z_i - z_j) T^h| / |z_i - z_j| over the pairs of every text, (draws, H).

    metric (draws, H, k, k) is W_O W_O^T.
    """
    moved = torch.cat(scene.tokens) @ drawn.v
    ratios, start = [], 0
    for inverse in scene.inverse_gaps:
        end = start + len(inverse)
        text = moved[..., start:end, :][:, list(drawn.owner)]
        ratios.append(squared_gaps(text, metric) * inverse)
        start = end
    return pair_variation(ratios)


def _by_head(drawn: Factors, metric: torch.Tensor) -> torch.Tensor:
    """Singular values of every T^h, (draws, H, k), descending, from Gram matrices of its factors.

    Several times faster than QR and half the digits, which a control does not need; where a Gram
    matrix is singular, QR decides.
    """
    owner = list(drawn.owner)
    if drawn.v.shape[-1] < drawn.d:
        lower, failed = torch.linalg.cholesky_ex(drawn.v.mT @ drawn.v)
        if not bool((failed != 0).any()):
            lower = lower[:, owner]
            return _roots(lower.mT @ metric @ lower)
    return singular_values(drawn.v[:, owner], drawn.o)


def _joined_cvs(drawn: Factors, mixes: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """CV (draws,) of sum_h mix_h T^h for several mixes (draws, H).

    Of several hundred values each: single precision leaves 1e-4 of a CV, its draws 1e-2.
    """
    single = Factors(drawn.v.float(), drawn.o.float(), drawn.owner)
    lower, found = None, []
    for mix in mixes:
        v, o = joined(single, mix.float())
        if v.shape[-1] >= v.shape[-2]:
            product = v @ o
            gram = product.mT @ product
        else:
            if lower is None:
                lower, failed = torch.linalg.cholesky_ex((v.mT @ v).double())
                if bool((failed != 0).any()):
                    return [_joined_cv(drawn, each) for each in mixes]
                lower = lower.float()
            gram = lower.mT @ (o @ o.mT) @ lower
        found.append(spread(_roots(gram).double()).cv)
    return found


def _roots(gram: torch.Tensor) -> torch.Tensor:
    """Square roots (..., k), descending, of the eigenvalues of Gram matrices (..., k, k)."""
    # NumPy's routine, which is the faster one at these sizes.
    return torch.from_numpy(np.linalg.eigvalsh(gram.numpy())).flip(-1).clamp(min=0).sqrt()


def _redrawn(kind: str, found: Factors, draws: int, seed: Sequence[int]) -> Iterator[Factors]:
    """Redrawn modules, some draws at a time; the draws do not depend on how many."""
    values, heads, code = len(found.v), len(found.o), KINDS.index(kind)
    rngs = [np.random.default_rng([*seed, head, code]) for head in range(heads + values)]
    v, o = found.v.numpy(), found.o.numpy()
    v_of = [_sampler(kind, w, rng, "v") for w, rng in zip(v, rngs[heads:], strict=True)]
    o_of = [_sampler(kind, w, rng, "o") for w, rng in zip(o, rngs[:heads], strict=True)]
    step = max(1, CHUNK_BYTES // (8 * (v.size + o.size)))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        yield Factors(
            torch.from_numpy(np.stack([sample(count) for sample in v_of], axis=1)),
            torch.from_numpy(np.stack([sample(count) for sample in o_of], axis=1)),
            found.owner,
        )


Sampler = Callable[[int], np.ndarray]


def _sampler(kind: str, w: np.ndarray, rng: np.random.Generator, side: str) -> Sampler:
    """A source of redrawn factors (count, *w.shape)."""
    if kind == "gaussian":
        size = np.linalg.norm(w) / w.size**0.5
        return lambda count: size * rng.standard_normal((count, *w.shape))
    if kind == "haar":
        if side == "v":
            return lambda count: np.broadcast_to(w, (count, *w.shape))
        return lambda count: haar(rng, count, len(w)) @ w
    if kind == "permuted":
        u, s, vt = np.linalg.svd(w, full_matrices=False)
        return lambda count: (u * rng.permuted(np.tile(s, (count, 1)), axis=1)[:, None]) @ vt
    if kind == "shuffled":
        flat = w.reshape(1, -1)
        return lambda count: rng.permuted(np.tile(flat, (count, 1)), axis=1).reshape(
            count, *w.shape
        )
    return lambda count: with_norms(rng.standard_normal((count, *w.shape)), w)


def haar(rng: np.random.Generator, count: int, k: int) -> np.ndarray:
    """Uniform draws from O(k), (count, k, k): QR of normal entries with R's signs taken out."""
    q, r = np.linalg.qr(rng.standard_normal((count, k, k)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None]


def with_norms(draws: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Draws (count, a, b) scaled by rows and columns to the lengths of those of like (a, b)."""
    squares = like**2
    rows, columns = squares.sum(axis=1), squares.sum(axis=0)
    scaled = draws**2
    for _ in range(SWEEPS):
        scaled *= _quotient(columns, scaled.sum(axis=1))[:, None]
        scaled *= _quotient(rows, scaled.sum(axis=2))[:, :, None]
    return np.sign(draws) * np.sqrt(scaled)


def _quotient(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
