"""RA3 on a device: scores as one product of factors as wide as their rank, and by differences.

The metrics are G_i = diag(D_i) + U diag(C_i) U^T with one U for all tokens; the factors have the
widths of RA3's table. What is kept of a row is what pair_distances keeps, and for its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded
from numerics.stress.cell import Cell
from numerics.stress.rounding import Precision, float64
from numerics.stress.theorems.distance_cost import Extremes, extremes

CELLS = ("shared", "conformal", "diagonal", "symmetrised", "unsquared", "sphere")
"""lambda_i I + U diag(C_i) U^T, of width d + 2 + r; lambda_i I, d + 2; diag(D_i), 2 d + 1; the
first symmetrised, 2 (d + 2 + r); the second unsquared, by the root of its product, since no factors
give it; and the second for tokens of one norm, d + 1."""

RANK = 4


@dataclass(frozen=True)
class Tokens:
    """Tokens x (n, d), weights D (n, d) or (n, 1), cores C (n, r) or None, U (d, r), and the square
    (1, 1) of a token, used where all have one: arrays, or what is known of their errors, since one
    text below computes both."""

    x: Any
    D: Any
    C: Any
    U: Any
    square: Any

    def rows(self, rows: Any) -> Tokens:
        """Some of the tokens."""
        C = None if self.C is None else self.C[rows]
        return replace(self, x=self.x[rows], D=self.D[rows], C=C)


def draw(cell: Cell, device: torch.device) -> tuple[Tokens, None]:
    """Tokens with close pairs; on a sphere, signed permutations of one token, of one exact norm."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    drawn = blockwise.drawing_dtype(dtype)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=drawn)

    def positive(*shape: int) -> torch.Tensor:
        return 4 ** (torch.rand(*shape, generator=source, dtype=drawn) - 0.5)

    x, half = normal(n, d), n // 4
    x[half : 2 * half] = x[:half] + normal(half, d) / 64
    if cell.name == "sphere":
        places = torch.rand(n, d, generator=source).argsort(1)
        x = x[0][places] * (2 * torch.randint(2, (n, d), generator=source) - 1)
    D = positive(n, d if cell.name == "diagonal" else 1)
    C, U = positive(n, RANK), normal(d, RANK) / 2
    stored = Tokens(*(part.to(dtype).to(device) for part in (x, D, C, U, x[:1, :1])))
    wide = stored.x.to(blockwise.accumulation_dtype(dtype))
    square = (wide[:1] * wide[:1]).sum(1, keepdim=True)
    plain = cell.name not in ("shared", "symmetrised")
    return replace(stored, C=None if plain else stored.C, square=square), None


def width(cell: Cell, d: int) -> int:
    """The width of the factors."""
    widths = {"shared": d + 2 + RANK, "symmetrised": 2 * (d + 2 + RANK), "diagonal": 2 * d + 1}
    return widths.get(cell.name, d + 1 if cell.name == "sphere" else d + 2)


def longest_sum(tokens: Tokens, cell: Cell) -> int:
    """Terms of the longest sum of either side."""
    return width(cell, tokens.x.shape[1])


def _accumulated(t: Tokens) -> Tokens:
    dtype = blockwise.accumulation_dtype(t.x.dtype)
    C = None if t.C is None else t.C.to(dtype)
    return Tokens(t.x.to(dtype), t.D.to(dtype), C, t.U.to(dtype), t.square)


def _joined(*parts: Any) -> Any:
    """Columns beside one another."""
    if isinstance(parts[0], torch.Tensor):
        return torch.cat(parts, 1)
    magnitudes, errors = [part.magnitude for part in parts], [part.error for part in parts]
    return Rounded(torch.cat(magnitudes, 1), torch.cat(errors, 1), parts[0].units)


def _query_features(cell: Cell, t: Tokens, minus: Any) -> Any:
    """x^T G x, -2 G x and the coordinates of G, from minus = -x: the sign comes with it."""
    lowered = t.D * minus
    if t.C is not None:
        lowered = lowered + (t.C * (minus @ t.U)) @ t.U.transpose(1, 0)
    own = (minus * lowered).sum(1)[:, None]
    if cell.name == "sphere":
        return _joined(own + t.D * t.square, lowered + lowered)
    parts = (own, lowered + lowered, t.D)
    return _joined(*parts) if t.C is None else _joined(*parts, t.C)


def _key_features(cell: Cell, t: Tokens, one: Any) -> Any:
    """1, y, and the squares that the coordinates of G multiply."""
    if cell.name == "sphere":
        return _joined(one, t.x)
    squares = t.x * t.x
    parts = (one, t.x, squares if cell.name == "diagonal" else squares.sum(1)[:, None])
    if t.C is None:
        return _joined(*parts)
    along = t.x @ t.U
    return _joined(*parts, along * along)


def _factors(cell: Cell, t: Tokens, minus: Any, one: Any) -> tuple[Any, Any]:
    """Factors (n, w) whose products are the squared distances, twice their mean if symmetrised."""
    query, key = _query_features(cell, t, minus), _key_features(cell, t, one)
    if cell.name == "symmetrised":
        return _joined(query, key), _joined(key, query)
    return query, key


def _explicit(t: Tokens, step: Any, along: Any) -> Any:
    """The squared lengths of differences (..., d) that U^T maps to along (..., r)."""
    total = (t.D * (step * step)).sum(-1)
    return total if t.C is None else total + (t.C * (along * along)).sum(-1)


def _blocks(tokens: Tokens, cell: Cell) -> Iterator[slice]:
    n, d = tokens.x.shape
    return blockwise.row_blocks(n, n * max(d, RANK), tokens.x.device)


def _factor(cell: Cell) -> float:
    return 0.25 if cell.name == "symmetrised" else 0.5


def _scores(cell: Cell, squared: torch.Tensor) -> torch.Tensor:
    """Minus the scores: half the squared distance, half the mean of both, or the distance."""
    if cell.name == "unsquared":
        return squared.clamp(min=0).sqrt()
    return squared * _factor(cell)


def operations(tokens: Tokens, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    (n, d), r = tokens.x.shape, tokens.U.shape[1]
    # The low-rank part of a metric is applied by two products, tokens are projected by a third.
    factors = 0 if tokens.C is None else 3 * n * d * r
    return 2 * (factors + n * n * width(cell, d)), 2 * n * n * d * r


def left_side(tokens: Tokens, cell: Cell) -> Extremes:
    """Side one, one product of factors a block."""
    t = _accumulated(tokens)
    query, key = _factors(cell, t, -t.x, torch.ones_like(t.x[:, :1]))
    return extremes(t.x, _blocks(tokens, cell), lambda rows: _scores(cell, query[rows] @ key.T))


def right_side(tokens: Tokens, cell: Cell) -> Extremes:
    """Side two, explicit differences."""
    t = _accumulated(tokens)

    def scores(rows: slice) -> torch.Tensor:
        few = t.rows((rows, None))
        step = few.x - t.x
        along = step @ t.U
        found = _explicit(few, step, along)
        if cell.name == "symmetrised":
            found = found + _explicit(t, step, along)
        return _scores(cell, found)

    return extremes(t.x, _blocks(tokens, cell), scores)


def comparisons(
    tokens: Tokens, cell: Cell, left: Extremes, right: Extremes, model: Precision
) -> Iterator[Comparison]:
    """The extremes against the larger bound of the pairs at which the sides found them."""
    k, columns = longest_sum(tokens, cell), []
    for column in range(2):
        at_left, at_right = (
            _pair_bound(tokens, cell, side.tokens[:, column], model) for side in (left, right)
        )
        columns.append(torch.maximum(at_left, at_right))
    yield compare("scores", left.result, right.result, torch.stack(columns, 1), k)


def _pair_bound(tokens: Tokens, cell: Cell, keys: torch.Tensor, model: Precision) -> torch.Tensor:
    """Bound (n,) on the difference of both sides at one key a query."""
    blocks = []
    n, d = tokens.x.shape
    for rows in blockwise.row_blocks(n, 4 * max(d, RANK), tokens.x.device):
        x, y = tokens.rows(rows), tokens.rows(keys[rows])
        if cell.name == "unsquared":
            least = _least(x, y)
            first, second = (_root(square, least) for square in _both(cell, x, y, model))
        else:
            factor = model.enter(torch.full_like(tokens.x[:1, 0], _factor(cell)))
            first, second = (factor * square for square in _both(cell, x, y, model))
        blocks.append(first.error + second.error)
    return torch.cat(blocks)


def _mapped(t: Tokens, function: Callable[[torch.Tensor], Any]) -> Tokens:
    """The tokens through a function, and their common square from the first of them."""
    first = function(t.x[:1])
    C = None if t.C is None else function(t.C)
    square = (first * first).sum(1)[:, None]
    return Tokens(function(t.x), function(t.D), C, function(t.U), square)


def _both(cell: Cell, x: Tokens, y: Tokens, model: Precision) -> tuple[Rounded, Rounded]:
    """The squared distances of B pairs by factors and by differences, replayed; magnitudes are
    sharpened by the values themselves in float64."""
    near, far = _mapped(x, model.enter), _mapped(y, model.enter)
    x, y = _mapped(x, float64), _mapped(y, float64)
    one = torch.ones_like(x.x[:, :1])
    factors = zip(_pair(cell, near, far, model.enter(one)), _pair(cell, x, y, one), strict=True)
    query, key = (part.seen(value) for part, value in factors)
    step, moved = near.x - far.x, x.x - y.x
    step, along = step.seen(moved), (step @ near.U).seen(moved @ x.U)
    differences = _explicit(near, step, along)
    if cell.name == "symmetrised":
        differences = differences + _explicit(far, step, along)
    return (query * key).sum(1), differences


def _pair(cell: Cell, x: Tokens, y: Tokens, one: Any) -> tuple[Any, Any]:
    """The query's factor of x and the key's of y, whose signs do not matter here."""
    return _factors(cell, x, x.x, one)[0], _factors(cell, y, y.x, one)[1]


def _least(x: Tokens, y: Tokens) -> torch.Tensor:
    """A lower bound (B,) on the exact squared distance: its diagonal part, in float64."""
    step = float64(x.x) - float64(y.x)
    return (float64(x.D) * (step * step)).sum(1) * (1 - (step.shape[1] + 8) * 2.0**-52)


def _root(square: Rounded, least: torch.Tensor) -> Rounded:
    """The root of a squared distance >= least: |sqrt a - sqrt b| is at most |a - b| / sqrt b, and
    at most the root of |a - b|."""
    slope = square.error / least.clamp(min=torch.finfo(torch.float64).tiny).sqrt()
    carried = torch.minimum(slope, square.error.sqrt())
    size = (square.magnitude + square.error).sqrt()
    error = (carried + square.units.once * size) * (1 + 2.0**-48)
    return Rounded(size, error, square.units)
