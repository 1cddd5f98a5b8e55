"""The command `analyze`: the attention of a checkpoint, measured beside controls.

Every layer passes the parity gate before any is measured. Layers go to measurements.jsonl one by
one, so that a killed run resumes; their long table measurements.csv, plots, statements and last
summary.json appear whole or not at all. Exit status: 0; 1 an identity misses its threshold; 2 the
input cannot be used; 3 another rank of a shared run has ended.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from numerics.runs import ranks
from numerics.runs.files import unwritable, write_whole
from numerics.runs.provenance import SUITE, commit, versions
from numerics.trained import decisions, plots, records, report, session, summary, terminal
from numerics.trained.decisions import LEAST_DRAWS
from numerics.trained.formats.checkpoint import (
    Checkpoint,
    Refused,
    open_checkpoint,
    optional_module,
)
from numerics.trained.forward import layers
from numerics.trained.measurements import Settings
from numerics.trained.measures import identity
from numerics.trained.models.architectures import open_model
from numerics.trained.records import Header, LayerRecord, Summary
from numerics.trained.tokens import Tokens, read_text, tokenise

__all__ = ["add_arguments", "analyze", "layers", "run"]

EXTRA = ("polars", "safetensors", "tokenizers", "transformers")
MOST_TOKENS = 128  # of a text: what is measured grows with the square, controls with the cube
PATIENCE = 7200  # seconds; a layer of a large model with all its controls takes less
Texts = Path | Sequence[Path] | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `analyze` on a parser."""
    parser.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="checkpoint: a directory (config.json, safetensors, tokenizer.json) or a GGUF file",
    )
    parser.add_argument(
        "--text",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="UTF-8 texts to read, one a file (default: three paragraphs of the package)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where results go (default: build/analyze/<name>)"
    )
    parser.add_argument("--layers", type=_at_least(1), metavar="N", help="only the first N layers")
    parser.add_argument("--texts", type=_at_least(1), metavar="N", help="only the first N texts")
    parser.add_argument(
        "--draws",
        type=_at_least(LEAST_DRAWS),
        default=LEAST_DRAWS,
        metavar="N",
        help=f"draws of each control (default and least: {LEAST_DRAWS})",
    )
    parser.add_argument("--seed", type=_at_least(0), default=0, metavar="N", help="default: 0")


def _at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"expected an integer from {least} on, got {text!r}")
        return int(text)

    return parse


def run(args: argparse.Namespace) -> int:
    """Analyze `args.path`; the exit status, with one line on stderr where it is not 0."""
    settings = Settings(args.layers, args.texts, args.draws, args.seed)
    try:
        failed = analyze(args.path, args.text, args.out, settings)
    except (Refused, ranks.NotJoined, OSError) as refusal:
        failed, status = " ".join(str(refusal).split()), 2
    else:
        status = 1 if failed else 0
    if failed:
        print(f"{SUITE} analyze: {failed}", file=sys.stderr)
    return status


def analyze(
    path: Path, text: Texts = None, out: Path | None = None, settings: Settings | None = None
) -> str:
    """Gate and measure a checkpoint, print tables and statements, write the directory `out`.

    Returns: a line naming the first layer whose identity misses its threshold, or "".
    Raises: Refused when the input cannot be used; then nothing has been written, or whole layers.
    NotJoined when ranks do not know where they meet; one that is lost ends the others, status 3.
    """
    settings = settings or Settings()
    for package in EXTRA:
        optional_module(package)
    checkpoint = open_checkpoint(path)
    model = open_model(checkpoint)
    tokens = _texts(checkpoint, text, settings, model.positions)
    depth = settings.layers or model.depth
    if depth > model.depth:
        raise Refused(f"--layers {depth}: {checkpoint.name} has {model.depth} layers")
    out = out or Path("build") / "analyze" / checkpoint.name
    if reason := unwritable(out):
        raise Refused(f"{out}: cannot be written ({reason})")
    settings = replace(settings, workers=torch.get_num_threads())
    whole = session.Run(checkpoint, model, tokens, depth, settings)
    with ranks.joined(f"{SUITE} analyze", PATIENCE):
        header, first = _header(whole), ranks.current().first
        if first:
            terminal.announce(header, tokens)
        with terminal.progress(2 * depth) as advance:
            agreed = session.parities(whole, advance)
            file = out / "measurements.jsonl"
            found = session.records(whole, agreed, file, header, advance)
        session.agree(session.attempt(lambda: _finish(out, header, found), first))
        return _first_failure(found)


def _texts(checkpoint: Checkpoint, text: Texts, settings: Settings, positions: int) -> list[Tokens]:
    files = [text] if isinstance(text, Path) else text
    if files is None:
        found = read_text(None).strip().split("\n\n")
    else:
        found = [read_text(file) for file in files]
    if settings.texts is not None and settings.texts > len(found):
        raise Refused(f"--texts {settings.texts}: there are {len(found)} texts")
    limit = min(positions, MOST_TOKENS)
    tokens = [tokenise(checkpoint, t, limit) for t in found[: settings.texts]]
    for number, t in enumerate(tokens, 1):
        if len(set(t.ids)) < 4:
            raise Refused(f"text {number} has {len(set(t.ids))} different tokens, 4 are needed")
    return tokens


def _finish(out: Path, header: Header, found: Sequence[LayerRecord]) -> None:
    """Print the table and the statements; write table, plots, page and last the summary."""
    layers = tuple(r.identity for r in found)
    terminal.print_table(layers)
    numbers = summary.numbers(found, header.model.causal, header.arguments.seed)
    statements = decisions.decide(numbers)
    whole = Summary(
        model=header.model,
        sha256=header.sha256,
        texts=header.texts,
        arguments=header.arguments,
        versions=header.versions,
        commit=header.commit,
        norm="max_i |dy_i| / max_i |y_i| over token rows, float64",
        thresholds=records.Thresholds(
            parity=identity.PARITY_THRESHOLD, identity=identity.IDENTITY_THRESHOLD
        ),
        layers=layers,
        numbers=numbers,
        statements=tuple(statements),
        ok=all(layer.ok for layer in layers),
    )
    for statement in statements:
        print(statement.line)
    rows = records.table(found)
    write_whole(out / "measurements.csv", rows.write_csv())
    for name, svg in plots.figures(header.model.name, rows, numbers).items():
        write_whole(out / name, svg)
    write_whole(out / "statements.md", report.page(whole))
    print(f"wrote {write_whole(out / 'summary.json', records.text_of(whole))}")


def _first_failure(found: Sequence[LayerRecord]) -> str:
    for layer in (r.identity for r in found):
        if not layer.ok:
            return (
                f"layer {layer.layer}: the identity misses its threshold "
                f"{identity.IDENTITY_THRESHOLD:g}: edges {layer.edges:.2e}, matrices "
                f"{layer.matrices:.2e}"
            )
    return ""


def _header(whole: session.Run) -> Header:
    """What tells one run from another: the first line of the journal."""
    checkpoint, model, settings = whole.checkpoint, whole.model, whole.settings
    stored = checkpoint.stored_types  # blocks are named Q4_1, IQ4_NL, TQ1_0, MXFP4, ...
    return Header(
        model=records.ModelFacts(
            name=checkpoint.name,
            architecture=str(checkpoint.config["model_type"]),
            causal=model.causal,
            d=model.d,
            heads=model.heads,
            layers=model.depth,
            layers_measured=whole.depth,
            parameters=_parameters(checkpoint),
            stored_types=stored,
            quantised=any(kind[0] in "QTM" or kind[:2] == "IQ" for kind in stored),
        ),
        sha256=checkpoint.hashes(),
        texts=tuple(
            records.TextFacts(sha256=t.text_sha256, tokens_in_text=t.tokens_in_text, n=len(t.ids))
            for t in whole.texts
        ),
        arguments=records.Arguments(draws=settings.draws, seed=settings.seed),
        versions=versions(SUITE, "numpy", "torch", *EXTRA),
        commit=commit(),
    )


def _parameters(checkpoint: Checkpoint) -> int:
    total = 0
    for shape in checkpoint.shapes.values():
        size = 1
        for side in shape:
            size *= side
        total += size
    return total
