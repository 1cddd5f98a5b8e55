"""What the adapters share: the layer in memory, row form by head, grouped heads, prefixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from numerics.trained.formats.checkpoint import Checkpoint, Refused
from numerics.walks.transports import kv_head


class ValueFold(NamedTuple):
    """Gain (d,) of the norm before the attention module, and whether that norm centres."""

    gain: torch.Tensor
    centred: bool


class LayerAtWork:
    """The tensors of one layer of a model: asking for another layer's lets go of these.

    `read` gives a layer's tensors from disk. Whatever keeps hold of a layer, one is in memory.
    """

    def __init__(self, read: Callable[[int], dict[str, torch.Tensor]]) -> None:
        self._read, self._index, self._tensors = read, -1, {}

    def __call__(self, index: int) -> dict[str, torch.Tensor]:
        """The tensors of layer `index` by their names within the layer, read if need be."""
        if index != self._index:
            self._index, self._tensors = -1, {}  # let go before reading: never two at once
            self._tensors = self._read(index)
            self._index = index
        return self._tensors


def by_head(rows: torch.Tensor, stored: int, heads: int) -> torch.Tensor:
    """Row form W (d, stored d_k) as (heads, d, d_k): query head h reads head kv_head(h)."""
    blocks = rows.reshape(rows.shape[0], stored, -1).transpose(0, 1)
    return blocks[_read(stored, heads)].contiguous()


def head_bias(bias: torch.Tensor | None, stored: int, heads: int, width: int) -> torch.Tensor:
    """A bias (stored d_k,) as (heads, d_k), zeros where the layer has none."""
    if bias is None:
        return torch.zeros((heads, width), dtype=torch.float64)
    return bias.reshape(stored, width)[_read(stored, heads)]


def without_prefix(checkpoint: Checkpoint, name: str, prefixes: Sequence[str]) -> str:
    """Which of `prefixes` stands before `name` in the weight files.

    Raises: Refused where none does.
    """
    for prefix in prefixes:
        if prefix + name in checkpoint.shapes:
            return prefix
    others = " or ".join(prefix for prefix in prefixes if prefix)
    raise Refused(
        f"{checkpoint.directory}: tensor {name} is missing (also under the prefix {others})"
    )


def _read(stored: int, heads: int) -> list[int]:
    return [kv_head(h, heads, stored) for h in range(heads)]
