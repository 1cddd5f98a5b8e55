"""Times and peak memory of a cell on its device, and the device's matrix-product rate."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import torch

SMALLEST, LARGEST = 256, 8192
LONG_ENOUGH = 0.004
"""Seconds of a product beside which its call costs nothing."""
REPEATS = 3


@contextmanager
def timed(name: str, seconds: dict[str, float], device: torch.device) -> Iterator[None]:
    """Adds the seconds of its body, all work on the device done, under `name`."""
    _synchronize(device)
    start = time.perf_counter()
    yield
    _synchronize(device)
    seconds[name] = time.perf_counter() - start


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


@contextmanager
def peak_memory(device: torch.device) -> Iterator[Callable[[], int]]:
    """Bytes the device allocated at most (CUDA), or growth of this process's resident memory.

    Where the largest resident memory cannot be forgotten, as it can on Linux, it is that of the
    whole process so far: after a larger cell a smaller one shows 0.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        yield lambda: torch.cuda.max_memory_allocated(device)
    else:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = largest_resident()
        yield lambda: largest_resident() - before


def largest_resident() -> int:
    """The largest resident memory of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the program that started this one
        lines = status.read_text(encoding="ascii").splitlines()
        (line,) = (t for t in lines if t.startswith("VmHWM:"))
        return 1024 * int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def square_product(
    size: int, dtype: torch.dtype, device: torch.device
) -> tuple[Callable[[], torch.Tensor], int]:
    """A product of two square matrices of small seeded whole numbers, and its floating-point
    operations, 2 size^3.

    Raises ArithmeticError where its first entry is not what its row and column make.
    """
    source = torch.Generator(device).manual_seed(0)
    # Not ones: a device that draws less power for them would look faster than it is.
    a, b = (
        torch.randint(-2, 3, (size, size), generator=source, dtype=dtype, device=device)
        for _ in range(2)
    )
    expected = float((a[0].float() * b[:, 0].float()).sum().to(dtype))
    if (found := float((a @ b)[0, 0])) != expected:
        raise ArithmeticError(f"the first entry of the product must be {expected}, got {found}")
    return lambda: a @ b, 2 * size**3


@cache
def matrix_rate(dtype: torch.dtype, device: torch.device) -> float:
    """Floating-point operations a second of a matrix product on a device, the best of several;
    measured once a process.

    Sizes double until a product takes LONG_ENOUGH. Raises ArithmeticError as `square_product`.
    """
    best, size = 0.0, SMALLEST
    while True:
        product, operations = square_product(size, dtype, device)
        laps = [_seconds(product, device) for _ in range(REPEATS)]
        best = max(best, operations / min(laps))
        if min(laps) >= LONG_ENOUGH or size >= LARGEST:
            return best
        size *= 2


def _seconds(action: Callable[[], object], device: torch.device) -> float:
    found: dict[str, float] = {}
    with timed("action", found, device):
        action()
    return found["action"]
