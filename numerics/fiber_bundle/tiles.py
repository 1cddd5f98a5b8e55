"""Geodesic attention in tiles of queries and keys, with a softmax that is summed on the way.

Nothing of size n x n is held: the arrays are linear in n, the tiles constant. Two levels of tiling
keep a tile of scores in a processor's cache while the r + 2 products add to it, as the product of
keys and squared keys, then one square after the other into the same buffer.

Geodesic scores are at most 0, and 0 for the token itself: where every query sees itself, the
largest score of each row is known before, and its softmax needs no running maximum. No gradient
passes through here. Source: RA7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics.fiber_bundle.connection import quarter_turn
from numerics.fiber_bundle.products import Products

QUERIES, KEYS = 256, 512
# Entries of one tile: half a megabyte of float32, of which a core's cache holds a good part.
CPU_TILE, ACCELERATOR_TILE = 2**17, 2**26


@dataclass(frozen=True, eq=False)
class Visibility:
    """Which keys a query may see: masks (M, n, n), of which head h of N has the one at which[h],
    or all; causal: none after itself. oneself: every query sees its own key."""

    masks: torch.Tensor | None
    which: torch.Tensor | None
    causal: bool
    oneself: bool

    @property
    def everything(self) -> bool:
        """Whether nothing is hidden."""
        return self.masks is None and not self.causal

    def reaches(self, rows: slice, keys: slice) -> bool:
        """Whether a causal mask leaves anything of a tile."""
        return not self.causal or keys.start < rows.stop

    def hide(self, scores: torch.Tensor, heads: slice, rows: slice, keys: slice) -> None:
        """Write -inf on what the queries of a tile (.., rows, keys) may not see."""
        if self.masks is not None and self.which is not None:
            seen = self.masks[self.which[heads], rows, keys].view(scores.shape)
            scores.masked_fill_(~seen, -torch.inf)
        if self.causal and keys.stop - 1 > rows.start:
            i = torch.arange(rows.start, rows.stop, device=scores.device)
            j = torch.arange(keys.start, keys.stop, device=scores.device)
            scores.masked_fill_(j > i[:, None], -torch.inf)


@dataclass(eq=False)
class Rows:
    """Sums of a tile of queries over the keys seen so far: total (.., I, 1), values (.., I, d_v),
    peak (.., I, 1), the largest score, or None where it is known to be 0. One head has no G."""

    total: torch.Tensor
    values: torch.Tensor
    peak: torch.Tensor | None

    @classmethod
    def empty(cls, like: torch.Tensor, rows: int, oneself: bool) -> Rows:
        """Before the first key; like holds values (G, n, d_v) or (n, d_v)."""
        total = like.new_zeros(*like.shape[:-2], rows, 1)
        peak = None if oneself else torch.full_like(total, -torch.inf)
        return cls(total, like.new_zeros(*like.shape[:-2], rows, like.shape[-1]), peak)

    def add(self, scores: torch.Tensor, values: torch.Tensor, angle: torch.Tensor | None) -> None:
        """Add keys with their scores (.., I, J), overwritten, values (.., J, d_v) and phases."""
        if self.peak is None:
            weights = scores.exp_()
        else:
            peak = torch.maximum(self.peak, scores.amax(-1, keepdim=True))
            level = peak.masked_fill(peak == -torch.inf, 0)
            weights = scores.sub_(level).exp_()
            kept = (self.peak - level).exp_()
            self.total.mul_(kept)
            self.values.mul_(kept)
            self.peak = peak
        self.total.add_(weights.sum(-1, keepdim=True))
        accumulate = self.values.addmm_ if values.ndim == 2 else self.values.baddbmm_
        if angle is None:
            accumulate(weights, values)
        else:
            accumulate(weights * torch.cos(angle), values)
            accumulate(weights * torch.sin(angle), quarter_turn(values))

    def mean(self) -> torch.Tensor:
        """Weighted means of the values, 0 for a query that sees no key."""
        return self.values / self.total.masked_fill(self.total == 0, 1)


def tiled_attention(
    centred: torch.Tensor,
    D: torch.Tensor,
    U: torch.Tensor,
    scale: float,
    values: torch.Tensor,
    kind: str,
    visibility: Visibility,
    phases: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> torch.Tensor:
    """Means (N, n, d_v) of values (N, n, d_v) of N heads, from what `Products.of` takes.

    phases are left and right factors (N, n, 2 k). One group of heads after the other is prepared,
    so that only inputs and result are held for all. A symmetrised tile is the mean of a tile and
    the transposed one, so that each is computed once. Raises NoDigits. Source: RA7.
    """
    heads, n, _ = values.shape
    budget = CPU_TILE if values.device.type == "cpu" else ACCELERATOR_TILE
    high, across = min(n, QUERIES), min(n, KEYS if kind == "query" else QUERIES)
    group = max(1, budget // (high * across))
    result = torch.empty_like(values)
    for head in range(0, heads, group):
        own = slice(head, min(head + group, heads))
        products = Products.of(centred[own], D[own], U[own], scale)
        tiles = _Tiles(products, values, visibility, phases, own, high * across)
        for rows, means in tiles.run(kind, high, across):
            result[own, rows] = means
    return result


class _Tiles:
    """The tiles of one group of heads, in buffers that all of them share."""

    def __init__(
        self,
        products: Products,
        values: torch.Tensor,
        visibility: Visibility,
        phases: tuple[torch.Tensor, torch.Tensor] | None,
        heads: slice,
        entries: int,
    ) -> None:
        # A product of two matrices is faster than that of two batches of one.
        single = heads.stop - heads.start == 1
        self.product, self.add_product = (
            (torch.mm, torch.addmm) if single else (torch.bmm, torch.baddbmm)
        )
        self.heads, self.n = heads, values.shape[1]
        inside, outside = (0, heads.start) if single else (slice(None), heads)
        self.own, self.left = products.own[inside], products.left[inside]
        self.columns, self.scale = products.columns[inside], products.scale
        self.right, self.d = products.right[inside], products.width
        self.values, self.visibility = values[outside], visibility
        self.phases = None if phases is None else [part[outside] for part in phases]
        count = (heads.stop - heads.start) * entries
        self.buffers = [values.new_empty(count) for _ in range(3)]

    def run(self, kind: str, high: int, across: int) -> Iterator[tuple[slice, torch.Tensor]]:
        """The means of each tile of queries, when its keys are through."""
        rows_of = _slices(self.n, high)
        turned = [(keys, self.right[..., keys, :].mT.contiguous())
                  for keys in _slices(self.n, across)]  # fmt: skip
        if kind == "query":
            for rows in rows_of:
                sums, queries = self._empty(rows), self._queries(rows)
                for keys, right in turned:
                    if self.visibility.reaches(rows, keys):
                        self._add(sums, rows, keys, self._scores(queries, right))
                yield rows, sums.mean()
            return
        every = [self._empty(rows) for rows in rows_of]
        for a, (rows, own) in enumerate(turned):
            queries = self._queries(rows)
            for b, (keys, right) in enumerate(turned[: a + 1]):
                scores = self._scores(queries, right)
                other = self._scores(self._queries(keys), own, 2) if b < a else scores.clone()
                mean = scores.add_(other.mT).mul_(0.5)
                if b < a and self.visibility.reaches(keys, rows):
                    other.copy_(mean.mT)
                    self._add(every[b], keys, rows, other)
                self._add(every[a], rows, keys, mean)
        for rows, sums in zip(rows_of, every, strict=True):
            yield rows, sums.mean()

    def _empty(self, rows: slice) -> Rows:
        return Rows.empty(self.values, rows.stop - rows.start, self.visibility.oneself)

    def _queries(self, rows: slice) -> tuple[torch.Tensor, ...]:
        """Row terms, left factors and columns of a tile of queries, rows next to each other."""
        columns = self.columns[..., rows, :, :].transpose(-3, -2).contiguous().unbind(-3)
        return self.own[..., rows, :], self.left[..., rows, :], *columns

    def _scores(
        self, queries: tuple[torch.Tensor, ...], turned: torch.Tensor, place: int = 0
    ) -> torch.Tensor:
        """Query-side scores of a tile, in a buffer; turned holds its keys and their squares."""
        own, left, *columns = queries
        shape = (*left.shape[:-1], turned.shape[-1])
        scores, square = (self.buffers[k][: math.prod(shape)].view(shape) for k in (place, 1))
        self.add_product(own, left, turned, out=scores)
        keys, weight = turned[..., : self.d, :], -self.scale / 2
        for column in columns:
            self.product(column, keys, out=square)
            scores.addcmul_(square, square, value=weight)
        return scores

    def _add(self, sums: Rows, rows: slice, keys: slice, scores: torch.Tensor) -> None:
        if not self.visibility.everything:
            self.visibility.hide(scores, self.heads, rows, keys)
        angle = None
        if self.phases is not None:
            angle = self.phases[0][..., rows, :] @ self.phases[1][..., keys, :].mT
        sums.add(scores, self.values[..., keys, :], angle)


def _slices(n: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
