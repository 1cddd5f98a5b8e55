"""AP1 on a device: softmax weights maximise the free energy <p, s> + tau H(p) of their scores.

In the cell `value` one side is tau log-sum-exp(s / tau), carried along blocks of keys; the other
forms the weights p of whole rows and evaluates the free energy at them. In the cell `gap` the free
energy at another law q, softmax at another temperature, falls short of that value by
tau KL(q | p): one side forms the difference, the other sums logarithms of weights. Both sides work
and leave their results in the accumulation dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.stress import inputs
from numerics.stress.cell import Cell
from numerics.stress.rounding import LIBRARY_EXP_ULPS, SPARE, NoBound, Precision, float64

CELLS = ("value", "gap")
TEMPERATURE, OTHER = 0.5, 2.0
"""Temperatures of p and q: powers of two, by which products are exact, and not 1."""
KEYS = 64


@dataclass(frozen=True)
class Head:
    """Stored queries and keys (n, d) of one head and the scale of their scores."""

    query: torch.Tensor
    key: torch.Tensor
    scale: float

    def wide(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries and keys in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return self.query.to(dtype), self.key.to(dtype)

    def blocks(self, arrays: int = 1) -> Iterator[slice]:
        """Blocks of queries whose scores with all keys, so many times over, are about a block."""
        n, _ = self.query.shape
        return blockwise.row_blocks(n, arrays * n, self.query.device)


@dataclass(frozen=True)
class Energies:
    """A free energy, or a difference of two, for every query (n,)."""

    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Head, None]:
    """Queries that lean towards a key each: rows from nearly uniform to nearly one-hot."""
    layer = inputs.draw(cell, device)
    return Head(layer.query[0], layer.key[0], layer.scale), None


def longest_sum(head: Head, cell: Cell) -> int:
    """Terms of the longest sum of either side: the keys, at least d."""
    return max(head.query.shape)


def operations(head: Head, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    n, d = head.query.shape
    scores = 2 * n * n * d
    return (scores if cell.name == "value" else 2 * scores), scores


def left_side(head: Head, cell: Cell) -> Energies:
    """Side one, tau log-sum-exp(s / tau), less the free energy at q in the cell `gap`."""
    value = _online_value(head)
    return Energies(value if cell.name == "value" else value - _free_energy(head, OTHER))


def right_side(head: Head, cell: Cell) -> Energies:
    """Side two, the free energy at p, or tau KL(q | p)."""
    return Energies(_free_energy(head, TEMPERATURE) if cell.name == "value" else _divergence(head))


def _online_value(head: Head) -> torch.Tensor:
    """tau log-sum-exp(s / tau) (n,): the sum is rescaled whenever a block has a higher score."""
    query, key = head.wide()
    n, _ = query.shape
    value = query.new_empty(n)
    for rows in blockwise.row_blocks(n, KEYS, query.device):
        peak = query.new_full((rows.stop - rows.start,), -math.inf)
        total = torch.zeros_like(peak)
        for start in range(0, n, KEYS):
            exponents = query[rows] @ key[start : start + KEYS].mT
            exponents *= head.scale / TEMPERATURE
            higher = torch.maximum(peak, exponents.amax(1))
            total *= (peak - higher).exp()
            total += (exponents - higher[:, None]).exp().sum(1)
            peak = higher
        value[rows] = TEMPERATURE * (peak + total.log())
    return value


def _free_energy(head: Head, temperature: float) -> torch.Tensor:
    """<x, s> + tau H(x) (n,) at the weights x that softmax has at a temperature, 0 log 0 = 0."""
    query, key = head.wide()
    found = torch.empty_like(query[:, 0])
    for rows in head.blocks():
        scores = (query[rows] @ key.mT).mul_(head.scale)
        weights = torch.softmax(scores / temperature, 1)
        entropy = -torch.xlogy(weights, weights).sum(1)
        found[rows] = (weights * scores).sum(1) + TEMPERATURE * entropy
    return found


def _divergence(head: Head) -> torch.Tensor:
    """tau KL(q | p) (n,), from the logarithms of the weights."""
    query, key = head.wide()
    key = key * head.scale
    found = torch.empty_like(query[:, 0])
    for rows in head.blocks():
        scores = query[rows] @ key.mT
        log_p, log_q = (torch.log_softmax(scores / tau, 1) for tau in (TEMPERATURE, OTHER))
        found[rows] = TEMPERATURE * (log_q.exp() * (log_q - log_p)).sum(1)
    return found


def comparisons(
    head: Head, cell: Cell, left: Energies, right: Energies, model: Precision
) -> Iterator[Comparison]:
    """The energies against their bounds, a block of queries at a time."""
    k = longest_sum(head, cell)
    key = float64(head.key)
    for rows in head.blocks(16):
        block = Bounds(head, key, rows, model)
        one, two = left.result[rows], right.result[rows]
        error = block.value_error()
        if cell.name == "value":
            error = error + block.free_energy_error(TEMPERATURE)
        else:
            error = error + block.free_energy_error(OTHER) + block.divergence_error()
            error = error + block.unit * float64(one).abs()
        yield compare("free energy", one, two, error * block.outward, k, rows.start)


@dataclass(frozen=True)
class _Law:
    """Softmax at a temperature: weights (B, n), the logarithms of their totals (B, 1), exponents
    (B, n), how far they lie below the highest, and what they inherit from the scores' error.
    """

    weights: torch.Tensor
    log_totals: torch.Tensor
    exponents: torch.Tensor
    below: torch.Tensor
    inherited: torch.Tensor


class Bounds:
    """Scores of a block of queries in float64, and bounds (B,) of what is computed from them.

    A factor 1 + x with |x| <= u is followed by its logarithm, at most -log(1 - u) = unit.
    Raises NoBound when the scores' error is too large for any bound on the softmax.
    """

    def __init__(self, head: Head, key: torch.Tensor, rows: slice, model: Precision) -> None:
        wide, (self.keys, width) = model.wide, key.shape
        self.unit, self.exp, self.library = (
            -math.log1p(-u) for u in (wide.acc, wide.exp, 2 * LIBRARY_EXP_ULPS * wide.acc)
        )
        query = float64(head.query[rows])
        self.scores = (query @ key.mT).mul_(head.scale)
        # Six roundings scale a score: the scale or its square root, on one factor or on both.
        roundings = head.scale * math.expm1((width + 6) * self.unit)
        self.error = (query.abs() @ key.abs().mT).mul_(roundings)
        largest_factor = 1 + query.abs().amax() + key.abs().amax()
        self.error += (4 * wide.eta + 2 * model.narrow.flush) * width * largest_factor
        self.size = (self.scores.abs() + self.error).amax(1, keepdim=True)
        worst = float(self.error.amax()) / min(TEMPERATURE, OTHER)
        if not worst < 0.25:
            raise NoBound("scores are too large for this dtype: no rounding bound on softmax")
        # In float64 the weights of the bound itself inherit as much as those of the sides.
        self.outward = SPARE * math.exp(8 * worst * 2.0**-53 / wide.acc)
        self.least = 16 * self.keys * max(model.least, wide.eta)

    def law(self, temperature: float) -> _Law:
        """The exact weights and what computed exponents inherit."""
        exponents = self.scores / temperature
        log_totals = torch.logsumexp(exponents, 1, keepdim=True)
        below = exponents.amax(1, keepdim=True) - exponents
        weights = (exponents - log_totals).exp()
        return _Law(weights, log_totals, exponents, below, self.error / temperature)

    def total_error(self, law: _Law, each: torch.Tensor, blocks: int = 1) -> torch.Tensor:
        """Error (B, 1) of the logarithm of a sum of exponentials, `each` that of its terms'."""
        lost = (law.weights * torch.expm1(law.inherited + each)).sum(1, keepdim=True)
        lost = lost + blocks * self.least
        if not bool((lost < 0.5).all()):
            raise NoBound("too many keys for this dtype: no rounding bound on softmax")
        return -torch.log1p(-lost)

    def value_error(self) -> torch.Tensor:
        """Of `_online_value`: differences of the peaks telescope to how far a term lies below."""
        law, blocks = self.law(TEMPERATURE), math.ceil(self.keys / KEYS)
        each = 2 * self.unit * (law.below + 1) + (blocks + 1) * self.exp
        each = each + (min(KEYS, self.keys) + 2 * blocks) * self.unit
        total = self.total_error(law, each, blocks)
        logarithm = 2 * self.exp * (math.log(self.keys) + total)
        rounded = 2 * self.unit * (law.log_totals.abs() + total + logarithm)
        return TEMPERATURE * (total + logarithm + rounded)[:, 0]

    def free_energy_error(self, temperature: float) -> torch.Tensor:
        """Of `_free_energy`. With x = q e^t off from q, S = sum x and log q = s / theta - L,

        F(x) - F(q) = sum (x - q) (g - c) + c (S - 1) - tau S (log S + KL(x / S | q)) for any c,
        where g = s - tau log q; and KL is at most chi^2. At theta = tau all g are the value.
        """
        law = self.law(temperature)
        q, log_q = law.weights, law.exponents - law.log_totals
        each = 2 * self.unit * (law.below + 1) + self.library
        total = self.total_error(law, each + self.keys * self.unit)
        off = law.inherited + each + total + 3 * self.unit
        # The scores' own error drops out of S.
        mass = math.expm1(2 * self.library + (self.keys + 4) * self.unit) + self.least
        moved = q * torch.expm1(off)
        x = q + moved
        g = self.scores - TEMPERATURE * log_q
        mean, carried = _mean(q, g), _mean(q, self.error)
        error = _mean(x, self.error) + _mean(moved, (g - mean).abs() + self.error + carried)
        error += (mean.abs() + carried) * mass
        chi2 = _mean(q, torch.expm1(off - math.log1p(-mass)) ** 2)
        error += TEMPERATURE * (1 + mass) * (chi2 - math.log1p(-mass))
        sums = (self.keys + 3) * self.unit
        error += math.expm1(sums) * _mean(x, self.scores.abs() + self.error)
        entropy = _mean(x, log_q.abs() + off)
        error += TEMPERATURE * math.expm1(sums + self.exp) * entropy
        return (error + self.least * (self.size + mean.abs() + 800))[:, 0]

    def log_error(self, law: _Law, temperature: float) -> torch.Tensor:
        """Of torch.log_softmax (B, 1), the exponents' own error apart."""
        each = 2 * self.unit * (law.below + 1) + self.library
        total = self.total_error(law, each + self.keys * self.unit)
        logs = math.log(self.keys)
        rounded = 4 * self.unit * (self.size / temperature + logs + 1)
        return total + 2 * self.exp * (logs + total) + rounded

    def divergence_error(self) -> torch.Tensor:
        """Of `_divergence`; the scores' own error enters both logarithms alike."""
        p, q = self.law(TEMPERATURE), self.law(OTHER)
        in_p, in_q = self.log_error(p, TEMPERATURE), self.log_error(q, OTHER)
        moved = q.weights * torch.expm1(q.inherited + in_q + self.exp)
        x = q.weights + moved
        ratio = (q.exponents - q.log_totals - p.exponents + p.log_totals).abs()
        ratio_error = in_p + in_q + self.error * abs(1 / TEMPERATURE - 1 / OTHER)
        ratio = ratio + ratio_error
        error = _mean(x, ratio_error) + _mean(moved, ratio)
        error += math.expm1((self.keys + 3) * self.unit) * _mean(x, ratio)
        error += self.least * (1 + ratio.amax(1, keepdim=True))
        return TEMPERATURE * error[:, 0]


def _mean(weights: torch.Tensor, terms: torch.Tensor) -> torch.Tensor:
    """sum_j w_j t_j (B, 1)."""
    return (weights * terms).sum(1, keepdim=True)
