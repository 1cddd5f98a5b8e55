"""A checkpoint on disk: its configuration, and its tensors one at a time.

Two forms are read: the Hugging Face layout (config.json beside safetensors files) and GGUF.
Tensors are read when asked for, so that memory never holds more than the layer at work.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from numerics.trained.formats.gguf_store import GgufStore
from numerics.trained.formats.gguf_tokenizer import tokenizer_from_metadata
from numerics.trained.formats.safetensors_store import SafetensorsStore, weight_file, weight_files
from numerics.trained.refusals import Refused, optional_module, read_object, shown

__all__ = ["Checkpoint", "Refused", "open_checkpoint", "optional_module", "sha256"]

FLOATS = ("BF16", "F16", "F32", "F64")
READ = (torch.bfloat16, torch.float16, torch.float32, torch.float64)  # 8-bit floats need scales


class Store(Protocol):
    """Tensors by the names that the transformers library gives them."""

    files: tuple[Path, ...]
    shapes: dict[str, tuple[int, ...]]
    types: dict[str, str]

    def where(self, name: str) -> Path:
        """The file that holds tensor `name`."""
        ...

    def read(self, name: str) -> torch.Tensor:
        """Tensor `name`, in any dtype."""
        ...

    def rows(self, name: str, indices: Sequence[int]) -> torch.Tensor:
        """Rows `indices` of the 2-d tensor `name`."""
        ...


@dataclass(frozen=True)
class Checkpoint:
    """An opened checkpoint: its configuration, where that stands, and its tensors."""

    name: str
    directory: Path
    config: Mapping[str, object]
    config_source: str
    store: Store
    tokenizer: Callable[[], Any] | None = None  # built where no tokenizer.json lies beside

    @property
    def files(self) -> tuple[Path, ...]:
        """The weight files."""
        return self.store.files

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The stored shape of every tensor, by name."""
        return self.store.shapes

    @property
    def stored_types(self) -> dict[str, int]:
        """How many tensors are stored in which type, by the format's name of the type."""
        return dict(sorted(Counter(self.store.types.values()).items()))

    @property
    def quantised(self) -> bool:
        """Whether some tensor is stored in blocks and dequantised when read."""
        return any(kind not in FLOATS for kind in self.store.types.values())

    def require(self, name: str, shape: Sequence[int]) -> None:
        """Check from the file's header alone that tensor `name` is there with this shape.

        Raises: Refused when it is missing or has another shape.
        """
        if name not in self.shapes:
            raise Refused(f"{self.directory}: tensor {name} is missing")
        if self.shapes[name] != tuple(shape):
            raise Refused(
                f"{self.store.where(name)}: tensor {name} has shape {list(self.shapes[name])}, "
                f"expected {list(shape)} from {Path(self.config_source).name}"
            )

    def tensor(self, name: str, shape: Sequence[int]) -> torch.Tensor:
        """Tensor `name` of the given shape, as float64.

        Raises: Refused when it is missing, mis-shaped, not floating point or not finite.
        """
        self.require(name, shape)
        return self._as_float64(name, self.store.read(name))

    def rows(self, name: str, shape: Sequence[int], indices: Sequence[int]) -> torch.Tensor:
        """The rows `indices` (n of them) of the 2-d tensor `name`, (n, d), as float64.

        Only these rows are read: a vocabulary's embedding outweighs a layer.
        Raises: as `tensor`; also when an index lies outside the tensor.
        """
        self.require(name, shape)
        outside = [i for i in indices if not 0 <= i < shape[0]]
        if outside:
            raise Refused(f"index {outside[0]} lies outside {name}, which has {shape[0]} rows")
        return self._as_float64(name, self.store.rows(name, indices))

    def _as_float64(self, name: str, stored: torch.Tensor) -> torch.Tensor:
        if stored.dtype not in READ:
            raise Refused(
                f"{self.store.where(name)}: tensor {name} holds {stored.dtype}, not floats of 16, "
                "32 or 64 bits"
            )
        tensor = stored.to(torch.float64)
        if not bool(torch.isfinite(tensor).all()):
            raise Refused(f"{self.store.where(name)}: tensor {name} holds NaN or infinity")
        return tensor

    def integer(self, key: str) -> int:
        """The positive integer `key` of the configuration.

        Raises: Refused when it is absent or anything else.
        """
        value = self.config.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise Refused(
                f"{self.config_source}: {key} must be a positive integer, found {shown(value)}"
            )
        return value

    def positive(self, key: str) -> float:
        """The positive finite number `key` of the configuration.

        Raises: Refused when it is absent or anything else.
        """
        value = self.config.get(key)
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
        if not 0 < number < math.inf:
            raise Refused(
                f"{self.config_source}: {key} must be a positive number, found {shown(value)}"
            )
        return float(number)

    def require_layer(
        self, start: str, shapes: Mapping[str, Sequence[int]], buffers: Sequence[str] = ()
    ) -> None:
        """Check one layer's tensors from the headers: all there, none besides but `buffers`.

        `start` is what the layer's tensors have before their names within the layer. A tensor
        that nobody reads, such as a bias that the configuration does not mention, is refused.
        Raises: Refused as `require`.
        """
        for name, shape in shapes.items():
            self.require(start + name, shape)
        stored = {n.removeprefix(start) for n in self.shapes if n.startswith(start)}
        unread = stored - set(shapes) - set(buffers)
        if unread:
            raise Refused(
                f"{self.store.where(start + min(unread))}: tensor {start}{min(unread)} is not "
                f"read for this architecture and {Path(self.config_source).name}"
            )

    def refuse_other_layers(self, start: str, depth: int) -> None:
        """Refuse weights of layers that the configuration does not have.

        `start` is what the names of a layer's tensors have before the layer's number.
        """
        numbers = {n[len(start) :].split(".")[0] for n in self.shapes if n.startswith(start)}
        surplus = numbers - {str(i) for i in range(depth)}
        if surplus:
            raise Refused(
                f"{self.config_source} has num_hidden_layers {depth}, the weights hold layer "
                f"{min(surplus)}"
            )

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file that the model is made of, by file name.

        Weights alone do not make a model: a norm's eps, RoPE's base or another vocabulary give
        other numbers.
        """
        beside = (Path(self.config_source), self.directory / "tokenizer.json")
        files = dict.fromkeys((*self.files, *(file for file in beside if file.is_file())))
        return {file.name: sha256(file) for file in files}


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a checkpoint directory, a safetensors file inside one, or a GGUF file: headers only.

    Raises: Refused for a missing path, pickled weights, any other format, an unreadable
    configuration, and a file that is truncated or not of its format.
    """
    if not path.exists():
        raise Refused(f"{path}: no such file or directory")
    single = _gguf_of(path)
    if single is not None:
        return _open_gguf(single)
    directory = path if path.is_dir() else path.parent
    files = weight_files(path) if path.is_dir() else (weight_file(path),)
    config_file = directory / "config.json"
    config, store = read_object(config_file), SafetensorsStore(files)
    name = directory.resolve().name or "checkpoint"
    return Checkpoint(name, directory, config, str(config_file), store)


def _gguf_of(path: Path) -> Path | None:
    """The GGUF file that a path means: itself, or the only one of a directory without weights."""
    if not path.is_dir():
        return path if path.suffix == ".gguf" else None
    if any(path.glob("model.safetensors*")):
        return None
    found = sorted(path.glob("*.gguf"))
    if len(found) > 1:
        raise Refused(f"{path}: holds {len(found)} .gguf files; name one, such as {found[0].name}")
    return found[0] if found else None


def _open_gguf(file: Path) -> Checkpoint:
    store = GgufStore(file)
    return Checkpoint(
        name=file.stem,
        directory=file.parent,
        config=store.config,
        config_source=str(file),
        store=store,
        tokenizer=lambda: tokenizer_from_metadata(store.header.metadata, file),
    )
