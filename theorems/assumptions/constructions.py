"""Exact matrices with a property by construction, over rationals or free symbols."""

from __future__ import annotations

from theorems.checker.exact import Draw, Rows, Value, times


def unit_vector(draw: Draw, size: int) -> list[Value]:
    """A point of the unit sphere by stereographic projection, rational in its parameters."""
    free = [draw.source.fresh(None) for _ in range(size - 1)]
    square = sum(value * value for value in free)
    scale = draw.source.inverse(1 + square)
    return [(1 - square) * scale, *(2 * value * scale for value in free)]


def reflection(draw: Draw, size: int) -> Rows:
    """I - 2 v v^T with a unit vector v."""
    v = unit_vector(draw, size)
    return [[int(r == c) - 2 * v[r] * v[c] for c in range(size)] for r in range(size)]


def invertible(draw: Draw, size: int) -> tuple[Rows, Rows]:
    """A matrix with nonzero leading minors, as unit lower times diagonal times unit upper, and its
    inverse."""
    lower, lower_inverse = _unit_lower(draw, size)
    upper, upper_inverse = (
        [list(column) for column in zip(*rows, strict=True)] for rows in _unit_lower(draw, size)
    )
    scales = [draw.source.fresh(">0") for _ in range(size)]
    scaled = [[s * value for value in row] for s, row in zip(scales, upper, strict=True)]
    unscaled = [[draw.source.inverse(s) * value for value in row]
                for s, row in zip(scales, lower_inverse, strict=True)]
    return times(lower, scaled), times(upper_inverse, unscaled)


def _unit_lower(draw: Draw, size: int) -> tuple[Rows, Rows]:
    rows: Rows = []
    inverse: Rows = []
    for r in range(size):
        rows.append([draw.source.fresh(None) if c < r else int(c == r) for c in range(size)])
        inverse.append([
            int(c == r) - sum(rows[r][k] * inverse[k][c] for k in range(r)) for c in range(size)
        ])
    return rows, inverse
