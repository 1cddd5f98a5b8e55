"""Rows of the performance table that run on torch: the walk, two attentions, their memory.

Every time is the least of several in which both sides took turns. Rates count multiplications and
additions of matrix products alone, so that all else a computation does lowers its share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from benchmarks.attention import TARGET, Case, Live, check
from benchmarks.exponents import fitted
from benchmarks.rows import Row, spread
from benchmarks.times import timed
from numerics import blockwise
from numerics.fiber_bundle.attention import geodesic_attention
from numerics.pairings.recurrences import chunked, parallel
from numerics.stress import Cell, run_cell
from numerics.stress.inputs import draw as draw_layer
from numerics.stress.measurement import square_product
from numerics.stress.theorems import gated_mixture

CPU = torch.device("cpu")
CHECKED = 256
LINEAR = 1.1
"""The largest exponent of n, fitted, that counts as linear growth: times have their spread."""


@dataclass(frozen=True)
class Sizes:
    """Tokens, width, heads, rank; the lengths of memory and of linear attention; the product."""

    n: int = 4096
    d: int = 512
    heads: int = 8
    rank: int = 4
    memory: tuple[int, ...] = (4096, 8192, 16384)
    linear: tuple[int, ...] = (2048, 4096, 8192)
    product: int = 1024
    repeats: int = 5


QUICK = Sizes(96, 16, 2, 2, (2048, 4096, 8192), (128, 256, 512), 128, 1)
"""Sizes that show nothing but that the code runs."""


def measured(sizes: Sizes) -> Iterator[Row]:
    """All rows, one after another."""
    with blockwise.exact_products():
        yield walk_rate(sizes)
        yield geodesic_ratio(sizes)
        yield from memory(sizes)
        yield from linear_attention(sizes)


def walk_rate(sizes: Sizes) -> Row:
    """The walk of CW2, cell `gates`, at the share of the matrix-product rate it reaches."""
    holds(sizes)
    cell = Cell("CW2", "gates", sizes.n, sizes.d, sizes.heads)
    layer = draw_layer(cell, CPU)
    square, count = square_product(sizes.product, torch.float32, CPU)
    walk, heads, product = timed(
        [
            lambda: gated_mixture.right_side(layer, cell),
            lambda: gated_mixture.left_side(layer, cell),
            square,
        ],
        sizes.repeats,
    )
    rate = count / product.least
    _, operations = gated_mixture.operations(layer, cell)
    share = operations / walk.least / rate
    names = ("walk", "torch SDPA and W_O", f"product of {sizes.product} x {sizes.product}")
    notes = (*spread(names, (walk, heads, product)), f"matrix rate {rate / 1e9:.0f} GFLOP/s")
    size = f"n = {sizes.n}, d = {sizes.d}, H = {sizes.heads}, float32"
    return Row(f"connection walk CW2 gates, {size}", share, "of the matrix rate", ">=", 0.9, notes)


def holds(sizes: Sizes) -> None:
    """ArithmeticError unless the walk is the sum of the heads, within its bound, at small n."""
    n = min(sizes.n, CHECKED)
    record = run_cell("CW2", "gates", n, sizes.d, sizes.heads, "float32", "cpu", 0)
    if record["status"] != "ok":
        raise ArithmeticError(f"the walk of CW2 must hold its bound: {record['reason']}")


def geodesic_ratio(sizes: Sizes) -> Row:
    """Query-side Riemannian attention over torch's own, relative to the operation ratio."""
    case = Case(sizes.n, sizes.heads, sizes.d // sizes.heads, sizes.rank)
    check(case)
    points, metric, values = case.draw()
    times = timed(
        [
            lambda: geodesic_attention(points, metric, values),
            lambda: functional.scaled_dot_product_attention(points, points, values),
        ],
        sizes.repeats,
    )
    ratio = times[0].least / times[1].least
    notes = (*spread(("geodesic attention", "torch SDPA"), times),
             f"{ratio:.2f} x the time for {case.ratio} x the operations")  # fmt: skip
    size = f"n = {case.n}, {case.heads} heads of width {case.width}, rank {case.rank}"
    name = f"Riemannian attention over torch SDPA, {size}"
    return Row(name, ratio / case.ratio, "of the operation ratio", "<=", TARGET, notes)


def memory(sizes: Sizes) -> Iterator[Row]:
    """The exponents of n of the bytes alive at once, besides the inputs, in both."""
    for name, live in (("CW2 gates", walk_bytes), ("Riemannian attention", geodesic_bytes)):
        found = [live(n, sizes) for n in sizes.memory]
        exponent = fitted(sizes.memory, found)
        notes = [f"n = {n:<6} {size / 2**20:8.1f} MiB"
                 for n, size in zip(sizes.memory, found, strict=True)]  # fmt: skip
        notes.append(f"slopes between neighbours from {exponent.low:.2f} to {exponent.high:.2f}")
        yield Row(f"memory of {name}", exponent.high, "as exponent of n", "<=", LINEAR,
                  tuple(notes))  # fmt: skip


def walk_bytes(n: int, sizes: Sizes) -> int:
    """Bytes alive at once in the walk, one head of the benchmark's width."""
    cell = Cell("CW2", "gates", n, sizes.d // sizes.heads)
    layer = draw_layer(cell, CPU)
    with Live() as live:
        gated_mixture.right_side(layer, cell)
    return live.peak


def geodesic_bytes(n: int, sizes: Sizes) -> int:
    """Bytes alive at once in Riemannian attention, one head of the benchmark's width."""
    inputs = Case(n, 1, sizes.d // sizes.heads, sizes.rank).draw()
    with Live() as live:
        geodesic_attention(*inputs)
    return live.peak


def linear_attention(sizes: Sizes) -> Iterator[Row]:
    """Chunked causal linear attention: its exponent of n, and both quadratic peers over it."""
    width = sizes.d // sizes.heads
    # The width balances both terms of a chunk, its own scores and the state.
    forms: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], object]] = {
        "chunked": lambda q, k, v: chunked(q, k, v, 2 * width),
        "masked quadratic form": parallel,
        "torch's causal SDPA": lambda q, k, v: functional.scaled_dot_product_attention(
            q[None], k[None], v[None], is_causal=True
        ),
    }
    agree(width)
    inputs = [heads_of(n, sizes.heads, width) for n in sizes.linear]
    times = [timed([lambda f=f, x=x: f(*x) for f in forms.values()], sizes.repeats)
             for x in inputs]  # fmt: skip
    exponent = fitted(sizes.linear, [found[0].least for found in times])
    notes = (*(f"n = {n}: {note}" for n, found in zip(sizes.linear, times, strict=True)
               for note in spread(list(forms), found)),
             f"slopes between neighbours from {exponent.low:.2f} to {exponent.high:.2f}"
             )  # fmt: skip
    name = f"causal linear attention, {sizes.heads} heads of width {width}"
    yield Row(f"{name}, time", exponent.slope, "as exponent of n", "<=", LINEAR, notes)
    for place, peer in list(enumerate(forms))[1:]:
        ratios = [found[place].least / found[0].least for found in times]
        notes = tuple(f"n = {n}: {ratio:.3g} x"
                      for n, ratio in zip(sizes.linear, ratios, strict=True))  # fmt: skip
        yield Row(f"{name}, {peer} over chunked", min(ratios),
                  f"x from n = {sizes.linear[0]} on", ">", 1.0, notes)  # fmt: skip


def heads_of(n: int, heads: int, width: int) -> Sequence[torch.Tensor]:
    """Queries, keys and values (H, n, w), the same for the same n."""
    source = torch.Generator().manual_seed(n)
    q, k, v = (torch.randn(heads, n, width, generator=source) for _ in range(3))
    return q / width**0.5, k, v


def agree(width: int) -> None:
    """ArithmeticError unless the two linear forms agree: whole numbers leave no rounding."""
    source = torch.Generator().manual_seed(0)
    q, k, v = (torch.randint(-2, 3, (2, 150, width), generator=source).float() for _ in range(3))
    if not torch.equal(chunked(q, k, v, 2 * width).outputs, parallel(q, k, v).outputs):
        raise ArithmeticError("chunked linear attention must equal the masked quadratic form")
