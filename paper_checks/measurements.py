"""Measurements of trained models that are committed, and the decision rules run on them again.

A file is the summary that `attention-geometry analyze` writes. Its numbers are taken as they are,
its statements are not: every rule runs again, and a file whose statements differ is a fault.
`python -m paper_checks.measurements SUMMARY NAME` adds one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from numerics.runs.files import write_whole
from numerics.trained.decisions import LEAST_DRAWS, decide, scale
from numerics.trained.records import Statement, Summary, read_text, text_of
from numerics.trained.scale import Effects, effects

FOLDER = Path(__file__).with_name("measurements")
SIZE = re.compile(r"[0-9.]+[MB](\..*)?|L[0-9]+|tiny|mini|small|medium|base|large|xl", re.IGNORECASE)


@dataclass(frozen=True)
class Measured:
    """One model: its statements by the rules of now, and what its file says otherwise."""

    name: str
    kind: str
    architecture: str
    parameters: int
    commit: str
    statements: tuple[Statement, ...]
    effects: Effects | None
    faults: tuple[str, ...]

    @property
    def family(self) -> str:
        """The words of the name before its size: SmolLM2 of SmolLM2-135M-Instruct.

        One architecture is not one family: Llama 3 and SmolLM2 differ in more than size.
        """
        words = self.name.split("-")
        size = next((i for i, word in enumerate(words) if SIZE.fullmatch(word)), len(words))
        return f"{'-'.join(words[:size]) or self.name} ({self.architecture})"

    @property
    def short_commit(self) -> str:
        """The commit shortened; "with changes" where files differed from it."""
        return self.commit[:12] + (" with changes" if self.commit.endswith("+") else "")

    def statement(self, measurement: str) -> Statement | None:
        """The statement of one measurement, such as EM.isometry."""
        return next((s for s in self.statements if s.id == measurement), None)


def load(file: Path) -> Measured:
    """One committed file, with every decision rule run on its numbers again.

    Raises: ValueError, naming the file, where it is no whole summary of `analyze`.
    """
    try:
        return _judged(read_text(Summary, file.read_text(encoding="utf-8")), file.name)
    except (OSError, ValueError) as error:
        raise ValueError(f"{file.name}: not a whole summary of analyze ({error})") from error


def _judged(summary: Summary, file: str) -> Measured:
    model = summary.model
    if not summary.commit:
        raise ValueError("measured at no commit")
    if model.layers_measured != model.layers:
        raise ValueError(f"measured {model.layers_measured} of {model.layers} layers")
    if summary.arguments.draws < LEAST_DRAWS:
        raise ValueError(f"measured against fewer than {LEAST_DRAWS} draws")
    try:
        statements = tuple(decide(summary.numbers))
        found = effects(summary.numbers, model.parameters)
    # Records say what is there, not that tables are full and lists of one length.
    except (KeyError, TypeError, IndexError, ArithmeticError) as error:
        raise ValueError(repr(error)) from error
    return Measured(
        name=model.name,
        kind="decoder" if model.causal else "encoder",
        architecture=model.architecture,
        parameters=model.parameters,
        commit=summary.commit,
        statements=statements,
        effects=found,
        faults=tuple(_faults(file, summary.statements, statements)),
    )


def _faults(name: str, said: Sequence[Statement], now: Sequence[Statement]) -> list[str]:
    before, after = ({s.id: s for s in statements} for statements in (said, now))
    absent = Statement("", "nothing", "")
    return [
        f"{name}: {i} says {before.get(i, absent).outcome}, the rule on its numbers gives "
        f"{after.get(i, absent).outcome}"
        for i in sorted(before.keys() | after.keys())
        if before.get(i) != after.get(i)
    ]


def committed(folder: Path = FOLDER) -> tuple[list[Measured], list[str]]:
    """All committed measurements by name, and one line for each fault among them."""
    found, faults = [], []
    for file in sorted(folder.glob("*.json")):
        try:
            found.append(load(file))
        except ValueError as error:
            faults.append(str(error))
    return found, faults + [fault for one in found for fault in one.faults]


def families(found: Sequence[Measured]) -> dict[str, Statement]:
    """The statement about scale of each family, over the models measured of it."""
    kinds = dict.fromkeys(one.family for one in found)
    return {
        kind: scale([one.effects for one in found
                     if one.family == kind and one.effects is not None])
        for kind in kinds
    }  # fmt: skip


def held(found: Sequence[Measured]) -> dict[str, bool]:
    """Whether each measurement's rule, run again on every file, gives what that file says.

    What none of the files measures is absent.
    """
    verdicts: dict[str, bool] = {}
    for one in found:
        broken = {fault.split(": ")[1].split(" says")[0] for fault in one.faults}
        for s in one.statements:
            verdicts[s.id] = verdicts.get(s.id, True) and s.id not in broken
    return verdicts


def note(found: Sequence[Measured], measurements: Sequence[str]) -> str:
    """What the models show for some measurements, in the LaTeX subset of texts; "" for none."""
    lines = []
    for measurement in measurements:
        if measurement == "EM.scale":
            lines += [f"family {kind}: {s.line}" for kind, s in families(found).items()]
            continue
        for one in found:
            if s := one.statement(measurement):
                lines.append(
                    f"{one.name} ({one.kind}, {one.parameters / 1e6:.0f} million parameters, "
                    f"measured at commit {one.short_commit}): {s.line}"
                )
    return escaped("".join(f" {line}." for line in lines)).strip()


def escaped(text: str) -> str:
    """Plain text in the LaTeX subset: its specials escaped, powers such as T^h left as symbols."""
    return "".join(f"\\{c}" if c in "%&_#${}" else c for c in text)


def add(summary: Path, name: str, folder: Path = FOLDER) -> Path:
    """Copy a summary into the folder under the model's name; the file written.

    Raises: ValueError for a summary that is not whole, whose rules disagree, or that no commit
    stands for.
    """
    found = read_text(Summary, summary.read_text(encoding="utf-8"))
    found = replace(found, model=replace(found.model, name=name))
    file = folder / f"{name}.json"
    faults = _judged(found, file.name).faults
    if faults:
        raise ValueError("; ".join(faults))
    return write_whole(file, text_of(found))


if __name__ == "__main__":
    print(add(Path(sys.argv[1]), sys.argv[2]))
