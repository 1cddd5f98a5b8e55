"""Models with the shapes of a checkpoint and other weights: what depth does without training.

Satisfies, for every tensor that the adapter reads:
  initialised  matrices normal with the configuration's initializer_range, biases 0, gains neutral;
  matched      matrices normal with the Frobenius norm of the trained ones (embeddings: row by
               row), vectors permuted.
Draws are seeded by (seed, tensor, row), so that a repeated token has one embedding.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from numerics.trained.formats.checkpoint import Checkpoint, Store

KINDS = ("initialised", "matched")
INITIALIZER_RANGE = 0.02  # where the configuration names none: the value of GPT-2 and BERT


@dataclass(frozen=True)
class RedrawnStore:
    """The tensors of another store, redrawn; `neutral` is the gain that changes nothing."""

    source: Store
    kind: str
    seed: int
    deviation: float
    neutral: float

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the source."""
        return self.source.files

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the source."""
        return self.source.shapes

    @property
    def types(self) -> dict[str, str]:
        """The stored types of the source."""
        return self.source.types

    def where(self, name: str) -> Path:
        """The file that holds tensor `name` in the source."""
        return self.source.where(name)

    def read(self, name: str) -> torch.Tensor:
        """Tensor `name`, redrawn."""
        shape, rng = self.shapes[name], self._rng(name)
        if len(shape) > 1:
            draw = torch.from_numpy(rng.standard_normal(shape))
            if self.kind == "initialised":
                return self.deviation * draw
            return draw * (self.source.read(name).double().norm() / draw.norm())
        if self.kind == "matched":
            vector = self.source.read(name).double()
            return vector[torch.from_numpy(rng.permutation(len(vector)))]
        bias = name.endswith(("bias", "beta"))
        return torch.full(shape, 0.0 if bias else self.neutral, dtype=torch.float64)

    def rows(self, name: str, indices: Sequence[int]) -> torch.Tensor:
        """Rows `indices` of tensor `name`, each redrawn by itself."""
        width = self.shapes[name][1]
        draws = np.stack([self._rng(name, i).standard_normal(width) for i in indices])
        drawn = torch.from_numpy(draws)
        if self.kind == "initialised":
            return self.deviation * drawn
        sizes = self.source.rows(name, indices).double().norm(dim=1)
        return drawn * (sizes / drawn.norm(dim=1))[:, None]

    def _rng(self, name: str, *row: int) -> np.random.Generator:
        code = zlib.crc32(name.encode())
        return np.random.default_rng([self.seed, KINDS.index(self.kind), code, *row])


def redrawn(checkpoint: Checkpoint, kind: str, seed: int) -> Checkpoint:
    """The checkpoint with its tensors redrawn; configuration and tokenizer stay.

    Raises: ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
    deviation = checkpoint.config.get("initializer_range")
    usable = isinstance(deviation, float) and deviation > 0
    family = str(checkpoint.config.get("model_type"))
    store = RedrawnStore(
        source=checkpoint.store,
        kind=kind,
        seed=seed,
        deviation=float(deviation) if usable else INITIALIZER_RANGE,  # pyright: ignore
        neutral=0.0 if family.startswith("gemma") else 1.0,  # Gemma's norms multiply by 1 + gain
    )
    return replace(checkpoint, store=store)
