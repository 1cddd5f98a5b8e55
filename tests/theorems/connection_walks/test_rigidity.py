"""CW7 at explicit sizes: its identity for up to four heads with free symbols, the rational angle,
and exact gauges that its hypotheses leave open.
"""

from __future__ import annotations

from random import Random

import pytest
from flint import fmpq
from sympy import Expr

from theorems.checker.exact import (
    Draw,
    Generators,
    LargeRationals,
    Nothing,
    Rejected,
    SmallIntegers,
    evaluate,
)
from theorems.checker.instances import broken, difference, violation
from theorems.checker.world import TRUE
from theorems.connection_walks import rigidity
from theorems.connection_walks.steps import isometric_gauges
from theorems.connection_walks.steps import isometric_heads as heads
from theorems.statement import Rule, Step

ROTATION = [[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]]


def at_heads(step: Rule, count: int) -> tuple[str | None, int]:
    """Where a step fails with free symbols for that many heads, d = 2, and how many there are."""
    assert isinstance(step, Step)
    sizes, given = {"H": count, "d": 2}, TRUE.given(step)
    difference((step.lhs, step.rhs), probe := Draw(LargeRationals(Random(0)), given, sizes))
    free = Generators(probe.source.used + probe.source.quotients + 1)
    return difference((step.lhs, step.rhs), Draw(free, given, sizes)), free.used


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_identity_holds_with_free_symbols(count: int) -> None:
    fault, symbols = at_heads(rigidity.identity, count)
    assert fault is None
    assert symbols >= count


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 4])
def test_identity_without_the_half_fails_with_free_symbols(count: int) -> None:
    (mutant,) = (m for m in rigidity.THEOREM.mutants if m.id == "missing_half")
    fault, _ = at_heads(mutant.claim, count)
    assert fault is not None


def two_heads(second: list, gate: fmpq) -> Draw:
    """O_1 = I, O_2 as given and F = I, one edge with gate g."""
    rule = rigidity.singular_value
    definitions = [item for item in TRUE.given(rule) if not hasattr(item, "rules")]
    draw = Draw(Nothing(Random(0)), definitions, {"n": 1, "d": 2})
    eye = [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]
    transposed = [list(column) for column in zip(*second, strict=True)]
    for base, rows in ((heads.F, eye), (heads.O_1, eye), (heads.inv_1, eye),
                       (heads.O_2, second), (heads.inv_2, transposed)):  # fmt: skip
        heads.put(draw, base, (), rows)
    draw.put(heads.p, (1,), gate)
    draw.put(heads.v, (1,), fmpq(1))
    draw.put(heads.v, (2,), fmpq(0))
    return draw


def values(expr: Expr, draw: Draw) -> list[fmpq]:
    return [fmpq(evaluate(expr, draw, {heads.i: 1, heads.b: row})) for row in (1, 2)]


def test_rational_angle_shrinks_by_four_fifths_and_not_by_nine_tenths() -> None:
    draw = two_heads(ROTATION, fmpq(1, 2))
    draw.entries[str(heads.cosine), ()] = fmpq(3, 5)
    assert values(rigidity.singular_value.lhs, draw) == [fmpq(4, 5), 0]
    assert values(rigidity.singular_value.rhs, draw) == [fmpq(4, 5), 0]
    (mutant,) = (m for m in rigidity.THEOREM.mutants if m.id == "missing_factor_2")
    assert isinstance(mutant.claim, Step)
    assert values(mutant.claim.rhs, draw) == [fmpq(9, 10), 0]


def test_opposite_heads_with_equal_gates_cancel() -> None:
    draw = two_heads([[fmpq(-1), fmpq(0)], [fmpq(0), fmpq(-1)]], fmpq(1, 2))
    draw.entries[str(heads.cosine), ()] = fmpq(-1)
    assert values(rigidity.singular_value.lhs, draw) == [0, 0]
    assert values(rigidity.singular_value.rhs, draw) == [0, 0]


def gauges(rule: Rule, count: int) -> list[Draw]:
    """Exact instances that satisfy everything that a rule assumes."""
    rng, found = Random(1), []
    while len(found) < count:
        try:
            draw = Draw(SmallIntegers(rng), TRUE.given(rule))
            fault = violation(rule, draw)
            valid = not any(broken(item, draw) for item in draw.assumptions)
        except Rejected:
            continue
        if valid:
            assert fault is None
            found.append(draw)
    return found


def entries(draw: Draw, name: str) -> list[fmpq]:
    return [fmpq(value) for (array, _), value in sorted(draw.entries.items()) if array == name]


def test_isometric_gauges_of_differing_heads_exist_and_lose_weight() -> None:
    """Without rows of sum 1 the bound P'_ij s_i <= P_ij s_j is met, by differing heads strictly."""
    strict = 0
    for draw in gauges(isometric_gauges.below, 40):
        signs = [draw.get("O", (h, 1, 1)) for h in range(1, draw.size("H") + 1)]
        nodes = range(1, draw.size("n") + 1)
        lost = any(
            draw.get("P'", (k, m)) * draw.get("s", (k,))
            < draw.get("P", (k, m)) * draw.get("s", (m,))
            for k in nodes
            for m in nodes
        )
        strict += lost
        assert not lost or len(set(signs)) > 1
    assert strict >= 5


@pytest.mark.slow
def test_one_gauge_of_a_similar_walk_is_not_the_walk_itself() -> None:
    """Rows of P must sum to 1 for P' = P: any_gauge alone leaves P' = P_ij s_j / s_i."""
    draws = gauges(isometric_gauges.any_gauge, 40)
    assert any(entries(draw, "P") != entries(draw, "P'") for draw in draws)
    assert all(len({draw.get("O", (h, 1, 1)) for h in range(1, draw.size("H") + 1)}) == 1
               for draw in draws)  # fmt: skip
