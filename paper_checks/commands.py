"""What each command of `attention-geometry` does; every function returns an exit status."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from numerics.runs.files import write_whole
from numerics.runs.provenance import suite_version
from paper_checks import appendix, expressions, latex, page, terminal
from paper_checks.exposition import Exposition, exposition
from paper_checks.formal import kernel
from paper_checks.formal.clauses import WHOLE
from paper_checks.formal.prover import INSTALL
from paper_checks.lint import read_papers
from paper_checks.papers.list import PAPERS, family_of, paper_bibtex, paper_of, theorem_bibtex
from paper_checks.report import (
    NOT_RUN,
    Report,
    Unusable,
    check_destination,
    lowest_level,
    read_report,
    to_json,
)
from paper_checks.run import verify
from paper_checks.uses import with_uses
from theorems import catalogue
from theorems.statement import Cited, Theorem

RENDERERS: dict[str, Callable[[Report], str]] = {
    "report.json": to_json,
    "report.html": page.render,
    "appendix.tex": appendix.render,
}
PLANNED = "planned, not built yet; see `attention-geometry list`"


def selection(ids: Sequence[str], paper: str | None) -> list[str]:
    """The catalogue's ids that the arguments name: ids, families, a paper's family, or all.

    Raises: Unusable for a name that is neither, and for one that is planned but not built.
    """
    names = list(ids) or ([PAPERS[paper].family] if paper else [])
    families = {family_of(i) for i in (*catalogue.CATALOGUE, *catalogue.PLANNED)}
    found: list[str] = []
    for name in names:
        if name in families:
            found += [i for i in catalogue.CATALOGUE if family_of(i) == name]
        elif name in catalogue.CATALOGUE:
            found.append(name)
        elif name in catalogue.PLANNED:
            raise Unusable(f"{name}: {PLANNED}")
        else:
            raise Unusable(
                f"{name}: neither a theorem nor a family ({', '.join(sorted(families))})"
            )
    chosen = set(found if names else catalogue.CATALOGUE)
    return [i for i in catalogue.CATALOGUE if i in chosen]


def _run(ids: Sequence[str], arguments: argparse.Namespace) -> Report:
    console = Console(stderr=True)
    with terminal.watch(console, len(ids)) as progress:
        return verify(ids, jobs=arguments.jobs, seed=arguments.seed, progress=progress,
                      paper=arguments.paper, formal=not arguments.no_formal)  # fmt: skip


def run_verify(arguments: argparse.Namespace) -> int:
    """Verify, print, and write what was asked for."""
    ids = selection(arguments.ids, arguments.paper)
    wanted = [(path, render) for path, render in (
        (arguments.json, to_json), (arguments.html, page.render)) if path]  # fmt: skip
    if arguments.json:
        check_destination("--json", arguments.json)
    if arguments.html:
        check_destination("--html", arguments.html)
    if arguments.report:
        check_destination("--report", arguments.report, folder=True)
        wanted += [(arguments.report / name, render) for name, render in RENDERERS.items()]
    report = _run(ids, arguments)
    terminal.print_report(report, Console())
    written = [_write(path, render, report) for path, render in wanted]
    return exit_status(report, arguments.strict) if all(written) else 1


def _write(path: Path, render: Callable[[Report], str], report: Report) -> bool:
    try:
        text = render(report)
    except (latex.Rejected, TypeError) as error:
        # The lint has said so too; the other files are still worth having.
        print(f"not written: {path}: {error}")
        return False
    _save(path, text)
    return True


def _save(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise Unusable(str(error)) from error
    print(f"wrote {path}")


def exit_status(report: Report, strict: bool) -> int:
    """1 if something selected failed, or, strictly, if anything is still to come; 0 otherwise."""
    suite = report.suite
    open_ends = suite.pending or suite.not_built or suite.not_selected
    return 1 if not report.ok or (strict and open_ends) else 0


def run_list(arguments: argparse.Namespace) -> int:
    """Print the theorems that are built, those planned, and the claims."""
    for theorem_id in catalogue.CATALOGUE:
        try:
            theorem = catalogue.load(theorem_id)
            level = f"{_level_if_verified(theorem)} if verified"
            print(f"{theorem_id:5} {level:13} {latex.readable(theorem.title)}")
        except ValueError as error:
            print(f"{theorem_id:5} does not load: {error}")
    planned = sorted(catalogue.PLANNED, key=lambda i: (family_of(i), len(i), i))
    print(f"planned, not built: {', '.join(planned) or 'none'}")
    for claim in read_papers()[0]:
        print(f"{claim.id}: {latex.readable(claim.statement)}")
    return 0


def _level_if_verified(theorem: Theorem) -> str:
    """The level that a run computes for a theorem in which every check passes."""
    from theorems.checker.check import (
        level,
    )  # the list alone needs it, and workers need not import it

    whole = WHOLE.get(theorem.id, ())  # at level K where a prover is found
    lowest = lowest_level("K" if clause.name in whole else level(clause, len(clause.steps))
                          for clause in theorem.clauses)  # fmt: skip
    cited = [s.id for clause in theorem.clauses for s in clause.steps if isinstance(s, Cited)]
    for used in with_uses([theorem.id])[0]:
        steps = (s for clause in catalogue.load(used).clauses for s in clause.steps)
        cited += [f"{s.id} ({used})" for s in steps if isinstance(s, Cited) and s.id not in cited
                  and used != theorem.id]  # fmt: skip
    return " | ".join(part for part in (lowest or "N", ", ".join(cited)) if part)


def run_show(arguments: argparse.Namespace) -> int:
    """Print a theorem or a claim, or how to cite the theorem."""
    claims, evidence, _ = read_papers()
    claim = next((c for c in claims if c.id == arguments.id), None)
    if claim:
        if arguments.bibtex:
            print(paper_bibtex(PAPERS[claim.paper]))
            return 0
        print(f"{claim.id}\n{latex.plain(claim.statement)}\nread as: {latex.plain(claim.reading)}")
        print(f"evidence: {', '.join(evidence[claim.id].references)}")
        return 0
    try:
        theorem = catalogue.load(arguments.id)
    except ValueError as error:
        raise Unusable(str(error)) from error
    if arguments.bibtex:
        print(theorem_bibtex(theorem.id, latex.plain(theorem.title), suite_version()))
        print(paper_bibtex(paper_of(theorem.id)))
        return 0
    _print_theorem(exposition(theorem, NOT_RUN))
    return 0


def _print_theorem(shown: Exposition) -> None:
    print(f"{shown.id}. {latex.plain(shown.title)}")
    for clause in shown.clauses:
        print(f"\n{shown.id}.{clause.name}: {latex.plain(clause.statement)}")
        for formula in clause.definitions:
            print(f"    where {expressions.one_line(formula)}")
        for text in clause.assumptions:
            print(f"    assuming {latex.plain(text)}")
        for link in clause.links:
            print(f"  {link.id} ({link.kind}): {latex.plain(link.because)}")
            for formula in link.formulas:
                print(f"    {expressions.one_line(formula)}")
            if link.statement:
                print(f"    {latex.plain(link.statement)} ({link.source})")
    print("\nfalse twins: " + ", ".join(mutant.id for mutant in shown.mutants))
    for source in shown.sources:
        print(f"source: {source}")


def run_appendix(arguments: argparse.Namespace) -> int:
    """Write the LaTeX appendix of a report, or of a run made for it."""
    check_destination("--out", arguments.out)
    report = read_report(arguments.json) if arguments.json else _run(selection([], None), arguments)
    try:
        text = appendix.render(report)
    except latex.Rejected as error:
        raise Unusable(str(error)) from error
    _save(arguments.out, text)
    return exit_status(report, strict=False)


def run_stress(home: Any, arguments: argparse.Namespace) -> int:
    """Run the stress command, once it is clear that the theorem has a stress case.

    Raises: Unusable for a theorem that is built but has none, and for one not built yet.
    """
    name, cases = arguments.theorem, home.cases()
    if name in catalogue.CATALOGUE and name not in cases:
        raise Unusable(f"{name}: built, but has no stress case; these have one: {', '.join(cases)}")
    if name in catalogue.PLANNED:
        raise Unusable(f"{name}: {PLANNED}")
    return home.run(arguments)


def run_prove(arguments: argparse.Namespace) -> int:
    """Check the formal proofs; print what is closed, clause by clause.

    Raises: Unusable without a prover, and where this copy of the suite has no proofs.
    """
    ids = selection(arguments.ids, None)
    checked = kernel.check_formal(ids, arguments.jobs)
    if checked.state == kernel.NOT_INSTALLED:
        raise Unusable(f"no prover found; {INSTALL}")
    if checked.state == kernel.ABSENT:
        raise Unusable("the formal proofs are not part of this copy; they stand in the repository")
    for line in kernel.lines(checked, ids):
        print(line)
    return 1 if checked.state == kernel.FAILED else 0
