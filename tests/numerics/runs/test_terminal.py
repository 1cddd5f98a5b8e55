"""A table and a bar on a terminal; whole tab-separated lines and a line a step elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from numerics.runs.terminal import print_line, print_table, progress

ROWS = [("CW2", "[b]1 :x:[/b]"), ("RA7", "a verdict " * 20)]


def console(terminal: bool, width: int = 60) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    shown = Console(file=stream, force_terminal=terminal, width=width, color_system=None)
    return shown, stream


def test_other_programs_read_whole_lines() -> None:
    shown, stream = console(terminal=False)
    print_table(shown, ("id", "value"), ROWS, "Title")
    print_line(shown, "[dim]note[/dim]")
    expected = ["id\tvalue", *map("\t".join, ROWS), "[dim]note[/dim]"]
    assert stream.getvalue() == "".join(f"{line}\n" for line in expected)


def test_a_terminal_gets_a_table_of_which_no_text_is_cut_off() -> None:
    shown, stream = console(terminal=True)
    print_table(shown, ("id", "value"), [*ROWS, ("AP1", "x" * 70)], "Title")
    lines = stream.getvalue().splitlines()
    assert [line.strip() for line in lines[:3]] == ["Title", "id  value", "CW2 [b]1 :x:[/b]"]
    assert all(len(line) <= 60 for line in lines)
    assert stream.getvalue().split().count("verdict") == 20
    assert stream.getvalue().count("x") == 1 + 70
    assert "\t" not in stream.getvalue()


def test_a_row_has_its_style() -> None:
    stream = io.StringIO()
    shown = Console(file=stream, force_terminal=True, width=60, color_system="standard")
    print_table(shown, ("id",), [("good",), ("bad",)], styles=[None, "red"])
    good, bad = (next(x for x in stream.getvalue().splitlines() if n in x) for n in ("good", "bad"))
    assert "\x1b[31m" not in good
    assert "\x1b[31m" in bad


@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_no_table_is_refused(terminal: bool) -> None:
    shown, stream = console(terminal)
    with pytest.raises(ValueError, match="rows must have 2 cells, got 1: CW2"):
        print_table(shown, ("id", "value"), [("CW2",)])
    with pytest.raises(ValueError, match="styles must be one for each of 2 rows, got 1"):
        print_table(shown, ("id", "value"), ROWS, styles=["red"])
    assert stream.getvalue() == ""


def test_steps_are_lines_elsewhere() -> None:
    shown, stream = console(terminal=False)
    with progress(shown, 3) as steps:
        steps.begins("the first")
        assert stream.getvalue() == ""
        steps.done("[1/3] first: ok")
        assert stream.getvalue() == "[1/3] first: ok\n"
        steps.done(count=2)
    assert stream.getvalue() == "[1/3] first: ok\n"


def test_steps_are_a_bar_on_a_terminal() -> None:
    shown, stream = console(terminal=True)
    with progress(shown, 3) as steps:
        steps.done("[1/3] [b]first: ok")
        steps.done(count=2)
        steps.begins("[b]the end")
    found = stream.getvalue()
    assert "3/3" in found
    assert "[b]the end" in found
    assert "[1/3] [b]first: ok\n" not in found


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_that_another_process_shows_are_not_shown(terminal: bool) -> None:
    shown, stream = console(terminal)
    with progress(shown, 3, shown=False) as steps:
        steps.begins("the first")
        steps.done("first: ok")
    assert stream.getvalue().strip() == ""
