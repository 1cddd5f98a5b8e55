"""The overhead of Riemannian attention for published models, as a function of n and r.

Run `python -m benchmarks.overhead > overhead.md`. Multiply-adds are counted, not timed (RA7): the
extra (r + 1) n d a token of rank-r distances in place of Q K^T, alone and with linear maps to the
metrics, (r + 1) d^2 a token, as shares of the layer without them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from fractions import Fraction

from numerics.scores.costs import RANKS, SHAPES, LayerShape, longest_cheap, overhead

LENGTHS = (128, 512, 1024, 2048, 8192, 32768, 131072)
SMALL = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 10))
"""Shares that one may call negligible."""


def row(*cells: str) -> str:
    """One line of a markdown table."""
    return f"| {' | '.join(cells)} |"


def percent(share: Fraction) -> str:
    """A share in percent, one digit after the point below ten."""
    value = float(100 * share)
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"


def shares(layer: LayerShape, lengths: Sequence[int], ranks: Sequence[int]) -> Iterator[str]:
    """The table of one model: scores alone / with a metric head, by length and rank."""
    published = f"published length {layer.length}"
    widths = f"d = {layer.d}, keys and values {layer.d_kv}"
    yield f"## {layer.name} ({widths}, MLP {layer.matrices} x {layer.hidden}, {published})\n"
    yield row("n", *(f"r = {r}" for r in ranks))
    yield row(*["---:"] * (len(ranks) + 1))
    for n in sorted({*lengths, layer.length}):
        found = [overhead(layer, r, n) for r in ranks]
        cells = [f"{percent(item.scores)} / {percent(item.total)}" for item in found]
        yield row(f"**{n}**" if n == layer.length else str(n), *cells)
    yield ""


def lengths_below(ranks: Sequence[int]) -> Iterator[str]:
    """Up to which length the scores alone stay below small shares."""
    yield "## The largest n at which the scores alone add at most so much\n"
    yield row("model", "share", *(f"r = {r}" for r in ranks))
    yield row("---", "---:", *["---:"] * len(ranks))
    for layer in SHAPES:
        for share in SMALL:
            found = [str(longest_cheap(layer, r, share)) for r in ranks]
            yield row(layer.name, percent(share), *found)
    yield ""


def verdict(ranks: Sequence[int]) -> str:
    """What the tables say about "negligible overhead", computed from them."""
    least = min((overhead(layer, r) for layer in SHAPES for r in ranks), key=lambda o: o.scores)
    return (
        f"At the published lengths the scores add {percent(least.scores)} or more "
        f"({least.layer.name}, r = {least.r}), {percent(least.total)} with the metric head. "
        "The share is small only for n far below d and metrics that cost little to compute."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables in markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", nargs="+", type=int, default=LENGTHS, help="lengths")
    parser.add_argument("--r", nargs="+", type=int, default=RANKS, help="ranks")
    chosen = parser.parse_args(arguments)
    print("# Extra multiply-adds of rank-r metrics, scores alone / with a linear metric head\n")
    for layer in SHAPES:
        print("\n".join(shares(layer, chosen.n, chosen.r)))
    print("\n".join(lengths_below(chosen.r)))
    print(verdict(chosen.r))


if __name__ == "__main__":
    main()
