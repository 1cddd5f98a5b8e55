"""Stress of RA2 and RA3: exact cells with certificates, faults in one side, widths, the grid."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from numerics import stress
from numerics.evidence.comparison import compare, compare_integers
from numerics.scores import geodesic_scores
from numerics.scores.exact_rank import RankCertificate, rank_of
from numerics.scores.principal_lattice import PrincipalLattice, direction_scores
from numerics.stress import __main__ as command_line
from numerics.stress.cell import Cell
from numerics.stress.theorems import exact_rank as lattice_rank
from numerics.stress.theorems import rank_spectrum as score_factors
from numerics.stress.theorems.rank_spectrum import Tokens
from tests.numerics.stress.theorems.sides import Faults, drawn


def cell(name: str, d: int, seed: int = 0) -> dict[str, Any]:
    return stress.run_cell("RA2", name, 5, d, 1, "float32", "cpu", seed)


def held(record: dict[str, Any]) -> RankCertificate:
    """The certificate of a record, of the first rows and columns where it names no others."""
    kept = record["certificate"]
    rows, columns = (tuple(kept.get(name, range(kept["rank"]))) for name in ("rows", "columns"))
    return RankCertificate(kept["rank"], rows, columns, kept["modulus"], kept["minor"], False)


@pytest.mark.parametrize("d", [1, 2, 7, 12])
@pytest.mark.parametrize("name", lattice_rank.CELLS)
def test_a_cell_holds_a_certificate_that_plain_code_checks(name: str, d: int) -> None:
    record = json.loads(json.dumps(cell(name, d)))
    lattice = lattice_rank.lattice(name, d)
    assert (record["status"], record["tight"], record["residual"]) == ("ok", True, 0)
    assert (record["n"], record["dtype"]) == (lattice.size, "exact")
    assert all(item["exact"] and item["planted_rejected"] for item in record["comparisons"])
    found = held(record)
    assert found.rank == lattice.size
    assert found.certifies(lattice.scores())
    assert found.minor == lattice.determinant() % found.modulus


def test_the_seed_draws_the_prime() -> None:
    assert len({cell("lattice", 2, seed)["certificate"]["modulus"] for seed in range(5)}) == 5


def spoilt_scores(change: Callable[[np.ndarray, np.ndarray], Any]) -> Callable[[Any], np.ndarray]:
    def scores(self: PrincipalLattice) -> np.ndarray:
        x, v = self.tokens(), self.directions()
        change(x, v)
        return direction_scores(x, v)

    return scores


def move(x: np.ndarray, v: np.ndarray) -> None:
    x[-1] += 1


def forget(x: np.ndarray, v: np.ndarray) -> None:
    v[-1] = 0


def forget_the_first_two(x: np.ndarray, v: np.ndarray) -> None:
    x[:2] = 0
    v[:2] = 0


def double(x: np.ndarray, v: np.ndarray) -> None:
    x[-1] *= 2


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("change", [move, forget, double])
def test_a_false_lattice_point_fails_the_cell(
    change: Callable[[np.ndarray, np.ndarray], None], d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrincipalLattice, "scores", spoilt_scores(change))
    record = cell("lattice", d)
    assert record["status"] == "failed", record
    assert "rank and determinant: residual is" in record["reason"]


@pytest.mark.parametrize("name", lattice_rank.CELLS)
def test_a_false_closed_form_fails_the_cell(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (lambda value: 2 * value, lambda value: -value, lambda value: value + 1):
        honest = PrincipalLattice.determinant
        with monkeypatch.context() as planted:
            planted.setattr(
                PrincipalLattice, "determinant", lambda self, f=wrong, g=honest: f(g(self))
            )
            assert cell(name, 6)["status"] == "failed"


def test_a_cell_that_cannot_see_a_false_point_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        lattice_rank, "direction_scores", lambda x, v: PrincipalLattice.whole(3).scores()
    )
    record = cell("lattice", 3)
    assert (record["status"], record["residual"]) == ("failed", 0)
    assert "a planted error of 8 bounds would pass" in record["reason"]


def test_a_singular_lattice_keeps_the_places_of_its_minor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrincipalLattice, "scores", spoilt_scores(forget))
    found = held(cell("lattice", 3))
    assert found.rank == 9
    assert found.certifies(PrincipalLattice.whole(3).scores())
    monkeypatch.setattr(PrincipalLattice, "scores", spoilt_scores(forget_the_first_two))
    found = held(cell("lattice", 3))
    assert found.rows != tuple(range(found.rank))
    assert found.certifies(PrincipalLattice.whole(3).scores())


def test_equal_integers_need_no_bound_and_others_fail() -> None:
    whole = torch.tensor([3.0, 2.0**29 - 5], dtype=torch.float64)
    same, off = (compare_integers("x", whole, whole + step, 9) for step in (0, 1))
    assert (same.ok, same.tight, same.exact) == (True, True, True)
    assert not off.ok
    assert not compare_integers("x", whole, whole * torch.nan, 9).ok
    assert not compare("x", whole, whole, torch.zeros_like(whole), 9).ok


@pytest.mark.slow
def test_a_run_without_widths_spans_1_to_64_and_verify_1_to_12(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = stress.cases()["RA2"]
    assert (case.widths, case.small) == (range(1, 65), range(1, 13))
    small = replace(case, widths=range(1, 5))
    monkeypatch.setattr("numerics.stress.command.cases", lambda: {"RA2": small})
    assert command_line.main(["RA2", "--out", str(tmp_path)]) == 0
    records = map(json.loads, (tmp_path / "RA2.jsonl").read_text().splitlines())
    sizes = [(record["d"], record["n"]) for record in records]
    assert sizes == [(d, comb(d + 2, 2)) for d in range(1, 5)]


def test_an_exact_cell_is_one_cell_for_all_dtypes_and_lengths(tmp_path: Path) -> None:
    arguments = ["--d", "3", "--n", "4", "9", "--dtype", "float32", "float64", "--out"]
    assert command_line.main(["RA2", *arguments, str(tmp_path)]) == 0
    assert len((tmp_path / "RA2.jsonl").read_text().splitlines()) == 1


@pytest.mark.slow
def test_width_64_has_rank_2145() -> None:
    record = cell("lattice", 64)
    assert (record["status"], record["certificate"]["rank"]) == ("ok", 2145)


tokens = partial(drawn, "RA3", n=40, d=24)


def changed_core(t: Tokens, C: Callable[[torch.Tensor], torch.Tensor]) -> Tokens:
    return t if t.C is None else replace(t, C=C(t.C))


SPOILS: dict[str, Callable[[Tokens], Tokens]] = {
    "weights of other tokens": lambda t: replace(t, D=t.D.roll(1, 0)),
    "one metric for all": lambda t: replace(t, D=t.D[:1].expand_as(t.D)),
    "weights scaled by 1.01": lambda t: replace(t, D=t.D * 1.01),
    "tokens scaled by 1.01": lambda t: replace(t, x=t.x * 1.01, square=t.square * 1.0201),
    "a core of other tokens": lambda t: changed_core(t, lambda C: C.roll(1, 0)),
    "a core left out": lambda t: changed_core(t, lambda C: 0 * C),
    "a coordinate of the core left out": lambda t: changed_core(
        t, lambda C: torch.cat([C[:, 1:], 0 * C[:, :1]], 1)
    ),
}
FAULTS = [
    Faults(
        tokens, SPOILS,
        # Only two of the cells have a core.
        holds=frozenset(
            (cell, fault) for cell in score_factors.CELLS for fault in SPOILS
            if "core" in fault and cell not in ("shared", "symmetrised")
        ),
    )
]  # fmt: skip


def test_tokens_of_two_norms_have_no_factors_of_the_sphere() -> None:
    def off(t: Tokens) -> Tokens:
        return replace(t, x=torch.cat([t.x[:-1], 1.001 * t.x[-1:]]))

    sides = tokens("sphere", dtype="float64")
    assert sides.agree()
    assert not sides.agree(off, off)


def test_tokens_on_a_sphere_have_one_norm_exactly() -> None:
    for dtype in ("float64", "float32", "bfloat16"):
        t = tokens("sphere", dtype=dtype).inputs
        sizes = t.x.abs().sort(1).values
        assert torch.equal(sizes, sizes[:1].expand_as(sizes))
        assert len(t.x.unique(dim=0)) == 40


@pytest.mark.parametrize("name", score_factors.CELLS)
def test_factors_have_the_width_of_the_rank_table(name: str) -> None:
    t = tokens(name, dtype="float64").inputs
    query, key = score_factors._factors(Cell("RA3", name), t, -t.x, torch.ones_like(t.x[:, :1]))
    d, r = 24, score_factors.RANK
    widths = {"shared": d + 2 + r, "conformal": d + 2, "unsquared": d + 2, "diagonal": 2 * d + 1,
              "symmetrised": 2 * (d + 2 + r), "sphere": d + 1}  # fmt: skip
    assert query.shape == key.shape == (40, widths[name])
    assert score_factors.longest_sum(t, Cell("RA3", name)) == widths[name]


@pytest.mark.parametrize("name", score_factors.CELLS)
def test_factors_of_integers_have_their_whole_width_as_rank(name: str) -> None:
    """The scores have that rank exactly, for tokens and weights rounded to integers."""
    n, d, r = 60, 6, score_factors.RANK
    rng = np.random.default_rng(4)

    def whole(*shape: int) -> torch.Tensor:
        return torch.tensor(rng.integers(1, 50, shape), dtype=torch.float64)

    x = torch.tensor(rng.integers(-50, 50, (n, d)), dtype=torch.float64)
    if name == "sphere":
        x = torch.stack([x[0][torch.tensor(rng.permutation(d))] for _ in range(n)])
        x = x * torch.tensor(rng.choice([-1, 1], (n, d)), dtype=torch.float64)
    C = whole(n, r) if name in ("shared", "symmetrised") else None
    square = (x[:1] * x[:1]).sum(1, keepdim=True)
    t = Tokens(x, whole(n, d if name == "diagonal" else 1), C, whole(d, r), square)
    query, key = score_factors._factors(Cell("RA3", name), t, -t.x, torch.ones_like(t.x[:, :1]))
    product = (query @ key.T).to(torch.int64).numpy()
    step = x[:, None] - x
    G = torch.diag_embed(t.D.expand(n, d))
    if C is not None:
        G = G + torch.einsum("ar,nr,br->nab", t.U, C, t.U)
    squared = torch.einsum("ija,iab,ijb->ij", step, G, step)
    expected = squared + squared.T if name == "symmetrised" else squared
    assert np.array_equal(product, expected.to(torch.int64).numpy())
    assert rank_of(product).rank == score_factors.width(Cell("RA3", name), d)


@pytest.mark.parametrize("name", score_factors.CELLS)
def test_what_is_kept_are_scores(name: str) -> None:
    """Of token 7, the nearest other and the farthest, by geodesic_scores."""
    sides = tokens(name, dtype="float64")
    t = sides.inputs
    U = t.U * (torch.zeros(40, 1, 1) if t.C is None else t.C.sqrt()[:, None])
    kind = "symmetrised" if name == "symmetrised" else "query"
    D = t.D.expand(40, 24).contiguous()
    scores = -geodesic_scores(t.x, D, U, kind, squared=name != "unsquared")[7]
    others = torch.cat([scores[:7], scores[8:]])
    expected = torch.stack([others.min(), scores.max()])
    found = sides.right().result[7]
    # Roots of the cores and sums of 24 squares: positive terms, each within a few roundings.
    assert float((found / expected - 1).abs().max()) < 64 * torch.finfo(torch.float64).eps
