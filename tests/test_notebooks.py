"""Stored notebooks are what their sources give, and a notebook that is not is caught."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from theorems import catalogue

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
TOOL = NOTEBOOKS / "build.py"
SOURCES = sorted(path for path in NOTEBOOKS.glob("*.py") if path != TOOL)
SOURCE = """\
# %% [markdown]
# A rotation $R$ is orthogonal: $R^T R = I$.

# %%
import matplotlib.pyplot as plt
import numpy as np

R = np.array([[0, -1], [1, 0]])
print(R.T @ R)
print({"query", "key", "value"})

# %%
plt.plot([0, 1], [1, 0])
plt.title("a line")
plt.show()

# %%
{i: i**2 for i in range(3)}
"""

pytestmark = pytest.mark.notebook


@pytest.fixture(scope="module", autouse=True)
def _jupyter(require_tool: Callable[..., str]) -> None:
    for module in ("jupytext", "nbclient", "ipykernel"):
        require_tool(module, why="it executes notebooks", how="pip install '.[notebooks]'")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The text of a small source and of the notebook built from it."""
    folder = tmp_path_factory.mktemp("example")
    (folder / "rotation.py").write_text(SOURCE, encoding="utf-8")
    result = run(folder)
    assert result.returncode == 0, result.stderr
    return SOURCE, (folder / "rotation.ipynb").read_text(encoding="utf-8")


@pytest.fixture
def folder(example: tuple[str, str], tmp_path: Path) -> Path:
    """A folder with that source and its notebook, to spoil."""
    for suffix, text in zip(("py", "ipynb"), example, strict=True):
        (tmp_path / f"rotation.{suffix}").write_text(text, encoding="utf-8")
    return tmp_path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_stored_notebook_is_current(source: Path) -> None:
    result = run("--check", "--only", source.stem)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "notebooks checked: 1\n"


def test_a_notebook_that_is_not_there_is_named() -> None:
    result = run("--check", "--only", "absent")
    assert result.returncode == 1
    assert "absent: no such notebook" in result.stderr
    assert result.stdout == "notebooks checked: 0\n"


def unknown_clauses(text: str) -> list[str]:
    """Clauses that a text names, such as CW2.gates, and no theorem has."""
    found = re.findall(r"\b([A-Z]{2}\d+)\.([a-z]\w*)", text)
    known = {i: {c.name for c in catalogue.load(i).clauses} for i, _ in found}
    return sorted({f"{i}.{name}" for i, name in found if name not in known[i]})


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_clause_that_a_notebook_names_exists(source: Path) -> None:
    assert not unknown_clauses(source.read_text(encoding="utf-8"))


def test_a_clause_that_no_theorem_has_is_noticed() -> None:
    text = "gates are weights (CW2.gates, CW2.gate_sums) of CW2. The weights add up"
    assert unknown_clauses(text) == ["CW2.gate_sums"]


@pytest.mark.slow
def test_a_second_run_gives_the_same_notebook(folder: Path) -> None:
    result = run("--check", folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "notebooks checked: 1\n"


@pytest.mark.slow
def test_the_notebook_holds_outputs_and_nothing_of_this_machine(example: tuple[str, str]) -> None:
    text = example[1]
    cells = nbformat.reads(text, as_version=4).cells
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "code", "code"]
    assert cells[1].outputs[0].text.startswith("[[1 0]\n [0 1]]\n")
    assert "<svg" in cells[2].outputs[0].data["image/svg+xml"]
    assert cells[3].outputs[0].data["text/plain"] == "{0: 0, 1: 1, 2: 4}"
    for noise in ("Matplotlib v", "dc:date", "language_info", "timestamp", str(Path.home())):
        assert noise not in text, noise


@pytest.mark.slow
def test_a_stale_output_is_caught(folder: Path) -> None:
    replace(folder / "rotation.ipynb", "[[1 0]", "[[2 0]")
    result = run("--check", folder)
    assert result.returncode == 1
    assert "rotation.ipynb is stale: cell 2 has another outputs" in result.stderr
    assert "[[2 0]" in result.stderr


@pytest.mark.slow
def test_a_stale_figure_is_caught(folder: Path) -> None:
    for name in ("rotation.py", "rotation.ipynb"):
        replace(folder / name, "plt.plot([0, 1], [1, 0])", "plt.plot([0, 1], [1, 0.5])")
    result = run("--check", folder)
    assert result.returncode == 1
    assert "cell 3 has another outputs" in result.stderr


@pytest.mark.slow
def test_a_source_edited_without_a_run_is_caught(folder: Path) -> None:
    replace(folder / "rotation.py", "is orthogonal", "is not symmetric")
    result = run("--check", folder)
    assert result.returncode == 1
    assert "cell 1 has another source" in result.stderr


@pytest.mark.slow
def test_a_cell_more_and_a_changed_layout_are_caught(folder: Path) -> None:
    replace(folder / "rotation.ipynb", '"display_name": "Python 3"', '"display_name": "mine"')
    result = run("--check", folder)
    assert result.returncode == 1
    assert "is stale: its metadata or layout" in result.stderr
    with (folder / "rotation.py").open("a", encoding="utf-8") as source:
        source.write("\n# %%\n1 + 1\n")
    assert "4 cells are stored, the source has 5" in run("--check", folder).stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# %%\n1 / 0\n", "ZeroDivisionError"),
        ("# %%\nimport warnings\nwarnings.warn('old')\n", "cell 1 writes to stderr"),
        ("# %% [markdown]\n# Only words.\n", "no code cell"),
    ],
    ids=["error", "warning", "no code"],
)
def test_a_source_that_cannot_be_shown_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.py").write_text(text, encoding="utf-8")
    result = run(tmp_path)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (tmp_path / "bad.ipynb").exists()


@pytest.mark.slow
def test_a_notebook_without_a_source_or_a_source_without_one_is_caught(folder: Path) -> None:
    (folder / "rotation.ipynb").rename(folder / "renamed.ipynb")
    result = run("--check", folder)
    assert result.returncode == 1
    assert "renamed.ipynb has no source beside it" in result.stderr
    assert "rotation.ipynb is missing: run 'make notebooks'" in result.stderr


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import a module of what the notebooks share, as a notebook does from its own folder."""
    monkeypatch.syspath_prepend(str(NOTEBOOKS))
    return lambda name: importlib.import_module(f"reading.{name}")


SQUARE = [[0, 0], [3, 1], [1, 2]]


@pytest.mark.parametrize(("step", "answer"), [(0, "holds"), (1, "FAILS")], ids=["true", "false"])
def test_an_exact_check_tells_a_step_from_its_false_twin(
    reading: Callable[[str], Any], capsys: pytest.CaptureFixture[str], step: int, answer: str
) -> None:
    theorem = catalogue.load("CW8")
    twin = next(m.claim for m in theorem.mutants if m.id == "without_factor_two")
    rule = (reading("twins").step_of(theorem, "token_cycle"), twin)[step]
    arrays = {"x": SQUARE, "M": [[1, 2], [0, 1]], "r": [0, 1, 5], "c": [2, 0, 1]}
    reading("twins").exact_check("cycle sum", rule, arrays, 10)
    assert capsys.readouterr().out == f"cycle sum  {answer}, hypotheses hold\n"


@pytest.mark.parametrize(
    ("law", "answer"), [([1, 1], "hold"), ([1, 2], "FAIL")], ids=["stationary", "not stationary"]
)
def test_an_exact_check_names_hypotheses_that_fail(
    reading: Callable[[str], Any], capsys: pytest.CaptureFixture[str], law: list[int], answer: str
) -> None:
    rule = reading("twins").step_of(catalogue.load("CW9"), "reversed_law")
    reading("twins").exact_check("law", rule, {"P": [[0, 1], [1, 0]], "pi": law}, 3)
    assert capsys.readouterr().out.endswith(f"hypotheses {answer}\n")


def test_rounding_noise_does_not_reach_a_notebook(reading: Callable[[str], Any]) -> None:
    assert reading("statements").number(-1e-17) == "0.00"
    pair = [0.5 + 1e-17j, 0.5 - 2e-17j, -1e-18]
    assert str(reading("pictures").tidy(pair).tolist()) == "[0j, (0.5+0j), (0.5+0j)]"
