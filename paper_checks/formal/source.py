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
STATED = re.compile(r"Theorem\s+(\w+)\s*:\s+(.+)", re.DOTALL)
PROVED = re.compile(r"exact @(\w+)\.(\w+)")
NAME = re.compile(r"(?P<id>[A-Z]+[0-9]+)_(?P<clause>[a-z0-9]+(_[a-z0-9]+)*?)(__(?P<part>\w+?))?")
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
    """A theorem of statements.v, its text as it stands in the file, and where it is proved."""

    name: str
    theorem_id: str
    clause: str
    text: str
    source: str  # file of the proof
    proof: str

    @property
    def witness(self) -> str:
        """The proof, in the same file, that its hypotheses do not contradict each other."""
        return f"{self.source}.{self.proof}_witness"


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
    stated: dict[str, Stated] = {}
    body = list(sentences(text))[3:]
    for start in range(0, len(body), 4):
        if isinstance(read := _block(body[start : start + 4]), str):
            return [], [*faults, read]
        if read.name in stated:
            faults.append(f"{read.name}: stated twice")
        stated[read.name] = read
    return list(stated.values()), faults


def variables(text: str) -> list[str]:
    """The names that a statement binds; one that MathComp has would hide what is meant."""
    found = BOUND.findall(" ".join(text.split()))
    return sorted({name for places in found for name in " ".join(places).split()} - OURS)


def _block(block: list[str]) -> Stated | str:
    """One theorem, or what is wrong with it."""
    first = STATED.fullmatch(block[0])
    if not first:
        return f"no theorem: {' '.join(block[0].split())[:60]}"
    name, text = first.groups()
    parts = NAME.fullmatch(name)
    if not parts:
        return f"{name}: no theorem's id and clause"
    proof = PROVED.fullmatch(block[2]) if len(block) == 4 else None
    if not proof or (block[1], block[3]) != ("Proof", "Qed"):
        return f"{name}: its proof must read `Proof. exact @file.name. Qed.`"
    if BEYOND.search(text):
        return f"{name}: states more than MathComp's words"
    if strange := TYPES.search(" ".join(text.split())):
        return f"{name}: sizes are `n : nat`, fields of three kinds; not {strange.group()}"
    return Stated(name, parts["id"], parts["clause"], _dedented(text), proof[1], proof[2])


def _dedented(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines[:1] + [line.removeprefix("  ") for line in lines[1:] if line])
