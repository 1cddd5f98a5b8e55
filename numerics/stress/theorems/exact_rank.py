"""RA2 in integers: det(-2 S) of the principal lattice by elimination against the closed form.

One side forms the scores from tokens and metrics and eliminates modulo a prime that the seed draws;
the other evaluates the closed form there. A determinant that is not 0 modulo a prime is not 0, so
the rank over Q is the number of tokens. In every cell a lattice with one false point, of the same
width up to 12, must be told from the true one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from numerics.evidence.comparison import Comparison, compare_integers
from numerics.scores.exact_rank import RankCertificate, determinant_of, large_prime, rank_of
from numerics.scores.principal_lattice import PrincipalLattice, direction_scores
from numerics.stress.cell import Cell
from numerics.stress.rounding import Precision

CELLS = ("lattice", "part")
CONTROL = 12
"""The largest width at which the false point is tried."""


@dataclass(frozen=True)
class Question:
    """A lattice, the prime modulo which its determinant is compared, and a smaller lattice."""

    lattice: PrincipalLattice
    prime: int
    control: PrincipalLattice


@dataclass(frozen=True)
class Answer:
    """The rank and the determinant modulo the prime (2,), and the certificate of side one."""

    result: torch.Tensor
    certificate: RankCertificate | None = None


def lattice(name: str, d: int) -> PrincipalLattice:
    """The whole lattice, or one with half of the coordinates doubled and half of their pairs."""
    if name == "lattice":
        return PrincipalLattice.whole(d)
    r = d // 2
    return PrincipalLattice(d, r, r * (r - 1) // 4)


def tokens(name: str, d: int) -> int:
    """The number of tokens of the cell."""
    return lattice(name, d).size


def draw(cell: Cell, device: torch.device) -> tuple[Question, None]:
    """The lattice of the width, and a prime below 2^29."""
    control = lattice(cell.name, min(cell.d, CONTROL))
    return Question(lattice(cell.name, cell.d), large_prime(cell.seed), control), None


def longest_sum(question: Question, cell: Cell) -> int:
    """Terms of the longest sum of either side."""
    return question.lattice.size


def _answer(rank: int, determinant: int, certificate: RankCertificate | None = None) -> Answer:
    return Answer(torch.tensor([rank, determinant], dtype=torch.float64), certificate)


def left_side(question: Question, cell: Cell) -> Answer:
    """Side one, elimination modulo the prime."""
    found = rank_of(question.lattice.scores(), question.prime)
    return _answer(found.rank, found.minor, found)


def right_side(question: Question, cell: Cell) -> Answer:
    """Side two, the closed form."""
    return _answer(question.lattice.size, question.lattice.determinant() % question.prime)


def certificate(answer: Answer) -> dict[str, Any]:
    """The certificate of side one; rows and columns where they are not the first ones."""
    found = answer.certificate
    if found is None:
        return {}
    first = found.rows == found.columns == tuple(range(found.rank))
    places = {} if first else {"rows": list(found.rows), "columns": list(found.columns)}
    return {"rank": found.rank, "modulus": found.modulus, "minor": found.minor, **places}


def comparisons(
    question: Question, cell: Cell, left: Answer, right: Answer, model: Precision
) -> Iterator[Comparison]:
    """Both numbers of both sides, which must be equal."""
    k = longest_sum(question, cell)
    found = compare_integers("rank and determinant", left.result, right.result, k)
    yield found if _false_point_differs(question) else replace(found, rejected=0)


def _false_point_differs(question: Question) -> bool:
    """Whether twice the last token in its place changes the determinant modulo the prime."""
    control, p = question.control, question.prime
    x = control.tokens()
    x[-1] *= 2
    moved = determinant_of(direction_scores(x, control.directions()), p)
    return moved != control.determinant() % p
