"""Refused inputs of exact ranks and determinants, and of the principal lattice."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from numerics.scores.exact_rank import PRIME, SECOND_PRIME, determinant_of, large_prime, rank_of
from numerics.scores.principal_lattice import PrincipalLattice, direction_scores
from tests.numerics.refusals.faults import Call, Integer, Refused, Row

ONE = [[1]]
UNLUCKY = np.array([[PRIME * SECOND_PRIME, 0], [0, 1]], dtype=object)
WHOLE = np.arange(4).reshape(2, 2)
HALF, SEVENTH = [[Fraction(1, 2), 1]] * 2, [[Fraction(1, 7), 1]] * 2
X, V = PrincipalLattice.whole(2).tokens(), PrincipalLattice.whole(2).directions()


def entries(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every function of exact matrices has."""
    return [
        (lambda: call([[1.5]]), TypeError, "^matrix must hold integers or.*got float"),
        (lambda: call(np.eye(2) / 2), TypeError, "^matrix must hold.*fractions, got float"),
        (lambda: call([["1"]]), TypeError, "^matrix must hold integers or.*got str"),
        (lambda: call([[True]]), TypeError, "^matrix must hold integers or.*got bool"),
        (lambda: call(np.array([[True]])), TypeError, "^matrix must hold.*fractions, got bool"),
        (lambda: call("1"), TypeError, "^matrix must have rows of entries, got str"),
        (lambda: call([1]), TypeError, "^matrix must have rows of entries, got int"),
        (lambda: call(WHOLE[0]), TypeError, "^matrix must have rows.*got int"),
        (lambda: call(np.ones((2, 2, 2), int)), TypeError, "^matrix must hold integers.*got list"),
        (lambda: call([[1], [1, 2]]), ValueError, "^matrix must have rows of one length"),
    ]


def moduli(call: Callable[..., Any]) -> list[Row]:
    """Rows that every function with a modulus has."""
    return [
        (lambda: call(WHOLE, 0), ValueError, "^modulus must be an odd prime.*got 0"),
        (lambda: call(WHOLE, 2), ValueError, "^modulus must be an odd prime.*got 2"),
        (lambda: call(WHOLE, 15), ValueError, "^modulus must be an odd prime.*got 15"),
        (lambda: call(WHOLE, 7.0), TypeError, "^modulus must be an integer, got float"),
        (lambda: call(HALF, 2**31 - 1), ValueError, r"^modulus must.*below 2\^29"),
        (lambda: call(SEVENTH, 7), ValueError, "^matrix must be integral modulo 7"),
    ]


BAD: Refused = {
    "scores.exact_rank.rank_of": [
        (lambda: rank_of(UNLUCKY), ArithmeticError, "no minor of size 2 survives modulo"),
        *entries(rank_of),
        *moduli(rank_of),
    ],
    "scores.exact_rank.determinant_of": [
        (lambda: determinant_of([[1, 2]]), ValueError, r"^matrix must be square.*\(1, 2\)"),
        (lambda: determinant_of(WHOLE[:, :1], 7), ValueError, r"^matrix must be square.*\(2, 1\)"),
        *entries(determinant_of),
        *moduli(determinant_of),
    ],
    "scores.exact_rank.RankCertificate": [
        *entries(rank_of(ONE).certifies),
        (lambda: replace(rank_of(ONE), modulus=15).certifies(ONE), ValueError, "^modulus must be"),
    ],
    "scores.exact_rank.large_prime": [Call(large_prime, seed=Integer(0, 0))],
    "scores.principal_lattice.PrincipalLattice": [
        Call(PrincipalLattice, d=Integer(3, 1), doubled=Integer(2, 0, 3), pairs=Integer(1, 0, 1)),
        Call(PrincipalLattice.whole, d=Integer(2, 1)),
    ],
    "scores.principal_lattice.direction_scores": [
        (lambda: direction_scores(X.tolist(), V), TypeError, "^x must be a NumPy.*got list"),
        (lambda: direction_scores(X / 1, V), TypeError, "^x must be.*signed.*got float64"),
        (lambda: direction_scores(X, V.astype(np.uint8)), TypeError, "^v must be.*got uint8"),
        (lambda: direction_scores(X[0], V), ValueError, r"^x must have shape \(n, d\)"),
        (lambda: direction_scores(X, V[1:]), ValueError, "^v must have shape.*n = 6"),
        (lambda: direction_scores(X, V[:, :1]), ValueError, "^v must have shape.*d = 2"),
        (lambda: direction_scores(2**30 * X, V), ValueError, "^x and v must have squares below"),
    ],
}  # fmt: skip
