"""Formal statements are tied to the catalogue, and what the kernel says enters the report."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paper_checks import appendix, page
from paper_checks.exposition import exposition
from paper_checks.formal import kernel
from paper_checks.formal.clauses import PART, WHOLE
from paper_checks.formal.kernel import (
    ABSENT,
    CHECKED,
    FAILED,
    FORMAL,
    NOT_INSTALLED,
    Checked,
    check_formal,
    read_development,
    settle_formal,
    tie_faults,
)
from paper_checks.formal.source import Stated
from paper_checks.report import Report, TheoremRecord
from theorems import catalogue

RecordOf = Callable[..., TheoremRecord]
STATED = read_development().stated


def test_statements_files_table_and_catalogue_agree() -> None:
    development = read_development()
    assert list(development.faults) == []
    assert {s.source for s in development.stated} <= development.proofs.keys()
    for one in development.stated:
        clauses = {c.name for c in catalogue.load(one.theorem_id).clauses}
        assert one.clause in clauses
        assert one.name.startswith(f"{one.theorem_id}_{one.clause}")


def test_every_line_fits_the_printed_page() -> None:
    for path in FORMAL.glob("*.v"):
        text = path.read_text(encoding="ascii")
        assert max(map(len, text.splitlines())) <= 100, path.name
        assert len(text.splitlines()) <= 300 or path.name == "statements.v", path.name


def stated(name: str, source: str) -> Stated:
    theorem_id, _, clause = name.partition("_")
    return Stated(name, theorem_id, clause, "True", source, clause)


@pytest.mark.parametrize(
    ("name", "source", "whole", "part", "message"),
    [
        ("CW1_kronecker", "edge_gauge", {"CW1": ("kronecker",)}, {},
         "proved in edge_gauge.v, not in constant_transport.v"),
        ("CW1_kroneker", "constant_transport", {"CW1": ("kroneker",)}, {}, "no such clause"),
        ("CW1_kronecker", "constant_transport", {}, {}, "stated, but not in clauses.py"),
        ("CW1_kronecker", "constant_transport", {"CW1": ("kronecker", "biases")}, {},
         "CW1.biases: in clauses.py, but not stated"),
        ("CW1_kronecker", "constant_transport", {"CW1": ("kronecker",)},
         {"CW1.kronecker": "all"}, "both whole and in part"),
        ("XX1_kronecker", "constant_transport", {"XX1": ("kronecker",)}, {}, "not in no.v"),
    ],
)  # fmt: skip
def test_a_statement_hangs_on_one_clause_of_the_catalogue(
    name: str, source: str, whole: dict[str, tuple[str, ...]], part: dict[str, str], message: str
) -> None:
    good = [stated("CW1_kronecker", "constant_transport")]
    assert tie_faults(good, {"CW1": ("kronecker",)}, {}) == []
    assert any(message in fault for fault in tie_faults([stated(name, source)], whole, part))


@pytest.fixture
def one_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of CW1 the clause kronecker alone is whole, and biases is proved in part."""
    monkeypatch.setattr(kernel, "WHOLE", {"CW1": ("kronecker",)})
    monkeypatch.setattr(kernel, "PART", {"CW1.biases": "the second half"})


ABOUT = (stated("CW1_kronecker", "constant_transport"), stated("CW1_biases", "constant_transport"))
NAMES = frozenset(one.name for one in ABOUT)


@pytest.mark.usefixtures("one_clause")
def test_level_k_needs_a_whole_clause_that_the_kernel_closed(record_of: RecordOf) -> None:
    record = settle_formal(record_of("CW1"), Checked(CHECKED, ABOUT, NAMES))
    levels = {clause.name: clause.level for clause in record.clauses}
    assert [name for name, level in levels.items() if level == "K"] == ["kronecker"]
    assert levels["biases"] == "G"
    assert record.kernel == CHECKED
    assert record.level == "G"
    assert [f.left_out for f in record.formal] == ["", "the second half"]


def test_a_clause_that_nothing_states_stays_where_it_was(
    record_of: RecordOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "WHOLE", {"CW1": ("kronecker", "biases")})
    record = settle_formal(
        record_of("CW1"), Checked(FAILED, ABOUT[:1], NAMES, errors=["biases: not stated"])
    )
    levels = {clause.name: clause.level for clause in record.clauses}
    assert (levels["kronecker"], levels["biases"]) == ("K", "G")


@pytest.mark.usefixtures("one_clause")
@pytest.mark.parametrize("state", [NOT_INSTALLED, kernel.LEFT_OUT])
def test_without_a_prover_levels_fall_back(record_of: RecordOf, state: str) -> None:
    record = settle_formal(record_of("CW1"), Checked(state, ABOUT))
    assert {clause.level for clause in record.clauses} == {"G"}
    assert record.kernel == state
    assert record.ok
    assert not any(f.checked for f in record.formal)


@pytest.mark.usefixtures("one_clause")
def test_a_proof_that_is_refused_fails_its_theorem_alone(record_of: RecordOf) -> None:
    checked = Checked(FAILED, ABOUT, frozenset(), {"CW1": "CW1_kronecker: Axioms: any"})
    record, other = (settle_formal(record_of(i), checked) for i in ("CW1", "CW4"))
    assert not record.ok
    assert record.failures[-1] == "CW1.kernel: CW1_kronecker: Axioms: any"
    assert {clause.level for clause in record.clauses} == {"G"}
    assert other.ok
    assert other.kernel == ABSENT


@pytest.mark.usefixtures("one_clause")
def test_a_clause_that_fails_elsewhere_has_no_level_k(record_of: RecordOf) -> None:
    record = record_of("CW1")
    failing = tuple(replace(c, failures=("planted",)) if c.name == "kronecker" else c
                    for c in record.clauses)  # fmt: skip
    record = settle_formal(replace(record, clauses=failing), Checked(CHECKED, ABOUT, NAMES))
    assert "K" not in {clause.level for clause in record.clauses}


@pytest.mark.slow
def test_page_and_appendix_show_the_formal_statement_beside_the_clause(report: Report) -> None:
    record = next(r for r in report.theorems if r.id == "CW1")
    record = settle_formal(record, Checked(CHECKED, STATED, frozenset(s.name for s in STATED)))
    one = replace(report, theorems=(record,))
    html, tex = page.render(one), appendix.render(one)
    shown = exposition(catalogue.load("CW1"), record)
    for clause in shown.clauses:
        for formal in clause.formal:
            assert formal.name in html
            assert formal.statement in tex
            assert formal.statement.splitlines()[0].split("(")[0] in html
    assert "closed by the kernel" in html
    assert "closed by the kernel" in tex


def test_no_formal_proofs_is_absent(tmp_path: Path) -> None:
    assert check_formal(["CW1"], folder=tmp_path).state == ABSENT


@pytest.mark.formal
@pytest.mark.slow
def test_every_formal_theorem_is_closed(
    require_tool: Callable[..., str], request: pytest.FixtureRequest
) -> None:
    require_tool(
        "coqc", also=("rocq",), why="the formal proofs are checked by its kernel",
        how="the packages coq and libcoq-mathcomp-algebra",
    )  # fmt: skip
    checked = check_formal(list(catalogue.CATALOGUE))
    assert dict(checked.faults) == {}
    assert list(checked.errors) == []
    assert checked.closed == {one.name for one in STATED}
    proved = {i for i in catalogue.CATALOGUE if WHOLE.get(i)}
    assert len(checked.closed) >= len(proved) + len(PART)
