"""Tokens and metrics of RA2's certificates: the scores of the principal lattice and of its parts,
as block matrices, and the triangular factors that they are products of.

Tokens 0, e_a, 2 e_a and, for the edges of a graph, e_a + e_b; metrics I, or I + v v^T with v = e_a
for 2 e_a and v = e_a + e_b. Rows are tokens that ask, in functions of the token y that answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, sympify

from theorems.assumptions.constructions import reflection
from theorems.checker.determinants import Blocks
from theorems.checker.exact import Draw, Rejected
from theorems.statement import Local, array, symbols_of

d, r, m, F = symbols_of("d r m F")
c, f, g, k, l, p, q = symbols_of("c f g k l p q")
e, e_r, u = array("E", F, d), array("E'", F, r), array("u", m)
ONE = Integer(1)


def _draw_edges(draw: Draw, edges: IndexedBase, repeated: int) -> None:
    """So many pairs of vertices, each at most `repeated` times."""
    number, vertices = edges.shape
    count = draw.size(number)
    if str(vertices) not in draw.sizes:
        least = next(v for v in range(2, count + 2) if v * (v - 1) * repeated >= 2 * count)
        draw.sizes[str(vertices)] = max(least, draw.source.size(1))
    pairs = repeated * [*combinations(range(1, draw.size(vertices) + 1), 2)]
    if count > len(pairs):
        raise Rejected(f"{len(pairs)} pairs are no {count} edges")
    for row, pair in enumerate(draw.source.rng.sample(pairs, count), start=1):
        for vertex in range(1, draw.size(vertices) + 1):
            draw.put(edges, (row, vertex), int(vertex in pair))


def simple_graph(edges: IndexedBase) -> Local:
    """The rows are the sums of two different unit vectors, no two the same."""
    vertices = edges.shape[1]
    common = Sum(edges[f, p] * edges[g, p], (p, 1, vertices))
    both = edges[f, p] * edges[g, p] * edges[f, q] * edges[g, q]
    rules = (
        *_ends(edges),
        (Sum(both, (p, 1, vertices), (q, 1, vertices)), common + 2 * KroneckerDelta(f, g)),
    )
    text = f"the rows of ${edges}$ are the sums $e_a + e_b$ over different pairs $a < b$"
    return Local(f"{edges} is a simple graph", text, rules,
                 lambda draw: _draw_edges(draw, edges, 1))


def multigraph(edges: IndexedBase) -> Local:
    """The rows are sums of two different unit vectors, maybe the same: not what RA2 says."""
    text = f"the rows of ${edges}$ are sums $e_a + e_b$ over pairs $a < b$"
    return Local(f"{edges} is a multigraph", text, _ends(edges),
                 lambda draw: _draw_edges(draw, edges, 2))


def _ends(edges: IndexedBase) -> tuple[tuple[Expr, Expr], ...]:
    total = Sum(edges[f, p], (p, 1, edges.shape[1]))
    return (edges[f, p] ** 2, edges[f, p]), (total, Integer(2))


def unit_coordinates(vector: IndexedBase) -> Local:
    """Coordinates with sum 1 and square sum 1, such as those of a unit vector e_a."""
    size = vector.shape[0]

    def impose(draw: Draw) -> None:
        place = draw.source.rng.randrange(draw.size(size)) + 1
        for (cell,) in draw.cells(vector):
            draw.put(vector, (cell,), int(cell == place))

    rules = tuple((Sum(vector[k] ** power, (k, 1, size)), ONE) for power in (1, 2))
    text = rf"$\sum_a {vector}_a = \sum_a {vector}_a^2 = 1$, such as ${vector} = e_1$"
    return Local(f"{vector} of sum 1", text, rules, impose)


def every_pair(draw: Draw) -> None:
    """F = d (d - 1) / 2 >= 1."""
    width = draw.sizes.setdefault(str(d), draw.source.rng.randint(2, 3))
    if draw.sizes.setdefault(str(F), width * (width - 1) // 2) * 2 != width * (width - 1):
        raise Rejected(f"{F} is not the number of pairs")


def index(letter: str, axis: int) -> Expr:
    """The index of a block of tokens or of functions on one axis of a product."""
    return symbols_of(f"{letter}_{axis}")[0]


def same(letter: str, axis: int, other: str = "") -> Expr:
    """The identity between blocks of one size on an axis and on the next."""
    return KroneckerDelta(index(letter, axis), index(other or letter, axis + 1))


class Lattice:
    """A choice of blocks of tokens, by letters: every matrix is cut down to them."""

    def __init__(self, sizes: dict[str, Expr], letters: str) -> None:
        self.places = [place for place, letter in enumerate(sizes) if letter in letters]
        self.sizes = {letter: sizes[letter] for letter in letters}

    def blocks(self, left: int, right: int, entries: Sequence[Sequence[Expr | int]]) -> Blocks:
        """The block matrix from one axis to another, of these entries."""
        rows, columns = (
            tuple((index(letter, axis), size) for letter, size in self.sizes.items())
            for axis in (left, right)
        )
        kept = ((sympify(entries[p][q]) for q in self.places) for p in self.places)
        return Blocks(rows, columns, tuple(map(tuple, kept)))


Vector = Sequence[Expr | int]  # one entry for each group of coordinates


def squared(x: Vector, y: Vector, v: Vector, coordinates: Sequence[tuple[Expr, Expr]]) -> Expr:
    """|x - y|^2 + (v . (x - y))^2, which is (x - y)^T (I + v v^T) (x - y)."""
    limits = [(one, 1, size) for one, size in coordinates]
    steps = [sympify(s - t) for s, t in zip(x, y, strict=True)]
    length = sum(Sum(step**2, at) for step, at in zip(steps, limits, strict=True) if step != 0)
    seen = [(v_c * step, at) for v_c, step, at in zip(v, steps, limits, strict=True)]
    return sympify(length) + sum(Sum(*pair) for pair in seen if pair[0] != 0) ** 2


# The whole lattice: blocks 0, e_a, 2 e_a and the edges, of letters o, a, b and f.
WHOLE: dict[str, Expr] = {"o": ONE, "a": d, "b": d, "f": F}


def whole_scores(letters: str, double: int = 2, shared: IndexedBase | None = None) -> Blocks:
    """Q = -2 S; with a false number in place of the 2 of 2 e_a, or one direction for all metrics
    other than I, it is not what RA2 says."""

    def token(axis: int) -> list[Vector]:
        a, b, f = (index(letter, axis) for letter in "abf")
        return [[0], [KroneckerDelta(a, c)], [double * KroneckerDelta(b, c)], [e[f, c]]]

    directions = [[0], [0], [KroneckerDelta(index("b", 0), c)], [e[index("f", 0), c]]]
    if shared is not None:
        directions[2:] = [[shared[c]], [shared[c]]]
    return Lattice(WHOLE, letters).blocks(0, 5, [
        [squared(x, y, v, [(c, d)]) for y in token(5)]
        for x, v in zip(token(0), directions, strict=True)
    ])


def whole_factors(letters: str) -> list[Blocks]:
    """K, U, T, W, V with Q = K U T W V: K U T are the query features, in 1, y_a, y_a^2 and
    y_a y_b, and W V the key features."""
    cut = Lattice(WHOLE, letters)
    f_2, a_3, b_3 = index("f", 2), index("a", 3), index("b", 3)
    a_4, f_5 = index("a", 4), index("f", 5)
    return [
        cut.blocks(0, 1, [[1, 0, 0, 0],
                          [1, same("a", 0), 0, 0],
                          [1, 4 * same("b", 0, "a"), same("b", 0), 0],
                          [0, 0, 0, same("f", 0)]]),
        cut.blocks(1, 2, [[1, 0, 1, 0],
                          [0, same("a", 1), 0, 0],
                          [0, 0, same("b", 1), 0],
                          [0, 0, 0, same("f", 1)]]),
        cut.blocks(2, 3, [[-4 * d, 0, 0, 0],
                          [1, -2 * same("a", 2), 0, 0],
                          [4, 0, same("b", 2), 0],
                          [6, -6 * e[f_2, a_3], 1 + e[f_2, b_3], 2 * same("f", 2)]]),
        cut.blocks(3, 4, [[1, 0, 0, 0],
                          [0, same("a", 3), 0, 0],
                          [0, same("b", 3, "a"), same("b", 3), 0],
                          [0, 0, 0, same("f", 3)]]),
        cut.blocks(4, 5, [[1, 1, 1, 1],
                          [0, same("a", 4), 2 * same("a", 4, "b"), e[f_5, a_4]],
                          [0, 0, 2 * same("b", 4), 0],
                          [0, 0, 0, same("f", 4)]]),
    ]


def features() -> tuple[Blocks, Blocks]:
    """The query features, from the tokens to the functions, and the key features, from there."""
    cut = Lattice(WHOLE, "oabf")
    (a, b, f), (a_3, b_3, f_3), (a_5, b_5, f_5) = (
        tuple(index(letter, axis) for letter in "abf") for axis in (0, 3, 5)
    )
    queries = [[0, 0, 1, 0],
               [1, -2 * KroneckerDelta(a, a_3), 1, 0],
               [8, -8 * KroneckerDelta(b, a_3), 1 + KroneckerDelta(b, b_3), 0],
               [6, -6 * e[f, a_3], 1 + e[f, b_3], 2 * KroneckerDelta(f, f_3)]]
    keys = [[1, 1, 1, 1],
            [0, KroneckerDelta(a_3, a_5), 2 * KroneckerDelta(a_3, b_5), e[f_5, a_3]],
            [0, KroneckerDelta(b_3, a_5), 4 * KroneckerDelta(b_3, b_5), e[f_5, b_3]],
            [0, 0, 0, KroneckerDelta(f_3, f_5)]]
    return cut.blocks(0, 3, queries), cut.blocks(3, 5, keys)


# A part: r of d = r + m coordinates have tokens 2 e_a and edges. Blocks 0, 2 u among the other m,
# e_a among them, e_a and 2 e_a among the r, and the edges, of letters o, p, h, a, b and f.
PART: dict[str, Expr] = {"o": ONE, "p": ONE, "h": m, "a": r, "b": r, "f": F}


def part_scores(letters: str, special: int = 2) -> Blocks:
    """Q = -2 S; with a false number in place of the 2 of 2 u it is not what RA2 says."""

    def token(axis: int) -> list[Vector]:
        h, a, b, f = (index(letter, axis) for letter in "habf")
        return [[0, 0], [0, special * u[k]], [0, KroneckerDelta(h, k)], [KroneckerDelta(a, c), 0],
                [2 * KroneckerDelta(b, c), 0], [e_r[f, c], 0]]

    none: Vector = [0, 0]
    directions = [none, none, none, none, [KroneckerDelta(index("b", 0), c), 0],
                  [e_r[index("f", 0), c], 0]]
    return Lattice(PART, letters).blocks(0, 4, [
        [squared(x, y, v, [(c, r), (k, m)]) for y in token(4)]
        for x, v in zip(token(0), directions, strict=True)
    ])


def part_factors(letters: str) -> list[Blocks]:
    """K, T, W, V with Q = K T W V, by way of |y|^2, 1, the y_a of both groups, y_a^2 and
    y_a y_b."""
    cut = Lattice(PART, letters)
    h_1, f_1, a_2, b_2 = index("h", 1), index("f", 1), index("a", 2), index("b", 2)
    h_3, a_3, f_4 = index("h", 3), index("a", 3), index("f", 4)
    return [
        cut.blocks(0, 1, [[1, 0, 0, 0, 0, 0],
                          [1, 1, 2 * u[h_1], 0, 0, 0],
                          [1, 0, same("h", 0), 0, 0, 0],
                          [1, 0, 0, same("a", 0), 0, 0],
                          [1, 0, 0, 4 * same("b", 0, "a"), same("b", 0), 0],
                          [0, 0, 0, 0, 0, same("f", 0)]]),
        cut.blocks(1, 2, [[1, 0, 0, 0, 0, 0],
                          [0, 2, 0, 0, 0, 0],
                          [0, 1, -2 * same("h", 1), 0, 0, 0],
                          [0, 1, 0, -2 * same("a", 1), 0, 0],
                          [0, 4, 0, 0, same("b", 1), 0],
                          [1, 6, 0, -6 * e_r[f_1, a_2], e_r[f_1, b_2], 2 * same("f", 1)]]),
        cut.blocks(2, 3, [[1, 0, 1, 1, 1, 0],
                          [0, 1, 0, 0, 0, 0],
                          [0, 0, same("h", 2), 0, 0, 0],
                          [0, 0, 0, same("a", 2), 0, 0],
                          [0, 0, 0, same("b", 2, "a"), same("b", 2), 0],
                          [0, 0, 0, 0, 0, same("f", 2)]]),
        cut.blocks(3, 4, [[0, 2, 0, 0, 0, 0],
                          [1, 1, 1, 1, 1, 1],
                          [0, 2 * u[h_3], same("h", 3), 0, 0, 0],
                          [0, 0, 0, same("a", 3), 2 * same("a", 3, "b"), e_r[f_4, a_3]],
                          [0, 0, 0, 0, 2 * same("b", 3), 0],
                          [0, 0, 0, 0, 0, same("f", 3)]]),
    ]


def euclidean_points(frame: IndexedBase) -> tuple[Blocks, list[Blocks]]:
    """Q = -2 S of 0 and the rows of the frame with the metric I, and its factors K, U, T."""
    number, width = frame.shape
    cut = Lattice({"o": ONE, "a": number}, "oa")
    a, a_3 = index("a", 0), index("a", 3)
    tokens = [[[Integer(0)], [frame[one, c]]] for one in (a, a_3)]
    scores = [[squared(x, y, [0], [(c, width)]) for y in tokens[1]] for x in tokens[0]]
    return cut.blocks(0, 3, scores), [
        cut.blocks(0, 1, [[1, 0], [2, same("a", 0)]]),
        cut.blocks(1, 2, [[1, -ONE / 2], [0, same("a", 1)]]),
        cut.blocks(2, 3, [[number / 2, 0], [1, -2 * same("a", 2)]]),
    ]


def orthonormal_rows(frame: IndexedBase) -> Local:
    """The rows have length 1 and are orthogonal."""
    number, width = frame.shape

    def impose(draw: Draw) -> None:
        if draw.size(number) > draw.size(width):
            raise Rejected(f"{draw.size(number)} rows of length {draw.size(width)}")
        square = reflection(draw, draw.size(width))
        for row, column in draw.cells(frame):
            draw.put(frame, (row, column), square[row - 1][column - 1])

    product = Sum(frame[k, c] * frame[l, c], (c, 1, width))
    text = f"the rows of ${frame}$ are orthonormal"
    return Local(f"{frame} orthonormal", text, ((product, KroneckerDelta(k, l)),), impose)
