"""AP4, worlds on keys j and values v_l in R^w, l = 1, ..., w + 1, and their linear statistics t.

E = I - g t with t g t = t has columns that no statistic sees; worlds with masses at least 1 + sum
E^2 can be moved along any of them.
"""
from __future__ import annotations


from flint import fmpq_mat
from sympy import Expr, KroneckerDelta, Sum

from theorems.assumptions.entries import signed
from theorems.checker.exact import Draw, Rejected, Value
from theorems.assumptions.widths import side_by_side
from theorems.statement import Definition, Equation, Local, array
from theorems.statement import symbols_of

n, m, w, D, N, r = symbols_of("n m w D N r")
i, j, k, l, e, f, h, p, s, c, a, b = symbols_of("i j k l e f h p s c a b")
kappa, v, t, g = array("kappa", n, m), array("v", D, w), array("t", N, m, D), array("g", m, D, N)
E, J, o = array("E", m, D, m, D), array("J", D, w), array("o", D)
lifted, y = array("nu", D, D), array("y", D, D)
KEY, VALUE, OTHER_KEY, OTHER_VALUE = (j, 1, m), (l, 1, D), (k, 1, m), (f, 1, D)
unseen = Definition(E[j, l, k, f], KroneckerDelta(j, k) * KroneckerDelta(l, f)
                    - Sum(g[j, l, p] * t[p, k, f], (p, 1, N)))
homogeneous = Definition(lifted[l, e], Sum(v[l, c] * J[e, c], (c, 1, w)) + o[e])


MOST = 6  # points of an exact instance


def sizes(draw: Draw) -> tuple[int, int]:
    """The number of values, and of features of the pairing, which is N over it."""
    width = draw.sizes.setdefault(str(w), draw.source.rng.choice((1, 1, 1, 2))) + 1
    if draw.sizes.setdefault(str(D), width) != width:
        raise Rejected(f"{width} values are needed")
    features = draw.source.rng.choice((1, 1, 1, 1, 2))
    if (features := draw.sizes.setdefault(str(N), width * features) // width) == 0:
        raise Rejected("too few statistics")
    keys = draw.sizes.setdefault(str(m), features + draw.source.rng.choice((0, 1)))
    if keys < features or keys * width > MOST:
        raise Rejected(f"{keys} keys, {features} features, {width} values")
    return width, features


def _simplex(draw: Draw) -> None:
    """v_l = z + e_l for l <= w, and z: with the coordinate 1 last they have a simple inverse."""
    width, _ = sizes(draw)
    centre = [draw.source.fresh(None) for _ in range(width - 1)]
    total = 1 + sum(centre)
    for row, column in draw.cells(v):
        draw.put(v, (row, column), centre[column - 1] + int(row == column))
    below = [*(-value for value in centre), total]
    for row, column in draw.cells(y):
        above = -1 if column == width else int(row == column)
        draw.put(y, (row, column), below[column - 1] if row == width else above)


def _inner_inverse(rows: list[list[Value]]) -> list[list[Value]]:
    """G with R G R = R: the inverse of a largest nonsingular part, in its place."""
    matrix = fmpq_mat(rows)
    chosen = [_pivots(matrix.transpose()), _pivots(matrix)]
    part = fmpq_mat([[matrix[q, s] for s in chosen[1]] for q in chosen[0]]).inv()
    found: list[list[Value]] = [[0] * len(rows) for _ in rows[0]]
    for q, row in enumerate(chosen[0]):
        for s, column in enumerate(chosen[1]):
            found[column][row] = part[s, q]
    return found


def _pivots(matrix: fmpq_mat) -> list[int]:
    reduced, rank = matrix.rref()
    return [next(q for q in range(reduced.ncols()) if reduced[row, q] != 0) for row in range(rank)]


def _moments(draw: Draw) -> None:
    """t = the features (I, anything) of the keys times (v_l, 1), and g that inverts it inside."""
    width, features = sizes(draw)
    points = [[*(draw.get(str(v), (q, column)) for column in range(1, width)), 1]
              for q in range(1, width + 1)]
    known = (str(y), (1, 1)) in draw.entries
    inside = [[draw.get(str(y), (q, s)) for s in range(1, width + 1)] for q in range(1, width + 1)
              ] if known else _inner_inverse(points)
    table = [[int(key == q) if key < features else draw.source.fresh(None)
              for key in range(draw.size(m))] for q in range(features)]
    for row, key, value in draw.cells(t):
        q, coordinate = divmod(row - 1, width)
        used = q < features
        entry = table[q][key - 1] * points[value - 1][coordinate] if used else 0
        draw.put(t, (row, key, value), entry)
        own = used and key == q + 1
        draw.put(g, (key, value, row), inside[coordinate][value - 1] if own else 0)


affine = Local(
    "nu y = I", "$\\nu y = I$ for $\\nu_l = (v_l, 1)$: the values are affinely independent",
    ((Sum(lifted[l, e] * y[e, f], (e, 1, D)), KroneckerDelta(l, f)),), _simplex,
)
inner = Local(
    "t g t = t", "$t g t = t$ for some $g$, a generalised inverse of the statistics",
    ((Sum(t[p, j, l] * g[j, l, s] * t[s, k, f], KEY, VALUE, (s, 1, N)), t[p, k, f]),), _moments,
)
points = side_by_side(J, o), homogeneous, affine, inner
ZE, NE, X = array("Z_E", n, m, D), array("M_E", n, w, m, D), array("X", n, D, m, D)


class World:
    """A world for every query, its mass Z and sum of values M, and a readout R."""

    def __init__(self, mark: str) -> None:
        self.extra = array(f"alpha{mark}", n, m, D)
        self.mass, self.total = array(f"Z{mark}", n), array(f"M{mark}", n, w)
        self.measure, self.readout = array(f"mu{mark}", n, m, D), array(f"R{mark}", n, w)
        squares = Sum(E[j, l, k, f] ** 2, OTHER_KEY, OTHER_VALUE)
        weighted = kappa[i, j] * self.measure[i, j, l]
        self.definitions = (
            Definition(self.measure[i, j, l], self.extra[i, j, l] + 1 + squares),
            Definition(self.mass[i], Sum(weighted, KEY, VALUE)),
            Definition(self.total[i, c], Sum(weighted * v[l, c], KEY, VALUE)),
        )

    def rules(self) -> tuple[Equation, ...]:
        """R is the readout of the world, and of what every column of E makes of it."""
        moved = self.total[i, c] + NE[i, c, k, f] - self.mass[i] * self.readout[i, c]
        return ((ZE[i, k, f] * self.readout[i, c], moved),
                (self.mass[i] * self.readout[i, c], self.total[i, c]))


first, second = World(""), World("'")
moved_mass = Definition(ZE[i, k, f], Sum(kappa[i, j] * E[j, l, k, f], KEY, VALUE))
moved_total = Definition(NE[i, c, k, f], Sum(kappa[i, j] * v[l, c] * E[j, l, k, f], KEY, VALUE))
worlds = (*first.definitions, *second.definitions, moved_mass, moved_total, unseen)


def _by_features(draw: Draw) -> None:
    """kappa = P phi with the features of the statistics, P = (I; anything), and the readouts."""
    width, features = sizes(draw)
    queries = draw.sizes.setdefault(str(n), features + draw.source.rng.choice((0, 0, 1)))
    for row in range(1, queries + 1):
        share = [draw.source.fresh(None) if row > features else int(row == q + 1)
                 for q in range(features)]
        for key in range(1, draw.size(m) + 1):
            draw.put(kappa, (row, key), sum(
                share[q] * draw.get(str(t), ((q + 1) * width, key, 1)) for q in range(features)))
    for world in (first, second):
        for row, column in draw.cells(world.readout):
            inverse = draw.source.inverse(draw.get(str(world.mass.label), (row,)))
            total = draw.get(str(world.total.label), (row, column))
            draw.put(world.readout, (row, column), inverse * total)


def _difference(draw: Draw) -> None:
    for (row,) in draw.cells(u, 1):
        gaps = [draw.get("R", (row, q)) - draw.get("R'", (row, q))
                for q in range(1, draw.size(w) + 1)]
        place = next((q for q, gap in enumerate(gaps) if not draw.source.is_zero(gap)), None)
        if place is None:
            raise Rejected("the readouts agree")
        for q, one in enumerate(gaps):
            draw.put(u, (row, q + 1), draw.source.inverse(one) if q == place else 0)


def towards(world: World) -> Expr:
    """The part of a readout along u."""
    return Sum(u[i, c] * world.readout[i, c], (c, 1, w))


u = array("u", n, w)
same = Local(
    "readouts factor through t", "worlds with the same statistics have the same readouts: $R$ is "
    "that of $\\mu$ and of all $\\mu + E_{kf}$, and $R'$ that of $\\mu'$ and of all "
    "$\\mu' + E_{kf}$",
    (*first.rules(), *second.rules()), _by_features,
)
differ = Local(
    "R and R' differ", "$u_i \\cdot (R_i - R'_i) = 1$: every query tells the two worlds apart",
    ((towards(first), 1 + towards(second)),), _difference,
)
more = signed(first.extra, ">=0")
