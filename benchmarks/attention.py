"""Geodesic attention beside torch's scaled_dot_product_attention, and its memory.

Run `python -m benchmarks.attention`. Both attend over the same points and values, float32, forward
only, and take turns. Query-side distances of rank r are r + 2 products where dot products are one,
and both have one product with the values: the operation ratio is (r + 3) / 2. Memory is
the sum of all tensors that are alive at once.
"""

from __future__ import annotations

import argparse
import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.exponents import fitted
from benchmarks.times import timed
from numerics.fiber_bundle.attention import geodesic_attention
from numerics.fiber_bundle.metric_field import MetricField
from numerics.runs.provenance import machine
from numerics.stress.measurement import square_product

TARGET = 1.15
MEMORY_LENGTHS = (4096, 8192, 16384)
SHOWN = 8  # operations of the profile


@dataclass(frozen=True)
class Case:
    """Points, metrics and values (1, heads, n, ...) of one measurement, float32, seeded."""

    n: int
    heads: int
    width: int
    rank: int

    def draw(self) -> tuple[torch.Tensor, MetricField, torch.Tensor]:
        """Points, metric and values."""
        g = torch.Generator().manual_seed(self.n)
        shape = (1, self.heads, self.n, self.width)
        points, values = torch.randn(shape, generator=g), torch.randn(shape, generator=g)
        D = torch.rand(shape, generator=g) + 0.5
        U = torch.randn(*shape[:3], self.rank, self.width, generator=g) / self.width
        return points, MetricField(D, U.mT), values

    @property
    def ratio(self) -> float:
        """Multiplications of ours over theirs."""
        return (self.rank + 3) / 2


@torch.no_grad()
def check(case: Case, rows: int = 4) -> None:
    """ArithmeticError unless some rows of every head, the first and the last among them, are those
    of explicit differences in float64."""
    points, metric, values = case.draw()
    at = torch.linspace(0, case.n - 1, rows).long()
    found = geodesic_attention(points, metric, values)[0, :, at].double()
    x, D, U = (t[0].double() for t in (points, metric.D, metric.U))
    steps = x[:, None] - x[:, at, None]
    along = steps @ U[:, at]
    squares = (D[:, at, None] * steps * steps).sum(-1) + along.square().sum(-1)
    weights = torch.softmax(squares * (-0.5 * case.width**-0.5), -1)
    # Scores of size s from float32 products of k terms have errors k s 2^-24, weights twice that.
    k, s = (case.rank + 2) * case.width, float(squares.max()) * case.width**-0.5
    allowed = (4 * k * s + case.n) * 2.0**-24 * float(values.abs().max())
    error = float((found - weights @ values[0].double()).abs().max())
    if not error <= allowed:
        raise ArithmeticError(f"attention must be exact within {allowed:.1e}, got {error:.1e}")


@torch.no_grad()
def side_by_side(case: Case, repeats: int) -> str:
    """Both forward times, their ratio and the matrix-product rate of the same run."""
    points, metric, values = case.draw()
    square, count = square_product(1024, torch.float32, torch.device("cpu"))
    ours, theirs, product = timed(
        [
            lambda: geodesic_attention(points, metric, values),
            lambda: functional.scaled_dot_product_attention(points, points, values),
            square,
        ],
        repeats,
    )
    ratio = ours.least / theirs.least
    rate = count / product.least
    own = 2 * case.heads * case.n**2 * case.width * (case.rank + 3) / ours.least
    their = 2 * case.heads * case.n**2 * case.width * 2 / theirs.least
    return (
        f"n = {case.n}, {case.heads} heads of width {case.width}, rank {case.rank}\n"
        f"  geodesic attention       {ours}\n"
        f"  torch SDPA               {theirs}\n"
        f"  least / least            {ratio:.2f} x, {ratio / case.ratio:.2f} of the operation "
        f"ratio {case.ratio} (target {TARGET})\n"
        f"  share of the matrix rate {own / rate:.2f} and {their / rate:.2f} "
        f"(1024 x 1024 product: {rate / 1e9:.0f} GFLOP/s)"
    )


@torch.no_grad()
def shares(case: Case) -> str:
    """Where the time goes: the operations of one forward pass, by their own time."""
    points, metric, values = case.draw()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        geodesic_attention(points, metric, values)
    events = sorted(found.key_averages(), key=lambda e: -e.self_cpu_time_total)
    whole = sum(event.self_cpu_time_total for event in events)
    lines = [
        f"  {event.key:<24} {event.self_cpu_time_total / whole:6.1%} in {event.count} calls"
        for event in events[:SHOWN]
    ]
    return "\n".join(["profile", *lines])


class Live(TorchDispatchMode):
    """Counts the bytes of tensors that are alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.known: set[int] = set()

    def _gone(self, key: int, size: int) -> None:
        self.known.discard(key)
        self.now -= size

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[override]
        """Run an operation and count the storages that it made."""
        found = function(*args, **(kwargs or {}))
        for tensor in found if isinstance(found, tuple | list) else (found,):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                key, size = storage._cdata, storage.nbytes()
                if key not in self.known:
                    self.known.add(key)
                    self.now += size
                    self.peak = max(self.peak, self.now)
                    weakref.finalize(storage, self._gone, key, size)
        return found


@torch.no_grad()
def growth(n: int) -> int:
    """Bytes alive at once in a forward pass at length n, one head, besides its inputs."""
    inputs = Case(n, 1, 64, 4).draw()
    with Live() as live:
        geodesic_attention(*inputs)
    return live.peak


def memory(lengths: Sequence[int]) -> str:
    """The bytes at each length, and the exponent of n."""
    found = [growth(n) for n in lengths]
    lines = [
        f"  n = {n:<6} {size / 2**20:8.1f} MiB, {size / n / 1024:.2f} KiB a token"
        for n, size in zip(lengths, found, strict=True)
    ]
    exponent = fitted(tuple(lengths), [float(size) for size in found])
    return "\n".join(["memory, one head", *lines, f"  exponent of n            {exponent}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4096, help="tokens (default 4096)")
    parser.add_argument("--heads", type=int, default=8, help="heads (default 8)")
    parser.add_argument("--width", type=int, default=64, help="width of a head (default 64)")
    parser.add_argument("--rank", type=int, default=4, help="rank of U (default 4)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=MEMORY_LENGTHS, help="of the memory measurement"
    )
    chosen = parser.parse_args(arguments)
    case = Case(chosen.n, chosen.heads, chosen.width, chosen.rank)
    check(case)
    print(machine("torch"))
    print(side_by_side(case, chosen.repeats), flush=True)
    print(shares(case), flush=True)
    print(memory(chosen.lengths))


if __name__ == "__main__":
    main()
