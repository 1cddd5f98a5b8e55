"""Sources of the formal proofs as text: sentences, what they may hold, and what they state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Whatever is not listed is refused: axioms, admitted proofs, flags, notations, canonical
# structures, attributes, modules, plugins and files loaded on the way.
ALLOWED = (
    r"From mathcomp Require Import( all_\w+)+",
    r"From AttentionGeometry Require Import( \w+)+",
    r"Import( (GRing|Num|Order)\.(Theory|TTheory|Def))+",
    r"(Set|Unset) (Implicit Arguments|Strict Implicit|Printing Implicit Defensive)",
    r"Local Open Scope (ring|nat)_scope",
    r"(Section|End) \w+",
    r"(Variables?|Hypothes[ie]s|Context|Let|Implicit Types?) .*",
    r"(Theorem|Lemma|Fact|Corollary|Example|Definition|Fixpoint) .*",
    r"Proof",
    r"Qed|Defined",
)
IN_SECTIONS = re.compile(r"(Variables?|Hypothes[ie]s|Context|Let) ")
HEADER = (
    r"From mathcomp Require Import all_ssreflect all_algebra",
    r"From AttentionGeometry Require(?! Import)( \w+)+",
    r"Local Open Scope ring_scope",
)
STATED = re.compile(r"(Theorem|Example)\s+(\w+)\s*:\s+(.+)", re.DOTALL)
PROVED = re.compile(r"exact @(\w+)\.(\w+)")
NAME = re.compile(r"(?P<id>[A-Z]+[0-9]+)_(?P<clause>[a-z0-9]+(_[a-z0-9]+)*?)(__(?P<part>\w+?))?"
                  r"(?P<witness>_witness)?")  # fmt: skip
# What a statement may not say: a constant of a file (no dot stands before a letter, however far
# off), a tactic, a theorem of the catalogue, a hypothesis inside a boolean, patterns that bind.
BEYOND = re.compile(
    r"\b(ltac|Type|Set|Prop|[A-Z]+[0-9]+_\w+|match|fix|cofix|is|as|ffun)\b|\.\s*[^\W\d]|==>"
    r"|\b(forall|exists2?|fun|let)\s*[':]|\[\s*(seq|pred|rel|set|pick|fun|forall|exists)\b"
)
# A witness could choose any other type empty, and sizes hidden in a type of pairs 0.
TYPES = re.compile(r"\b(?!(?:field|numField|realField)Type\b)\w+Type\b|\b(?<!: )(?<!-> )nat\b"
                   r"|\bnat\b(?!\)|,|\s->|$)")  # fmt: skip
_NAMES = r"(?!(?:forall|exists2?|fun|let|in)\b)[A-Za-z_][\w']*"
_NAMES += f"(?: {_NAMES})*"
BOUND = re.compile(
    rf"\(({_NAMES}) :(?![=>])|(?<=\)) ({_NAMES})(?=,| :=| =>| \({_NAMES} :)"
    rf"|\b(?:forall|exists2?|fun|let) ({_NAMES})"
    r"|(?:\\[a-z]+|\])_(?:\(([A-Za-z_][\w']*), ([A-Za-z_][\w']*)|\(?([A-Za-z_][\w']*))"
)
# Names that MathComp has too, for what no statement speaks of: constructors, lists.
OURS = frozenset(("I", "O", "S", "mask", "total"))
# Bullets and braces stand before a sentence, and a command may follow them.
BULLETS = re.compile(r"((\d+|\[\s*\w+\s*\])\s*:\s*\{|[-+*{}\s])*")


class Fault(ValueError):
    """A source that may not be compiled; the message names the file and the sentence."""


@dataclass(frozen=True)
class Stated:
    """A theorem of statements.v with its witness; texts as they stand in the file."""

    name: str
    theorem_id: str
    clause: str
    text: str
    witness: str
    source: str  # file of the proof
    proof: str
    witness_proof: str


def without_comments(text: str) -> str:
    """The text with comments blanked and strings emptied, line by line where it was.

    Raises: Fault for a comment or a string that does not end, or a character beyond ASCII.
    """
    if strange := re.search(r"[^\n\t -~]", text):
        raise Fault(f"holds {strange.group()!a}: only plain ASCII is compared as it is read")
    kept, depth, position = [], 0, 0
    for found in re.finditer(r'\(\*|\*\)|"(?:[^"]|"")*"|"', text):
        piece = text[position : found.start()]
        kept.append(piece if depth == 0 else re.sub(r"[^\n]", " ", piece))
        position, mark = found.end(), found.group()
        if mark == '"':
            raise Fault("a string does not end")
        if mark == "(*":
            depth += 1
        elif mark == "*)" and depth:
            depth -= 1
        elif depth == 0:
            kept.append(mark if mark == "*)" else '""')
    if depth:
        raise Fault("a comment does not end")
    return "".join(kept) + text[position:]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a source, without comments, strings and the bullets before them."""
    for sentence in re.split(r"\.(?=\s|$)", without_comments(text)):
        if stripped := BULLETS.sub("", sentence, count=1).rstrip():
            yield stripped


def refused(text: str) -> list[str]:
    """What a file of proofs holds that it may not, one line each."""
    try:
        found = list(sentences(text))
    except Fault as fault:
        return [str(fault)]
    faults, open_sections = [], 0
    for sentence in found:
        line = " ".join(sentence.split())
        if re.search(r"\b(admit|give_up)\b", line):
            faults.append(f"refused: {line[:60]}")
        if line[0].islower() or line[0] in "([/=:_!0123456789":
            continue  # a tactic; outside a proof the compiler refuses it
        if not any(re.fullmatch(pattern, line) for pattern in ALLOWED):
            faults.append(f"refused: {line[:60]}")
        elif IN_SECTIONS.match(line) and not open_sections:
            faults.append(f"outside a section: {line[:60]}")
        open_sections += line.startswith("Section ") - line.startswith("End ")
    return faults


def required(text: str) -> list[str]:
    """The project's files that a source requires."""
    found = re.findall(r"From\s+AttentionGeometry\s+Require(?:\s+Import)?((?:\s+\w+)+)\s*\.", text)
    return [name for names in found for name in names.split()]


def read_statements(text: str) -> tuple[list[Stated], list[str]]:
    """The theorems of statements.v, and what is wrong with the file, one line each."""
    try:
        found = [" ".join(s.split()) for s in sentences(text)]
    except Fault as fault:
        return [], [str(fault)]
    faults = [f"the file must open with {pattern!r}" for pattern, line in
              zip(HEADER, [*found[:3], "", "", ""], strict=False)
              if not re.fullmatch(pattern, line)]  # fmt: skip
    blocks: dict[str, tuple[str, str, str]] = {}
    body = list(sentences(text))[3:]
    for start in range(0, len(body), 4):
        block = body[start : start + 4]
        if isinstance(read := _block(block), str):
            return [], [*faults, read]
        if read[0] in blocks:
            faults.append(f"{read[0]}: stated twice")
        blocks[read[0]] = read[1:]
    stated, more = _paired(blocks)
    return stated, faults + more


def variables(text: str) -> list[str]:
    """The names that a statement binds; one that MathComp has would hide what is meant."""
    found = BOUND.findall(" ".join(text.split()))
    return sorted({name for places in found for name in " ".join(places).split()} - OURS)


def _block(block: list[str]) -> tuple[str, str, str, str] | str:
    """Name, statement, source and proof of one theorem, or what is wrong with it."""
    first = STATED.fullmatch(block[0])
    if not first:
        return f"neither a theorem nor an example: {' '.join(block[0].split())[:60]}"
    _, name, text = first.groups()
    proof = PROVED.fullmatch(block[2]) if len(block) == 4 else None
    if not proof or (block[1], block[3]) != ("Proof", "Qed"):
        return f"{name}: its proof must read `Proof. exact @file.name. Qed.`"
    if BEYOND.search(text):
        return f"{name}: states more than MathComp's words"
    if strange := TYPES.search(" ".join(text.split())):
        return f"{name}: sizes are `n : nat`, fields of three kinds; not {strange.group()}"
    return name, _dedented(text), proof[1], proof[2]


def _dedented(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines[:1] + [line.removeprefix("  ") for line in lines[1:] if line])


def _paired(blocks: dict[str, tuple[str, str, str]]) -> tuple[list[Stated], list[str]]:
    """Theorems with their witnesses; a theorem without one is a fault."""
    stated, faults = [], []
    for name, (text, source, proof) in blocks.items():
        parts = NAME.fullmatch(name)
        if not parts:
            faults.append(f"{name}: no theorem's id and clause")
        elif parts["witness"]:
            if name.removesuffix("_witness") not in blocks:
                faults.append(f"{name}: a witness of nothing")
        elif f"{name}_witness" not in blocks:
            faults.append(f"{name}: has no witness")
        else:
            shown, home, by = blocks[f"{name}_witness"]
            if home != source:
                faults.append(f"{name}: its witness is in another file")
            stated.append(
                Stated(name, parts["id"], parts["clause"], text, shown, source, proof, by)
            )
    return stated, faults
