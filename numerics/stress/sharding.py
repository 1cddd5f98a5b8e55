"""Rows of a stress case over the ranks of a torch process group: each has a shard of its own.

A shard is a run of consecutive tokens; shards differ by at most one in length. Loops over
`row_blocks` visit those of this rank, and what they leave is completed from the other ranks. In a
single process the shard is everything and nothing is exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import distributed

from numerics import blockwise

T = TypeVar("T")


class RankLost(RuntimeError):
    """Another rank of the run has ended, or did not answer in time."""


@dataclass(frozen=True)
class Ranks:
    """This process's place among the first `count` ranks, and their process group, None for all."""

    rank: int = 0
    count: int = 1
    group: Any = None

    def rows(self, n: int, rank: int | None = None) -> slice:
        """The rows of n that a rank has, by default this one."""
        rank = self.rank if rank is None else rank
        return slice(n * rank // self.count, n * (rank + 1) // self.count)


ALONE = Ranks()
_current: ContextVar[Ranks] = ContextVar("ranks", default=ALONE)


def current() -> Ranks:
    """The ranks that the sides are evaluated over."""
    return _current.get()


@contextmanager
def over(ranks: Ranks) -> Iterator[None]:
    """Evaluates over these ranks, and over those before afterwards."""
    before = _current.set(ranks)
    try:
        yield
    finally:
        _current.reset(before)


def own_rows(n: int) -> slice:
    """The rows of n that this rank has."""
    return current().rows(n)


def own_count(n: int) -> int:
    """How many rows of n this rank has."""
    own = own_rows(n)
    return own.stop - own.start


def row_blocks(n: int, row_entries: int, device: torch.device) -> Iterator[slice]:
    """Blocks as `blockwise.row_blocks` gives them, of this rank's rows.

    Raises ValueError where it does, or where there are fewer rows than ranks.
    """
    own = own_rows(n)
    for rows in blockwise.row_blocks(own.stop - own.start, row_entries, device):
        yield slice(own.start + rows.start, own.start + rows.stop)


def completed(array: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """The array, whose rows of other ranks along `dim` are overwritten by what these hold.

    Raises RankLost where one does not answer.
    """
    ranks, n = current(), array.shape[dim]
    if ranks.count == 1:
        return array
    for rank in range(ranks.count):
        rows = ranks.rows(n, rank)
        part = array.narrow(dim, rows.start, rows.stop - rows.start)
        # Sent as bytes: gloo does not know every dtype. Pieces that are not contiguous are copied.
        buffer = part.contiguous()
        with _answered():
            flat = buffer.flatten().view(torch.uint8)
            distributed.broadcast(flat, rank, ranks.group)
        if rank != ranks.rank:
            part.copy_(buffer)
    return array


def by_rows(evaluate: Callable[[slice], torch.Tensor], n: int, dim: int = 0) -> torch.Tensor:
    """`evaluate` at this rank's rows of n, completed; its result has these rows along `dim`."""
    own = own_rows(n)
    found = evaluate(own)
    if current().count == 1:
        return found
    shape = list(found.shape)
    shape[dim] = n
    whole = found.new_empty(shape)
    whole.narrow(dim, own.start, own.stop - own.start).copy_(found)
    return completed(whole, dim)


def received(state: torch.Tensor) -> torch.Tensor:
    """The state that the rank before handed over, at the first rank `state` itself."""
    ranks = current()
    if ranks.rank == 0:
        return state
    flat = state.contiguous().flatten()
    with _answered():
        distributed.recv(flat, ranks.rank - 1, ranks.group)
    return flat.reshape(state.shape)


def hand_over(state: torch.Tensor) -> None:
    """Hands the state after this rank's rows to the next rank."""
    ranks = current()
    if ranks.rank + 1 < ranks.count:
        with _answered():
            flat = state.contiguous().flatten()
            distributed.send(flat, ranks.rank + 1, ranks.group)


def from_every_rank(value: T) -> list[T]:
    """The values of all ranks, in their order."""
    ranks = current()
    if ranks.count == 1:
        return [value]
    found: list[Any] = [None] * ranks.count
    with _answered():
        distributed.all_gather_object(found, value, ranks.group)
    return found


def from_first_rank(value: Callable[[], T]) -> T:
    """What the first rank finds; the others do not look."""
    ranks = current()
    if ranks.count == 1:
        return value()
    found = [value() if ranks.rank == 0 else None]
    with _answered():
        distributed.broadcast_object_list(found, 0, ranks.group)
    return found[0]  # type: ignore[return-value]


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        ranks = current()
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RankLost(f"rank {ranks.rank} of {ranks.count}: lost another rank: {reason}") from None
