"""AP8 on a device: attention on flat space, the sphere and the hyperboloid, by two routes each.

In the cell `flat` one side weighs values by exp(-|q - k|^2 / (2 tau)), from differences alone; the
other is torch's fused attention with the products of the same queries and keys and the column term
-|k|^2 / (2 tau). In the cells `sphere` and `hyperboloid` points are paired by exp(<q, k> / tau) for
the form <x, y> = sum_a eta_a x_a y_a, eta = (1, ..., 1) or (-1, 1, ..., 1), and the readout is the
mean M of the values over the root of eta_1 <M, M>. One side moves the readouts by an isometry; the
other reads moved points by fused attention. The isometry is exact as stored, and they agree for
points off the quadric too, so that stored points need not lie on it. Both sides work and leave
their results in the accumulation dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch.nn import functional

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded
from numerics.stress import quadric_bounds as bounds
from numerics.stress.cell import Cell
from numerics.stress.rounding import Precision, float64

CELLS = ("flat", "sphere", "hyperboloid")
QUADRIC_SCALE = 8.0
HADAMARD = torch.tensor([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
BOOST = torch.tensor([[5, 3], [3, 5]]) / 4
ARRAYS = 16
"""Arrays of a block's pairings that are held at once, in float64, at most."""


@dataclass(frozen=True)
class Points:
    """Queries, keys, values (n, d), an isometry (d, d) and the signs eta (d,), all stored, and
    scale = 1 / tau, a power of two. In flat space the last two arrays are not used."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    isometry: torch.Tensor
    signs: torch.Tensor
    scale: float

    def changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Points:
        """The same with other stored numbers, as `change` gives them."""
        query, key, value = change(self.query), change(self.key), change(self.value)
        return Points(query, key, value, change(self.isometry), change(self.signs), self.scale)

    def wide(self) -> Points:
        """The same in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return self.changed(lambda part: part.to(dtype))

    def blocks(self) -> Iterator[slice]:
        """Blocks of queries."""
        n, _ = self.query.shape
        return blockwise.row_blocks(n, ARRAYS * n, self.query.device)


@dataclass(frozen=True)
class Readouts:
    """Means M of the values (n, d), their squares eta_1 <M, M> (n,), and the readouts (n, d).

    In flat space the squares are 1, and means are readouts.
    """

    means: torch.Tensor
    squares: torch.Tensor
    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Points, None]:
    """Points of the space, rounded to storage: a query lies between a key's place and another.

    Values on the sphere lean towards one point, lest their means vanish.
    """
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    query, key, value = (torch.randn(n, d, generator=source, dtype=torch.float64) for _ in range(3))
    target = torch.randperm(n, generator=source)
    share = torch.rand(n, 1, generator=source, dtype=torch.float64)
    query = query + share * (key[target] - query)
    if cell.name == "sphere":
        value[:, 0] += 2 * d**0.5
    # No coordinate so small that it could be flushed.
    parts = (x.where(x.abs() >= 2.0**-6, 2.0**-6) for x in (query, key, value))
    query, key, value = (_placed(x, cell) for x in parts)
    isometry, signs = _isometry(d, cell, source)
    scale = 2.0 ** -round(math.log2(d) / 2) if cell.name == "flat" else QUADRIC_SCALE
    points = Points(query, key, value, isometry, signs, scale)
    return points.changed(lambda part: part.to(dtype).to(device)), None


def _placed(x: torch.Tensor, cell: Cell) -> torch.Tensor:
    """Points (n, d) of the cell's space; on the hyperboloid the first coordinate is the cosine."""
    if cell.name == "sphere":
        return x / x.norm(dim=1, keepdim=True)
    if cell.name == "hyperboloid":
        across = x[:, 1:] / x.shape[1] ** 0.5
        return torch.cat([(1 + (across * across).sum(1, keepdim=True)).sqrt(), across], 1)
    return x


def _isometry(d: int, cell: Cell, source: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """A linear isometry of few binary digits, dyadic and so exact, and the signs of its form."""
    signs = torch.ones(d, dtype=torch.float64)
    if cell.name != "hyperboloid":
        return _rotation(d, source), signs
    signs[0] = -1
    boost, turn, again = (torch.eye(d, dtype=torch.float64) for _ in range(3))
    boost[:2, :2] = BOOST if d > 1 else 1
    turn[1:, 1:], again[1:, 1:] = _rotation(d - 1, source), _rotation(d - 1, source)
    return turn @ boost @ again, signs


def _rotation(d: int, source: torch.Generator) -> torch.Tensor:
    """An orthogonal matrix (d, d): Hadamard matrices over 2 on fours of coordinates, signed and
    permuted; what is left of d by 4 is only signed and permuted."""
    blocks = torch.eye(d, dtype=torch.float64)
    for start in range(0, d - 3, 4):
        blocks[start : start + 4, start : start + 4] = HADAMARD
    signs = 2.0 * torch.randint(2, (d, 1), generator=source) - 1
    return signs * blocks[torch.randperm(d, generator=source)]


def longest_sum(points: Points, cell: Cell) -> int:
    """Terms of the longest sum of either side: the tokens, or the coordinates and a column."""
    n, d = points.query.shape
    return max(n, d + (cell.name == "flat"))


def operations(points: Points, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    n, d = points.query.shape
    attention = 2 * n * n * d
    if cell.name == "flat":
        return attention, 2 * 2 * n * n * (d + 1)
    move = 2 * n * d * d
    return 2 * attention + move, 2 * attention + 3 * move


def left_side(points: Points, cell: Cell) -> Readouts:
    """Side one: weights from distances, or from the form; the readouts moved by the isometry."""
    p = points.wide()
    if cell.name == "flat":
        means = _means(p, lambda rows: distances2(p.query[rows], p.key).mul_(-p.scale / 2))
        return Readouts(means, torch.ones_like(means[:, 0]), means)
    means = _means(p, lambda rows: ((p.query[rows] * p.signs) @ p.key.mT).mul_(p.scale))
    squares = (means * means * (p.signs * p.signs[0])).sum(1)
    return Readouts(means, squares, (means / squares.sqrt()[:, None]) @ p.isometry.mT)


def right_side(points: Points, cell: Cell) -> Readouts:
    """Side two, by torch's kernel: with the column term, or at moved points."""
    p = points.wide()
    if cell.name == "flat":
        column = (p.key * p.key).sum(1, keepdim=True) * -0.5
        query, key = functional.pad(p.query, (0, 1), value=1), torch.cat([p.key, column], 1)
        # The kernel is fused only where values are as wide as keys.
        value = functional.pad(p.value, (0, 1))
        means = blockwise.library_attention(query[None], key[None], value[None], p.scale)[0, :, :-1]
        return Readouts(means, torch.ones_like(means[:, 0]), means)
    query, key, value = (x @ p.isometry.mT for x in (p.query, p.key, p.value))
    key = key * p.signs
    means = blockwise.library_attention(query[None], key[None], value[None], p.scale)[0]
    # Written again, so that a fault of either side's normalisation is not in both.
    signed = means * p.signs
    squares = p.signs[0] * (signed * means).sum(1)
    return Readouts(means, squares, means / torch.sqrt(squares)[:, None])


def distances2(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """|q_i - k_j|^2 (B, n) of queries (B, d) and keys (n, d), a coordinate at a time: no product
    of a query and a key."""
    total = query.new_zeros(len(query), len(key))
    for q, k in zip(query.mT.contiguous(), key.mT.contiguous(), strict=True):
        step = q[:, None] - k
        total.addcmul_(step, step)
    return total


def _means(points: Points, scores: Callable[[slice], torch.Tensor]) -> torch.Tensor:
    """sum_j exp(s_ij) v_j / sum_j exp(s_ij) (n, d), a block of queries at a time."""
    means = torch.empty_like(points.value)
    for rows in points.blocks():
        weights = scores(rows)
        weights.sub_(weights.amax(1, keepdim=True)).exp_()
        means[rows] = (weights @ points.value) / weights.sum(1, keepdim=True)
    return means


def comparisons(
    points: Points, cell: Cell, left: Readouts, right: Readouts, model: Precision
) -> Iterator[Comparison]:
    """The readouts against their bounds, a block of queries at a time."""
    k, bounded = longest_sum(points, cell), _flat if cell.name == "flat" else _quadric
    for rows, one, two in bounded(points, left, right, model):
        error = one.error + two.error
        yield compare("readouts", left.result[rows], right.result[rows], error, k, rows.start)


Bounds = Iterator[tuple[slice, Rounded, Rounded]]
"""Rows of a block, and the bounds of both sides there."""


def _flat(points: Points, left: Readouts, right: Readouts, model: Precision) -> Bounds:
    query, key = float64(points.query), float64(points.key)
    column = (key * key).sum(1, keepdim=True) / -2
    query, key = functional.pad(query, (0, 1), value=1), torch.cat([key, column], 1)
    value, half = model.enter(points.value), model.enter(torch.full_like(points.key[:1, :1], 0.5))
    stored = model.enter(points.key)
    squares = (stored * stored).sum(1).reshape(-1, 1) * half
    augmented = Rounded(
        torch.cat([stored.magnitude, squares.magnitude], 1),
        torch.cat([stored.error, squares.error], 1),
        model.wide,
    )
    for rows in points.blocks():
        found = bounds.pairings(query[rows], key, points.scale)
        error = bounds.distance_error(found, points.query[rows], points.key, points.scale, model)
        weight = bounds.walk_weights(found, error, model)
        one = bounds.mean(weight, value, left.means[rows], model)
        asked = functional.pad(points.query[rows], (0, 1), value=1)
        error = bounds.product_error(model.enter(asked), augmented, points.scale, model)
        weight = bounds.fused_weights(found, error, model)
        two = bounds.mean(weight, value, right.means[rows], model)
        yield rows, one, two


def _quadric(points: Points, left: Readouts, right: Readouts, model: Precision) -> Bounds:
    exact, signs = points.changed(float64), model.enter(points.signs)
    turn = model.enter(points.isometry).transpose(1, 0)
    key, value = model.enter(points.key), model.enter(points.value)
    moved_key, moved_value = key @ turn, value @ turn
    for rows in points.blocks():
        query = model.enter(points.query[rows])
        found = bounds.pairings(exact.query[rows] * exact.signs, exact.key, points.scale)
        error = bounds.product_error(query, key, points.scale, model)
        # The readouts do not see a factor that the weights of a row have in common.
        weight = bounds.walk_weights(found, error, model, homogeneous=True)
        means = bounds.mean(weight, value, left.means[rows], model)
        one = bounds.normalised(means, signs, left.squares[rows]) @ turn
        error = bounds.product_error(query @ turn, moved_key, points.scale, model)
        weight = bounds.fused_weights(found, error, model, homogeneous=True)
        means = bounds.mean(weight, moved_value, right.means[rows], model)
        yield rows, one, bounds.normalised(means, signs, right.squares[rows])
