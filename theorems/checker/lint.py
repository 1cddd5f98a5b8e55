"""Constructs that no file of theorems/ may contain: each lets something false look checked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
METHODS = {"subs", "xreplace", "doit", "simplify", "nsimplify", "evalf"}  # capture, or hide a step
NAMES = {"simplify", "nsimplify", "field", "Idx", "MatrixSymbol"}
LEVELS = {"K", "G", "S", "N", "PROVED", "REFUTED", "VERIFIED", "MEASURED", "OPEN"}
NAMING = {"array", "symbols_of", "Symbol", "IndexedBase"}
TYPED = {"counterexample", "instance", "draw", "values"}
IDLE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)  # carry nothing by themselves
ALLOWED = {  # quotients of exact numbers, which are never symbols, and the toss of a coin
    "checker/exact.py": {"1 / fmpq(value)", "0.5"},
    "connection_walks/edge_gauge.py": {"fmpq(1, 3) / w"},
}


def _called(node: ast.AST) -> str:
    """The name of the function that a node calls, or nothing."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "id", getattr(function, "attr", ""))


def _number(node: ast.AST) -> bool:
    """Whether a node is a literal number, such as 3, -3, fmpq(1, 3) or Integer(3)."""
    if isinstance(node, ast.UnaryOp):
        return _number(node.operand)
    if _called(node) in ("fmpq", "Integer", "Rational"):
        return all(_number(part) for part in node.args)  # pyright: ignore[reportAttributeAccessIssue]
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _faults(node: ast.AST, name: str) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=attr) if attr in METHODS:
            yield f".{attr} may capture a bound index or hide a step"
        case ast.Call(func=ast.Attribute(attr="replace"), args=args) if not all(
            isinstance(part, ast.Constant) and isinstance(part.value, str) for part in args
        ):
            yield ".replace may capture a bound index"
        case ast.Name(id=used) | ast.alias(name=used) if used in NAMES:
            yield f"{used} decides nothing here"
        case ast.BinOp(op=ast.Div(), right=right) if not _number(right):
            if (quotient := ast.unparse(node)) not in ALLOWED.get(name, ()):
                yield f"{quotient} may cancel what is 0/0: name it by a Definition"
        case ast.BinOp(op=ast.Pow(), right=ast.UnaryOp(op=ast.USub())):
            yield f"{ast.unparse(node)} is a quotient: name it by a Definition"
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            sides = {getattr(side, "attr", getattr(side, "id", "")) for side in (left, right)}
            if sides == {"lhs", "rhs"}:
                yield "lhs - rhs lets SymPy decide"
        case ast.Constant(value=float()) if ast.unparse(node) not in ALLOWED.get(name, ()):
            yield f"{node.value} is a float"
        case ast.Lambda(body=ast.Constant()):
            yield f"{ast.unparse(node)} cannot fail"
    yield from _call_faults(node) if isinstance(node, ast.Call) else ()


def _call_faults(node: ast.Call) -> Iterator[str]:
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if "check" in given:
        yield "check= types what a run must find out"
    if given.keys() >= {"lhs", "rhs"}:
        left, right = (ast.unparse(given[side]) for side in ("lhs", "rhs"))
        if left == right:
            yield f"both sides are {left}"
    if _called(node) == "Mutant":
        typed = any(isinstance(part, ast.Dict) for part in ast.walk(node))
        if typed or given.keys() & TYPED:
            yield "the counterexample of a Mutant is found, never typed"


def forbidden(source: str, name: str) -> list[str]:
    """One line for each forbidden construct; `name` is the file's path within theorems/."""
    about_mathematics = "/" in name and not name.startswith("checker/")
    nodes, found = [n for n in ast.walk(ast.parse(source)) if not isinstance(n, IDLE)], []
    named = {id(part) for node in nodes if _called(node) in NAMING for part in ast.walk(node)}
    for node in nodes:
        faults = [*_faults(node, name)]
        if isinstance(node, ast.Constant) and id(node) not in named and about_mathematics:
            faults += [f"{node.value!r} types a level or verdict"] * (node.value in LEVELS)
        found += [(getattr(node, "lineno", 0), fault) for fault in faults]
    return [f"theorems/{name}:{line}: {fault}" for line, fault in sorted(found)]


def lint_package(package: Path = PACKAGE) -> list[str]:
    """The forbidden constructs of all files of theorems/."""
    files = sorted(package.rglob("*.py"))
    return [line for file in files for line in forbidden(
        file.read_text(encoding="utf-8"), file.relative_to(package).as_posix())]
