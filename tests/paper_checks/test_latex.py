"""Texts with formulas as HTML, as LaTeX and as plain words."""

import pytest

from paper_checks import latex


@pytest.mark.parametrize(
    ("text", "formulas", "tex"),
    [
        ("50\\% of $x$ -- ``all''", ["x"], "50\\% of $x$ -- ``all''"),
        ("P_ij and W_O^T", ["P_{ij}", "W_{O}^{T}"], "$P_{ij}$ and $W_{O}^{T}$"),
        ("g_j^{-1} rho_i", ["g_{j}^{-1}", r"\rho_{i}"], r"$g_{j}^{-1}$ $\rho_{i}$"),
        ("(C K)^T <= w", [")^{T}"], r"(C K$)^{T}$ \textless{}= w"),
        (r"\emph{very $}", None, None),
        ("other_weights", None, None),
        ("x \N{GREATER-THAN OR EQUAL TO} 1", None, None),
        (r"\cite{x}", None, None),
        ("$open", None, None),
    ],
)
def test_prose(text: str, formulas: list[str] | None, tex: str | None) -> None:
    if formulas is None:
        with pytest.raises(latex.Rejected, match="outside a formula"):
            latex.html(text)
        return
    assert latex.formulas_in(text) == formulas
    assert latex.html(text).count("<math>") == len(formulas)
    assert latex.tex(text) == tex


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$P_{ij} \ge 0$ -- 50\%", "P_ij >= 0 - 50%"),
        (r"$W_O^{\top} \otimes \mathrm{vec}(T)$.", "W_O^T (x) vec(T)."),
        (r"$\frac{1}{H} \sum_h \rho_{i}$, \emph{all}", "1/H sum_h rho_i, all"),
        (r"$a \mapsto b,\; O(d^2)$", "a -> b, O(d^2)"),
        (r"$\min(\pi\rho, \log P)$", "min(pi rho, log P)"),
    ],
)
def test_readable_text_has_no_latex(text: str, expected: str) -> None:
    assert latex.readable(text) == expected


def test_html_of_prose_is_escaped() -> None:
    assert latex.html("a < b & c".replace("&", r"\&")) == "a &lt; b &amp; c"


def test_a_rejected_formula_is_shown_with_the_reason() -> None:
    with pytest.raises(latex.Rejected, match=r"'x\^2\^3' rejected: Duplicate"):
        latex.mathml("x^2^3")


def test_literal_text_survives_tex() -> None:
    assert latex.literal("{x_1} 50% \N{RIGHTWARDS ARROW} \N{SNOWMAN}") == (
        r"\{x\_\allowbreak{}1\} 50\% -\textgreater{} ?"
    )
