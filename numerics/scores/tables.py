"""The rank spectrum (RA3) and the cost of distances (RA7) as tables that a run computes.

What the theorems state is written here once more, as it is printed, apart from the code that it is
compared with.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import sympy

from numerics.evidence.tables import Cell, Table
from numerics.scores import costs
from numerics.scores.families import RankRow, distance_determinant, full_width, rank_table

DIMS = tuple(range(1, 13))
"""The widths d at which the spectrum is recomputed."""

LENGTHS = (128, 512, 2048, 8192, 32768, 131072)
"""The lengths n at which the overhead is shown."""

NEGLIGIBLE = Fraction(1, 100)


class Stated(NamedTuple):
    """How a family is printed, the rank and centred rank that RA3 states, and the clause."""

    metrics: str
    scores: str
    rank: str
    centred: str
    clause: str


ANY, ONE, SCALAR = "any $G_i$", "one $G$", r"$\lambda_i I$"
DIAGONAL, LOW, SPIKE = r"$\mathrm{diag}(D_i)$", r"$D_i + U_i U_i^\top$", r"$I + u_i u_i^\top$"
SIGMAS, FIXED = r"$\lambda_i I + U \Sigma_i U^\top$", r"$\lambda I + U \Sigma_i U^\top$"
CORES, FIXED_CORES = r"$\lambda_i I + U C_i U^\top$", r"$\lambda I + U C_i U^\top$"
N = "(d + 1)*(d + 2)/2"
PAIRS = "r*(r + 1)/2"
STATED = {
    "bilinear, bilinear": Stated(ANY, "bilinear", "d", "d", "bilinear"),
    "bilinear, bilinear symmetrised": Stated(ANY, "bilinear sym.", "2*d", "2*d", "bilinear"),
    "homogeneous, bilinear symmetrised": Stated(ONE, "bilinear sym.", "d", "d", "bilinear"),
    "shared core, bilinear symmetrised": Stated(
        FIXED_CORES, "bilinear sym.", "d + r", "d + r", "bilinear"
    ),
    "homogeneous, query": Stated(ONE, "query", "d + 2", "d + 1", "conformal"),
    "conformal, query": Stated(SCALAR, "query", "d + 2", "d + 1", "conformal"),
    "diagonal, query": Stated(DIAGONAL, "query", "2*d + 1", "2*d", "diagonal"),
    "shared diagonal, query": Stated(
        SIGMAS, "query", "d + 2 + r", "d + 1 + r", "shared_diagonal"
    ),
    "shared core, query": Stated(
        CORES, "query", f"d + 2 + {PAIRS}", f"d + 1 + {PAIRS}", "shared_core"
    ),
    "I + u u^T, query": Stated(SPIKE, "query", N, f"{N} - 1", "full"),
    "D + U U^T, query": Stated(LOW, "query", N, f"{N} - 1", "full"),
    "D + U U^T, key": Stated(LOW, "key", N, N, "full"),
    "homogeneous, symmetrised": Stated(ONE, "sym.", "d + 2", "d + 1", "conformal"),
    "conformal, symmetrised": Stated(SCALAR, "sym.", "2*(d + 2)", "2*d + 3", "conformal"),
    "diagonal, symmetrised": Stated(DIAGONAL, "sym.", "2*(2*d + 1)", "4*d + 1", "diagonal"),
    "shared diagonal, symmetrised": Stated(
        SIGMAS, "sym.", "2*(d + 2 + r)", "2*(d + r) + 3", "shared_diagonal"
    ),
    "shared core, symmetrised": Stated(
        CORES, "sym.", "2*(d + 2) + r*(r + 1)", "2*d + 3 + r*(r + 1)", "shared_core"
    ),
    "D + U U^T, symmetrised": Stated(
        LOW, "sym.", "(d + 1)*(d + 2)", "(d + 1)*(d + 2) - 1", "full"
    ),
    "shared diagonal, fixed, symmetrised": Stated(
        FIXED, "sym.", "d + 2 + 3*r", "d + 1 + 3*r", "symmetrised_diagonal"
    ),
    "shared core, fixed, symmetrised": Stated(
        FIXED_CORES, "sym.", "d + 1 + (r + 1)**2", "d + (r + 1)**2", "symmetrised_core"
    ),
    "I, query, sphere": Stated("$I$", "query", "d + 1", "d", "sphere"),
    "homogeneous, query, sphere": Stated(ONE, "query", "d + 2", "d + 1", "conformal"),
    "conformal, query, sphere": Stated(SCALAR, "query", "d + 1", "d", "sphere"),
    "diagonal, query, sphere": Stated(DIAGONAL, "query", "2*d", "2*d - 1", "sphere"),
    "D + U U^T, query, sphere": Stated(LOW, "query", f"{N} - 1", f"{N} - 2", "sphere"),
    "conformal, symmetrised, sphere": Stated(
        SCALAR, "sym.", "2*(d + 1)", "2*d + 1", "sphere"
    ),
    "D + U U^T, symmetrised, sphere": Stated(
        LOW, "sym.", "(d + 1)*(d + 2) - 2", "(d + 1)*(d + 2) - 3", "sphere"
    ),
    "shared diagonal, fixed, symmetrised, sphere": Stated(
        FIXED, "sym.", "d + 2 + 3*r", "d + 1 + 3*r", "symmetrised_diagonal"
    ),
    "shared core, fixed, symmetrised, sphere": Stated(
        FIXED_CORES, "sym.", "d + 1 + (r + 1)**2", "d + (r + 1)**2", "symmetrised_core"
    ),
    "conformal, query, gain": Stated(SCALAR, "query", "d + 2", "d + 1", "conformal"),
    "diagonal, query, gain": Stated(DIAGONAL, "query", "2*d", "2*d - 1", "sphere"),
    "D + U U^T, query, layer norm": Stated(
        LOW, "query", "d*(d + 1)/2 - 1", "d*(d + 1)/2 - 2", "subspace"
    ),
}  # fmt: skip
"""Family, kind and tokens unless generic -> what RA3 states."""

EXACT = (
    "Each entry is the rank of integer scores of two tokens more than the formula, modulo a prime "
    "near $2^{29}$: at most the rank over the rationals, which the factorisation bounds by the "
    "formula. Where both agree it is the rank, and the generic one. Centred scores $S C$ are what "
    "softmax sees (RA4). $\\Sigma_i$ is diagonal, $U$ has $r$ columns; sym. averages both sides."
)
SYMMETRISED = r"Where the metrics are without fixed $\lambda$, twice the one-sided width (RA1)."
FIXED_COST = {
    "GPT-2": ("12*d", (18, 45, 82), (32, 80, 143)),
    "Llama-3-8B": ("13*d", (24, 59, 106), (35, 88, 159)),
    "Llama-3-70B": ("51*d/4", (14, 34, 61), (27, 68, 122)),
}
"""Model -> multiply-adds of a layer a token and a feature without 2 n, and the shares in percent
that ranks 1, 4 and 8 add at the published length: scores alone, and with a linear metric head."""


def _typeset(formula: str) -> str:
    """A formula of these tables as LaTeX."""
    return f"${formula.replace('**', '^').replace('*', ' ')}$"


def _value(formula: str, **sizes: int | None) -> str:
    """A formula of these tables at these sizes, exactly."""
    return str(sympy.sympify(formula).subs({k: v for k, v in sizes.items() if v is not None}))


def _key(row: RankRow) -> str:
    return row.family if row.tokens == "generic" else f"{row.family}, {row.tokens}"


def _lines(found: Iterable[RankRow]) -> dict[tuple[str, int | None], dict[int, RankRow]]:
    """Rows of one family and r by d."""
    lines: dict[tuple[str, int | None], dict[int, RankRow]] = {}
    for row in found:
        lines.setdefault((_key(row), row.r), {})[row.d] = row
    return lines


def _spectrum(title: str, found: Iterable[RankRow], dims: tuple[int, ...], note: str) -> Table:
    """The ranks of some families, two rows a family: of the scores and of the centred scores."""
    rows, clauses = [], []
    for (key, r), line in _lines(found).items():
        stated = STATED[key]
        tokens = next(iter(line.values())).tokens
        scores = stated.scores if tokens == "generic" else f"{stated.scores}, {tokens}"
        clauses.append(stated.clause)
        for matrix, formula, part in (("$S$", stated.rank, "rank"),
                                      ("$S C$", stated.centred, "centred")):  # fmt: skip
            cells: list[Cell] = [stated.metrics, scores, str(r or ""), matrix, _typeset(formula)]
            for d in dims:
                row = line.get(d)
                cells.append((str(getattr(row, part)), _value(formula, d=d, r=r)) if row else "")
            rows.append(tuple(cells))
    head = ("metrics", "scores", "$r$", "of", "rank", *map(str, dims))
    return Table(title, tuple(dict.fromkeys(clauses)), head, tuple(rows), note)


def rank_tables(dims: Iterable[int] = DIMS) -> list[Table]:
    """RA3's table at widths d, recomputed: one-sided, symmetrised, on spheres, unsquared.

    Raises like rank_table. Source: RA3.
    """
    found, widths = rank_table(dims := tuple(dims)), f"$d = {dims[0]}, \\dots, {dims[-1]}$"
    bound = [row for row in found if row.tokens != "generic"]
    free = [row for row in found if row.tokens == "generic"]
    averaged = [row for row in free if row.family.endswith(", symmetrised")]
    groups = (
        ("bilinear and one-sided squared scores", EXACT,
         [row for row in free if row not in averaged]),
        ("symmetrised squared scores", SYMMETRISED, averaged),
        ("squared scores of tokens on spheres, with a gain, after LayerNorm", "", bound),
    )  # fmt: skip
    tables = [_spectrum(f"Ranks at {widths}: {name}", rows, dims, note)
              for name, note, rows in groups if rows]  # fmt: skip
    return [*tables, _unsquared(dims)]


def _unsquared(dims: tuple[int, ...]) -> Table:
    """The rank of distances of n = N + 1 distinct tokens, one more than any squared scores allow.

    Source: RA3, RA5.
    """
    cells: list[Cell] = []
    for d in dims:
        n = full_width(d) + 1
        drawn = np.random.default_rng(d).integers(-99, 100, size=(2 * n, d))
        points = np.unique(drawn, axis=0)[:n]
        regular = len(points) == n and distance_determinant(points) != 0
        cells.append((str(n) if regular else "undecided", _value(f"{N} + 1", d=d)))
    return Table(
        "Rank of unsquared distances, metric $I$", ("unsquared",),
        ("tokens", "of", "rank", *map(str, dims)),
        ((f"$n = {_typeset(N)[1:-1]} + 1$", "$S$", "$n$", *cells),),
        "A ball of 256 bits around each determinant excludes 0: the rank is the number of tokens, "
        "here one more than any squared scores reach, and centred $n - 1$ (RA4).",
    )  # fmt: skip


def _percent(share: Fraction) -> str:
    """A share in percent."""
    return f"{float(100 * share):.1f}"


def overhead_tables() -> list[Table]:
    """What distances add to a layer as a function of its length, and at the published ones.

    Source: RA7.
    """
    curves, published = [], []
    for layer in costs.SHAPES:
        fixed, scores, heads = FIXED_COST[layer.name]
        for r, alone, with_head in zip(costs.RANKS, scores, heads, strict=True):
            share = f"{r + 1}*n/({fixed} + 2*n)"
            curves.append((
                layer.name, str(layer.d), str(r), _typeset(share),
                *((_percent(costs.score_overhead(layer, n, r)),
                   _percent(Fraction(_value(share, n=n, d=layer.d)))) for n in LENGTHS),
            ))  # fmt: skip
            found = costs.overhead(layer, r)
            cheap = _value(f"floor({fixed}/({100 * (r + 1)} - 2))", d=layer.d)
            published.append((
                layer.name, str(layer.length), str(r),
                (round(100 * found.scores), alone), (round(100 * found.total), with_head),
                ("yes" if found.scores > Fraction(1, 10) else "no", "yes"),
                (str(costs.longest_cheap(layer, r, NEGLIGIBLE)), cheap),
            ))  # fmt: skip
    return [
        Table("Percent that distances of rank $r$ add to a layer of $n$ tokens", ("counts",),
              ("layer", "$d$", "$r$", "share", *(f"$n = {n}$" for n in LENGTHS)), tuple(curves),
              r"The share, $(r + 1) n d$ over the layer's own multiplications a token, depends on "
              r"$n / d$ alone and tends to $(r + 1) / 2$. A linear metric head adds $(r + 1) d^2$ "
              r"a token more."),
        Table("Percent added at the published length", ("overhead",),
              ("layer", "$n$", "$r$", "distances", "with a metric head", "over a tenth",
               r"up to 1 \% for $n \le$"), tuple(published),
              r"Negligible is read as at most 1 \%: no published length is that short."),
    ]  # fmt: skip
