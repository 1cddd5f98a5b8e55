"""RA13, the composite sqrt(|X|_1 |X|_inf) of the largest column sum and the largest row sum.

submultiplicative, multi_head: both norms and the composite of sum_h Z^h W^h, in the order of a
model, against their exact values at the same inputs, which obey the exact bound
|M|_1 |M|_inf <= H^2 a w a' v of the largest norms of the Z^h and W^h (one head: submultiplicative).
not_a_norm: t times a row of n ones, its transpose and their sum: t sqrt n, t sqrt n and t (n + 1).
A sample makes one of the comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded

CLAUSES = ("submultiplicative", "multi_head", "not_a_norm")
SIZES = st.sampled_from((3, 4, 3, 2, 1))
HEADS = st.sampled_from((2, 3, 2, 4))
BITS = 160  # of square roots: beside them the error of their own evaluation is nothing


@dataclass(frozen=True)
class Sample:
    """Residuals Z (H, n, m) and value maps W (H, m, p) of the heads; n ones of size t."""

    clause: str
    Z: np.ndarray
    W: np.ndarray
    n: int
    t: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Matrices of every kind, one head or more, some of them zero, in float64 and float32."""
    clause = draw(st.sampled_from(CLAUSES))
    heads = draw(HEADS) if clause == "multi_head" else 1
    n, m, p = (draw(SIZES) for _ in range(3))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    Z = strategies.matrices(draw, rng, n, m, dtype, heads)
    W = strategies.matrices(draw, rng, m, p, dtype, heads)
    kind = draw(st.sampled_from(("any", "any", "any", "equal heads", "one entry")))
    if kind == "one entry":  # equal heads of one entry attain the bound
        Z, W = (np.zeros_like(part) for part in (Z, W))
        Z[:, -1, 0], W[:, 0, -1] = rng.normal(), rng.normal()
        W[1:] *= draw(st.sampled_from((1, 2)))
    if kind == "equal heads":
        Z, W = np.repeat(Z[:1], heads, axis=0), np.repeat(W[:1], heads, axis=0)
    if draw(st.sampled_from((False,) * 7 + (True,))):
        Z = (Z * float(np.finfo(dtype).smallest_subnormal) * 8).astype(dtype)
    t = np.array(rng.uniform(0.5, 1.0) * 10.0 ** draw(st.integers(-3, 3)), dtype)
    return Sample(clause, Z, W, draw(st.integers(1, 9)), t)


def layer(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    """sum_h Z^h W^h, (n, p)."""
    return np.sum(Z @ W, axis=0)


def norms(M: np.ndarray) -> np.ndarray:
    """The largest column sum and row sum of |M|, and the composite of the two."""
    sizes = np.abs(M)
    column, row = np.max(np.sum(sizes, axis=0)), np.max(np.sum(sizes, axis=1))
    return np.array([column, row, np.sqrt(column * row)], M.dtype)


def exactly(M: np.ndarray) -> fmpq_mat:
    """The rational matrix that a float matrix is."""
    entries = [[Fraction(float(value)) for value in row] for row in M]
    return fmpq_mat([[fmpq(f.numerator, f.denominator) for f in row] for row in entries])


def exact_norms(M: fmpq_mat) -> tuple[fmpq, fmpq]:
    """The largest column sum and row sum of |M|."""
    rows = [[abs(value) for value in row] for row in M.tolist()]
    return max(sum(c, fmpq(0)) for c in zip(*rows, strict=True)), max(sum(r, fmpq(0)) for r in rows)


def exact_bound(Z: np.ndarray, W: np.ndarray) -> fmpq:
    """H^2 a w a' v, with the largest norms over the heads."""
    (a, a_row), (w, v) = (
        (max(pair[0] for pair in found), max(pair[1] for pair in found))
        for found in ([exact_norms(exactly(head)) for head in part] for part in (Z, W))
    )
    return len(Z) ** 2 * a * w * a_row * v


def with_composite(column: fmpq, row: fmpq) -> np.ndarray:
    """Two norms and their composite in float64, each rounded once."""
    bits, ctx.prec = ctx.prec, BITS
    try:
        root = arb(column * row).sqrt()
        return np.array([float(arb(column)), float(arb(row)), float(root)])
    finally:
        ctx.prec = bits


def _most(sums: Rounded) -> Rounded:
    """The largest entry: it is off by no more than the entries are."""
    size, error = np.max(sums.magnitude, keepdims=True), np.max(sums.error, keepdims=True)
    return Rounded(size, error, sums.units)


def _norms_error(M: Rounded, computed: np.ndarray) -> np.ndarray:
    """Errors of `norms`, and those of the exact values' own rounding to float64."""
    column, row = _most(M.sum(axis=0)), _most(M.sum(axis=1))
    with np.errstate(under="ignore"):
        composite = (column * row).sqrt(np.array([computed[0] * computed[1]], computed.dtype))
    errors = np.array([part.error[0] for part in (column, row, composite)])
    sizes = np.array([part.magnitude[0] for part in (column, row, composite)])
    return errors + 2.0**-52 * sizes


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for; ArithmeticError where the exact bound fails."""
    if sample.clause == "not_a_norm":
        return _not_a_norm(sample.n, sample.t)
    Z, W = sample.Z, sample.W
    M = layer(Z, W)
    exact = sum((exactly(z) * exactly(w) for z, w in zip(Z, W, strict=True)),
                start=fmpq_mat(*M.shape))  # fmt: skip
    column, row = exact_norms(exact)
    if column * row > exact_bound(Z, W):
        raise ArithmeticError(f"|M|_1 |M|_inf = {float(arb(column * row))} exceeds its bound")
    replayed = (roundoff.exact(Z) @ roundoff.exact(W)).sum(axis=0)
    bound = _norms_error(replayed, norms(M))
    k = max(len(Z), *Z.shape[1:], W.shape[2])
    return Residual(sample.clause, norms(M), with_composite(column, row), bound, k)


def one_line(n: int, t: np.ndarray) -> np.ndarray:
    """The (n, n) matrix whose last row is t."""
    return np.where(np.arange(n)[:, None] == n - 1, t, np.zeros_like(t)) + np.zeros((n, n), t.dtype)


def _not_a_norm(n: int, t: np.ndarray) -> Residual:
    E = one_line(n, t)
    lhs = np.concatenate([norms(part) for part in (E, E.T, E + E.T)])
    size = exactly(t.reshape(1, 1))[0, 0]
    exact = ((size, n * size), (n * size, size), ((n + 1) * size, (n + 1) * size))
    rhs = np.concatenate([with_composite(*pair) for pair in exact])
    line = roundoff.exact(E)
    replayed = (line, line.transpose(1, 0), line + line.transpose(1, 0))
    bound = np.concatenate([
        _norms_error(part, norms(value))
        for part, value in zip(replayed, (E, E.T, E + E.T), strict=True)
    ])  # fmt: skip
    return Residual("not_a_norm", lhs, rhs, bound, n)
