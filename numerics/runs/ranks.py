"""One process of several that torchrun started, and what these ranks tell one another.

Ranks share the work of a run; the first alone reads and writes its files and prints. When a rank
ends, the others see its connection close, or torchrun tells them to end: each says so and leaves
with status 3. A run that is started again continues. A process alone is the first rank of one, and
exchanges nothing. The ranks speak gloo, and nccl for tensors on CUDA.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from types import FrameType
from typing import Any, TypeVar

import torch
from torch import distributed

T = TypeVar("T")

LOST = 3
"""Exit status of a rank that has lost another, or was told to end."""


class RankLost(RuntimeError):
    """Another rank of the run has ended, or did not answer in time."""


class NotJoined(ValueError):
    """The environment says that there are other ranks, but not where they meet."""


@dataclass(frozen=True)
class Ranks:
    """This process's place among the first `count` ranks, and their process group, None for all."""

    rank: int = 0
    count: int = 1
    group: Any = None

    @property
    def first(self) -> bool:
        """Whether this rank reads and writes the files of the run, and prints."""
        return self.rank == 0

    def owns(self, number: int) -> bool:
        """Whether an item of this number, 0 or more, is this rank's, when all take turns."""
        return number % self.count == self.rank

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.count}"


ALONE = Ranks()
_current: ContextVar[Ranks] = ContextVar("ranks", default=ALONE)


def current() -> Ranks:
    """The ranks that share the work now."""
    return _current.get()


@contextmanager
def over(ranks: Ranks) -> Iterator[None]:
    """A body whose work these ranks share."""
    before = _current.set(ranks)
    try:
        yield
    finally:
        _current.reset(before)


@contextmanager
def joined(program: str, seconds: float) -> Iterator[None]:
    """A body of `program` whose work all ranks share that torchrun started, none if it did not.

    A rank waits for another for so many seconds, and for all at the end of the body. Where one has
    ended this process ends, with status 3 and without leaving the body. Raises NotJoined.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        ranks = _join(seconds)
        signal.signal(signal.SIGTERM, partial(_told_to_end, f"{program}: {ranks}"))
        with over(ranks):
            yield
            from_every_rank(None)
    except RankLost as lost:
        _leave(f"{program}: {lost}")
    finally:
        signal.signal(signal.SIGTERM, before)
        if distributed.is_initialized():
            distributed.destroy_process_group()


def from_every_rank(value: T) -> list[T]:
    """The values of all ranks, in their order. Raises RankLost."""
    ranks = current()
    if ranks.count == 1:
        return [value]
    found: list[Any] = [None] * ranks.count
    with answered():
        distributed.all_gather_object(found, value, ranks.group)
    return found


def from_first_rank(value: Callable[[], T]) -> T:
    """What the first rank finds; the others do not look. Raises RankLost."""
    ranks = current()
    if ranks.count == 1:
        return value()
    found = [value() if ranks.first else None]
    with answered():
        distributed.broadcast_object_list(found, 0, ranks.group)
    return found[0]  # type: ignore[return-value]


@contextmanager
def answered() -> Iterator[None]:
    """A body that waits for other ranks. Raises RankLost where one does not answer."""
    try:
        yield
    except RuntimeError as error:
        raise RankLost(f"{current()}: lost another rank: {_reason(error)}") from None


def _join(seconds: float) -> Ranks:
    """Joins the process group; its CUDA half only where every rank here has a device."""
    count = os.environ["WORLD_SIZE"]
    there = f"rank {os.environ.get('RANK')} of {count}"
    try:
        if "LOCAL_RANK" not in os.environ:
            raise ValueError("LOCAL_RANK is not set")
        backend = "gloo"
        if torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", count)):
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            backend = "cpu:gloo,cuda:nccl"
        distributed.init_process_group(backend, timeout=timedelta(seconds=seconds))
    except ValueError as error:
        raise NotJoined(f"{there}: the ranks do not meet: {_reason(error)}") from error
    except RuntimeError as error:
        raise RankLost(f"{there}: the ranks do not meet: {_reason(error)}") from error
    return Ranks(distributed.get_rank(), distributed.get_world_size())


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _told_to_end(who: str, number: int, frame: FrameType | None) -> None:
    del number, frame
    _leave(f"{who}: told to end, as when another rank has ended")


def _leave(message: str) -> None:
    """Ends this process without waiting for any other."""
    sys.stdout.flush()
    again = "what was under way is not recorded; run again to continue"
    os.write(sys.stderr.fileno(), f"{message}; {again}\n".encode())
    os._exit(LOST)
