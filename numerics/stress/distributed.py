"""A stress run as one rank of several that torchrun started: gloo on CPUs, nccl on CUDA.

The ranks share the rows of a cell; the first alone reads and writes the records and prints. When a
rank ends, the others see its connection close, or torchrun tells them to end: each says so, and
none writes another record. A run that is started again continues with the unfinished cells.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType

import torch
from torch import distributed

from numerics.stress import sharding

SHARDED = ("CW2", "CW5", "RA7", "RA11", "AP5")
"""Cases whose rows separate, the tokens of AP5 with a state that travels along the ranks."""

LOST = 3
"""Exit status of a rank whose peers have ended."""


def launched() -> bool:
    """Whether torchrun started this process."""
    return distributed.is_available() and distributed.is_torchelastic_launched()


def check(theorem: str, device: str, n: int) -> None:
    """Raises ValueError unless a case, a device and a number of tokens can be shared by the ranks.

    A single process has everything.
    """
    count = sharding.current().count
    if count == 1:
        return
    if theorem not in SHARDED:
        raise ValueError(f"{theorem} is not shared by ranks: only {', '.join(SHARDED)} are")
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device: ranks share cpu or cuda, one device each, got {device!r}")
    if n < count:
        raise ValueError(f"n must be at least the number of ranks, got n = {n} for {count}")


def own_device(device: str) -> str:
    """`cuda` as the device of this rank, others as they are."""
    shared = sharding.current().count > 1 and device == "cuda"
    return f"cuda:{os.environ['LOCAL_RANK']}" if shared else device


def run(evaluate: Callable[[], int], seconds: float) -> int:
    """The exit status of `evaluate`, run as one of torchrun's ranks where it started this process.

    `seconds` is how long a rank waits for another. Status 3 where another has ended.
    """
    if not launched():
        return evaluate()
    _begin(seconds)
    ranks = sharding.Ranks(distributed.get_rank(), distributed.get_world_size())
    signal.signal(signal.SIGTERM, _ended)
    try:
        with sharding.over(ranks):
            status = evaluate()
            sharding.from_every_rank(status)
    except sharding.RankLost as lost:
        _leave(f"stress: {lost}")
    distributed.destroy_process_group()
    return status


def _begin(seconds: float) -> None:
    """Joins the process group; its CUDA half only where there is a device for this rank."""
    index = int(os.environ["LOCAL_RANK"])
    backend = "gloo"
    if torch.cuda.is_available() and index < torch.cuda.device_count():
        torch.cuda.set_device(index)
        backend = "cpu:gloo,cuda:nccl"
    distributed.init_process_group(backend, timeout=timedelta(seconds=seconds))


def _ended(number: int, frame: FrameType | None) -> None:
    del number, frame
    ranks = f"rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}"
    _leave(f"stress: {ranks}: told to end, as when another rank has ended")


def _leave(message: str) -> None:
    """Ends this process without waiting for any other."""
    sys.stdout.flush()
    again = "this cell is not recorded; run again to continue"
    os.write(sys.stderr.fileno(), f"{message}; {again}\n".encode())
    os._exit(LOST)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Puts off the end of this rank until its body is done: a record is written as a whole.

    A signal mask would not do: it holds for one thread, and the others take the signal.
    """
    waiting: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGTERM, lambda *told: waiting.append(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if waiting and callable(before):
            before(*waiting[0])
        elif waiting:
            signal.raise_signal(signal.SIGTERM)
