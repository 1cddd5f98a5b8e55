"""The whole command on a copy of the suite with one planted theorem, once true and once false."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

THEOREM = '''
"""CW4. An example theorem: row sums add."""
from sympy import Sum
from theorems.statement import Clause, Mutant, Step, Theorem, array, symbols_of

n, m = symbols_of("n m")
i, j = symbols_of("i j")
P, Q = array("P", n, m), array("Q", n, m)
both = Sum(P[i, j] + Q[i, j], (j, 1, m))
add = Step(id="add", lhs=both, rhs=Sum(P[i, j], (j, 1, m)) {sign} Sum(Q[i, j], (j, 1, m)),
           because="A finite sum of sums.")
twin = Step(id="add", lhs=both, rhs=Sum(P[i, j], (j, 1, m)), because="claimed")
THEOREM = Theorem("CW4", "Row sums add", (Clause("addition", "Row sums add.", (add,)),),
                  (Mutant("one_alone", twin, "one alone"),), ())
'''
# What a small theorem needs on the numeric side: a product in two orders.
PROPERTY = """
import numpy as np
from hypothesis import strategies as st
from numerics.properties import Residual

def samples():
    return st.integers(0, 2**32 - 1)

def residual(seed):
    a, b, c = np.random.default_rng(seed).random(3)
    bound = np.array([2 * 2.0**-53 * a * b * c * 1.001])
    return Residual("addition", np.array([(a * b) * c]), np.array([a * (b * c)]), bound, 2)
"""
ROW = """
CATALOGUE = {"CW4": "connection_walks.example"}
IDS = {f"{family}{k}" for family in ("CW", "RA", "AP") for k in range(1, 19)}
PLANNED = PLANNED | IDS - {"CW4"}
"""


def copy_of_the_suite(folder: Path, sign: str) -> None:
    """The packages with one theorem, true for sign + and false for sign -."""
    for package in ("theorems", "numerics", "paper_checks"):
        shutil.copytree(ROOT / package, folder / package, ignore=lambda *_: ["__pycache__"])
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "theorems/connection_walks/example.py").write_text(THEOREM.format(sign=sign))
    (folder / "numerics/properties/example.py").write_text(PROPERTY)
    with (folder / "theorems/catalogue.py").open("a") as stream:
        stream.write(ROW)
    # Claims that name clauses of the theorems taken out are not this test's matter.
    for paper in ("attention_geometry", "riemannian_attention", "attention_pairings"):
        claims = folder / f"paper_checks/papers/{paper}.py"
        claims.write_text(claims.read_text() + "\nCLAIMS, EVIDENCE = (), {}\n")


def run_suite(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-m", "paper_checks", *words], cwd=folder, env=environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "expected"), [("+", 0), ("-", 1)])
def test_a_planted_false_theorem_fails_the_run_and_is_named(
    tmp_path: Path, sign: str, expected: int
) -> None:
    copy_of_the_suite(tmp_path, sign)
    done = run_suite(tmp_path, "verify", "CW4", "--json", "report.json", "--html", "report.html")
    assert done.returncode == expected, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    (record,) = report["theorems"]
    assert report["ok"] == record["ok"] == (expected == 0)
    assert ("FAILED: CW4.addition: " in done.stdout) == bool(expected)
    assert ("CW4.addition: " in (tmp_path / "report.html").read_text()) == bool(expected)
    assert "wrote report.json" in done.stdout
    assert "[1/1] CW4" in done.stderr
