"""The stress case of AP1: false free energies, weights that vanish, and the worst that rounding
may do.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import gibbs_weights
from numerics.stress.theorems.gibbs_weights import Bounds, Energies, Head

CPU = torch.device("cpu")
TAU, OTHER = gibbs_weights.TEMPERATURE, gibbs_weights.OTHER
U32, EXP32 = 2.0**-24, 6 * 2.0**-24


def head(dtype: torch.dtype = torch.float32, n: int = 50, d: int = 12, seed: int = 3) -> Head:
    return gibbs_weights.draw(Cell("AP1", "value", n, d, 1, dtype_name(dtype), "cpu", seed), CPU)[0]


def left(drawn: Head, cell: str) -> torch.Tensor:
    with blockwise.exact_products():
        return gibbs_weights.left_side(drawn, Cell("AP1", cell)).result


def right(drawn: Head, cell: str) -> torch.Tensor:
    with blockwise.exact_products():
        return gibbs_weights.right_side(drawn, Cell("AP1", cell)).result


def judge(cell: str, drawn: Head, one: torch.Tensor, two: torch.Tensor) -> Comparison:
    """The comparison of two results, by the bound for the head that was drawn."""
    model = precision(drawn.query.dtype, CPU)
    (found,) = merged(
        gibbs_weights.comparisons(drawn, Cell("AP1", cell), Energies(one), Energies(two), model)
    )
    return found


def scores(drawn: Head) -> torch.Tensor:
    return drawn.query.double() @ drawn.key.double().mT * drawn.scale


def entropy(p: torch.Tensor) -> torch.Tensor:
    return -torch.where(p > 0, p * p.log(), 0.0).sum(1)


def energy(p: torch.Tensor, s: torch.Tensor, tau: float = TAU) -> torch.Tensor:
    return (p * s).sum(1) + tau * entropy(p)


def value(s: torch.Tensor) -> torch.Tensor:
    peak = s.amax(1, keepdim=True)
    return peak[:, 0] + TAU * ((s - peak) / TAU).exp().sum(1).log()


def law(s: torch.Tensor, tau: float) -> torch.Tensor:
    weights = ((s - s.amax(1, keepdim=True)) / tau).exp()
    return weights / weights.sum(1, keepdim=True)


def kl(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    return (p * (p.log() - q.log())).sum(1)


TRUE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "value": value,
    "gap": lambda s: value(s) - energy(law(s, OTHER), s),
}
FALSE: list[tuple[str, str, Callable[[torch.Tensor], torch.Tensor]]] = [
    ("value", "no tau in front", lambda s: value(s) / TAU),
    ("value", "temperature 1", lambda s: torch.logsumexp(s, 1)),
    ("value", "no tau at the entropy", lambda s: energy(law(s, TAU), s, 1.0)),
    ("value", "no entropy", lambda s: energy(law(s, TAU), s, 0.0)),
    ("value", "the entropy subtracted", lambda s: energy(law(s, TAU), s, -TAU)),
    ("value", "weights of temperature 1", lambda s: energy(law(s, 1.0), s)),
    ("value", "the highest score", lambda s: s.amax(1)),
    ("gap", "no tau in front", lambda s: kl(law(s, OTHER), law(s, TAU))),
    ("gap", "the divergence reversed", lambda s: TAU * kl(law(s, TAU), law(s, OTHER))),
    ("gap", "the other temperature in front", lambda s: OTHER * kl(law(s, OTHER), law(s, TAU))),
    ("gap", "of weights of temperature 1", lambda s: TAU * kl(law(s, 1.0), law(s, TAU))),
    ("gap", "below the value at q", lambda s: OTHER * s.div(OTHER).logsumexp(1) - value(s)),
    ("gap", "no gap", lambda s: torch.zeros_like(s[:, 0])),
]  # fmt: skip


@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
@pytest.mark.parametrize("cell", gibbs_weights.CELLS)
def test_either_side_is_what_the_formula_says(cell: str, dtype: str) -> None:
    drawn = head(blockwise.DTYPES[dtype])
    true = TRUE[cell](scores(drawn))
    assert judge(cell, drawn, left(drawn, cell), true).ok
    assert judge(cell, drawn, true, right(drawn, cell)).ok


@pytest.mark.parametrize(
    ("cell", "fault", "false"), FALSE, ids=[f"{cell}-{fault}" for cell, fault, _ in FALSE]
)
def test_a_false_formula_is_rejected(
    cell: str, fault: str, false: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    del fault
    drawn = head()
    found = judge(cell, drawn, left(drawn, cell), false(scores(drawn)))
    assert found.finite
    assert not found.ok, found


FAULTS: dict[str, Callable[[Head], Head]] = {
    "keys of other tokens": lambda h: replace(h, key=torch.cat([h.key[:1], h.key[:-1]])),
    "one key dropped": lambda h: replace(h, key=torch.cat([h.key[:-1], h.key[:1]])),
    "queries and keys swapped": lambda h: replace(h, query=h.key, key=h.query),
    "scale missing": lambda h: replace(h, scale=1.0),
    "scores scaled by 1.01": lambda h: replace(h, scale=h.scale * 1.01),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cell", gibbs_weights.CELLS)
def test_a_fault_in_one_side_is_rejected(cell: str, fault: str, dtype: torch.dtype) -> None:
    drawn = head(dtype)
    spoilt = FAULTS[fault](drawn)
    assert not judge(cell, drawn, left(spoilt, cell), right(drawn, cell)).ok
    assert not judge(cell, drawn, left(drawn, cell), right(spoilt, cell)).ok


def test_softmax_maximises_the_free_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = head()
    short = left(drawn, "gap")
    assert bool((short > 0).all())
    assert not judge("gap", drawn, short, torch.zeros_like(short)).ok
    monkeypatch.setattr(gibbs_weights, "OTHER", TAU)
    none = left(drawn, "gap")
    assert judge("gap", drawn, none, torch.zeros_like(none)).ok


@pytest.mark.parametrize("keys", [1, 7, 64])
@pytest.mark.parametrize("descending", [False, True])
def test_the_order_of_keys_and_the_size_of_blocks_do_not_matter(
    descending: bool, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = head()
    order = scores(drawn).mean(0).argsort(descending=descending)
    drawn = replace(drawn, key=drawn.key[order], query=drawn.query.mean(0, keepdim=True) * 40)
    drawn = replace(drawn, query=drawn.query.expand(len(drawn.key), -1))
    monkeypatch.setattr(gibbs_weights, "KEYS", keys)
    assert judge("value", drawn, left(drawn, "value"), TRUE["value"](scores(drawn))).ok


def test_blocks_of_queries_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = head()
    true = {cell: TRUE[cell](scores(drawn)) for cell in gibbs_weights.CELLS}
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 16 * 50 * 3)
    for cell in gibbs_weights.CELLS:
        assert judge(cell, drawn, left(drawn, cell), true[cell]).ok
        assert judge(cell, drawn, right(drawn, cell), true[cell]).ok


@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
def test_weights_that_underflow_have_no_entropy(dtype: str) -> None:
    stored = blockwise.DTYPES[dtype]
    key = torch.tensor([[-8.0], [8.0], [-8.0]], dtype=stored)
    drawn = Head(torch.tensor([[64.0], [32.0], [0.0]], dtype=stored), key, 1.0)
    p = torch.softmax(scores(drawn).float() / TAU, 1)
    assert float(p[0, 0]) == 0
    one, two = left(drawn, "value"), right(drawn, "value")
    assert judge("value", drawn, one, two).ok
    assert one[:2].tolist() == two[:2].tolist() == [512.0, 256.0]


def dot_error(drawn: Head) -> torch.Tensor:
    """Every rounding of a scaled product of d terms in float32, all in one direction."""
    d = drawn.key.shape[1]
    return (d + 2) * U32 * drawn.scale * (drawn.query.double().abs() @ drawn.key.double().abs().mT)


def worst_value(drawn: Head, sign: int) -> torch.Tensor:
    """tau log-sum-exp with all its roundings in one direction."""
    n = len(drawn.key)
    exponents = (scores(drawn) + sign * dot_error(drawn)) / TAU
    below = exponents.amax(1, keepdim=True) - exponents
    blocks = -(-n // gibbs_weights.KEYS)
    each = (blocks + 1) * EXP32 + (min(n, gibbs_weights.KEYS) + 2 * blocks - 1 + below) * U32
    log_total = (each * sign - below).exp().sum(1).log()
    found = exponents.amax(1) + log_total + sign * EXP32 * log_total.abs()
    return TAU * (found + sign * U32 * found.abs())


def worst_energy(drawn: Head, temperature: float, sign: int) -> torch.Tensor:
    """The free energy at weights of that temperature, moved in the worst direction."""
    n, s, off = len(drawn.key), scores(drawn), dot_error(drawn)
    q = law(s, temperature)
    g = s - TAU * q.log()
    uphill = sign * (g - (q * g).sum(1, keepdim=True)).sign()
    numerators = q * (uphill * (off / temperature + 40 * U32)).exp()
    # A total off by its n - 1 sums, two quotients: of both signs, as the value has.
    mass = 1 + sign * (n + 1) * U32 * (q * g).sum(1, keepdim=True).sign()
    x = numerators / numerators.sum(1, keepdim=True) * mass
    terms = x * (s + sign * off)
    logs = -TAU * x * x.log()
    sums = n * U32 * (terms.abs() + logs.abs()) + EXP32 * logs.abs()
    return (terms + logs + sign * sums).sum(1)


def divergence(s: torch.Tensor, in_p: float = 0.0, in_q: float = 0.0) -> torch.Tensor:
    """tau q (log q - log p) of every key, the logarithms off by so much."""
    log_p, log_q = (torch.log_softmax(s / tau, 1) for tau in (TAU, OTHER))
    return TAU * (log_q + in_q).exp() * (log_q + in_q - log_p - in_p)


def worst_divergence(drawn: Head, sign: int) -> torch.Tensor:
    """tau KL(q | p) with scores off in the worst direction, and logarithms, exponential, sums."""
    n, s = len(drawn.key), scores(drawn).requires_grad_()
    (uphill,) = torch.autograd.grad(divergence(s).sum(), s)
    moved = s.detach() + sign * uphill.sign() * dot_error(drawn)
    log_error = sign * (n - 1 + 40) * U32
    terms = divergence(moved, -log_error, log_error) * (1 + sign * EXP32)
    return (terms + sign * n * U32 * terms.abs()).sum(1)


SHAPES = [(30, 100), (60, 1), (200, 2), (300, 8)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_worst_that_rounding_may_do_is_within_the_bound(n: int, d: int, sign: int) -> None:
    drawn = head(n=n, d=d)
    s, p, q = scores(drawn), law(scores(drawn), TAU), law(scores(drawn), OTHER)
    bounds = Bounds(drawn, drawn.key.double(), slice(0, n), precision(torch.float32, CPU))
    errors = [
        (worst_value(drawn, sign) - value(s), bounds.value_error(), 0.7),
        (worst_energy(drawn, TAU, sign) - energy(p, s), bounds.free_energy_error(TAU), 0.55),
        (worst_energy(drawn, OTHER, sign) - energy(q, s), bounds.free_energy_error(OTHER), 0.55),
        (worst_divergence(drawn, sign) - divergence(s).sum(1), bounds.divergence_error(), 0.4),
    ]
    for error, bound, least in errors:
        assert bool((error.abs() <= bound).all())
        assert float((error.abs() / bound).max()) > least


@pytest.mark.parametrize("sign", [1, -1])
def test_a_comparison_allows_what_both_sides_may_do_and_little_more(sign: int) -> None:
    drawn = head(n=16, d=300)
    bounds = Bounds(drawn, drawn.key.double(), slice(0, 16), precision(torch.float32, CPU))
    one, at_q = worst_value(drawn, sign), bounds.free_energy_error(OTHER)
    sides = {
        "value": (one, worst_energy(drawn, TAU, -sign), bounds.free_energy_error(TAU)),
        "gap": (one - worst_energy(drawn, OTHER, -sign), worst_divergence(drawn, -sign),
                at_q + bounds.divergence_error()),
    }  # fmt: skip
    for cell, (left_, right_, error) in sides.items():
        found = judge(cell, drawn, left_, right_)
        assert found.ok
        assert found.ratio > 0.5
        assert found.bound >= float((error + bounds.value_error())[found.entry])


def test_the_sum_is_rescaled_at_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gibbs_weights, "KEYS", 1)
    drawn = head(n=60, d=1)
    bounds = Bounds(drawn, drawn.key.double(), slice(0, 60), precision(torch.float32, CPU))
    ratio = (worst_value(drawn, 1) - value(scores(drawn))) / bounds.value_error()
    assert 0.9 < float(ratio.max()) <= 1


def test_scores_too_large_for_the_dtype_have_no_bound() -> None:
    drawn = head()
    large = replace(drawn, query=drawn.query * 1e6)
    with pytest.raises(NoBound, match="scores are too large for this dtype"):
        judge("value", large, left(large, "value"), right(large, "value"))
