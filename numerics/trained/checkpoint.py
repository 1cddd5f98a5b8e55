"""A checkpoint directory in the Hugging Face layout: config.json beside safetensors files.

Tensors are read one at a time, so that memory never holds more than the layer at work.
Pickled weights are refused always: unpickling a file runs whatever code its author put in it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
HOW_TO_CONVERT = (
    "convert it to safetensors where you trust it: load the model with transformers, then "
    "model.save_pretrained(DIR) and tokenizer.save_pretrained(DIR)"
)


class Refused(ValueError):
    """The input cannot be used; the message says in one line why, and what would help."""


def optional_module(name: str) -> ModuleType:
    """The module `name` of the optional extra `models`.

    Raises: Refused, with the line that installs it, when it does not import.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Refused(
            f"analyze needs the package {name.partition('.')[0]} ({error}): "
            "pip install 'attention-geometry[models]'"
        ) from error


@dataclass(frozen=True)
class Checkpoint:
    """An opened checkpoint: its configuration and, for every tensor, its file and stored shape.

    Source: the safetensors format (an 8-byte length, a JSON header, the raw tensors).
    """

    name: str
    directory: Path
    config: Mapping[str, object]
    files: tuple[Path, ...]
    holder: Mapping[str, Path]
    shapes: Mapping[str, tuple[int, ...]]

    def require(self, name: str, shape: Sequence[int]) -> None:
        """Check from the file's header alone that tensor `name` is there with this shape.

        Raises: Refused when it is missing or has another shape.
        """
        if name not in self.shapes:
            raise Refused(f"{self.directory}: tensor {name} is missing")
        if self.shapes[name] != tuple(shape):
            raise Refused(
                f"{self.holder[name]}: tensor {name} has shape {list(self.shapes[name])}, "
                f"expected {list(shape)} from config.json"
            )

    def tensor(self, name: str, shape: Sequence[int]) -> torch.Tensor:
        """Tensor `name` of the given shape, as float64.

        Raises: Refused when it is missing, mis-shaped, not floating point or not finite.
        """
        self.require(name, shape)
        with _opened(self.holder[name]) as stored:
            return self._as_float64(name, stored.get_tensor(name))

    def rows(self, name: str, shape: Sequence[int], indices: Sequence[int]) -> torch.Tensor:
        """The rows `indices` (n of them) of the 2-d tensor `name`, (n, d), as float64.

        Only these rows are read: a vocabulary's embedding outweighs a layer.
        Raises: as `tensor`; also when an index lies outside the tensor.
        """
        self.require(name, shape)
        outside = [i for i in indices if not 0 <= i < shape[0]]
        if outside:
            raise Refused(f"index {outside[0]} lies outside {name}, which has {shape[0]} rows")
        with _opened(self.holder[name]) as stored:
            table = stored.get_slice(name)
            return self._as_float64(name, torch.cat([table[i : i + 1] for i in indices]))

    def _as_float64(self, name: str, stored: torch.Tensor) -> torch.Tensor:
        if not stored.is_floating_point():
            raise Refused(f"{self.holder[name]}: tensor {name} holds {stored.dtype}, not floats")
        tensor = stored.to(torch.float64)
        if not bool(torch.isfinite(tensor).all()):
            raise Refused(f"{self.holder[name]}: tensor {name} holds NaN or infinity")
        return tensor

    def integer(self, key: str) -> int:
        """The positive integer `key` of config.json.

        Raises: Refused when it is absent or anything else.
        """
        value = self.config.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise Refused(
                f"{self.directory / 'config.json'}: {key} must be a positive integer, "
                f"found {_shown(value)}"
            )
        return value

    def positive(self, key: str) -> float:
        """The positive finite number `key` of config.json.

        Raises: Refused when it is absent or anything else.
        """
        value = self.config.get(key)
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
        if not 0 < number < math.inf:
            raise Refused(
                f"{self.directory / 'config.json'}: {key} must be a positive number, "
                f"found {_shown(value)}"
            )
        return float(number)

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every weight file, by file name."""
        return {file.name: sha256(file) for file in self.files}


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a checkpoint directory (or the safetensors file inside one) and read its headers.

    Raises: Refused for a missing path, pickled weights, any other format, an unreadable
    configuration, and a file that is truncated or no safetensors file at all.
    """
    if not path.exists():
        raise Refused(f"{path}: no such file or directory")
    directory = path if path.is_dir() else path.parent
    files = _files_of_directory(path) if path.is_dir() else (_single_file(path),)
    config = _read_object(directory / "config.json")
    holder: dict[str, Path] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for file in files:
        with _opened(file) as stored:
            for name in stored.keys():  # noqa: SIM118 -- the reader is no mapping
                if name in holder:
                    raise Refused(f"{file}: tensor {name} is also in {holder[name].name}")
                holder[name] = file
                shapes[name] = tuple(stored.get_slice(name).get_shape())
    name = directory.resolve().name or "checkpoint"
    return Checkpoint(name, directory, config, files, holder, shapes)


def _single_file(path: Path) -> Path:
    if path.suffix in PICKLE_SUFFIXES:
        raise Refused(
            f"{path}: pickled weights are never opened (they can run code); {HOW_TO_CONVERT}"
        )
    if path.suffix != ".safetensors":
        raise Refused(f"{path}: not a checkpoint directory and not a .safetensors file")
    return path


def _files_of_directory(directory: Path) -> tuple[Path, ...]:
    whole, index = directory / "model.safetensors", directory / "model.safetensors.index.json"
    if whole.is_file():
        return (whole,)
    if index.is_file():
        return _shards(index)
    pickles = sorted(p.name for p in directory.iterdir() if p.suffix in PICKLE_SUFFIXES)
    if pickles:
        raise Refused(
            f"{directory}: holds only pickled weights ({pickles[0]}), which are never "
            f"opened (they can run code); {HOW_TO_CONVERT}"
        )
    raise Refused(f"{directory}: no model.safetensors and no model.safetensors.index.json")


def _shards(index: Path) -> tuple[Path, ...]:
    weight_map = _read_object(index).get("weight_map")
    names = list(weight_map.values()) if isinstance(weight_map, dict) else []
    # A shard is a plain file name: an index must not reach outside its own directory.
    plain = [n for n in names if isinstance(n, str) and n and Path(n).name == n]
    if not names or plain != names:
        raise Refused(f"{index}: weight_map must map tensors to file names beside it")
    shards = tuple(index.parent / name for name in sorted(set(plain)))
    for shard in shards:
        if _single_file(shard) and not shard.is_file():
            raise Refused(f"{shard}: shard named by {index.name} is missing")
    return shards


def _read_object(file: Path) -> dict[str, object]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Refused(f"{file}: no such file") from error
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(f"{file}: unreadable ({error})") from error
    if not isinstance(content, dict):
        raise Refused(f"{file}: must hold a JSON object, found {_shown(content)}")
    return content


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """A safetensors file held open; every failure of the reader becomes a Refused."""
    library = optional_module("safetensors")
    try:
        with library.safe_open(file, framework="pt") as stored:
            yield stored
    except (library.SafetensorError, OSError) as error:
        raise Refused(f"{file}: not a whole safetensors file ({error})") from error


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)[:60]
