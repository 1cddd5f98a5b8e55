"""Training of one model: the same batches for every kind, checkpoints that resume exactly.

A run is fixed by its settings. Its state after a step - weights, optimiser, generator of batches,
losses - is written whole or not at all, so that a run which was killed goes on as if it had not
been. A loss that is not finite ends it, and the last sound checkpoint stays.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from numerics.fiber_bundle.grammar import ALPHABET, encode, text
from numerics.fiber_bundle.model import LanguageModel, Shape
from numerics.fiber_bundle.products import NoDigits
from numerics.inputs import integer, number
from numerics.runs.files import write_whole


class NonFiniteLoss(ArithmeticError):
    """A loss or a gradient is NaN or infinite: training has diverged."""


@dataclass(frozen=True)
class Settings:
    """What fixes a run; sizes in letters, `every` the steps between validations and checkpoints.

    Raises ValueError, TypeError by name.
    """

    shape: Shape
    seed: int = 0
    steps: int = 400
    batch: int = 16
    rate: float = 3e-3
    every: int = 25
    training_letters: int = 60_000
    validation_letters: int = 6_000

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise TypeError(f"shape must be a Shape, got {type(self.shape).__name__}")
        integer("seed", self.seed, 0)
        for name in ("steps", "batch", "every"):
            integer(name, getattr(self, name), 1)
        for name in ("training_letters", "validation_letters"):
            integer(name, getattr(self, name), self.shape.length + 1)
        if number("rate", self.rate) <= 0:
            raise ValueError(f"rate must be positive, got {self.rate}")
        if self.shape.vocabulary != len(ALPHABET):
            raise ValueError(
                f"shape must have vocabulary {len(ALPHABET)}, got {self.shape.vocabulary}"
            )


def training_text(settings: Settings) -> str:
    """The letters that batches are cut from, the same for all seeds."""
    return text(1, settings.training_letters)


def validation_text(settings: Settings) -> str:
    """Other sentences of the same grammar."""
    return text(2, settings.validation_letters)


class Run:
    """A model under training. Raises ValueError for a checkpoint that is not of these settings."""

    def __init__(self, settings: Settings, device: torch.device | str = "cpu") -> None:
        if not isinstance(settings, Settings):
            raise TypeError(f"settings must be Settings, got {type(settings).__name__}")
        self.settings, self.step = settings, 0
        self.device = torch.device(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self.model = LanguageModel(settings.shape).to(self.device)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=settings.rate)
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.curve: list[tuple[int, float]] = []
        self._letters = torch.tensor(encode(training_text(settings)))
        held = torch.tensor(encode(validation_text(settings)))
        span = settings.shape.length + 1
        self._held = held[: len(held) // span * span].view(-1, span).to(self.device)

    def held_out(self) -> torch.Tensor:
        """Symbols (B, n) of the held-out windows."""
        return self._held[:, :-1]

    def advance(self) -> float:
        """One step on a batch of windows; returns its loss. Raises NonFiniteLoss."""
        span = self.settings.shape.length + 1
        starts = torch.randint(
            len(self._letters) - span + 1, (self.settings.batch,), generator=self.generator
        )
        windows = torch.stack([self._letters[s : s + span] for s in starts.tolist()])
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.rate * self._schedule()
        loss = self._finite_loss(windows.to(self.device), "loss")
        self.optimiser.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if not bool(norm.isfinite()):
            raise NonFiniteLoss(self._diverged("gradient", float(norm)))
        self.optimiser.step()
        self.step += 1
        return float(loss.detach())

    @torch.no_grad()
    def validate(self) -> float:
        """Mean loss over the held-out windows, in nats a letter. Raises NonFiniteLoss."""
        return float(self._finite_loss(self._held, "validation loss"))

    def train(
        self, checkpoint: Path | None = None, progress: Callable[[Run], None] | None = None
    ) -> list[tuple[int, float]]:
        """Go on to the last step; returns the curve of (step, validation loss) from step 0.

        Validates and writes the checkpoint at step 0, every `every` steps and at the end, and calls
        progress after each step. Raises NonFiniteLoss.
        """
        if not self.curve:
            self._record(checkpoint)
        while self.step < self.settings.steps:
            self.advance()
            if self.step % self.settings.every == 0 or self.step == self.settings.steps:
                self._record(checkpoint)
            if progress:
                progress(self)
        return self.curve

    @property
    def name(self) -> str:
        """Kind and seed."""
        return f"{self.settings.shape.kind}, seed {self.settings.seed}"

    def _schedule(self) -> float:
        """Linear warm-up over a tenth of the steps, then a linear fall to a tenth of the rate."""
        done, all_steps = self.step + 1, self.settings.steps
        return min(1.0, done / max(1.0, 0.1 * all_steps)) * (1 - 0.9 * self.step / all_steps)

    def _loss(self, windows: torch.Tensor) -> torch.Tensor:
        logits = self.model(windows[:, :-1])
        return functional.cross_entropy(logits.flatten(0, 1).float(), windows[:, 1:].flatten())

    def _finite_loss(self, windows: torch.Tensor, what: str) -> torch.Tensor:
        try:
            loss = self._loss(windows)
        except (ValueError, NoDigits) as error:
            raise NonFiniteLoss(self._diverged(what, error)) from error
        if not bool(loss.isfinite()):
            raise NonFiniteLoss(self._diverged(what, float(loss.detach())))
        return loss

    def _diverged(self, what: str, found: object) -> str:
        return (
            f"{what} must be finite, got {found} after step {self.step} of {self.name}: lower the "
            f"rate ({self.settings.rate}); nothing was saved after the last checkpoint"
        )

    def _record(self, checkpoint: Path | None) -> None:
        self.curve.append((self.step, self.validate()))
        if checkpoint is not None:
            self.save(checkpoint)

    def state(self) -> dict[str, Any]:
        """All that the next step depends on."""
        return {
            "settings": asdict(self.settings),
            "step": self.step,
            "curve": [list(point) for point in self.curve],
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": self.generator.get_state(),
        }

    def save(self, path: Path) -> None:
        """Write the state with its digest, as a whole. Raises OSError as `write_whole`."""
        buffer = io.BytesIO()
        torch.save(self.state(), buffer)
        write_whole(path, _seal(buffer.getvalue()) + buffer.getvalue())

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint; ValueError for one of other settings, damaged or none at all."""
        state = _unsealed(path)
        expected, found = asdict(self.settings), state["settings"]
        for name in expected | found:
            if (wanted := expected.get(name)) != found.get(name):
                raise ValueError(
                    f"{path} must be of a run with {name} = {wanted}, got {found.get(name)}; "
                    "choose another folder or the same settings"
                )
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.generator.set_state(state["generator"])
        self.step, self.curve = state["step"], [(int(s), float(v)) for s, v in state["curve"]]


def _seal(payload: bytes) -> bytes:
    """The first line of a checkpoint: torch reads damaged numbers without a word."""
    return f"fiber-bundle checkpoint {hashlib.sha256(payload).hexdigest()}\n".encode()


def _unsealed(path: Path) -> dict[str, Any]:
    """The state in a file that nothing has changed since it was written."""
    content = path.read_bytes()
    end = content.find(b"\n") + 1
    if not end or content[:end] != _seal(content[end:]):
        raise ValueError(
            f"{path} must be a checkpoint of this program, whole and unchanged, got "
            f"{len(content)} bytes that do not fit their digest: remove it to start afresh"
        )
    return torch.load(io.BytesIO(content[end:]), map_location="cpu", weights_only=True)
