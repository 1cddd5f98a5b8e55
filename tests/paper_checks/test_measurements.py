"""Committed measurements: the rules run on them again, and what differs is a fault."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paper_checks import latex, measurements
from paper_checks.claims import FAILED, MEASURED, MEASUREMENTS, NOT_VERIFIED, OPEN, claim_record
from paper_checks.lint import read_papers

FILES = sorted(measurements.FOLDER.glob("*.json"))
EMPIRICAL = {
    "attention-geometry/depth-stability": MEASURED,
    "attention-geometry/scaled-isometries": MEASURED,
    "attention-geometry/scale": OPEN,
    "attention-geometry/models-covered": OPEN,
}


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[Callable[[dict[str, Any]], None]], Path]:
    """changed(edit): a folder with the first committed file, its content edited."""

    def make(edit: Callable[[dict[str, Any]], None]) -> Path:
        content = json.loads(FILES[0].read_text())
        edit(content)
        (tmp_path / FILES[0].name).write_text(json.dumps(content))
        return tmp_path

    return make


def claims_with(folder: Path) -> dict[str, Any]:
    found, _ = measurements.committed(folder)
    claims, evidence, _ = read_papers()
    return {
        c.id: claim_record(c, evidence[c.id], {}, measurements.held(found),
                           measurements.note(found, evidence[c.id].measurements))
        for c in claims if c.id in EMPIRICAL
    }  # fmt: skip


def test_an_encoder_and_a_decoder_are_committed_and_hold() -> None:
    found, faults = measurements.committed()
    assert faults == []
    assert {one.kind for one in found} == {"encoder", "decoder"}
    for one in found:
        assert {s.id for s in one.statements} == set(MEASUREMENTS), one.name
        identity = one.statement("EM.identity")
        assert identity is not None
        assert identity.outcome == "SUPPORTED"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_says_what_was_measured_of_what_by_which_code(file: Path) -> None:
    content = json.loads(file.read_text())
    assert content["model"]["name"] == file.stem
    assert content["model"]["layers_measured"] == content["model"]["layers"], "a part of the model"
    assert all(len(digest) == 64 for digest in content["sha256"].values())
    assert len(content["texts"]) >= 3
    assert content["arguments"]["draws"] >= 200
    assert len(content["commit"].rstrip("+")) == 40
    assert set(content["versions"]) >= {"python", "torch", "numpy", "transformers"}


@pytest.mark.parametrize("claim", [c for c, outcome in EMPIRICAL.items() if outcome == OPEN])
def test_open_claims_say_what_would_settle_them(claim: str) -> None:
    record = claims_with(measurements.FOLDER)[claim]
    assert record.outcome == OPEN
    assert "analyze CHECKPOINT" in record.settled_by


@pytest.mark.slow
@pytest.mark.parametrize("claim", [c for c, outcome in EMPIRICAL.items() if outcome == MEASURED])
def test_measured_claims_have_verdicts_with_models_and_commits(claim: str) -> None:
    record = claims_with(measurements.FOLDER)[claim]
    assert record.outcome == MEASURED
    assert measurements.committed()[0]
    for one in measurements.committed()[0]:
        assert one.name in record.note.replace("\\", "")
        assert f"measured at commit {one.short_commit})" in record.note
    assert "supports" not in record.verdict


def test_uncommitted_code_is_said_to_be(changed: Callable[..., Path]) -> None:
    folder = changed(lambda content: content.update(commit="a" * 40 + "+"))
    note = measurements.note(measurements.committed(folder)[0], ["EM.identity"])
    assert "measured at commit aaaaaaaaaaaa with changes)" in note


def test_what_8_billion_parameters_do_is_not_tested() -> None:
    record = claims_with(measurements.FOLDER)["attention-geometry/models-covered"]
    assert "NOT TESTED at 8 billion" in record.settled_by
    assert record.settled_by.count("texttt") == 1, "one command"


def test_notes_can_be_shown_everywhere() -> None:
    found, _ = measurements.committed()
    text = measurements.note(found, sorted(MEASUREMENTS))
    assert len(text) > 1000
    assert latex.html(text)
    assert measurements.note(found, ()) == ""


def test_without_files_nothing_is_claimed(tmp_path: Path) -> None:
    assert {r.outcome for r in claims_with(tmp_path).values()} == {NOT_VERIFIED}


def outcome(id: str, said: str) -> Callable[[dict[str, Any]], None]:
    def edit(content: dict[str, Any]) -> None:
        (one,) = [s for s in content["statements"] if s["id"] == id]
        one["outcome"] = said

    return edit


def ratio(content: dict[str, Any]) -> None:
    spreads = content["numbers"]["transports"]["spreads"]
    spreads["cv"]["controls"]["gaussian"]["ratio"] = [0.5, 0.4, 0.6]


def test_a_verdict_typed_in_by_hand_is_a_fault_and_fails_its_claims(
    changed: Callable[..., Path],
) -> None:
    folder = changed(outcome("EM.isometry", "PROVED"))
    _, faults = measurements.committed(folder)
    assert len(faults) == 1
    assert "EM.isometry says PROVED, the rule on its numbers gives" in faults[0]
    records = claims_with(folder)
    assert records["attention-geometry/scaled-isometries"].outcome == FAILED
    assert records["attention-geometry/depth-stability"].outcome == MEASURED


def test_a_changed_number_no_longer_fits_its_sentence(changed: Callable[..., Path]) -> None:
    _, faults = measurements.committed(changed(ratio))
    assert any("EM.isometry says" in fault for fault in faults), f"{faults}"


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no numbers": (lambda c: c.pop("numbers"), "missing required field `numbers`"),
    "a part of the layers": (
        lambda c: c["model"].update(layers_measured=1),
        "measured 1 of .* layers",
    ),
    "few draws": (lambda c: c["arguments"].update(draws=199), "fewer than 200 draws"),
    "no commit": (lambda c: c.update(commit=None), "measured at no commit"),
    "numbers of another shape": (
        lambda c: c["numbers"].update(transports=[]),
        r"Expected `object`, got `array` - at `\$.numbers.transports`",
    ),
    "a field that none is": (lambda c: c.update(sed=0), "unknown field `sed`"),
    "a number in words": (
        lambda c: c["numbers"]["identity"].update(edges="small"),
        r"Expected `float`, got `str` - at `\$.numbers.identity.edges`",
    ),
    "tables of no rows": (
        lambda c: c["numbers"]["collapse"]["stacks"]["normed"].update(relative=[]),
        "not a whole summary of analyze .IndexError",
    ),
    "a measure left out": (
        lambda c: c["numbers"]["depth"]["views"]["no_sinks"].pop("distance"),
        "not a whole summary of analyze .KeyError",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_no_summary_is_refused_by_name(case: str, changed: Callable[..., Path]) -> None:
    edit, match = BROKEN[case]
    folder = changed(edit)
    with pytest.raises(ValueError, match=match):
        measurements.load(folder / FILES[0].name)
    found, faults = measurements.committed(folder)
    assert found == []
    assert faults[0].startswith(FILES[0].name)


def test_a_summary_is_added_under_its_name_or_not_at_all(
    changed: Callable[..., Path], tmp_path: Path
) -> None:
    summary = changed(lambda content: None) / FILES[0].name
    file = measurements.add(summary, "a-model", tmp_path / "kept")
    assert measurements.load(file).name == "a-model"
    broken = changed(outcome("EM.scale", "SUPPORTED")) / FILES[0].name
    with pytest.raises(ValueError, match=r"EM\.scale says SUPPORTED"):
        measurements.add(broken, "another", tmp_path / "kept")
    with pytest.raises(ValueError, match=r"EM\.scale says SUPPORTED"):
        measurements.add(broken, "a-model", tmp_path / "kept")
    assert [f.name for f in (tmp_path / "kept").iterdir()] == ["a-model.json"]
    assert measurements.load(file).faults == (), "what was there is gone"


def test_one_architecture_is_not_one_family() -> None:
    one = measurements.committed()[0][0]
    names = {
        "SmolLM2-135M-Instruct.Q4_1": "SmolLM2 (llama)",
        "SmolLM2-1.7B": "SmolLM2 (llama)",
        "Llama-3.1-8B": "Llama-3.1 (llama)",
        "all-MiniLM-L6-v2": "all-MiniLM (llama)",
        "gpt2": "gpt2 (llama)",
        "gpt2-medium": "gpt2 (llama)",
    }
    found = [replace(one, name=name, architecture="llama") for name in names]
    assert [measured.family for measured in found] == list(names.values())
    assert set(measurements.families(found)) == set(names.values())
