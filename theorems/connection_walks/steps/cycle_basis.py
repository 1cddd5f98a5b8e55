"""The wheel W_4 with a connection of order 3: a cycle basis that does not show its holonomy.

The hub is node 1, the rim runs 2, 3, 4, 5. Spokes carry I and every rim edge, along the rim, C
with C^3 = I. Each of the four cycles through all nodes uses three rim edges.
"""

from __future__ import annotations

from itertools import pairwise

from sympy import Integer, KroneckerDelta, Sum

from theorems.assumptions.sections import mutual
from theorems.statement import Definition, Witness, array, symbols_of

n, m, chords, d = symbols_of("n m r d")
i, j, k, a, b, c, e, f, p, q, s, t = symbols_of("i j k a b c e f p q s t")

ONE, METRIC = [[1, 0], [0, 1]], [[2, -1], [-1, 2]]
TURN, BACK = [[0, -1], [1, -1]], [[-1, 1], [-1, 0]]
RIM = ((2, 3), (3, 4), (4, 5), (5, 2))
CYCLES = ((1, 2, 3, 4, 5), (1, 4, 3, 2, 5), (1, 2, 5, 4, 3), (1, 3, 2, 5, 4))
MISSED = (4, 3, 1, 2)  # the rim edge that each cycle does not use

E, T, G = array("E", n, n), array("T", n, n, d, d), array("G", d, d)
M, V, chord = array("M", m, chords), array("V", chords, m), array("C", chords, n, n)
visits = [array(f"s_{place}", m, n) for place in range(1, 6)]
hops = [array(f"T_{place}", m, d, d) for place in range(1, 6)]
steps = list(pairwise([*visits, visits[0]]))
transports = [
    Definition(hop[t, a, b], Sum(u[t, i] * v[t, j] * T[i, j, a, b], (i, 1, n), (j, 1, n)))
    for hop, (u, v) in zip(hops, steps, strict=True)
]
used = sum(u[t, i] * v[t, j] for u, v in steps)
incidence = Definition(M[t, s], Sum(used * chord[s, i, j], (i, 1, n), (j, 1, n)))


def joined(r: int, v: int) -> int:
    """Whether an edge joins two nodes of the wheel."""
    return int((r == 1) != (v == 1) or (r, v) in RIM or (v, r) in RIM)


def transport(r: int, v: int) -> list[list[int]]:
    """T_rv of the wheel."""
    return TURN if (r, v) in RIM else BACK if (v, r) in RIM else ONE


NODES = range(1, 6)
first, second, third, fourth, fifth = hops
around = Sum(
    first[t, a, c] * second[t, c, e] * third[t, e, f] * fourth[t, f, p] * fifth[t, p, b],
    (c, 1, d), (e, 1, d), (f, 1, d), (p, 1, d),
)
edges = E[i, j] * E[j, k] * E[k, i]
triangle = Sum(T[i, j, a, c] * T[j, k, c, e] * T[k, i, e, b], (c, 1, d), (e, 1, d))
pulled = Sum(T[i, j, a, b] * G[a, c] * T[i, j, c, e], (a, 1, d), (c, 1, d))

insufficient_basis = Witness(
    id="insufficient_basis",
    by=(mutual(E[i, j], T), *transports, incidence),
    values={
        E: [[joined(r, v) for v in NODES] for r in NODES],
        T: [[transport(r, v) for v in NODES] for r in NODES],
        G: METRIC,
        chord: [[[int({r, v} == {*rim}) for v in NODES] for r in NODES] for rim in RIM],
        V: [[1 - 3 * int(rim == missed) for missed in MISSED] for rim in range(1, 5)],
        **{visit: [[int(r == cycle[place]) for r in NODES] for cycle in CYCLES]
           for place, visit in enumerate(visits)},
    },
    holds=(
        (around, KroneckerDelta(a, b)),
        (E[i, j] * pulled, E[i, j] * G[b, e]),
        (Sum(M[t, s] * V[s, q], (s, 1, chords)), 3 * KroneckerDelta(t, q)),
        *((Sum(u[t, i] * v[t, j] * E[i, j], (i, 1, n), (j, 1, n)), Integer(1)) for u, v in steps),
    ),
    fails=((edges * triangle, edges * KroneckerDelta(a, b)),),
    because="The cycles are independent modulo 2 and over Q: against the four rim edges, which are "
    "the chords of the tree of spokes, their incidence matrix M has M V = 3 I. Each has the "
    "holonomy C^3 or C^{-3}, that is I; a triangle with the hub has C.",
)
