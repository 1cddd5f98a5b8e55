"""Times of linear attention against the number of tokens, by chunks and token by token (AP5).

Run `python -m benchmarks.recurrences`; for a million tokens with `--n 250000 500000 1000000`. Torch
on the CPU, float32, forward only. Slopes are log-log fits with the range between neighbouring
sizes; the multiplications grow with exponent 1 where the chunk divides n. Whether both forms agree
is the stress case `attention-geometry stress AP5`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch

from benchmarks.exponents import fitted
from benchmarks.times import Times, timed
from numerics.pairings.recurrences import chunked, recurrent
from numerics.runs.provenance import machine

LENGTHS = (20_000, 40_000, 80_000)
WIDTH = CHUNK = 64


def multiplications(n: int, d: int, chunk: int) -> int:
    """Scores, decays, outputs and states of n tokens of width d, exponentials apart."""
    full, rest = divmod(n, chunk)
    sizes = [(full, chunk), (1, rest)]
    return sum(count * (2 * c * c * d + c * c + 2 * c * d * d + 2 * c * d + d * d)
               for count, c in sizes if c)  # fmt: skip


def draw(n: int, d: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values (n, d), and logarithms of decays (n,), the same for the same n."""
    source = torch.Generator().manual_seed(n)
    query, key, value = (torch.randn(n, d, generator=source) for _ in range(3))
    return query * d**-0.5, key, value, -torch.rand(n, generator=source) / 8


@torch.no_grad()
def measured(lengths: Sequence[int], d: int, repeats: int) -> tuple[list[Times], list[Times]]:
    """Times by chunks and token by token at each length."""
    inputs = [draw(n, d) for n in lengths]
    by_chunks = timed([lambda x=x: chunked(*x[:3], CHUNK, x[3]) for x in inputs], repeats)
    return by_chunks, timed([lambda x=x: recurrent(*x) for x in inputs], repeats)


def report(name: str, lengths: Sequence[int], times: Sequence[Times]) -> str:
    """The times at each length and the exponent of n."""
    lines = [f"  n = {n:<9} {found}" for n, found in zip(lengths, times, strict=True)]
    exponent = fitted(tuple(lengths), [found.least for found in times])
    return "\n".join([name, *lines, f"  exponent of n {exponent}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=LENGTHS, help="three lengths or more")
    parser.add_argument("--d", type=int, default=WIDTH, help="features and values (default 64)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each (default 3)")
    chosen = parser.parse_args(arguments)
    print(machine("torch"))
    by_chunks, in_turn = measured(chosen.n, chosen.d, chosen.repeats)
    print(report(f"chunks of {CHUNK}", chosen.n, by_chunks), flush=True)
    print(report("token by token", chosen.n, in_turn))
    counts = [multiplications(n, chosen.d, CHUNK) for n in chosen.n]
    print(f"multiplications by chunks\n  exponent of n {fitted(tuple(chosen.n), counts)}")


if __name__ == "__main__":
    main()
