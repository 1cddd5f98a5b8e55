"""Checks that cannot fail are not checks: patterns that no file of the suite may contain.

ruff has no rule for these. Each rule reads one syntax tree and yields the offending nodes; each
is shown to catch a planted snippet and to leave its sound twin alone.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("theorems", "numerics", "paper_checks", "tests", "notebooks", "benchmarks")

# Calls that compare within tolerances -> the keywords that must all be given, and after how many
# positional arguments all are.
TOLERANT = {
    "math.isclose": ({"rel_tol", "abs_tol"}, 9),
    "numpy.allclose": ({"rtol", "atol"}, 4),
    "numpy.isclose": ({"rtol", "atol"}, 4),
    "numpy.testing.assert_allclose": ({"rtol", "atol"}, 4),
    "pytest.approx": ({"rel", "abs"}, 3),
    "torch.allclose": ({"rtol", "atol"}, 4),
    "torch.isclose": ({"rtol", "atol"}, 4),
    "torch.testing.assert_close": ({"rtol", "atol"}, 9),
}
TORCH_DRAWS = {"bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint",
               "randint_like", "randn", "randn_like", "randperm"}  # fmt: skip
NUMPY_SEEDED = {"BitGenerator", "Generator", "MT19937", "PCG64", "PCG64DXSM", "Philox",
                "RandomState", "SFC64", "SeedSequence", "default_rng", "seed"}  # fmt: skip
STATES = {"get_state", "getstate"}
CLOCKS = {"time.time", "time.monotonic", "time.perf_counter"}


class Source:
    """A syntax tree in which imported names are known by their full dotted names."""

    def __init__(self, text: str) -> None:
        self.nodes = list(ast.walk(ast.parse(text)))
        self.names: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for a in node.names:
                    bound = a.asname or a.name.split(".")[0]
                    self.names[bound] = a.name if a.asname else bound
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}

    def dotted(self, node: ast.AST) -> str:
        """`np.random.rand` -> "numpy.random.rand"; "" for what is not a dotted name."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (head := self.dotted(node.value)):
            return f"{head}.{node.attr}"
        return ""

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield self.dotted(node.func), node

    def uses(self, *names: str) -> Iterator[ast.expr]:
        """Every mention of one of the dotted names, called or not."""
        for node in self.nodes:
            if isinstance(node, ast.Name | ast.Attribute) and self.dotted(node) in names:
                yield node


def keywords(call: ast.Call) -> set[str]:
    return {k.arg for k in call.keywords if k.arg}


def raises_without_match(source: Source) -> Iterator[ast.AST]:
    """Any exception of that type passes, also one that a typing mistake raised."""
    for name, call in source.calls():
        if name == "pytest.raises" and "match" not in keywords(call):
            yield call


def raises_anything(source: Source) -> Iterator[ast.AST]:
    """`pytest.raises(Exception)` accepts the NameError of a broken test."""
    for name, call in source.calls():
        if name == "pytest.raises":
            expected = call.args[:1] + [
                k.value for k in call.keywords if not k.arg or k.arg == "expected_exception"
            ]
            for node in (n for e in expected for n in ast.walk(e)):
                if source.dotted(node) in {"Exception", "BaseException"}:
                    yield call


def assert_of_a_constant(source: Source) -> Iterator[ast.AST]:
    """`assert True`, `assert "message"` and `assert (x, "message")` hold whatever happens."""
    for node in source.nodes:
        if isinstance(node, ast.Assert):
            test = node.test
            if (isinstance(test, ast.Constant) and test.value) or (
                isinstance(test, ast.Tuple) and test.elts
            ):
                yield node


def skip_or_xfail_without_reason(source: Source) -> Iterator[ast.AST]:
    """Every skip says when it can go."""
    marks = ("pytest.mark.skip", "pytest.mark.xfail", "pytest.mark.skipif")
    called = {id(c.func) for name, c in source.calls() if name in marks and "reason" in keywords(c)}
    yield from (node for node in source.uses(*marks) if id(node) not in called)
    for name, call in source.calls():
        if name in {"pytest.skip", "pytest.xfail"} and not (call.args or call.keywords):
            yield call


def tolerance_left_to_default(source: Source) -> Iterator[ast.AST]:
    """A default tolerance was chosen for other data."""
    for name, call in source.calls():
        needed, positional = TOLERANT.get(name, (set(), 0))
        if needed and len(call.args) < positional and not needed <= keywords(call):
            yield call


def swallowed_exception(source: Source) -> Iterator[ast.AST]:
    """`except Exception: pass` turns every failure into a pass."""
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler):
            types = [node.type] if node.type else []
            if isinstance(node.type, ast.Tuple):
                types = node.type.elts
            broad = not types or any(
                source.dotted(t) in {"Exception", "BaseException"} for t in types
            )
            silent = ast.Pass | ast.Return | ast.Continue | ast.Break | ast.Expr
            if broad and all(
                isinstance(s, silent) and not isinstance(getattr(s, "value", None), ast.Call)
                for s in node.body
            ):
                yield node


def unseeded_draw(source: Source) -> Iterator[ast.AST]:
    """A failure that cannot be drawn again cannot be mended."""
    for name, call in source.calls():
        head, _, draw = name.rpartition(".")
        if draw in STATES:
            continue
        given = bool(call.args or call.keywords)
        if (
            (head == "numpy.random" and (draw not in NUMPY_SEEDED or not given))
            or (head == "torch" and draw in TORCH_DRAWS and "generator" not in keywords(call))
            or (head == "random" and (draw not in {"Random", "seed"} or not given))
        ):
            yield call


def retry_until_it_passes(source: Source) -> Iterator[ast.AST]:
    """Waiting and trying again hides what happens only sometimes."""
    yield from source.uses("pytest.mark.flaky", "time.sleep")
    for loop in source.nodes:
        if isinstance(loop, ast.While):
            yield from (n for n in ast.walk(loop.test) if source.dotted(n) in CLOCKS)


RULES: dict[Callable[[Source], Iterator[ast.AST]], tuple[tuple[str, ...], tuple[str, ...]]] = {
    raises_without_match: (
        ("import pytest\nwith pytest.raises(ValueError): f()",
         "from pytest import raises\nwith raises(ValueError): f()"),
        ("import pytest\nwith pytest.raises(ValueError, match='n'): f()",),
    ),
    raises_anything: (
        ("import pytest\nwith pytest.raises(Exception, match='n'): f()",
         "import pytest\nwith pytest.raises((ValueError, BaseException), match='n'): f()",
         "import pytest as p\np.raises(expected_exception=Exception, match='n')"),
        ("import pytest\nwith pytest.raises(ValueError, match='Exception'): f()",),
    ),
    assert_of_a_constant: (
        ("assert True", "assert 'message'", "assert (x == 1, 'message')", "assert 1, 'one'"),
        ("assert x == 1, 'message'", "assert False, 'not reached'"),
    ),
    skip_or_xfail_without_reason: (
        ("import pytest\n@pytest.mark.xfail\ndef test(): ...",
         "import pytest\n@pytest.mark.xfail()\ndef test(): ...",
         "import pytest\npytestmark = pytest.mark.skip",
         "import pytest\n@pytest.mark.xfail(raises=ValueError)\ndef test(): ...",
         "import pytest\npytest.xfail()"),
        ("import pytest\n@pytest.mark.xfail(reason='goes with 1.1')\ndef test(): ...",
         "import pytest\npytest.skip('no network')"),
    ),
    tolerance_left_to_default: (
        ("import numpy as np\nnp.allclose(a, b)",
         "import numpy as np\nnp.testing.assert_allclose(a, b, rtol=1)",
         "from torch import allclose\nallclose(a, b, atol=1)",
         "import pytest\nassert x == pytest.approx(1.0)"),
        ("import numpy as np\nnp.allclose(a, b, rtol=0, atol=bound)",
         "import torch\ntorch.allclose(a, b, 0, bound)",
         "import pytest\nassert x == pytest.approx(1.0, rel=0, abs=bound)"),
    ),
    swallowed_exception: (
        ("try: f()\nexcept Exception: pass", "def g():\n try: f()\n except: return",
         "def g():\n try: f()\n except Exception: return True",
         "for i in x:\n try: f()\n except (ValueError, BaseException): continue",
         "try: f()\nexcept Exception: ..."),
        ("try: f()\nexcept ValueError: pass", "try: f()\nexcept Exception: raise",
         "try: f()\nexcept Exception as e: failures.append(e)"),
    ),
    unseeded_draw: (
        ("import numpy as np\nnp.random.rand(3)", "import numpy as np\nnp.random.default_rng()",
         "from numpy.random import default_rng\ndefault_rng()",
         "import torch\ntorch.randn(3, 4)", "import torch\ntorch.rand_like(x)",
         "import random\nrandom.random()", "import random\nrandom.Random()"),
        ("import numpy as np\nnp.random.default_rng(7)",
         "import torch\ntorch.randn(3, generator=g)", "import random\nrandom.Random(seed)"),
    ),
    retry_until_it_passes: (
        ("import time\nwhile time.time() < end: f()", "import time\ntime.sleep(1)",
         "from time import sleep\nsleep(1)", "import pytest\n@pytest.mark.flaky\ndef test(): ...",
         "import pytest\n@pytest.mark.flaky(reruns=3)\ndef test(): ..."),
        ("import time\nstart = time.perf_counter()", "while n < 3: n += 1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.__name__)
def test_rule_catches_its_snippets_and_spares_their_twins(
    rule: Callable[[Source], Iterator[ast.AST]],
) -> None:
    caught, spared = RULES[rule]
    for text in caught:
        assert list(rule(Source(text))), f"not caught:\n{text}"
    for text in spared:
        assert not list(rule(Source(text))), f"wrongly caught:\n{text}"


@pytest.mark.slow
def test_no_file_of_the_suite_breaks_a_rule() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert Path(__file__) in files
    found = []
    for path in files:
        source = Source(path.read_text(encoding="utf-8"))
        for rule in RULES:
            for node in rule(source):
                place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '?')}"
                found.append(f"{place}: {rule.__name__}: {rule.__doc__}")
    assert not found, "\n".join(found)
