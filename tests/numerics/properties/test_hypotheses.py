"""Every hypothesis of a theorem is checked on arrays, drawn, and broken."""

from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import find, given, settings
from hypothesis import strategies as st
from sympy import Integer, KroneckerDelta, Rational, Sum

from numerics.properties import hypotheses
from numerics.properties.hypotheses import arrays_of, broken, holds, instance, names, violation
from theorems import catalogue
from theorems.assumptions.entries import exponential, right_inverse, signed, sums_to_one
from theorems.checker.world import TRUE
from theorems.statement import Assumption, Definition, Rule, array, symbols_of

n, m, d, i, j, k, a, b, c = symbols_of("n m d i j k a b c")
P, T, x, y = array("P", n, m), array("T", d, d), array("x", n), array("y", n)
STOCHASTIC = sums_to_one(P)
SEEDS = 8
"""Seeds within which a draw is found that some change of one entry breaks: sizes 1 are vacuous."""

Given = list[Assumption | Definition]


def worlds(theorem: str) -> list[tuple[Given, list[Assumption]]]:
    """What steps of a theorem rest on, and the hypotheses that are first met there: all of them."""
    clauses = catalogue.load(theorem).clauses
    steps = [step for clause in clauses for step in clause.steps]
    rules = [*steps, *(item for s in steps for item in TRUE.closure(s) if isinstance(item, Rule))]
    found: list[tuple[Given, list[Assumption]]] = []
    met: set[int] = set()
    for given_there in sorted((TRUE.given(rule) for rule in rules), key=len):
        fresh = [h for h in given_there if isinstance(h, Assumption) and id(h) not in met]
        if fresh:
            met |= {id(hypothesis) for hypothesis in fresh}
            found.append((given_there, fresh))
    return found


def faults(hypothesis: Assumption, draws: list[dict[str, np.ndarray]]) -> list[str]:
    """What a hypothesis lacks of: something to check, a checker that accepts, a breaker."""
    if not hypothesis.rules and not hypothesis.signs:
        return [f"{hypothesis.id}: no rule and no sign"]
    found = [fault for arrays in draws if (fault := violation(hypothesis, arrays))]
    tensors = [{name: torch.tensor(part) for name, part in arrays.items()} for arrays in draws]
    found += [f"torch: {fault}" for arrays in tensors if (fault := violation(hypothesis, arrays))]
    for arrays in (*draws, *tensors):
        try:
            fault = violation(hypothesis, broken(hypothesis, arrays)) or ""
        except ValueError:
            continue
        if not fault.startswith(f"{hypothesis.id}: "):
            found.append(f"{hypothesis.id}: the broken arrays are said to fail by {fault!r}")
        if not isinstance(next(iter(arrays.values())), np.ndarray):
            return found
    return [*found, f"{hypothesis.id}: nothing breaks it"]


@pytest.mark.slow
@pytest.mark.parametrize("theorem", catalogue.CATALOGUE)
def test_every_hypothesis_has_a_checker_a_strategy_and_a_breaker(theorem: str) -> None:
    """Of every clause: exact instances rounded to float64 and float32 pass in NumPy and torch, and
    broken ones are refused by name. No hypothesis is left out."""
    for given_there, fresh in worlds(theorem):
        draws = [
            instance(given_there, Random(seed), dtype=(np.float64, np.float32)[seed % 2])
            for seed in range(SEEDS)
        ]
        for hypothesis in fresh:
            assert not faults(hypothesis, draws)


def _unchecked() -> Assumption:
    return Assumption("x is generic", "")


def _nothing_to_break() -> Assumption:
    return Assumption("1 = 1", "", rules=((x[i], x[i]),))


@pytest.mark.slow
def test_a_hypothesis_without_checker_or_breaker_is_found() -> None:
    assert faults(_unchecked(), []) == ["x is generic: no rule and no sign"]
    hypothesis = _nothing_to_break()
    draws = [instance([hypothesis], Random(seed)) for seed in range(2)]
    assert faults(hypothesis, draws) == ["1 = 1: nothing breaks it"]


def test_a_hypothesis_that_cannot_be_drawn_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hypotheses, "TRIES", 20)
    impossible = Assumption("x^2 = 2", "", rules=((x[i] ** 2, Integer(2)),))
    with pytest.raises(ValueError, match=r"given must have an instance.* 20 draws of: x\^2 = 2"):
        instance([impossible], Random(0))


def test_an_expression_outside_sums_is_refused() -> None:
    quotient = Assumption("1/x", "", rules=((x[i] ** -1, Integer(1)),))
    with pytest.raises(ValueError, match=r"^1/x\[i\] is no polynomial; name the quotient by a Def"):
        violation(quotient, {"x": np.ones(2)})


@pytest.mark.slow
@settings(max_examples=20, database=None, derandomize=True)
@given(st.data())
def test_the_strategy_draws_instances(data: st.DataObject) -> None:
    hypothesis = right_inverse(array("A", d, d), array("B", d, d))
    arrays = data.draw(arrays_of([hypothesis], {"d": 2}, np.float32))
    assert {name: part.shape for name, part in arrays.items()} == {"A": (2, 2), "B": (2, 2)}
    assert arrays["A"].dtype == np.float32
    assert holds(hypothesis, arrays)


def test_the_strategy_shrinks() -> None:
    """The seed shrinks, which is all that is drawn."""
    options = settings(database=None, derandomize=True, max_examples=200, deadline=None)
    least = find(
        arrays_of([STOCHASTIC, signed(P, ">=0")]), lambda s: len(s["P"]) > 1, settings=options
    )
    first = next(
        found for seed in range(100)
        if len((found := instance([STOCHASTIC, signed(P, ">=0")], Random(seed)))["P"]) > 1
    )  # fmt: skip
    assert np.array_equal(least["P"], first["P"])


U = 2.0**-53
WALK = np.array([[0.25, 0.75], [0.5, 0.5]])


def changed(ulps: float) -> np.ndarray:
    walk = WALK.copy()
    walk[1, 0] += ulps * U
    return walk


def test_one_rounding_of_each_entry_is_allowed_and_no_more() -> None:
    assert holds(STOCHASTIC, {"P": changed(1)})
    found = violation(STOCHASTIC, {"P": changed(16)})
    assert found
    assert found.startswith("P sums to 1: Sum(P[k1, k2], (k2, 1, m)) = 1 fails at k1 = 2: ")
    assert f"{1 + 16 * U!r} against 1.0, bound " in found
    assert float(found.rsplit(" ", 1)[1]) < 8 * U


def test_stated_errors_are_allowed_and_no_more() -> None:
    assert holds(STOCHASTIC, {"P": changed(16)}, {"P": np.full((2, 2), 8 * U)})
    assert not holds(STOCHASTIC, {"P": changed(64)}, {"P": np.full((2, 2), 8 * U)})
    with pytest.raises(ValueError, match=r"^errors must be of given arrays, got Q$"):
        holds(STOCHASTIC, {"P": WALK}, {"Q": np.zeros(1)})


def test_roundings_are_counted() -> None:
    found = hypotheses.rounded(np.array([-2.0, 0.0]), 3)
    assert found == pytest.approx([6 * U, 0], rel=1e-9, abs=1e-300)  # three underflows are less
    single = hypotheses.rounded(np.ones(1, np.float32), 2)
    assert single == pytest.approx(2.0**-23, rel=1e-5, abs=0)


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        ({}, ValueError, "^arrays must have P of 'P sums to 1', got none$"),
        ({"Q": WALK}, ValueError, "^arrays must have P of 'P sums to 1', got Q$"),
        ({"P": WALK[0]}, ValueError, r"^P must have shape \(n, m\)"),
        ({"P": WALK.tolist()}, TypeError, "^P must be a NumPy array or a torch tensor, got list"),
        ({"P": WALK.astype(int)}, TypeError, "^P must be real floating"),
        ({"P": 1e308 * WALK}, ValueError, "^arrays must let .* be evaluated, but it overflows$"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    arrays: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        violation(
            Assumption("P sums to 1", "", ((STOCHASTIC.rules[0][0] ** 2, Integer(1)),)), arrays
        )


def test_one_symbol_is_one_size() -> None:
    equal = Assumption("x = y", "", rules=((x[i], y[i]),))
    assert holds(equal, {"x": np.ones(2), "y": np.ones(2), "z": np.ones(7)})
    with pytest.raises(ValueError, match=r"^y must have shape \(n\) with n = 2, .*got \(3,\)$"):
        violation(equal, {"x": np.ones(2), "y": np.ones(3)})
    with pytest.raises(TypeError, match=r"^y must have the dtype of x, float64, got float32$"):
        violation(equal, {"x": np.ones(2), "y": np.ones(2, np.float32)})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_has_no_hypothesis(bad: float) -> None:
    found = violation(STOCHASTIC, {"P": np.array([[bad, 1.0]])})
    assert found == f"P sums to 1: P must be finite, got {bad} at (0, 0)"


@pytest.mark.parametrize(
    ("sign", "entry", "there"), [(">0", 0.0, False), (">=0", -1e-300, False), ("!=0", 0.0, False),
                                 (">0", 1e-300, True), (">=0", 0.0, True), ("!=0", -1e-300, True)]
)  # fmt: skip
def test_signs_are_exact(sign: str, entry: float, there: bool) -> None:
    found = violation(signed(P, sign), {"P": np.array([[1.0, entry]])})
    assert found == (None if there else f"P{sign}: P[1, 2] is {entry!r}, not {sign}")


def test_deltas_diagonals_powers_and_sizes_are_evaluated() -> None:
    """Each of the parts of the rules told from a near miss."""
    rules = (
        (Sum(T[a, c] * T[c, b], (c, 1, d)), KroneckerDelta(a, b) * d**2),
        (Sum(T[a, a], (a, 1, d)) * Rational(1, 2), d),
    )
    hypothesis = Assumption("T^2 = d^2 I", "", rules)
    turn = np.diag([2.0, 3.0, 1.0])
    found = violation(hypothesis, {"T": turn})
    assert found
    assert "fails at a = 1, b = 1: 4.0 against 9.0" in found
    found = violation(hypothesis, {"T": 3 * np.eye(3)})
    assert found
    assert "T[a, a]" in found
    assert "4.5 against 3.0" in found
    found = violation(hypothesis, {"T": np.array([[2.0, 1e-9], [0.0, 2.0]])})
    assert found
    assert "fails at a = 1, b = 2: 4e-09 against 0.0" in found
    constant = Assumption("", "", rules=((Sum(x[i], (i, 1, n), (a, 1, n)), 3 * n * n),))
    assert holds(constant, {"x": np.full(2, 3.0)})
    assert not holds(constant, {"x": np.full(2, 6.0)})


@pytest.mark.parametrize("base", [np.exp, np.exp2])
def test_an_exponential_is_one_of_e_or_of_2(base: Any) -> None:
    """Exact instances take 2 for e, the same throughout."""
    hypothesis, logs = exponential(x, y), np.array([0.5, -3.0])
    assert holds(hypothesis, {"x": base(logs), "y": logs})
    assert not holds(hypothesis, {"x": base(logs) * (1 + 64 * U), "y": logs})
    mixed = np.array([np.exp(0.5), np.exp2(-3.0)])
    found = violation(hypothesis, {"x": mixed, "y": logs})
    assert found
    assert found.startswith("x = exp(y): x[2] is 0.125, not exp(y) = 0.0497")


def test_gradients_are_left_alone() -> None:
    walk = torch.tensor(WALK, requires_grad=True)
    assert holds(STOCHASTIC, {"P": walk})
    assert broken(STOCHASTIC, {"P": walk})["P"][0, 0] == 1.25
    assert walk.detach().numpy().tolist() == WALK.tolist()


def test_breaking_needs_arrays_that_hold_and_copies_them() -> None:
    before = WALK.copy()
    found = broken(STOCHASTIC, {"P": before})
    assert np.array_equal(before, WALK)
    assert np.argwhere(found["P"] != before).tolist() == [[0, 0]]
    with pytest.raises(
        ValueError, match=r"^arrays must have the hypothesis that is to be broken, "
    ):
        broken(STOCHASTIC, found)
    edges = Assumption("T = 0 where P", "", rules=((x[i] * y[i], Integer(0)),))
    with pytest.raises(ValueError, match=r"^no change of one entry breaks 'T = 0 where P'"):
        broken(edges, {"x": np.zeros(1), "y": np.zeros(1)})


def test_names_are_those_of_arrays_and_of_free_numbers() -> None:
    (number,) = symbols_of("q")
    hypothesis = Assumption(
        "", "", rules=((Sum(x[i], (i, 1, n)), number + n + KroneckerDelta(j, j)),)
    )
    assert names(hypothesis) == {"x": ("n",), "q": ()}
    assert names(exponential(x, y)) == {"x": ("n",), "y": ("n",)}


@pytest.mark.slow
def test_a_hypothesis_is_found_by_its_clause() -> None:
    found = hypotheses.assumption("CW5", "energy", "P sums to 1")
    assert found.rules[0][1] == 1
    with pytest.raises(
        ValueError, match=r"^CW5 energy must assume 'P sums to 2', but it assumes P s"
    ):
        hypotheses.assumption("CW5", "energy", "P sums to 2")
    with pytest.raises(ValueError, match=r"^CW5 nowhere must assume .* but it assumes nothing$"):
        hypotheses.assumption("CW5", "nowhere", "P sums to 1")
