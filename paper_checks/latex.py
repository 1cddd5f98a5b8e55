"""The one subset of LaTeX that page, terminal and appendix share, and its two renderings.

Prose is plain characters, `$...$`, \\emph{...}, \\textbf{...}, \\texttt{...}, escaped specials,
TeX's dashes and quotes, and short symbols such as P_ij or W_O^T, which are set as formulas.
Mathematics is whatever the MathML converter accepts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from math_core import LatexError, LatexToMathML

ARROW = "\N{RIGHTWARDS ARROW}"
_CONVERTER = LatexToMathML(fancy_error=False)
_NAMED = (
    "sum|alpha|beta|gamma|delta|epsilon|theta|kappa|lambda|mu|nu|pi|rho|sigma|tau|phi|psi|omega"
)
_INDEX = r"(?:[_^](?:[A-Za-z0-9]{1,3}|\{[A-Za-z0-9 +-]*\})'*)+"
_PIECE = re.compile(
    r"\$(?P<math>[^$]+)\$"
    r"|\\(?P<style>emph|textbf|texttt)\{(?P<inner>[^{}$]*)\}"
    r"|\\(?P<special>[%&_#${} ])"
    r"|(?P<mark>---|--|``|''|~)"
    rf"|(?P<symbol>(?:\)|\b(?:[A-Za-z0-9]|{_NAMED}))'*{_INDEX})(?![A-Za-z0-9_^])"
    r"|(?P<plain>[A-Za-z0-9]+|(?![\\%&_#${}^])[\x20-\x7e\xa0-\xff\n])"
    r"|(?P<bad>.)",
    re.DOTALL,
)
_STYLES = {"emph": "em", "textbf": "strong", "texttt": "code"}
_MARKS = {
    "---": "\N{EM DASH}",
    "--": "\N{EN DASH}",
    "``": "\N{LEFT DOUBLE QUOTATION MARK}",
    "''": "\N{RIGHT DOUBLE QUOTATION MARK}",
    "~": "\N{NO-BREAK SPACE}",
}
_SPECIALS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip

_WORDS = {"le": "<= ", "ge": ">= ", "ne": "!= ", "top": "T ", "otimes": "(x) ", "quad": " ",
          "mapsto": "-> ", "to": "-> ", "iff": "iff ", "cdot": "* ", "lVert": "|", "rVert": "|",
          "left": "", "right": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": ""}  # fmt: skip


class Rejected(ValueError):
    """A text or a formula is outside the subset that all renderings share."""


@lru_cache(maxsize=4096)
def mathml(formula: str, display: bool = False) -> str:
    """The formula as MathML.

    Raises: Rejected when the converter does not accept it.
    """
    try:
        return _CONVERTER.convert_with_local_state(formula, displaystyle=display)
    except LatexError as error:
        reason = str(error).partition(": ")[2] or str(error)
        raise Rejected(f"formula {formula!r} rejected: {reason}") from error


def _pieces(text: str) -> list[re.Match[str]]:
    found = list(_PIECE.finditer(text))
    for match in found:
        if match["bad"]:
            near = text[max(0, match.start() - 20) : match.end() + 20]
            raise Rejected(f"text has {match['bad']!r} outside a formula, near {near!r}")
    return found


def _symbol(word: str) -> str:
    """P_ij as a formula: every index in braces, sums and Greek letters by name."""
    braced = re.sub(r"([_^])([A-Za-z0-9]+)", r"\1{\2}", word)
    return re.sub(rf"\b({_NAMED})\b", r"\\\1", braced.replace("_", " _")).replace(" _", "_")


def formulas_in(text: str) -> list[str]:
    """The formulas of a prose text, in order.

    Raises: Rejected for prose outside the subset.
    """
    found = []
    for match in _pieces(text):
        if match["style"]:
            found += formulas_in(match["inner"])
        elif match["math"] or match["symbol"]:
            found.append(match["math"] or _symbol(match["symbol"]))
    return found


def html(text: str) -> str:
    """Prose as HTML.

    Raises: Rejected for anything outside the subset, so that no rendering differs from another.
    """
    return "".join(_html_piece(match) for match in _pieces(text))


def _html_piece(match: re.Match[str]) -> str:
    if formula := match["math"]:
        return mathml(formula)
    if match["symbol"]:
        return mathml(_symbol(match["symbol"]))
    if match["style"]:
        tag = _STYLES[match["style"]]
        return f"<{tag}>{html(match['inner'])}</{tag}>"
    return _MARKS[match["mark"]] if match["mark"] else escape(match["special"] or match["plain"])


def tex(text: str) -> str:
    """Prose as LaTeX.

    Raises: Rejected as `html` does.
    """
    return "".join(_tex_piece(match) for match in _pieces(text))


def _tex_piece(match: re.Match[str]) -> str:
    if match["symbol"]:
        return f"${_symbol(match['symbol'])}$"
    if match["style"]:
        return rf"\{match['style']}{{{tex(match['inner'])}}}"
    return _SPECIALS.get(match["plain"], match["plain"]) if match["plain"] else match[0]


def plain(text: str) -> str:
    """Prose for a terminal: formulas stay LaTeX, without dollar signs."""
    return text.replace("$", "")


def readable(text: str) -> str:
    """Prose for a list: formulas without dollar signs, macros and braces, as in P_ij >= 0."""
    words = re.sub(r"\\(?:emph|text\w*|math\w+|operatorname)\{([^{}]*)\}", r"\1", text)
    words = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", words)
    words = re.sub(r"(\\[A-Za-z]+)(?=\\[A-Za-z])", r"\1 ", words)
    words = re.sub(r"\\([A-Za-z]+)", lambda macro: _WORDS.get(macro[1], macro[1]), words)
    words = re.sub(r"\\[,;! ]|~", " ", words).replace("\\", "")
    words = re.sub(r"[${}]", "", words).replace("---", "-").replace("--", "-")
    return re.sub(r" +([,.;:)])", r"\1", " ".join(words.split()))


def literal(text: str) -> str:
    """Plain text, such as a counterexample, escaped for LaTeX and breakable after punctuation."""
    latin = text.replace(ARROW, "->").encode("latin-1", "replace").decode("latin-1")
    escaped = "".join(_SPECIALS.get(character, character) for character in latin)
    return re.sub(r"([,;=\])/.:_-])(?=[^\s\\])", r"\1\\allowbreak{}", escaped)
