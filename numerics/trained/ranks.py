"""Layers shared out over the ranks that torchrun starts; alone, a run is rank 0 of 1.

Every rank streams the whole model, which costs little beside the controls, and measures the
layers l with l mod world = rank; rank 0 writes. A rank that ends takes all others with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from numerics.trained.formats.checkpoint import Refused

PATIENCE = timedelta(hours=2)  # a layer of a large model with all its controls takes less


@dataclass(frozen=True)
class Ranks:
    """This process's rank among `world`."""

    rank: int = 0
    world: int = 1

    @property
    def writes(self) -> bool:
        """Whether this rank prints and writes files."""
        return self.rank == 0

    def owns(self, layer: int) -> bool:
        """Whether this rank measures layer `layer`."""
        return layer % self.world == self.rank

    def share(self, value: Any) -> list[Any]:
        """The values of all ranks, in order, on every rank.

        Raises: Refused when another rank has ended.
        """
        if self.world == 1:
            return [value]
        found: list[Any] = [None] * self.world
        try:
            dist.all_gather_object(found, value)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:200]
            raise Refused(
                f"rank {self.rank} of {self.world}: another rank has ended, so this run ends "
                f"here; run it again with the same --out to go on ({reason})"
            ) from error
        return found

    def agree(self, refusal: str | None) -> None:
        """Go on only if no rank has anything to refuse.

        Raises: Refused on every rank, with the first refusal.
        """
        for rank, found in enumerate(self.share(refusal)):
            if found:
                raise Refused(f"rank {rank}: {found}" if self.world > 1 else found)


@contextmanager
def ranks() -> Iterator[Ranks]:
    """The ranks of this run, as torchrun's environment says.

    Raises: Refused when that environment is not whole.
    """
    world = os.environ.get("WORLD_SIZE", "1")
    if world == "1":
        yield Ranks()
        return
    try:
        dist.init_process_group("gloo", timeout=PATIENCE)
    except (ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise Refused(f"WORLD_SIZE is {world}, but the ranks do not meet ({reason})") from error
    try:
        yield Ranks(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
