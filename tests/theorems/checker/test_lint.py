"""The lint of theorems/: every forbidden construct is caught, and its sound twin is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from theorems.checker.lint import PACKAGE, forbidden, lint_package

# The construct with its fault, what the line says, a sound twin.
CONSTRUCTS = {
    "subs": ("total.subs(n, 2)", "capture", "substitute(total, n, 2)"),
    "xreplace": ("total.xreplace({n: 2})", "capture", "{n: 2}"),
    "doit": ("Sum(x[i], (i, 0, n)).doit()", "capture", "Sum(x[i], (i, 1, n))"),
    "simplify as a method": ("(a + b).simplify()", "hide a step", "normal_form(a + b)"),
    "replace on an expression": ("total.replace(x, y)", "capture", "replace(step, lhs=total)"),
    "replace, twin on text": ("name.replace(dot, '/')", "capture", "name.replace('.', '/')"),
    "simplify as a function": ("simplify(a - b) == 0", "simplify decides", "not subtract(a, b)"),
    "nsimplify": ("from sympy import nsimplify", "nsimplify decides", "from sympy import Rational"),
    "field": ("field('a b', QQ)", "field decides", "fmpq_mpoly_ctx.get('a b')"),
    "Idx": ("i = Idx('i', n)", "Idx decides", "(i,) = symbols_of('i')"),
    "MatrixSymbol": ("A = MatrixSymbol('A', n, n)", "MatrixSymbol", "A = array('A', n, n)"),
    "division by a symbol": ("A * (x / A)", r"x / A may cancel", "x / 2"),
    "division by a computed number": ("1 / fmpq(size)", "may cancel", "1 / fmpq(3)"),
    "division by a power": ("x * A ** -1", "is a quotient", "x * A ** 2"),
    "a float": ("0.5 * x", "is a float", "x / 2"),
    "a float in exponent notation": ("tolerance = 1e-6", "is a float", "cap = 10**6"),
    "a check that cannot fail": ("lambda: True", "cannot fail", "lambda: found"),
    "a check that takes anything": ("lambda value: 1", "cannot fail", "lambda value: value"),
    "check=": ("Step(id='s', check=True)", "check= types", "Step(id='s', because='')"),
    "a step with identical sides": ("Step(lhs=x[i]+y[i], rhs=x[i] + y[i])", "both sides are",
                                    "Step(lhs=x[i] + y[i], rhs=y[i])"),
    "identical sides by replace": ("replace(step, lhs=mean, rhs=mean)", "both sides are",
                                   "replace(step, lhs=mean, rhs=total)"),
    "lhs - rhs": ("step.lhs - step.rhs", "lets SymPy decide", "subtract(step.lhs, step.rhs)"),
    "rhs - lhs": ("rhs - lhs", "lets SymPy decide", "large - small"),
    "a typed level": ("LEVEL = 'G'", "types a level", "metric = array('G', n, n)"),
    "a typed verdict": ("Clause('c', 'PROVED', ())", "types a level", "Clause('c', 'proved', ())"),
    "a typed counterexample": ("Mutant('m', step, 't', counterexample=draw)", "never typed",
                               "Mutant('m', step, 't', drop=(stochastic,))"),
    "a typed instance": ("Mutant('m', Witness(values={w: [-1]}), 't')", "never typed",
                         "Witness(values={w: [-1]})"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_forbidden_construct_is_caught(construct: str) -> None:
    fault, line, _ = CONSTRUCTS[construct]
    with pytest.raises(ValueError, match=rf"^theorems/family/slug\.py:2: .*{line}"):
        raise ValueError("\n".join(forbidden(f"'''Text.'''\n{fault}", "family/slug.py")))


@pytest.mark.slow
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_its_sound_twin_is_left_alone(construct: str) -> None:
    *_, twin = CONSTRUCTS[construct]
    assert forbidden(twin, "family/slug.py") == []


def test_text_may_speak_of_what_is_forbidden() -> None:
    source = '"""Sum.subs captures; simplify decides nothing; P_ij / w, 0.5, lhs - rhs."""\n# 1.5\n'
    assert forbidden(source, "family/slug.py") == []


def test_each_fault_is_one_line_in_order() -> None:
    found = forbidden("a = b / c\nb = 0.5\nc = simplify(a)\n", "family/slug.py")
    assert [line.split(":")[1] for line in found] == ["1", "2", "3"], found


@pytest.mark.slow
def test_theorems_are_free_of_forbidden_constructs() -> None:
    assert lint_package() == [], "\n".join(lint_package())


@pytest.mark.slow
def test_the_lint_reads_every_file(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, copy := tmp_path / "theorems", ignore=lambda *_: ["__pycache__"])
    files = sorted(copy.rglob("*.py"))
    assert len(files) >= 100
    for file in files:
        file.write_text(file.read_text() + "\ntolerance = 1e-6\n")
    found = lint_package(copy)
    assert len(found) == len(files), found
    for file, fault in zip(files, found, strict=True):
        assert fault.startswith(f"theorems/{file.relative_to(copy)}:"), fault
        assert fault.endswith(": 1e-06 is a float")
