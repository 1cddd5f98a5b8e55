"""Tensors in safetensors files, whole or sharded, each read from disk when asked for.

Pickled weights are refused always: unpickling a file runs whatever code its author put in it.
Source: the safetensors format (an 8-byte length, a JSON header, the raw tensors).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from numerics.trained.refusals import Refused, optional_module, read_object

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
HOW_TO_CONVERT = (
    "convert it to safetensors where you trust it: load the model with transformers, then "
    "model.save_pretrained(DIR) and tokenizer.save_pretrained(DIR)"
)


class SafetensorsStore:
    """The tensors of one model over its safetensors files; their headers are read at once.

    Raises: Refused for a file that is truncated or no safetensors file, and for a tensor that
    two files hold.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.types: dict[str, str] = {}
        self._holder: dict[str, Path] = {}
        for file in self.files:
            with _opened(file) as stored:
                for name in stored.keys():  # noqa: SIM118 -- the reader is no mapping
                    if name in self._holder:
                        other = self._holder[name].name
                        raise Refused(f"{file}: tensor {name} is also in {other}")
                    header = stored.get_slice(name)
                    self._holder[name] = file
                    self.shapes[name] = tuple(header.get_shape())
                    self.types[name] = header.get_dtype()

    def where(self, name: str) -> Path:
        """The file that holds tensor `name`."""
        return self._holder[name]

    def read(self, name: str) -> torch.Tensor:
        """Tensor `name` as stored."""
        with _opened(self._holder[name]) as stored:
            return stored.get_tensor(name)

    def rows(self, name: str, indices: Sequence[int]) -> torch.Tensor:
        """Rows `indices` of the 2-d tensor `name` as stored; no other rows are read."""
        with _opened(self._holder[name]) as stored:
            table = stored.get_slice(name)
            return torch.cat([table[i : i + 1] for i in indices])


def weight_file(path: Path) -> Path:
    """The path itself, of a safetensors file.

    Raises: Refused for pickled weights and any other suffix.
    """
    if path.suffix in PICKLE_SUFFIXES:
        raise Refused(
            f"{path}: pickled weights are never opened (they can run code); {HOW_TO_CONVERT}"
        )
    if path.suffix != ".safetensors":
        raise Refused(
            f"{path}: not a checkpoint directory and neither a .safetensors nor a .gguf file"
        )
    return path


def weight_files(directory: Path) -> tuple[Path, ...]:
    """The safetensors files of a directory in the Hugging Face layout.

    Raises: Refused where there are none, or an index names files that are not there.
    """
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
    raise Refused(
        f"{directory}: no model.safetensors, no model.safetensors.index.json and no .gguf file"
    )


def _shards(index: Path) -> tuple[Path, ...]:
    weight_map = read_object(index).get("weight_map")
    names = list(weight_map.values()) if isinstance(weight_map, dict) else []
    # A shard is a plain file name: an index must not reach outside its own directory.
    plain = [n for n in names if isinstance(n, str) and n and Path(n).name == n]
    if not names or plain != names:
        raise Refused(f"{index}: weight_map must map tensors to file names beside it")
    shards = tuple(index.parent / name for name in sorted(set(plain)))
    for shard in shards:
        if weight_file(shard) and not shard.is_file():
            raise Refused(f"{shard}: shard named by {index.name} is missing")
    return shards


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """A safetensors file held open; every failure of the reader becomes a Refused."""
    library = optional_module("safetensors")
    try:
        with library.safe_open(file, framework="pt") as stored:
            yield stored
    except (library.SafetensorError, OSError) as error:
        raise Refused(f"{file}: not a whole safetensors file ({error})") from error
