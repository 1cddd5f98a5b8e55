"""The training example: what it draws, that it resumes exactly, and what it refuses."""

import math
import os
import re
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from numerics.fiber_bundle import train
from numerics.fiber_bundle.grammar import ALPHABET
from numerics.fiber_bundle.model import LanguageModel, Shape
from numerics.fiber_bundle.training import NonFiniteLoss, Run, Settings

SMALL = Settings(
    Shape("fiber-bundle", len(ALPHABET), length=12, width=8, heads=2, blocks=1, hidden=8, rank=1),
    steps=6, every=2, batch=4, training_letters=800, validation_letters=200,
)  # fmt: skip
ARGUMENTS = ("--seeds", "1", "--steps", "6", "--every", "2", "--batch", "2", "--length", "8",
             "--width", "8", "--rank", "1")  # fmt: skip


def same(a: Any, b: Any) -> bool:
    """Equality of states, bit by bit."""
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


@pytest.mark.slow
@pytest.mark.parametrize("width", [8, 32, 64])
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_models_of_both_kinds_have_equal_size(width: int, rank: int) -> None:
    ours = Shape("fiber-bundle", len(ALPHABET), width=width, heads=2, rank=rank)
    theirs = ours.standard_of_equal_size()
    assert theirs.kind == "standard"
    assert abs(ours.parameters() - theirs.parameters()) <= 0.01 * ours.parameters()
    for shape in (ours, theirs):
        assert shape.parameters() == sum(p.numel() for p in LanguageModel(shape).parameters())
    same_width = replace(theirs, hidden=ours.hidden).parameters()
    assert abs(ours.parameters() - same_width) > 0.01 * ours.parameters()


@pytest.mark.slow
def test_training_lowers_the_loss_and_records_it() -> None:
    run = Run(replace(SMALL, steps=60, every=30))
    curve = run.train()
    assert [step for step, _ in curve] == [0, 30, 60]
    assert curve[-1][1] < curve[0][1] - 0.3
    assert all(p.grad is not None and bool(p.grad.any()) for p in run.model.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, 3, 4])
def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path: Path, stop: int) -> None:
    whole = Run(SMALL)
    whole.train()

    def kill(run: Run) -> None:
        if run.step == stop:
            raise KeyboardInterrupt

    path = tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        Run(SMALL).train(path, kill)
    again = Run(SMALL)
    torch.manual_seed(99)  # what the global generator holds does not matter
    again.restore(path)
    assert again.step == stop // 2 * 2
    again.train(path)
    assert same(again.state(), whole.state())


@pytest.mark.slow
def test_a_resumed_run_depends_on_all_that_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, half = Run(SMALL), Run(replace(SMALL))
    whole.train()
    for _ in range(4):
        half.advance()
    half.curve.append((4, half.validate()))
    half.save(tmp_path / "half.pt")
    for lost in ("generator", "optimiser", "model", "step"):
        path = tmp_path / f"{lost}.pt"
        state = half.state() | {lost: Run(SMALL).state()[lost]}
        with monkeypatch.context() as patch:
            patch.setattr(half, "state", lambda state=state: state)
            half.save(path)
        other = Run(SMALL)
        other.restore(path)
        other.train()
        assert not same(other.model.state_dict(), whole.model.state_dict()), lost
    sound = Run(SMALL)
    sound.restore(tmp_path / "half.pt")
    sound.train()
    assert same(sound.model.state_dict(), whole.model.state_dict())


@pytest.mark.slow
def test_a_checkpoint_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, path = Run(SMALL), tmp_path / "run.pt"
    run.train(path)
    before = path.read_bytes()

    def full(file: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", full)
    run.step += 1
    with pytest.raises(OSError, match="the disk is full"):
        run.save(path)
    assert path.read_bytes() == before


def test_checkpoints_of_other_runs_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.pt"
    Run(SMALL).save(path)
    with pytest.raises(ValueError, match=r"must be of a run with rate = 0.01, got 0.003"):
        Run(replace(SMALL, rate=0.01)).restore(path)
    torn, whole = tmp_path / "torn.pt", path.read_bytes()
    for content in (b"", b"no checkpoint", b"no\ncheckpoint", whole[:1000], whole[:-1], whole[1:]):
        torn.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"torn.pt must be a checkpoint of this program, whole"
        ):
            Run(SMALL).restore(torn)


def test_a_checkpoint_with_one_changed_bit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    run, path = Run(SMALL), tmp_path / "run.pt"
    run.save(path)
    whole = path.read_bytes()
    before = deepcopy(run.state())
    for place in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=r"bytes that do not fit their digest: remove it"):
            run.restore(path)
    assert same(run.state(), before)
    path.write_bytes(whole)
    run.restore(path)


@pytest.mark.slow
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    path, loss = tmp_path / "run.pt", Run._loss

    def spoiled(self: Run, windows: torch.Tensor) -> torch.Tensor:
        return loss(self, windows) * (bad if self.step == 3 and len(windows) == 4 else 1)

    monkeypatch.setattr(Run, "_loss", spoiled)
    with pytest.raises(
        NonFiniteLoss, match=rf"^loss must be finite, got {bad} after step 3 of fiber-"
    ):
        Run(SMALL).train(path)
    monkeypatch.setattr(Run, "_loss", loss)
    rest = Run(SMALL)
    rest.restore(path)
    assert rest.step == 2
    assert all(bool(p.isfinite().all()) for p in rest.model.parameters())
    monkeypatch.setattr(Run, "_loss", lambda self, windows: torch.tensor(bad))
    with pytest.raises(NonFiniteLoss, match="validation loss must be finite"):
        Run(SMALL).train()


def test_a_gradient_that_is_not_finite_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run, loss = Run(SMALL), Run._loss
    root = torch.sqrt(0 * next(run.model.parameters()).sum())
    monkeypatch.setattr(Run, "_loss", lambda self, windows: loss(self, windows) + root)
    before = [p.detach().clone() for p in run.model.parameters()]
    with pytest.raises(NonFiniteLoss, match="gradient must be finite, got nan after step 0"):
        run.advance()
    assert same(before, list(run.model.parameters()))


@pytest.mark.slow
def test_the_command_says_when_a_loss_is_not_finite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*ARGUMENTS, "--out", str(tmp_path), "--rate", "1e30"]) == 1
    said = capsys.readouterr().err
    assert re.match(r"train: .* must be finite, got .* of fiber-bundle, seed 0: lower the ra", said)
    assert train.main([*ARGUMENTS, "--out", str(tmp_path / "b"), "--seeds", "0"]) == 2
    assert "seeds must be at least 1, got 0" in capsys.readouterr().err
    assert train.main([*ARGUMENTS, "--out", str(tmp_path / "b"), "--device", "abacus"]) == 2
    assert "expected cpu, cuda" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_goes_on_after_a_kill(tmp_path: Path) -> None:
    """Killed by the system at its first checkpoint past the start, run again, compared."""
    call = [sys.executable, "-m", "numerics.fiber_bundle.train", *ARGUMENTS, "--out"]
    with subprocess.Popen([*call, str(tmp_path / "killed")], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()
        process.kill()
    assert line.startswith("fiber-bundle, seed 0: step 2, loss ")
    assert process.returncode == -9
    assert train.main([*ARGUMENTS, "--out", str(tmp_path / "killed")]) == 0
    assert train.main([*ARGUMENTS, "--out", str(tmp_path / "whole")]) == 0
    for name in ("curves.json", "curves.svg"):
        one, other = ((tmp_path / folder / name).read_bytes() for folder in ("killed", "whole"))
        assert one == other
