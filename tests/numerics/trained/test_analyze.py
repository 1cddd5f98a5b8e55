"""The command `analyze` end to end: parity of the whole model, output, exit status."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from numerics.trained import analyze, gate, plots
from numerics.trained.formats.checkpoint import Refused, open_checkpoint
from numerics.trained.forward import layers
from numerics.trained.measures import identity
from numerics.trained.models.architectures import open_model
from numerics.trained.models.bert import BertLayer
from numerics.trained.tokens import read_text, tokenise

FILES = [
    *("collapse.svg", "depth.svg", "measurements.csv", "measurements.jsonl"),
    *("spectra.svg", "statements.md", "summary.json"),
]


@pytest.fixture
def unplotted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the plots and most draws, which cost more than all else on a small model."""
    monkeypatch.setattr(plots, "figures", lambda name, rows, numbers: {})
    monkeypatch.setattr(analyze, "LEAST_DRAWS", 10)


def call(*arguments: object) -> int:
    """Run the command as the command line does."""
    parser = argparse.ArgumentParser()
    analyze.add_arguments(parser)
    return analyze.run(parser.parse_args([str(argument) for argument in arguments]))


@pytest.mark.slow
def test_summary_is_complete_and_the_same_twice(
    tiny: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for out in ("one", "two"):
        assert call(tiny, "--text", text, "--out", tmp_path / out) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert sum(line.startswith(("0\t", "1\t")) for line in output.out.splitlines()) == 4
    files = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert files == FILES
    for name in files:
        one, two = ((tmp_path / out / name).read_bytes() for out in ("one", "two"))
        assert one == two, f"{name} differs between two runs"
    summary = json.loads((tmp_path / "one" / "summary.json").read_text())
    parts = ("model.safetensors", "config.json", "tokenizer.json")
    digests = {part: hashlib.sha256((tiny / part).read_bytes()).hexdigest() for part in parts}
    assert summary["sha256"] == digests
    assert [t["n"] for t in summary["texts"]] == [10]
    assert (summary["model"]["d"], summary["model"]["heads"]) == (15, 3)
    assert summary["arguments"] == {"draws": 200, "seed": 0}
    assert set(summary["versions"]) >= {"python", "torch", "transformers", "safetensors"}
    assert summary["ok"]
    assert [layer["rows_formed"] for layer in summary["layers"]] == [10, 10]
    for layer in summary["layers"]:
        assert 0 < layer["edges"] < 1e-13 < 0.1 < layer["surrogate"], f"{layer}"
        # n additions at u, and the division's own rounding: (n + 1) u for n = 10.
        assert layer["row_sum_deviation"] <= 11 * 2**-53, f"{layer}"


@pytest.mark.slow
@pytest.mark.usefixtures("unplotted")
def test_default_destination_is_named_after_the_checkpoint(
    tiny: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(tiny, "--text", text) == 0
    assert (tmp_path / "build" / "analyze" / "tiny" / "summary.json").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("unplotted")
def test_a_terminal_gets_a_table(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    assert call(tiny, "--text", text, "--out", tiny / "out") == 0
    printed = capsys.readouterr().out
    assert "attention module against its connection walk" in printed
    assert "\t" not in printed


def test_padding_and_truncation_of_the_tokenizer_file_are_off(tiny: Path, text: Path) -> None:
    stored = json.loads((tiny / "tokenizer.json").read_text())
    assert stored["padding"], "the fixture should pad"
    assert stored["truncation"], "the fixture should truncate"
    tokens = tokenise(open_checkpoint(tiny), read_text(text), 12)
    assert len(tokens.ids) == 10
    assert 0 not in tokens.ids, f"padded: {tokens.ids}"


@pytest.mark.slow
@pytest.mark.usefixtures("unplotted")
def test_a_long_text_is_cut_and_says_so(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = tmp_path / "long.txt"
    long.write_text("walk home " * 20)
    assert call(tiny, "--text", long, "--out", tmp_path / "out") == 0
    assert "the text has 42 tokens, the model takes 12" in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    (found,) = summary["texts"]
    assert found == found | {"n": 12, "tokens_in_text": 42}


@pytest.mark.parametrize("limit", [1, 2])
def test_positions_for_special_tokens_only_are_refused(limit: int, tiny: Path, text: Path) -> None:
    with pytest.raises(Refused, match=f"besides special ones .room for {limit}"):
        tokenise(open_checkpoint(tiny), read_text(text), limit)


def test_the_shipped_text_has_three_paragraphs() -> None:
    assert len(read_text(None).strip().split("\n\n")) == 3


def write(directory: Path, file: str, content: bytes) -> Path:
    (directory / file).write_bytes(content)
    return directory / file


BAD_INPUT: dict[str, tuple[Callable[[Path, Path], list[object]], str]] = {
    "missing path": (lambda d, t: [d / "absent", "--text", t], "no such file or directory"),
    "pickle": (lambda d, t: [write(d, "pytorch_model.bin", b"x"), "--text", t], "never opened"),
    "other format": (lambda d, t: [write(d, "m.gguf", b"GGUF"), "--text", t], "not a checkpoint"),
    "no weights": (lambda d, t: [t.parent, "--text", t], "no model.safetensors"),
    "truncated": (
        lambda d, t: [write(d, "model.safetensors", b"\x08" + bytes(15)).parent, "--text", t],
        "not a whole safetensors file",
    ),
    "config": (lambda d, t: [write(d, "config.json", b"{\n1}").parent, "--text", t], "unreadable"),
    "architecture": (
        lambda d, t: [write(d, "config.json", b'{"model_type": "t5\\n"}').parent, "--text", t],
        "is not known",
    ),
    "tokenizer": (lambda d, t: [write(d, "tokenizer.json", b"{}").parent, "--text", t], "failed"),
    "absent text": (lambda d, t: [d, "--text", t.parent / "absent"], "unreadable text"),
    "text is a directory": (lambda d, t: [d, "--text", d], "unreadable text"),
    "empty text": (lambda d, t: [d, "--text", write(d, "e.txt", b"")], "the text is empty"),
    "blank text": (lambda d, t: [d, "--text", write(d, "e.txt", b" \n\t\n")], "text is empty"),
    "binary text": (lambda d, t: [d, "--text", write(d, "e.txt", b"\xff\x00")], "unreadable text"),
    "few tokens": (lambda d, t: [d, "--text", write(d, "e.txt", b"walk")], "4 are needed"),
    "more layers than there are": (
        lambda d, t: [d, "--text", t, "--layers", 3],
        "--layers 3: tiny has 2 layers",
    ),
    "more texts than there are": (
        lambda d, t: [d, "--text", t, "--texts", 2],
        "--texts 2: there are 1 texts",
    ),
    "out is a file": (lambda d, t: [d, "--text", t, "--out", t], "cannot be written"),
    "out below a file": (lambda d, t: [d, "--text", t, "--out", t / "x"], "cannot be written"),
}


BAD_ARGUMENTS = {
    "--draws": ("199", "expected an integer from 200 on"),
    "--layers": ("0", "expected an integer from 1 on"),
    "--texts": ("x", "expected an integer from 1 on"),
    "--seed": ("-1", "expected an integer from 0 on"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_arguments_that_make_no_measurement_are_refused(
    name: str, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value, match = BAD_ARGUMENTS[name]
    with pytest.raises(SystemExit, match="2"):
        call(tiny, f"{name}={value}")
    assert match in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line_and_status_2(
    case: str,
    tiny: Path,
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, match = BAD_INPUT[case]
    status = call(*arguments(tiny, text))
    error = capsys.readouterr().err
    assert status == 2, f"status {status}: {error}"
    assert error.count("\n") == 1, f"not one line: {error!r}"
    assert error.startswith("attention-geometry analyze: ")
    assert match in error, error
    assert not (tmp_path / "build").exists(), "something was written"


@pytest.mark.parametrize("package", ["transformers", "safetensors", "tokenizers", "polars"])
def test_a_missing_package_says_how_to_install_it(
    package: str,
    tiny: Path,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert call(tiny, "--text", text, "--out", tiny / "out") == 2
    error = capsys.readouterr().err
    assert f"needs the package {package}" in error
    assert error.endswith("pip install 'attention-geometry[models]'\n"), error
    assert not (tiny / "out").exists()


@pytest.mark.usefixtures("unplotted")
def test_a_failed_gate_measures_nothing(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right, asked = BertLayer.attention, []

    def wrong_from_layer_1(self: BertLayer):
        asked.append(self)
        weights = right(self)
        # Asked twice a layer: by the gate and by the forward.
        return weights if len(asked) <= 2 else replace(weights, b_v=0 * weights.b_v)

    monkeypatch.setattr(BertLayer, "attention", wrong_from_layer_1)
    assert call(tiny, "--text", text, "--out", tiny / "out") == 2
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    assert "layer 1 fails the parity gate against transformers" in output.err
    assert "measured" not in output.out
    assert not (tiny / "out").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("unplotted")
def test_a_failed_identity_is_written_and_status_1(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(identity, "head_transports", lambda w_v, w_o: (w_v @ w_o).mT / len(w_v))
    assert call(tiny, "--text", text, "--out", tiny / "out") == 1
    assert "layer 0: the identity misses its threshold 1e-13" in capsys.readouterr().err
    assert not json.loads((tiny / "out" / "summary.json").read_text())["ok"]


@pytest.mark.usefixtures("unplotted")
def test_a_module_without_output_has_no_relative_error(
    make_bert: Callable[..., Path], text: Path
) -> None:
    from safetensors.torch import load_file, save_file

    directory = make_bert()
    tensors = load_file(directory / "model.safetensors")
    silent = {n: 0 * t for n, t in tensors.items() if "layer.1.attention.output.dense" in n}
    save_file(tensors | silent, directory / "model.safetensors")
    with pytest.raises(Refused, match="layer 1: expected is zero at every token"):
        analyze.analyze(directory, text, directory / "out")


@pytest.mark.models
def test_a_text_of_invisible_characters_has_no_tokens(minilm: Path) -> None:
    with pytest.raises(Refused, match="no tokens besides special ones"):
        tokenise(open_checkpoint(minilm), "\u200b\u200b\n", 512)


@pytest.mark.slow
@pytest.mark.models
def test_minilm_is_its_connection_walk_and_not_its_graph(minilm: Path) -> None:
    checkpoint = open_checkpoint(minilm)
    model = open_model(checkpoint)
    text = "Whether she comes home depends on the streets that lead away."
    tokens = tokenise(checkpoint, text, model.positions)
    for index, layer, x in layers(model, tokens):
        parity = gate.gate_layer(index, layer, x)
        found = gate.identity_record(index, layer, x, model, parity, seed=0)
        assert found.rows_formed == len(tokens.ids)
        assert max(found.edges, found.matrices) < 1e-13, f"layer {index}: {found}"
        # Twelve heads with different transports: the head-mean graph misses most of the block.
        assert found.surrogate > 0.5, f"layer {index}: {found}"
