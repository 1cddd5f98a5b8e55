"""The stress case of AP1: false free energies, weights that vanish, and the worst that rounding
may do.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from numerics import blockwise
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import gibbs_weights
from numerics.stress.theorems.gibbs_weights import Bounds, Energies, Head
from tests.numerics.stress.theorems.sides import CPU, Faults, drawn

TAU, OTHER = gibbs_weights.TEMPERATURE, gibbs_weights.OTHER
U32, EXP32 = 2.0**-24, 6 * 2.0**-24
of = partial(drawn, "AP1", n=50, d=12, seed=3)


def head(n: int = 50, d: int = 12) -> Head:
    return of("value", n=n, d=d).inputs


def scores(h: Head) -> torch.Tensor:
    return h.query.double() @ h.key.double().mT * h.scale


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
FALSE_VALUES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "no tau in front": lambda s: value(s) / TAU,
    "temperature 1": lambda s: torch.logsumexp(s, 1),
    "no tau at the entropy": lambda s: energy(law(s, TAU), s, 1.0),
    "no entropy": lambda s: energy(law(s, TAU), s, 0.0),
    "the entropy subtracted": lambda s: energy(law(s, TAU), s, -TAU),
    "weights of temperature 1": lambda s: energy(law(s, 1.0), s),
    "the highest score": lambda s: s.amax(1),
}  # fmt: skip
FALSE_GAPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "no tau in front": lambda s: kl(law(s, OTHER), law(s, TAU)),
    "the divergence reversed": lambda s: TAU * kl(law(s, TAU), law(s, OTHER)),
    "the other temperature in front": lambda s: OTHER * kl(law(s, OTHER), law(s, TAU)),
    "of weights of temperature 1": lambda s: TAU * kl(law(s, 1.0), law(s, TAU)),
    "below the value at q": lambda s: OTHER * s.div(OTHER).logsumexp(1) - value(s),
    "no gap": lambda s: torch.zeros_like(s[:, 0]),
}  # fmt: skip


def by(formulas: dict[str, Callable[[torch.Tensor], torch.Tensor]]) -> dict[str, Any]:
    """Sides from all scores in float64."""
    return {key: lambda h, f=f: Energies(f(scores(h))) for key, f in formulas.items()}


SPOILS: dict[str, Callable[[Head], Head]] = {
    "keys of other tokens": lambda h: replace(h, key=torch.cat([h.key[:1], h.key[:-1]])),
    "one key dropped": lambda h: replace(h, key=torch.cat([h.key[:-1], h.key[:1]])),
    "queries and keys swapped": lambda h: replace(h, query=h.key, key=h.query),
    "scale missing": lambda h: replace(h, scale=1.0),
    "scores scaled by 1.01": lambda h: replace(h, scale=h.scale * 1.01),
}  # fmt: skip
FORMULAS = [(of, list(blockwise.DTYPES), by(TRUE))]
FAULTS = [
    Faults(of, SPOILS),
    *(
        Faults(of, by(false), cells, "float32", "right", results=True)
        for cells, false in ((("value",), FALSE_VALUES), (("gap",), FALSE_GAPS))
    ),
]


def test_softmax_maximises_the_free_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = of("gap")
    short = sides.left()
    zero = Energies(torch.zeros_like(short.result))
    assert bool((short.result > 0).all())
    assert not sides.equal(short, zero)
    monkeypatch.setattr(gibbs_weights, "OTHER", TAU)
    assert sides.equal(sides.left(), zero)


@pytest.mark.parametrize("keys", [1, 7, 64])
@pytest.mark.parametrize("descending", [False, True])
def test_the_order_of_keys_and_the_size_of_blocks_do_not_matter(
    descending: bool, keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = of("value")
    h = sides.inputs
    order = scores(h).mean(0).argsort(descending=descending)
    query = (h.query.mean(0, keepdim=True) * 40).expand(len(h.key), -1)
    sides = sides.on(replace(h, key=h.key[order], query=query))
    monkeypatch.setattr(gibbs_weights, "KEYS", keys)
    assert sides.equal(sides.left(), Energies(value(scores(sides.inputs))))


def test_blocks_of_queries_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 16 * 50 * 3)
    for cell, formula in by(TRUE).items():
        sides = of(cell)
        true = formula(sides.inputs)
        assert sides.equal(sides.left(), true)
        assert sides.equal(true, sides.right())


@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
def test_weights_that_underflow_have_no_entropy(dtype: str) -> None:
    stored = blockwise.DTYPES[dtype]
    key = torch.tensor([[-8.0], [8.0], [-8.0]], dtype=stored)
    h = Head(torch.tensor([[64.0], [32.0], [0.0]], dtype=stored), key, 1.0)
    assert float(torch.softmax(scores(h).float() / TAU, 1)[0, 0]) == 0
    sides = of("value", dtype=dtype).on(h)
    assert sides.agree()
    assert sides.left().result[:2].tolist() == sides.right().result[:2].tolist() == [512.0, 256.0]


def dot_error(h: Head) -> torch.Tensor:
    """Every rounding of a scaled product of d terms in float32, all in one direction."""
    d = h.key.shape[1]
    return (d + 2) * U32 * h.scale * (h.query.double().abs() @ h.key.double().abs().mT)


def worst_value(h: Head, sign: int) -> torch.Tensor:
    """tau log-sum-exp with all its roundings in one direction."""
    n = len(h.key)
    exponents = (scores(h) + sign * dot_error(h)) / TAU
    below = exponents.amax(1, keepdim=True) - exponents
    blocks = -(-n // gibbs_weights.KEYS)
    each = (blocks + 1) * EXP32 + (min(n, gibbs_weights.KEYS) + 2 * blocks - 1 + below) * U32
    log_total = (each * sign - below).exp().sum(1).log()
    found = exponents.amax(1) + log_total + sign * EXP32 * log_total.abs()
    return TAU * (found + sign * U32 * found.abs())


def worst_energy(h: Head, temperature: float, sign: int) -> torch.Tensor:
    """The free energy at weights of that temperature, moved in the worst direction."""
    n, s, off = len(h.key), scores(h), dot_error(h)
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


def worst_divergence(h: Head, sign: int) -> torch.Tensor:
    """tau KL(q | p) with scores off in the worst direction, and logarithms, exponential, sums."""
    n, s = len(h.key), scores(h).requires_grad_()
    (uphill,) = torch.autograd.grad(divergence(s).sum(), s)
    moved = s.detach() + sign * uphill.sign() * dot_error(h)
    log_error = sign * (n - 1 + 40) * U32
    terms = divergence(moved, -log_error, log_error) * (1 + sign * EXP32)
    return (terms + sign * n * U32 * terms.abs()).sum(1)


SHAPES = [(30, 100), (60, 1), (200, 2), (300, 8)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_worst_that_rounding_may_do_is_within_the_bound(n: int, d: int, sign: int) -> None:
    h = head(n=n, d=d)
    s, p, q = scores(h), law(scores(h), TAU), law(scores(h), OTHER)
    bounds = Bounds(h, h.key.double(), slice(0, n), precision(torch.float32, CPU))
    errors = [
        (worst_value(h, sign) - value(s), bounds.value_error(), 0.7),
        (worst_energy(h, TAU, sign) - energy(p, s), bounds.free_energy_error(TAU), 0.55),
        (worst_energy(h, OTHER, sign) - energy(q, s), bounds.free_energy_error(OTHER), 0.55),
        (worst_divergence(h, sign) - divergence(s).sum(1), bounds.divergence_error(), 0.4),
    ]
    for error, bound, least in errors:
        assert bool((error.abs() <= bound).all())
        assert float((error.abs() / bound).max()) > least


@pytest.mark.parametrize("sign", [1, -1])
def test_a_comparison_allows_what_both_sides_may_do_and_little_more(sign: int) -> None:
    h = head(n=16, d=300)
    bounds = Bounds(h, h.key.double(), slice(0, 16), precision(torch.float32, CPU))
    one, at_q = worst_value(h, sign), bounds.free_energy_error(OTHER)
    sides = {
        "value": (one, worst_energy(h, TAU, -sign), bounds.free_energy_error(TAU)),
        "gap": (one - worst_energy(h, OTHER, -sign), worst_divergence(h, -sign),
                at_q + bounds.divergence_error()),
    }  # fmt: skip
    for cell, (left, right, error) in sides.items():
        one_cell = of(cell, n=16, d=300)
        (found,) = one_cell.compared(Energies(left), Energies(right)).values()
        assert found.ok
        assert found.ratio > 0.5
        assert found.bound >= float((error + bounds.value_error())[found.entry])


def test_the_sum_is_rescaled_at_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gibbs_weights, "KEYS", 1)
    h = head(n=60, d=1)
    bounds = Bounds(h, h.key.double(), slice(0, 60), precision(torch.float32, CPU))
    ratio = (worst_value(h, 1) - value(scores(h))) / bounds.value_error()
    assert 0.9 < float(ratio.max()) <= 1


def test_scores_too_large_for_the_dtype_have_no_bound() -> None:
    sides = of("value")
    large = replace(sides.inputs, query=sides.inputs.query * 1e6)
    with pytest.raises(NoBound, match="scores are too large for this dtype"):
        sides.on(large).judged()
