"""The header of a GGUF file: metadata and where every tensor lies, each length checked.

A file may claim any length; none is believed before the file is seen to be that long.
Source: the GGUF specification, versions 2 and 3.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from numerics.trained.refusals import Refused, optional_module, shown

MAGIC, VERSIONS, MOST_DIMENSIONS, ALIGNMENT = b"GGUF", (2, 3), 4, 32
STRING, ARRAY = 8, 9
SCALARS = {
    0: "<u1",
    1: "<i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    7: "?",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}


@dataclass(frozen=True)
class Extent:
    """One tensor: row-major shape, GGML's number and name of its type, its bytes in the file."""

    shape: tuple[int, ...]
    kind: int
    type_name: str
    start: int
    size: int


@dataclass(frozen=True)
class Header:
    """Metadata by key and tensors by the names that llama.cpp gives them."""

    file: Path
    metadata: Mapping[str, object]
    tensors: Mapping[str, Extent]


def read_header(file: Path) -> Header:
    """Read a GGUF file's header; no tensor is read.

    Raises: Refused for a file that is not GGUF, is truncated, or contradicts itself.
    """
    try:
        data = np.memmap(file, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise Refused(f"{file}: not a checkpoint: no whole GGUF file ({error})") from error
    cursor = _Cursor(file, data)
    if cursor.take(4) != MAGIC:
        raise cursor.refusal("it does not begin with GGUF")
    version = cursor.number("<I")
    if version not in VERSIONS:
        raise cursor.refusal(f"version {version} is not one of 2, 3 in little-endian order")
    tensor_count, entry_count = cursor.number("<Q"), cursor.number("<Q")
    metadata: dict[str, object] = {}
    for _ in range(cursor.at_most(entry_count, 12)):
        key = cursor.string()
        if key in metadata:
            raise cursor.refusal(f"the key {shown(key)} stands twice")
        metadata[key] = cursor.value(cursor.number("<I"))
    infos = [cursor.tensor_info() for _ in range(cursor.at_most(tensor_count, 24))]
    alignment = metadata.get("general.alignment", ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1:
        raise cursor.refusal(f"general.alignment is {shown(alignment)}")
    start = -(-cursor.position // alignment) * alignment
    tensors: dict[str, Extent] = {}
    for name, shape, kind, offset in infos:
        if name in tensors:
            raise cursor.refusal(f"tensor {shown(name)} stands twice")
        tensors[name] = _extent(cursor, name, shape, kind, start + offset)
    return Header(file, metadata, tensors)


def _extent(cursor: _Cursor, name: str, shape: tuple[int, ...], kind: int, start: int) -> Extent:
    library = optional_module("gguf")
    try:
        known = library.GGMLQuantizationType(kind)
    except ValueError:
        raise cursor.refusal(f"tensor {shown(name)} has the unknown type {kind}") from None
    block, width = library.GGML_QUANT_SIZES[known]
    # Quantised blocks never straddle two rows.
    if not shape or min(shape) < 1 or shape[-1] % block:
        raise cursor.refusal(
            f"tensor {shown(name)} of shape {list(shape)} is no whole number of {known.name} blocks"
        )
    size = math.prod(shape) // block * width
    if start + size > cursor.size:
        raise cursor.refusal(
            f"tensor {shown(name)} of shape {list(shape)} ends at byte {start + size}, the file "
            f"at {cursor.size}"
        )
    return Extent(shape, kind, known.name, start, size)


class _Cursor:
    """A position in the header that never passes the file's end."""

    def __init__(self, file: Path, data: np.memmap) -> None:
        self.file, self.size, self.position = file, len(data), 0
        self._bytes = memoryview(data)  # type: ignore[arg-type]

    def refusal(self, why: str) -> Refused:
        """What to raise."""
        return Refused(f"{self.file}: not a checkpoint: no whole GGUF file ({why})")

    def take(self, count: int) -> bytes:
        if count > self.size - self.position:
            raise self.refusal(f"truncated at byte {self.size} within the header")
        self.position += count
        return bytes(self._bytes[self.position - count : self.position])

    def at_most(self, count: int, smallest: int) -> int:
        """A count of items of at least `smallest` bytes each, if the file can hold them."""
        if count * smallest > self.size - self.position:
            raise self.refusal(f"truncated: {count} items cannot fit within {self.size} bytes")
        return count

    def number(self, form: str) -> int:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def string(self) -> str:
        try:
            return self.take(self.number("<Q")).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.refusal(f"a string that is no UTF-8 ({error})") from error

    def value(self, kind: int) -> object:
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            return self._array(self.number("<I"), self.number("<Q"))
        return self._numbers(kind, 1)[0]

    def tensor_info(self) -> tuple[str, tuple[int, ...], int, int]:
        """Name, row-major shape, type and offset of a tensor."""
        name, dimensions = self.string(), self.number("<I")
        if dimensions > MOST_DIMENSIONS:
            raise self.refusal(f"tensor {shown(name)} has {dimensions} dimensions")
        shape = tuple(reversed([self.number("<Q") for _ in range(dimensions)]))
        return name, shape, self.number("<I"), self.number("<Q")

    def _array(self, kind: int, count: int) -> list[object]:
        if kind == STRING:
            return [self.string() for _ in range(self.at_most(count, 8))]
        return self._numbers(kind, count)

    def _numbers(self, kind: int, count: int) -> list[object]:
        if kind not in SCALARS:
            raise self.refusal(f"a metadata value of the unknown type {kind}")
        dtype = np.dtype(SCALARS[kind])
        return np.frombuffer(
            self.take(self.at_most(count, dtype.itemsize) * dtype.itemsize), dtype
        ).tolist()
