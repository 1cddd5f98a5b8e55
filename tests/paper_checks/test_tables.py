"""Computed tables reach every rendering, and a value that is not the stated one fails by name."""

import io
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from numerics.evidence.tables import Table
from numerics.scores import families as score_families
from numerics.scores import tables as score_tables
from numerics.scores.tables import STATED, overhead_tables, rank_tables
from paper_checks import appendix, page, run, terminal
from paper_checks.report import Report, TableRecord, TheoremRecord
from paper_checks.tables import computed_tables, table_record, texts

GOOD = Table(
    "Squares of $n$", ("counts",), ("which", "$n = 2$", "$n = 3$"),
    ((r"all \& every\_one 100\%", (4, 4), (9, 9)), ("[even]", ("4", "4"), "")), "A note on $n^2$.",
)  # fmt: skip
WRONG = replace(GOOD, title="Cubes", rows=(("all", (8, 8), (26, 27)),), note="")
DIFFERS = "Cubes: all; $n = 3$: computed 26, stated 27"
OVERFULL = 10.0  # points, as for the whole appendix


def module(*tables: Any) -> Any:
    return SimpleNamespace(tables=lambda: list(tables))


def test_a_module_without_tables_has_none() -> None:
    nothing: tuple[list[TableRecord], list[str]] = ([], [])
    assert computed_tables(SimpleNamespace(), ["counts"]) == nothing


def test_a_table_becomes_a_record_of_the_report() -> None:
    (found,), failures = computed_tables(module(GOOD), ["counts"])
    assert failures == []
    assert found == TableRecord(
        title="Squares of $n$", clauses=("counts",), head=("which", "$n = 2$", "$n = 3$"),
        numbers=(False, True, True), note="A note on $n^2$.", checked=3, failures=(),
        rows=((r"all \& every\_one 100\%", "4", "9"), ("[even]", "4", "")), ok=True,
    )  # fmt: skip


def test_a_value_that_is_not_the_stated_one_is_a_failure_and_shows_both() -> None:
    records, failures = computed_tables(module(GOOD, WRONG), ["counts"])
    assert [record.ok for record in records] == [True, False]
    assert failures == list(records[1].failures) == [DIFFERS]
    assert records[1].rows == (("all", "8", "26 (stated: 27)"),)


def test_tables_without_a_clause_a_table_or_a_text_that_can_be_shown_are_failures() -> None:
    _, failures = computed_tables(module(GOOD), ["other"])
    assert failures == ["Squares of $n$: stated by counts, but no such clause"]
    assert computed_tables(module(), ["counts"]) == ([], ["tables() computed nothing"])
    _, failures = computed_tables(module(3), ["counts"])
    assert failures == ["tables() raised AttributeError: 'int' object has no attribute 'title'"]
    for part in ({"title": "100%"}, {"note": "$x"}, {"head": ("a_", "b", "c")}):
        _, (failure,) = computed_tables(module(replace(GOOD, **part)), ["counts"])
        assert failure.startswith("tables() raised Rejected: "), part


def with_tables(record: TheoremRecord, *tables: Table) -> TheoremRecord:
    return replace(record, tables=tuple(table_record(table) for table in tables))


def printed(report: Report, record: TheoremRecord, on_a_terminal: bool) -> list[str]:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=on_a_terminal, width=200, no_color=True)
    terminal.print_report(replace(report, theorems=(record,)), console)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_verify_prints_one_line_a_table(
    report: Report, record_of: Callable[..., TheoremRecord], on_a_terminal: bool
) -> None:
    lines = printed(report, with_tables(record_of("CW1"), GOOD, WRONG), on_a_terminal)
    assert [line for line in lines if "table:" in line] == [
        "CW1 table: Squares of n: 3 values as stated, ok",
        "CW1 table: Cubes: 1 of 2 values not as stated, FAILED",
    ]
    lines = printed(report, record_of("CW1"), on_a_terminal)
    assert not [line for line in lines if "table:" in line]


@pytest.mark.slow
def test_page_and_appendix_show_the_tables(
    report: Report, record_of: Callable[..., TheoremRecord]
) -> None:
    one = with_tables(record_of("RA7"), GOOD, WRONG)
    both = replace(report, theorems=(one, record_of("CW2")))
    shown = page.render(both)
    assert shown.count("<h3>Computed tables</h3>") == 1
    table = shown[shown.index("Computed tables") : shown.index('<h2 id="CW2"')]
    assert "<td>all &amp; every_one 100%</td>" in table
    assert '<td class="n">26 (stated: 27)</td>' in table
    assert '<a href="#RA7.counts">counts</a>; <span class="bad">1 of 2 values not as' in table
    assert page.count_formulas(both) == shown.count("<math")

    typeset = appendix.render(both)
    assert typeset.count(r"\paragraph{Squares of $n$.} Stated by \textsf{counts}; 3 values") == 1
    assert r"which & $n = 2$ & $n = 3$ \\ \hline\noalign{\smallskip} \endhead" in typeset
    assert r"{}[even] & 4 &  \\" in typeset  # not an argument of the line break before it
    assert r"\textbf{FAILED:} 1 of 2 values not as stated" in typeset


def test_text_of_a_table_cannot_become_markup(
    report: Report, record_of: Callable[..., TheoremRecord]
) -> None:
    evil = replace(GOOD, title="<script>alert(1)</script>")
    shown = page.render(replace(report, theorems=(with_tables(record_of("RA7"), evil),)))
    assert "<script" not in shown


@pytest.mark.slow
def test_a_value_that_is_not_as_stated_fails_its_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "numerics.properties.constant_transport.tables"
    clauses = ("kronecker", "counts")
    monkeypatch.setattr(name, lambda: [replace(WRONG, clauses=clauses)], raising=False)
    record = run.check_theorem("CW1", stress=False)
    assert not record.ok
    assert record.failures[0] == f"CW1.table: {DIFFERS}"
    assert record.failures[-1] == "CW1.table: Cubes: stated by counts, but no such clause"
    assert [table.title for table in record.tables] == ["Cubes"]


@pytest.mark.slow
def test_the_spectrum_states_a_rank_for_every_family() -> None:
    names = {f"{f.name}, {f.kind}" + ("" if f.tokens == "generic" else f", {f.tokens}")
             for f in score_families.families()}  # fmt: skip
    assert names == STATED.keys()
    for table in (tables := rank_tables((1, 4))):
        assert table.ok, table.failures
    assert sum(len(table.rows) for table in tables) == 2 * 50 + 1


@pytest.mark.slow
@pytest.mark.parametrize("part", ["rank", "centred"])
def test_a_wrong_rank_formula_is_caught_for_every_family(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    for key, stated in STATED.items():
        wrong = stated._replace(**{part: f"{getattr(stated, part)} + 1"})
        monkeypatch.setitem(STATED, key, wrong)
    for table in rank_tables((4,))[:3]:
        assert len(table.failures) == table.checked / 2
        line = table.rows[part == "centred"][-1]
        assert table.failures[0].endswith(f"; 4: computed {line[0]}, stated {line[1]}")


def test_the_overhead_tables_hold_and_a_wrong_shape_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert all(table.ok for table in overhead_tables())
    narrow = replace(score_tables.costs.LLAMA_3_8B, matrices=2)
    monkeypatch.setattr(score_tables.costs, "SHAPES", (narrow,))
    curves, published = overhead_tables()
    assert len(curves.failures) == curves.checked == 18
    assert len(published.failures) == 3 * 3  # both shares and the length; still over a tenth


@pytest.mark.slow
def test_singular_distances_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rank_tables((2, 3))[-1].ok
    monkeypatch.setattr(score_tables, "distance_determinant", lambda points: 0)
    assert len(rank_tables((2, 3))[-1].failures) == 2


@pytest.mark.slow
@pytest.mark.latex
def test_the_whole_spectrum_is_typeset_within_the_page(
    report: Report, typeset: Callable[[str], tuple[str, float]]
) -> None:
    tables = {"RA3": rank_tables(), "RA7": overhead_tables()}
    records = tuple(with_tables(r, *tables[r.id]) for r in report.theorems if r.id in tables)
    source = appendix.render(replace(report, theorems=records))
    assert source.count(r"\paragraph{Ranks at") == 3
    _, sticks_out = typeset(source)
    assert sticks_out <= OVERFULL


def test_all_texts_of_a_table_are_typeset_and_counted() -> None:
    found = list(texts(table_record(GOOD)))
    assert found == ["Squares of $n$", "A note on $n^2$.", *GOOD.head,
                     r"all \& every\_one 100\%", "4", "9", "[even]", "4", ""]  # fmt: skip
