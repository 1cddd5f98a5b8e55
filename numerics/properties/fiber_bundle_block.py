"""RA14: geodesic attention in torch against exact arithmetic, in float64 and float32.

reduction            G = I against the softmax of x_i . x_j - |x_j|^2 / 2
homogeneous          one metric M against the softmax of x_i^T M x_j - x_j^T M x_j / 2
signed_permutations  Q x with diag(D') + U' U'^T against Q times the outputs before
causal               a long causal sequence against its prefixes, each by itself
Scores are exact rationals and their exponentials balls of 200 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import strategies as st

from numerics.fiber_bundle import MetricField, geodesic_attention
from numerics.fiber_bundle.rounding import score_error
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding.units import gamma, units

CLAUSES = ("reduction", "homogeneous", "signed_permutations", "causal")
KINDS = ("query", "symmetrised")
TOKENS, WIDTHS = (5, 4, 1, 6, 2, 3), (4, 4, 1, 4, 2, 3, 4)
LARGEST = 4.0
"""Largest entry of a token: distances beyond it leave float32 no digits (NoDigits)."""
Score = Callable[[int, int], fmpq]


@dataclass(frozen=True)
class Sample:
    """A clause, points x (n, d), metrics D (n, d), U (n, d, r), values v (n, d), a mask or None, a
    signed permutation by places (d,) and signs (d,), a kind, the scale, and whether torch keeps
    gradients, which is another path."""

    clause: str
    x: np.ndarray
    D: np.ndarray
    U: np.ndarray
    v: np.ndarray
    allowed: np.ndarray | None
    places: np.ndarray
    signs: np.ndarray
    kind: str
    scale: float
    gradients: bool


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Repeated, zero, subnormal and wide tokens; any masks, empty rows too; D down to 1e-12."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng, r = draw(strategies.generators()), draw(st.integers(1, 2))
    n, d = draw(st.sampled_from(TOKENS)), draw(st.sampled_from(WIDTHS))
    x = strategies.tokens(draw, rng, n, d, dtype)
    while np.abs(x).max() > LARGEST:
        x = x / dtype(2)
    pairs = [strategies.low_rank_metrics(draw, rng, d, r) for _ in range(n)]
    D, U = (np.stack(parts).astype(dtype) for parts in zip(*pairs, strict=True))
    if clause == "reduction":
        D, U = np.ones_like(D), np.zeros_like(U)
    elif clause == "homogeneous":
        D, U = np.broadcast_to(D[:1], D.shape).copy(), np.broadcast_to(U[:1], U.shape).copy()
    return Sample(
        clause, x, D, U, rng.normal(size=(n, d)).astype(dtype),
        strategies.masks(draw, rng, n, n) if clause != "causal" else None,
        rng.permutation(d), rng.choice([-1.0, 1.0], size=d).astype(dtype),
        draw(st.sampled_from(KINDS)), draw(st.sampled_from((1.0, 0.5, 2.0, 0.7))),
        draw(st.booleans()),
    )  # fmt: skip


def hypotheses(sample: Sample) -> Iterator[Held]:
    """What moves coordinates is a permutation with signs."""
    if sample.clause == "signed_permutations":
        B = np.eye(len(sample.places), dtype=sample.x.dtype)[sample.places]
        yield Held("B is a permutation matrix", {"B": B})
        yield Held("s is a vector of signs", {"s": sample.signs})


def residual(sample: Sample) -> Residual:
    """The attention of torch against the exact output that the clause gives."""
    n, d = sample.x.shape
    scores = rational_scores(sample, _differences(sample))
    logits = {"reduction": _dot_products, "homogeneous": _one_metric}.get(sample.clause)
    exact = exact_output(
        rational_scores(sample, logits(sample)) if logits else scores, visible(sample), sample.v
    )
    if sample.clause == "signed_permutations":
        exact = sample.signs * exact[:, sample.places]
    bound = bounds(sample, scores, exact) + 2.0**-52 * np.abs(exact)
    return Residual(sample.clause, attention(sample), exact, bound, max(n, 2 * d))


def visible(sample: Sample) -> np.ndarray:
    """The mask (n, n); a causal row sees the prefix that ends in it."""
    n = len(sample.x)
    if sample.clause == "causal":
        return np.tril(np.ones((n, n), bool))
    return np.ones((n, n), bool) if sample.allowed is None else sample.allowed


def moved(sample: Sample) -> tuple[np.ndarray, ...]:
    """Points, D, U and values as torch gets them, moved by Q where the clause asks for it."""
    parts = (sample.x, sample.D, sample.U, sample.v)
    if sample.clause != "signed_permutations":
        return parts
    x, D, U, v = (part[:, sample.places] for part in parts)
    return sample.signs * x, D, sample.signs[:, None] * U, sample.signs * v


def attention(sample: Sample) -> np.ndarray:
    """geodesic_attention (n, d) of one sequence and one head."""
    x, D, U, v = (torch.tensor(part)[None, None] for part in moved(sample))
    mask = None if sample.allowed is None else torch.tensor(sample.allowed)
    out = geodesic_attention(
        x.requires_grad_(sample.gradients), MetricField(D, U), v, kind=sample.kind,
        scale=sample.scale, allowed=mask, causal=sample.clause == "causal",
    )  # fmt: skip
    return out[0, 0].detach().numpy()


def _rational(rows: np.ndarray) -> fmpq_mat:
    parts = [[Fraction(float(value)) for value in row] for row in rows]
    return fmpq_mat([[fmpq(part.numerator, part.denominator) for part in row] for row in parts])


def _metric(sample: Sample, i: int) -> fmpq_mat:
    diagonal, columns = _rational(np.diag(sample.D[i])), _rational(sample.U[i])
    return diagonal + columns * columns.transpose()


def _differences(sample: Sample) -> Score:
    """-(1/2) (x_i - x_j)^T G (x_i - x_j), G = G_i, or the mean of G_i and G_j."""
    n = len(sample.x)
    x, metrics = _rational(sample.x), [_metric(sample, i) for i in range(n)]
    rows = [fmpq_mat(1, x.ncols(), [x[i, a] for a in range(x.ncols())]) for i in range(n)]

    def score(i: int, j: int) -> fmpq:
        step = rows[i] - rows[j]
        own = (step * metrics[i] * step.transpose())[0, 0]
        if sample.kind == "symmetrised":
            own = (own + (step * metrics[j] * step.transpose())[0, 0]) / 2
        return -own / 2

    return score


def _dot_products(sample: Sample) -> Score:
    """x_i . x_j - |x_j|^2 / 2: tied queries and keys, and the key norms."""
    x = _rational(sample.x)
    gram = x * x.transpose()
    return lambda i, j: gram[i, j] - gram[j, j] / 2


def _one_metric(sample: Sample) -> Score:
    """x_i^T M x_j - x_j^T M x_j / 2."""
    x = _rational(sample.x)
    gram = x * _metric(sample, 0) * x.transpose()
    return lambda i, j: gram[i, j] - gram[j, j] / 2


def rational_scores(sample: Sample, score: Score) -> list[list[fmpq]]:
    """The scores times the scale as it is stored."""
    n, scale = len(sample.x), Fraction(sample.scale)
    factor = fmpq(scale.numerator, scale.denominator)
    return [[factor * score(i, j) for j in range(n)] for i in range(n)]


def exact_output(scores: list[list[fmpq]], seen: np.ndarray, v: np.ndarray) -> np.ndarray:
    """softmax(scores) v over what each row sees, (n, d), rounded once; 0 where it sees nothing."""
    out = np.zeros(v.shape)
    with ctx.workprec(200):
        for i, row in enumerate(scores):
            weights = {j: arb(row[j]).exp() for j in np.flatnonzero(seen[i]).tolist()}
            total = sum(weights.values(), start=arb(0))
            for a in range(v.shape[1] if weights else 0):
                value = sum((w * arb(float(v[j, a])) for j, w in weights.items()), start=arb(0))
                out[i, a] = float(value / total)
    return out


def _score_bound(x: torch.Tensor, D: torch.Tensor, U: torch.Tensor, sample: Sample) -> np.ndarray:
    """Bound (n, n) on the error of the scores; under a mask any token may be the common one."""
    n = len(x)
    places = torch.arange(n)[None] + torch.arange(n if sample.allowed is not None else 1)[:, None]
    turns = places % n  # each brings another token to the front
    found = score_error(x[turns], MetricField(D[turns], U[turns]), sample.scale, sample.kind)
    back = turns.argsort(1)
    first = torch.arange(len(turns))[:, None, None]
    return found[first, back[:, :, None], back[:, None, :]].amax(0).numpy()


def bounds(sample: Sample, scores: list[list[fmpq]], exact: np.ndarray) -> np.ndarray:
    """Bound (n, d) on |computed - exact y| of the attention.

    Weights w_j (1 + e_j) instead of w_j move y = sum_j P_j v_j by sum_j P_j e_j (v_j - y), divided
    by 1 + sum_j P_j e_j; a common factor of a row moves nothing. e_j: the score from r + 2
    products, its difference from the peak, exp. Then two sums of n terms, and two roundings.
    """
    x, D, U, v = (torch.tensor(part) for part in moved(sample))
    model, n = units(x.dtype, x.device), len(sample.x)
    logits = np.array([[float(Fraction(int(s.p), int(s.q))) for s in row] for row in scores])
    error = _score_bound(x, D, U, sample)
    seen, values = visible(sample), v.numpy().astype(np.float64)
    peak = np.where(seen, logits, -np.inf).max(1, keepdims=True)
    gap = np.where(seen, np.where(seen, peak, 0) - logits, 0)
    weights = np.where(seen, np.exp(-gap), 0)
    P = weights / np.maximum(weights.sum(1, keepdims=True), 1)
    e = np.expm1(error + 2 * model.once * (gap + 2 * error.max(1, keepdims=True)))
    e = e + model.exp * (1 + e)
    total = 1 - (P * e).sum(1, keepdims=True)
    if not (total > 0).all():
        raise ValueError(f"error must leave the weights digits, got {error.max()}")
    moves = np.abs(values[None] - exact[:, None])
    carried = ((P * e)[..., None] * moves).sum(1) / total
    rounded = gamma(2 * n + 2, model.acc) * ((P * (1 + e)) @ np.abs(values)) / total
    lost = 8 * n * model.eta * (seen @ (1 + np.abs(values)))
    return (carried + rounded + lost) * (1 + 2.0**-30)
