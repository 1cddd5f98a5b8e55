"""The text that models are trained on, the stored curves, and what is said about them."""

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from numerics.fiber_bundle import curves, grammar, train
from numerics.fiber_bundle.grammar import ALPHABET, encode, text, unigram_entropy
from numerics.fiber_bundle.training import Run

ARGUMENTS = ("--seeds", "1", "--steps", "6", "--every", "2", "--batch", "2", "--length", "8",
             "--width", "8", "--rank", "1")  # fmt: skip


def test_a_text_depends_on_its_seed_and_is_of_the_alphabet() -> None:
    first = text(1, 2000)
    assert first == text(1, 2000) != text(2, 2000)
    assert text(1, 4000).startswith(first)
    assert set(first) <= set(ALPHABET)
    assert "".join(ALPHABET[place] for place in encode(first)) == first
    lines = first.splitlines()
    assert all(line.endswith(".") and len(line.split()) >= 3 for line in lines)


def test_verbs_agree_with_the_subject_across_a_relative_clause() -> None:
    draw, across = Random(3), 0
    for _ in range(400):
        words = grammar.sentence(draw).rstrip(".").split()
        start = next(k for k, w in enumerate(words) if w in grammar.SINGULAR + grammar.PLURAL
                     or w == "an")  # fmt: skip
        plural = next(w for w in words[start:] if w.rstrip("s") in grammar.NOUNS
                      or w == "foxes").endswith("s")  # fmt: skip
        verbs = [
            w for w in words if w.removesuffix("s") in grammar.TRANSITIVE + grammar.INTRANSITIVE
        ]
        outer = verbs[1 if "that" in words else 0]
        across += "that" in words
        assert outer.endswith("s") != plural, words
    assert across > 60


def test_the_unigram_entropy_is_that_of_the_frequencies() -> None:
    assert abs(unigram_entropy("abab") - math.log(2)) <= 4 * 2.0**-53
    assert unigram_entropy("aaaa") == 0
    assert unigram_entropy(text(2, 200)) < math.log(len(ALPHABET))


@pytest.mark.slow
def test_the_command_prints_both_curves_and_what_came_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*ARGUMENTS, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for line in (
        "fiber-bundle, seed 0: step 6, loss ",
        "standard, seed 0: step 6, loss ",
        "step    fiber-bundle              standard",
        "below the unigram entropy",
        "At equal size the fiber-bundle model ends lower in ",
        "geometry of seed 0",
    ):
        assert line in printed
    found = curves.load(tmp_path / "curves.json")
    assert set(found["curves"]) == {"fiber-bundle", "standard"}
    assert "<svg" in (tmp_path / "curves.svg").read_text(encoding="utf-8")
    # A second call finds everything finished, and says the same.
    assert train.main([*ARGUMENTS, "--out", str(tmp_path)]) == 0
    again = capsys.readouterr().out
    assert "standard, seed 0: goes on after step 6" in again
    assert again.split("\n\n")[1:] == printed.split("\n\n")[1:]


def test_the_outcome_is_said_as_it_is() -> None:
    found: dict[str, Any] = {
        "unigram_entropy": 2.0, "parameters": {"fiber-bundle": 5, "standard": 6},
        "curves": {"fiber-bundle": [[[0, 3.0], [9, 1.5]], [[0, 3.0], [9, 2.5]]],
                   "standard": [[[0, 3.0], [9, 1.0]], [[0, 3.0], [9, 2.75]]]},
    }  # fmt: skip
    first, second, verdict = curves.outcome(found)
    assert "final validation loss 2.000 [1.500, 2.500]" in first
    assert "below the unigram entropy 2.000 in 1 of 2 runs" in first
    assert "standard: 6 parameters, final validation loss 1.875" in second
    assert "ends lower in 1 of 2 seeds; its mean final loss is 0.125 nats higher" in verdict
    table = list(curves.lines(found))
    assert table[2].split() == ["9", "2.000", "[1.500,", "2.500]", "1.875", "[1.000,", "2.750]"]


@pytest.fixture
def stored() -> dict[str, Any]:
    return curves.load()


@pytest.mark.slow
def test_the_stored_curves_are_of_the_default_settings(stored: dict[str, Any]) -> None:
    """What the repository ships is a full run of the command without arguments."""
    settings = train.plan(train.parse([]))
    runs = [Run(s) for s in settings[:2]]
    fresh = json.loads(json.dumps(curves.record(runs)))
    for key in ("settings", "parameters", "unigram_entropy"):
        assert stored[key] == fresh[key]
    assert {kind: len(found) for kind, found in stored["curves"].items()} == {
        "fiber-bundle": 3, "standard": 3
    }  # fmt: skip
    steps = list(range(0, runs[0].settings.steps + 1, runs[0].settings.every))
    for found in stored["curves"].values():
        assert all([step for step, _ in points] == steps for points in found)


@pytest.mark.slow
@torch.no_grad()
def test_the_stored_curves_start_where_training_starts(stored: dict[str, Any]) -> None:
    """Four digits of a mean of float32 losses: the last may differ between machines."""
    for settings in train.plan(train.parse([])):
        first = stored["curves"][settings.shape.kind][settings.seed][0][1]
        assert abs(first - Run(settings).validate()) <= 10.0**-curves.DIGITS


def test_both_models_end_below_the_unigram_entropy(stored: dict[str, Any]) -> None:
    for kind in stored["curves"]:
        losses = curves.final(stored, kind)
        assert len(losses) == 3
        assert max(losses) < stored["unigram_entropy"]
        assert min(p[0][1] for p in stored["curves"][kind]) > stored["unigram_entropy"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"curves": {}}'])
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "curves.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="must hold a record of curves"):
        curves.load(path)
