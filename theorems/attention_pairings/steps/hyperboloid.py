"""AP8 on the upper sheet of the hyperboloid: means are timelike; and antipodal points of a sphere.

Points have the coordinates z > 0 and X with z^2 = 1 + |X|^2. Minus their form is
z z' - X . X' = cosh of the distance, at least 1.
"""

from __future__ import annotations

from sympy import Expr, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, SmallIntegers
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Local, array, symbols_of

m, d = symbols_of("m d")
j, l, a, b = symbols_of("j l a b")
HALF = Rational(1, 2)
z, X, w = array("z", m), array("X", m, d), array("w", m)


def total(entry: Expr, *indices: Symbol) -> Expr:
    """The sum over features."""
    return Sum(entry, *((index, 1, d) for index in indices))


def _upper_sheet(draw: Draw) -> None:
    """z = (t + 1/t)/2 and |X| = (t - 1/t)/2."""
    for (point,) in draw.cells(z):
        t = draw.source.fresh(">0")
        back, half = draw.source.inverse(t), draw.source.inverse(2)
        flip = type(draw.source) is SmallIntegers and draw.source.rng.randrange(6) == 0
        draw.put(z, (point,), (t + back) * half * (-1 if flip else 1))
        for place, entry in enumerate(unit_vector(draw, draw.size(d)), start=1):
            draw.put(X, (point, place), (t - back) * half * entry)


sheet = Local(
    "points of the hyperboloid", r"$z_j^2 = 1 + |X_j|^2$",
    ((z[j] ** 2, 1 + total(X[j, a] ** 2, a)),), _upper_sheet)
upper = signed(z, ">=0")
nonnegative = signed(w, ">=0")
inner = total(X[j, a] * X[l, a], a)
areas = HALF * total((X[j, a] * X[l, b] - X[j, b] * X[l, a]) ** 2, a, b)
reverse = Bound(
    id="reverse", small=1 + inner, large=z[j] * z[l], power=2,
    certificate=total((X[j, a] - X[l, a]) ** 2, a) + areas, by=(sheet, upper),
    because=r"$(1 + |X_j|^2)(1 + |X_l|^2) - (1 + X_j \cdot X_l)^2$ is $|X_j - X_l|^2$ plus the "
    r"squared area that both span.",
)
h = array("h", m, m)
excess = Definition(h[j, l], z[j] * z[l] - 1 - inner)
M0, M = Symbol("M_0", real=True), array("M", d)
means = (Definition(M0, Sum(w[j] * z[j], (j, 1, m))),
         Definition(M[a], Sum(w[j] * X[j, a], (j, 1, m))))
square = M0**2 - total(M[a] ** 2, a)
timelike = Bound(
    id="timelike", small=Sum(w[j], (j, 1, m)) ** 2, large=square,
    certificate=Sum(w[j] * w[l] * h[j, l], (j, 1, m), (l, 1, m)),
    by=(*means, excess, reverse, nonnegative),
    because=r"$- \langle M, M \rangle = \sum_{jl} w_j w_l (z_j z_l - X_j \cdot X_l)$.",
)
t = array("t", m, m, d)
coincide = Vanishing(
    id="coincide", total=z[j] ** 2 * z[l] ** 2 - (1 + inner) ** 2, part=t[j, l, a],
    over=((a, d),), rest=areas, strict=True,
    by=(sheet, Definition(t[j, l, a], X[j, a] - X[l, a])),
    because=r"Where the bound is attained, $|X_j - X_l|^2 = 0$.",
)

# Half the squared distances from two antipodal points, at the angles theta and 2 right - theta.
theta, right, phi, gap = (
    Symbol(name, real=True) for name in ("theta", "delta", "phi", "g"))


def _angle(draw: Draw) -> None:
    value, sign = draw.source.fresh(">=0"), draw.source.rng.choice((1, -1))
    draw.put(array("theta"), (), value)
    draw.put(array("phi"), (), value * sign)


distance = Local(
    "theta is the distance", r"$\theta^2 = \phi^2$ and $\theta \ge 0$: $\theta = |\phi|$",
    ((theta**2, phi**2),), _angle, ((array("theta"), ">=0"),))
objective = HALF * theta**2 + HALF * (2 * right - theta) ** 2
halfway = Definition(gap, theta - right)
antipodal = Vanishing(
    id="antipodal", total=objective - right**2, part=gap, strict=True, by=(halfway,),
    because=r"$\frac12 \theta^2 + \frac12 (2 \delta - \theta)^2 = \delta^2 + (\theta - "
    r"\delta)^2$.",
)
