"""The rank certificate of RA2 beside SymPy's DomainMatrix.rank over QQ, and at its largest width.

Run `python -m benchmarks.rank`. Both start from the same nested lists of integers and take turns;
conversion is included in both. Ours decides the rank over Q by a minor modulo a prime, which is not
0; theirs eliminates over Q, in python-flint where SymPy finds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from benchmarks.times import timed
from numerics.runs.provenance import machine
from numerics.scores.exact_rank import rank_of
from numerics.scores.principal_lattice import PrincipalLattice

WIDTH, LARGEST, TARGET = 10, 64, 20


def peer(rows: list[list[int]]) -> int:
    """The rank by SymPy, entries converted to QQ."""
    return DomainMatrix.from_list([[QQ(entry) for entry in row] for row in rows], QQ).rank()


def side_by_side(d: int, repeats: int) -> str:
    """Both on the lattice of width d: times and their ratio.

    Raises ArithmeticError unless both find the same rank, the number of tokens.
    """
    lattice = PrincipalLattice.whole(d)
    rows = lattice.scores().tolist()
    ranks = rank_of(rows).rank, peer(rows)
    if ranks != (lattice.size, lattice.size) or not rank_of(rows).exact:
        raise ArithmeticError(f"ranks must be {lattice.size}, got {ranks}")
    ours, theirs = timed([lambda: rank_of(rows), lambda: peer(rows)], repeats)
    return (
        f"d = {d}, {lattice.size} x {lattice.size}\n"
        f"  rank_of                  {ours}\n"
        f"  DomainMatrix.rank (QQ)   {theirs}\n"
        f"  least / least            {theirs.least / ours.least:.1f} x (target {TARGET} x)"
    )


def largest(d: int, repeats: int) -> str:
    """The certificate at width d, from tokens and metrics on."""
    lattice = PrincipalLattice.whole(d)

    def certified() -> None:
        if rank_of(lattice.scores()).rank != lattice.size:
            raise ArithmeticError(f"the rank at d = {d} must be {lattice.size}")

    (times,) = timed([certified], repeats)
    return f"d = {d}, {lattice.size} x {lattice.size}\n  scores and certificate   {times}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--width", type=int, default=WIDTH, help=f"side by side (default {WIDTH})")
    parser.add_argument("--largest", type=int, default=LARGEST, help=f"alone (default {LARGEST})")
    chosen = parser.parse_args(arguments)
    print(machine("sympy", "python-flint", "numpy"))
    print(side_by_side(chosen.width, 4 * chosen.repeats), flush=True)
    print(largest(chosen.largest, chosen.repeats))


if __name__ == "__main__":
    main()
