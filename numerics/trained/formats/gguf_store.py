"""Tensors of a GGUF file under the names and in the layout of the transformers library.

llama.cpp's converter renames tensors, reorders the query and key rows of Llama models from the
half-split to the interleaved layout of RoPE, adds 1 to Gemma's norm gains and transposes GPT-2's
matrices; each is undone here. Quantised blocks are dequantised by the `gguf` package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from numerics.trained.formats.gguf_header import Extent, read_header
from numerics.trained.formats.gguf_names import configuration, transformers_name
from numerics.trained.refusals import Refused, optional_module

TRANSPOSED = (".c_attn.weight", ".c_proj.weight", ".c_fc.weight")


class GgufStore:
    """The tensors of one GGUF file; only the header is read at once.

    Raises: Refused for a file that is damaged, an architecture or hyperparameter without a
    place here, and a quantisation that the `gguf` package cannot undo.
    """

    def __init__(self, file: Path) -> None:
        self.header = read_header(file)
        self.files = (file,)
        self.config = configuration(self.header)
        self._kind = str(self.config["model_type"])
        self._extents: dict[str, Extent] = {}
        for stored, extent in self.header.tensors.items():
            name = transformers_name(stored, self._kind)
            if name is None:
                raise Refused(f"{file}: tensor {stored} is not known for {self._kind} in GGUF")
            self._extents[name] = extent
        self.types = {name: extent.type_name for name, extent in self._extents.items()}
        self.shapes = {name: self._shape(name, e.shape) for name, e in self._extents.items()}
        for kind in {extent.kind for extent in self._extents.values()}:
            self._refuse_unreadable(kind)

    def where(self, name: str) -> Path:
        """The file."""
        return self.files[0]

    def read(self, name: str) -> torch.Tensor:
        """Tensor `name`, dequantised, in the layout of the transformers library."""
        extent = self._extents[name]
        values = self._values(extent, self._bytes(extent)).reshape(extent.shape)
        if name.endswith("norm.weight") and self._kind in ("gemma", "gemma2"):
            return torch.from_numpy(values.astype(np.float64) - 1)
        if self._kind == "gpt2" and name.endswith(TRANSPOSED):
            values = np.ascontiguousarray(values.T)
        if self._kind == "llama" and ".q_proj." in name:
            values = half_split(values, int(str(self.config["num_attention_heads"])))
        if self._kind == "llama" and ".k_proj." in name:
            values = half_split(values, int(str(self.config["num_key_value_heads"])))
        return torch.from_numpy(values)

    def rows(self, name: str, indices: Sequence[int]) -> torch.Tensor:
        """Rows `indices` of the embedding table `name`; no other rows are dequantised."""
        extent = self._extents[name]
        table = self._bytes(extent).reshape(extent.shape[0], -1)
        values = self._values(extent, table[list(indices)])
        return torch.from_numpy(values.reshape(len(indices), -1))

    def _shape(self, name: str, stored: tuple[int, ...]) -> tuple[int, ...]:
        return stored[::-1] if self._kind == "gpt2" and name.endswith(TRANSPOSED) else stored

    def _bytes(self, extent: Extent) -> np.ndarray:
        raw = np.memmap(self.files[0], dtype=np.uint8, mode="r", offset=0)
        return raw[extent.start : extent.start + extent.size].reshape(
            (*extent.shape[:-1], extent.size // int(np.prod(extent.shape[:-1], dtype=np.int64)))
        )

    def _values(self, extent: Extent, raw: np.ndarray) -> np.ndarray:
        """Values of whole rows given as bytes, in float32."""
        library = optional_module("gguf")
        if extent.type_name == "F32":
            return raw.copy().view("<f4")
        return library.dequantize(raw.copy(), library.GGMLQuantizationType(extent.kind))

    def _refuse_unreadable(self, kind: int) -> None:
        """Refuse a type without values before the work, by trying it on one block of zeros."""
        library = optional_module("gguf")
        known = library.GGMLQuantizationType(kind)
        block, width = library.GGML_QUANT_SIZES[known]
        extent = Extent((1, block), kind, known.name, 0, width)
        try:
            self._values(extent, np.zeros((1, width), dtype=np.uint8))
        except (NotImplementedError, ValueError, TypeError) as error:
            raise Refused(
                f"{self.files[0]}: the package gguf cannot dequantise {known.name} ({error})"
            ) from error


def half_split(values: np.ndarray, heads: int) -> np.ndarray:
    """Rows (heads * d_k, ...) with each head's interleaved channel pairs set half-split.

    Row 2r + s of a head becomes row s d_k/2 + r.
    """
    pairs = values.reshape(heads, -1, 2, *values.shape[1:])
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(values.shape)
