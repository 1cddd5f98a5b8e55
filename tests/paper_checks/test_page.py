"""The page as a browser lays it out, on a machine that has no maths font of its own."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fontTools.ttLib import TTFont

from paper_checks import appendix, latex, page
from paper_checks.exposition import given
from paper_checks.report import Report, StressRecord, TheoremRecord
from theorems import catalogue
from theorems.statement import Assumption

FRACTION, SUBSCRIPT, SUM = r"\frac{E_{ij}}{Z_{i}}", r"x_{i}", r"\sum_{j} x"
# Laid out in the page's own style; the answer is left in the document for --dump-dom.
PROBE = """
<p id="line" style="margin: 0">line</p>
<p id="fraction">{fraction}</p><p id="subscript">{subscript}</p>
<p id="inline">{inline}</p><p id="display">{display}</p><pre id="measured"></pre>
<script>
document.fonts.ready.then(() => {{
  const find = (query) => document.querySelector(query);
  const height = (query) => find(query).getBoundingClientRect().height;
  const size = (query) => parseFloat(getComputedStyle(find(query)).fontSize);
  find("#measured").textContent = JSON.stringify({{
    formulas: document.querySelectorAll("math").length, errors: document.querySelectorAll(
      "merror").length, line: height("#line"), fraction: height("#fraction math"),
    base: size("#subscript msub > :first-child"), subscript: size("#subscript msub > :last-child"),
    inline: height("#inline mo"), display: height("#display mo"),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    fonts: [...document.fonts].map((f) => f.family.replaceAll('"', "") + " " + f.status) }});
}});
</script>
"""


@pytest.fixture(scope="session")
def measure(
    require_tool: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, Any]]:
    """measure(html): what Chromium lays out, with DejaVu Sans Mono as the machine's only font."""
    chromium = require_tool(
        "chromium", why="pages are laid out in it", how="the package chromium",
        also=("chromium-browser", "google-chrome"),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("browser")
    (folder / "fonts").mkdir()
    matplotlib = find_spec("matplotlib")
    assert matplotlib
    assert matplotlib.origin
    fonts = Path(matplotlib.origin).parent / "mpl-data/fonts/ttf"
    shutil.copy(fonts / "DejaVuSansMono.ttf", folder / "fonts")
    assert "MATH" not in TTFont(folder / "fonts" / "DejaVuSansMono.ttf")
    (folder / "fonts.conf").write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f"<dir>{folder / 'fonts'}</dir><cachedir>{folder / 'cache'}</cachedir></fontconfig>"
    )

    def run(html: str) -> dict[str, Any]:
        probe = PROBE.format(
            fraction=latex.mathml(FRACTION, True), subscript=latex.mathml(SUBSCRIPT),
            inline=latex.mathml(SUM), display=latex.mathml(SUM, True),
        )  # fmt: skip
        file = folder / "page.html"
        file.write_text(html.replace("</body>", probe + "</body>"), encoding="utf-8")
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--no-first-run",
             f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000",
             "--dump-dom", file.as_uri()],
            env={"FONTCONFIG_FILE": str(folder / "fonts.conf"), "HOME": str(folder),
                 "PATH": os.environ["PATH"]},
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        found = re.search(r'<pre id="measured">(.+?)</pre>', done.stdout, re.DOTALL)
        assert found, f"nothing was measured: {done.stdout[-500:]} {done.stderr[-500:]}"
        return json.loads(unescape(found[1]))

    return run


@pytest.fixture(scope="session")
def html(report: Report) -> str:
    return page.render(report)


@pytest.mark.slow
@pytest.mark.browser
def test_formulas_are_laid_out_with_the_embedded_font(
    report: Report, html: str, measure: Callable[[str], dict[str, Any]]
) -> None:
    found = measure(html)
    probes = 4
    assert found["formulas"] == page.count_formulas(report) + probes
    assert found["errors"] == 0
    assert found["fonts"] == ["Attention Geometry Math loaded"]
    assert found["fraction"] > 1.5 * found["line"]
    assert found["subscript"] < 0.8 * found["base"]
    assert found["display"] > 1.2 * found["inline"]
    assert found["overflow"] <= 0


@pytest.mark.slow
@pytest.mark.browser
def test_without_the_font_the_measurement_sees_it(
    html: str, measure: Callable[[str], dict[str, Any]]
) -> None:
    bare = re.sub(r"@font-face \{.*?\}\n", "", html, flags=re.DOTALL)
    assert len(html) - len(bare) > 300_000
    found = measure(bare)
    assert found["fonts"] == []
    assert not found["display"] > 1.2 * found["inline"]


@pytest.mark.slow
def test_page_holds_as_many_formulas_as_the_report(report: Report, html: str) -> None:
    assert page.count_formulas(report) > 100
    assert html.count("<math") == page.count_formulas(report)
    assert "merror" not in html


@pytest.mark.slow
def test_page_fetches_nothing_and_runs_nothing(html: str) -> None:
    without_font = html.replace(page.font_data(), "")
    assert not re.search(r"<script|<link|<img|<iframe|@import|\bon\w+=", without_font)
    assert re.findall(r"url\(([^)]{0,22})", without_font) == ["data:font/woff2;base64"]
    assert not re.search(r'(src|href)="(?!#)', without_font)


def test_every_link_has_its_target(html: str) -> None:
    targets = set(re.findall(r'href="#([^"]+)"', html))
    assert targets
    assert targets <= set(re.findall(r'id="([^"]+)"', html))


def test_failures_and_missing_parts_are_shown(
    report: Report, record_of: Callable[..., TheoremRecord]
) -> None:
    failed = record_of("CW1", ok=False)
    twin = replace(failed.mutant_details[0], refuted=False, derivation_fails=False)
    twins = (twin, *failed.mutant_details[1:])
    failed = replace(failed, mutant_details=twins, planted_rejected=False)
    shown = page.render(replace(report, ok=False, theorems=(failed,)))
    assert shown.count(failed.failures[0]) == 2  # at the head and in its section
    assert "no counterexample found" in shown
    assert "its derivation passes" in shown
    assert "NOT REJECTED" in shown


def section(html: str, theorem_id: str) -> str:
    """A theorem's section without its formulas' markup."""
    found = re.search(rf'<section>\n<h2 id="{theorem_id}">.*?</section>', html, re.DOTALL)
    assert found
    return re.sub(r"<math>.*?</math>", "MATH", found[0], flags=re.DOTALL)


def test_names_are_typeset_where_formulas_are(html: str) -> None:
    shown = section(html, "CW3")
    assert "by MATH" in shown
    assert "P&#39; T&#39;" not in shown
    assert "P' T'" not in shown
    need = shown[shown.index("Which clause needs") :]
    assert '<td>MATH</td><td><a href="#CW3.' in need
    assert "Assumptions that only witnesses use are not listed" in need


def test_assumptions_stand_with_the_clauses_that_use_them(html: str) -> None:
    shown = section(html, "CW1")
    clauses = re.findall(r'<div class="clause" id="CW1\.(\w+)">(.*?)</ol>', shown, re.DOTALL)
    assuming = [name for name, text in clauses if ">assuming<" in text]
    theorem = catalogue.load("CW1")
    assert [name for name, _ in clauses] == [c.name for c in theorem.clauses]
    assert assuming == [c.name for c in theorem.clauses if given(c.steps, Assumption)]
    assert 0 < len(assuming) < len(clauses)


def test_exact_instances_are_counted_by_kind(html: str) -> None:
    assert "7 with free symbols, 3 on 63-bit rationals" in section(html, "CW1")


@pytest.mark.slow
def test_stress_says_what_there_is(report: Report, record_of: Callable[..., TheoremRecord]) -> None:
    absent = StressRecord(
        id="CW1", cell="kronecker", n=2, d=3, heads=1, dtype="float32", device="cuda", seed=0,
        version="", ranks=1, status="not run", reason="no cuda device",
    )  # fmt: skip
    one = replace(record_of("CW1"), stress=(absent,))
    two = replace(record_of("CW2"), stress=(replace(absent, status="ok", ratio=0.5),))
    for render in (page.render, appendix.render):
        rendered = render(replace(report, theorems=(one, two, record_of("CW3"))))
        shown = rendered.replace(r"\allowbreak{}", "")
        assert shown.count("NOT RUN: no cuda device") == 1
        assert shown.lower().count("no stress case") == 1
        assert "ok, residual / bound 0.5" in shown


def test_text_from_a_run_cannot_become_markup(
    report: Report, record_of: Callable[..., TheoremRecord]
) -> None:
    record = record_of("CW1")
    evil = replace(record.mutant_details[0], counterexample="<script>alert(1)</script>")
    record = replace(record, mutant_details=(evil,))
    shown = page.render(replace(report, theorems=(record,)))
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script" not in shown


@pytest.mark.slow
def test_the_font_has_every_character_of_the_formulas(html: str) -> None:
    font = TTFont(Path(page.__file__).parent / "data" / page.FONT)
    assert "MATH" in font
    known = font["cmap"].getBestCmap()
    formulas = re.findall(r"<math.*?</math>", html, re.DOTALL)
    characters = set(unescape("".join(re.sub(r"<[^>]*>", "", f) for f in formulas)))
    variation_selectors = {"\N{VARIATION SELECTOR-1}"}
    missing = {c for c in characters - variation_selectors if ord(c) not in known}
    assert not missing


def test_the_font_is_small_and_carries_its_licence() -> None:
    folder = Path(page.__file__).parent / "data"
    assert (folder / page.FONT).stat().st_size <= 324_000
    licence = (folder / "latinmodern-math-licence.txt").read_text()
    assert "GUST Font License" in licence
    names = {str(record) for record in TTFont(folder / page.FONT)["name"].names}
    assert "Attention Geometry Math" in names
