"""Rows of a stress case over the ranks of a run: each has a shard of its own.

A shard is a run of consecutive tokens; shards differ by at most one in length. Loops over
`row_blocks` visit those of this rank, and what they leave is completed from the other ranks. In a
single process the shard is everything and nothing is exchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import torch
from torch import distributed

from numerics import blockwise
from numerics.runs.ranks import answered, current

SHARDED = ("CW2", "CW5", "RA7", "RA11", "AP5")
"""Cases whose rows separate, the tokens of AP5 with a state that travels along the ranks."""


def check(theorem: str, device: str, n: int) -> None:
    """Raises ValueError unless a case, a device and a number of tokens can be shared by the ranks.

    A single process has everything.
    """
    count = current().count
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
    shared = current().count > 1 and device == "cuda"
    return f"cuda:{os.environ['LOCAL_RANK']}" if shared else device


def rows_of(rank: int, n: int) -> slice:
    """The rows of n that a rank has."""
    count = current().count
    return slice(n * rank // count, n * (rank + 1) // count)


def own_rows(n: int) -> slice:
    """The rows of n that this rank has."""
    return rows_of(current().rank, n)


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
        rows = rows_of(rank, n)
        part = array.narrow(dim, rows.start, rows.stop - rows.start)
        # Sent as bytes: gloo does not know every dtype. Pieces that are not contiguous are copied.
        buffer = part.contiguous()
        with answered():
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
    if ranks.first:
        return state
    flat = state.contiguous().flatten()
    with answered():
        distributed.recv(flat, ranks.rank - 1, ranks.group)
    return flat.reshape(state.shape)


def hand_over(state: torch.Tensor) -> None:
    """Hands the state after this rank's rows to the next rank."""
    ranks = current()
    if ranks.rank + 1 < ranks.count:
        with answered():
            flat = state.contiguous().flatten()
            distributed.send(flat, ranks.rank + 1, ranks.group)
