"""The command `analyze`: the attention modules of a checkpoint against their connection walks.

Every layer passes the parity gate before any is measured; summary.json appears whole or not at
all. Exit status: 0; 1 an identity misses its threshold; 2 the input cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from numerics.trained import identity
from numerics.trained.architectures import Layer, Model, open_model
from numerics.trained.attention import attention_output
from numerics.trained.checkpoint import Checkpoint, Refused, open_checkpoint, optional_module
from numerics.trained.identity import Identity, Parity
from numerics.trained.tokens import Tokens, read_text, tokenise

SEED = 0
EXTRA = ("safetensors", "tokenizers", "transformers")
PACKAGES = ("attention-geometry", "numpy", "torch", *EXTRA)
COLUMNS = (
    "layer",
    "parity: module",
    "parity: layer",
    "identity: edges",
    "identity: matrices",
    "rows formed",
    "scalar surrogate",
    "row sums - 1",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `analyze` on a parser."""
    parser.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="checkpoint directory: config.json, safetensors, tokenizer.json",
    )
    parser.add_argument(
        "--text",
        type=Path,
        metavar="FILE",
        help="UTF-8 text to read (default: three paragraphs of the package)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where summary.json goes (default: build/analyze/<name>)",
    )


def run(args: argparse.Namespace) -> int:
    """Analyze `args.path`; the exit status, with one line on stderr where it is not 0."""
    try:
        failed = analyze(args.path, args.text, args.out)
    except (Refused, OSError) as refusal:
        failed, status = " ".join(str(refusal).split()), 2
    else:
        status = 1 if failed else 0
    if failed:
        print(f"attention-geometry analyze: {failed}", file=sys.stderr)
    return status


def analyze(path: Path, text: Path | None = None, out: Path | None = None) -> str:
    """Gate and measure every layer of a checkpoint, print a table, write summary.json.

    Returns: a line naming the first layer whose identity misses its threshold, or "".
    Raises: Refused when the input cannot be used; nothing has been written then.
    """
    for package in EXTRA:
        optional_module(package)
    checkpoint = open_checkpoint(path)
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, read_text(text), model.positions)
    out = out or Path("build") / "analyze" / checkpoint.name
    _check_destination(out)
    hashes = checkpoint.hashes()
    _announce(checkpoint, model, tokens, hashes)
    with _progress(2 * model.depth) as advance:
        parities = gate_layers(model, tokens, advance)
        identities = measure_layers(model, tokens, advance)
    table = [_row(i, p, m) for i, (p, m) in enumerate(zip(parities, identities, strict=True))]
    _print_table(table)
    summary = _summary(checkpoint, model, tokens, parities, identities) | {"sha256": hashes}
    written = write_atomically(out / "summary.json", summary)
    print(f"wrote {written}")
    for i, found in enumerate(identities):
        if not found.ok:
            return (
                f"layer {i}: the identity misses its threshold {identity.IDENTITY_THRESHOLD:g}: "
                f"edges {found.edges:.2e}, matrices {found.matrices:.2e}"
            )
    return ""


def layers(model: Model, tokens: Tokens) -> Iterator[tuple[int, Layer, torch.Tensor]]:
    """Index, layer and the layer's input x (n, d), one layer in memory at a time."""
    x = model.embed(tokens.ids, tokens.type_ids)
    for index in range(model.depth):
        layer = model.layer(index)
        yield index, layer, x
        x = layer.after_attention(x, attention_output(x, layer.attention()))


def gate_layers(
    model: Model, tokens: Tokens, advance: Callable[[str], None] = lambda line: None
) -> list[Parity]:
    """The parity of every layer, in order.

    Raises: Refused at the first layer that does not agree with transformers.
    """
    found = []
    for index, layer, x in layers(model, tokens):
        try:
            parity = identity.parity(x, layer)
        except ValueError as error:
            raise Refused(f"layer {index}: {error}; nothing is measured") from error
        if not parity.ok:
            raise Refused(
                f"layer {index} fails the parity gate against transformers "
                f"{version('transformers')}: attention module {parity.attention:.2e}, layer "
                f"{parity.layer:.2e}, threshold {identity.PARITY_THRESHOLD:g}; nothing is measured"
            )
        advance(f"layer {index}: parity gate passed ({parity.attention:.1e})")
        found.append(parity)
    return found


def measure_layers(
    model: Model, tokens: Tokens, advance: Callable[[str], None] = lambda line: None
) -> list[Identity]:
    """The identity of every layer, in order.

    Raises: Refused where a transport overflows though the module's output does not.
    """
    found = []
    for index, layer, x in layers(model, tokens):
        rows = identity.rows_to_form(len(x), model.d, model.heads, SEED, index)
        try:
            found.append(identity.measure(x, layer, rows))
        except ValueError as error:
            raise Refused(f"layer {index}: {error}") from error
        advance(f"layer {index}: measured")
    return found


def write_atomically(file: Path, content: dict[str, object]) -> Path:
    """Write JSON so that the file is whole or absent, whatever happens meanwhile.

    Raises: Refused when the directory cannot be written.
    """
    text = json.dumps(content, indent=2, sort_keys=True, allow_nan=False) + "\n"
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except OSError as error:
        raise Refused(f"{file}: cannot be written ({error})") from error
    finally:
        with suppress(OSError):  # a destination that is no directory has no file to remove
            temporary.unlink()
    return file


def _check_destination(out: Path) -> None:
    """Refuse before the work what could not be written after it."""
    existing = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise Refused(f"{out}: cannot be written ({existing} is not a writable directory)")


def _summary(
    checkpoint: Checkpoint,
    model: Model,
    tokens: Tokens,
    parities: list[Parity],
    identities: list[Identity],
) -> dict[str, object]:
    rows = zip(parities, identities, strict=True)
    return {
        "model": {
            "name": checkpoint.name,
            "architecture": checkpoint.config["model_type"],
            "d": model.d,
            "heads": model.heads,
            "layers": model.depth,
        },
        "text": {
            "sha256": tokens.text_sha256,
            "tokens_in_text": tokens.tokens_in_text,
            "n": len(tokens.ids),
        },
        "norm": "max_i |dy_i| / max_i |y_i| over token rows, float64",
        "thresholds": {
            "parity": identity.PARITY_THRESHOLD,
            "identity": identity.IDENTITY_THRESHOLD,
        },
        "layers": [
            {
                "layer": i,
                "parity_attention": p.attention,
                "parity_layer": p.layer,
                **asdict(m),
                "ok": m.ok,
            }
            for i, (p, m) in enumerate(rows)
        ],
        "seed": SEED,
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
        "ok": all(found.ok for found in identities),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _announce(checkpoint: Checkpoint, model: Model, tokens: Tokens, hashes: dict[str, str]) -> None:
    n, total = len(tokens.ids), tokens.tokens_in_text
    print(
        f"{checkpoint.name}: {checkpoint.config['model_type']}, {model.depth} layers, "
        f"n = {n}, d = {model.d}, H = {model.heads}"
    )
    for name, digest in hashes.items():
        print(f"{name}: sha256 {digest}")
    if n < total:
        print(f"note: the text has {total} tokens, the model takes {n}: the rest is left out")


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[str], None]]:
    if not Console().is_terminal:
        yield lambda line: print(line, flush=True)
        return
    with Progress(transient=True) as bar:
        task = bar.add_task("layers", total=steps)
        yield lambda line: bar.update(task, advance=1, description=line)


def _row(index: int, parity: Parity, found: Identity) -> tuple[str, ...]:
    errors = (parity.attention, parity.layer, found.edges, found.matrices)
    tail = (str(found.rows_formed), f"{found.surrogate:.4f}", f"{found.row_sum_deviation:.1e}")
    return (str(index), *(f"{error:.1e}" for error in errors), *tail)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    console = Console()
    if not console.is_terminal:
        for row in (COLUMNS, *rows):
            print("  ".join(cell.rjust(len(head)) for cell, head in zip(row, COLUMNS, strict=True)))
        return
    table = Table(*COLUMNS, title="attention module against its connection walk")
    for column in table.columns:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    console.print(table)
