"""Times and peak memory of a cell on its device."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


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
    """Bytes the device allocated at most (CUDA), or growth of the process's high-water mark.

    The mark never falls: after a larger cell in the same process a smaller one shows 0.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        yield lambda: torch.cuda.max_memory_allocated(device)
    else:
        unit = 1 if sys.platform == "darwin" else 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yield lambda: (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
