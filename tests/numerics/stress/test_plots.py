"""Plots of residual and bound against n: which files, which points, the same text each time."""

import re
from pathlib import Path
from typing import Any

import pytest

from numerics.stress import __main__ as command_line
from numerics.stress import plots


def record(n: int, **changed: Any) -> dict[str, Any]:
    cell = {"id": "CW2", "cell": "gates", "n": n, "d": 8, "heads": 2, "dtype": "float32",
            "device": "cpu", "seed": 0, "residual": 1e-7 * n, "bound": 1e-6 * n}  # fmt: skip
    return {**cell, **changed}


@pytest.mark.slow
def test_a_grid_over_n_ends_with_a_plot_a_dtype(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ["CW2", "--n", "5", "9", "--dtype", "float32", "bfloat16", "--d", "8", "--heads", "2"]
    for _ in range(2):
        assert command_line.main([*grid, "--out", str(tmp_path)]) == 0
        assert {path.name for path in tmp_path.glob("*.svg")} == {
            "CW2-float32.svg", "CW2-bfloat16.svg",
        }  # fmt: skip
        assert capsys.readouterr().err.count("residual and bound against n: ") == 2
    text = (tmp_path / "CW2-float32.svg").read_text()
    assert "gates, d=8, H=2, seed 0: residual" in text
    assert "gates, d=8, H=2, seed 0: bound" in text


def test_one_length_and_cells_without_a_bound_have_no_plot(tmp_path: Path) -> None:
    absent = record(9)
    del absent["residual"], absent["bound"]
    assert plots.write(tmp_path, [record(5), record(5, seed=1), absent]) == []
    assert plots.write(tmp_path, [record(5), record(9, bound=None, residual=None)]) == []
    assert plots.write(tmp_path, [record(5), record(9, dtype="float64")]) == []
    assert not list(tmp_path.iterdir())


def test_a_series_differs_in_n_alone() -> None:
    cells = [record(9), record(5), record(5, d=16), record(7, ranks=2), record(7, seed=3)]
    found = {name: [cell["n"] for cell in points] for name, points in plots.series(cells).items()}
    assert found == {
        "gates, d=8, H=2, seed 0": [5, 9],
        "gates, d=16, H=2, seed 0": [5],
        "gates, d=8, H=2, ranks=2, seed 0": [7],
        "gates, d=8, H=2, seed 3": [7],
    }


@pytest.mark.slow
def test_a_residual_of_zero_is_left_out_and_the_text_is_reproducible() -> None:
    def markers(cells: list[dict[str, Any]]) -> int:
        """Markers of both lines, the two in the legend apart."""
        return len(re.findall(r"<use [^>]*xlink:href=\"#m", plots.svg("x", cells)))

    whole = [record(n) for n in (5, 9, 17)]
    exact = [record(n, residual=0.0 if n == 9 else 1e-7 * n) for n in (5, 9, 17)]
    assert markers(exact) == markers(whole) - 1
    assert plots.svg("x", whole) == plots.svg("x", whole)


@pytest.mark.slow
def test_powers_of_n_are_straight_lines() -> None:
    """Both axes are logarithmic: a residual and a bound that grow like n have their points, of
    lengths ten times apart, at equal steps."""
    whole = plots.svg("x", [record(n) for n in (10, 100, 1000)])
    found = re.findall(
        r'xlink:href="#m\w+" x="([0-9.]+)" y="([0-9.]+)" style="fill: #1f77b4', whole
    )
    points = [(float(x), float(y)) for x, y in found][:6]
    assert len(points) == 6
    for line in (points[:3], points[3:]):
        (x, y), (x2, y2), (x3, y3) = line
        assert x2 - x > 1
        assert y - y2 > 1
        # Coordinates are printed to six digits after the point.
        assert abs((x3 - x2) - (x2 - x)) < 1e-5
        assert abs((y3 - y2) - (y2 - y)) < 1e-5
    assert points[0][1] > points[3][1], "the bound lies above the residual"
