"""How fast stacks collapse: bounds before a run, the orders that runs show, and exact products.

An order p is read off log osc_{l+1} / log osc_l, which tends to p in proportion to 1 / |log osc_l|
where osc_{l+1} is about c osc_l^p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb, ctx

from numerics.collapse.balls import DotProduct, Geodesic, Score, Sharpened
from numerics.collapse.stacks import Head, Layer, Run, simulate
from numerics.evidence.rates import Rate
from numerics.inputs import integer, number, real

PRECISION = 192
DEPTH, CAUSAL_DEPTH = 10, 60
TOKENS = np.array([[0.5, 0.25], [-0.25, 0.5], [0.125, -0.5], [-0.5, -0.375]])
METRICS = np.array(
    [[[1.0, 0.5], [0.5, 2.0]], [[2.0, -0.5], [-0.5, 1.0]], [[1.5, 0.0], [0.0, 0.5]],
     [[0.75, 0.25], [0.25, 1.25]]]
)  # fmt: skip
FIXED = np.eye(2)
SLOPE = 0.75


def families() -> dict[str, tuple[Score, int]]:
    """The families of scores of the measured orders, with the order that each should have."""
    return {
        "dot product": (DotProduct(np.array([[1.0, 0.5], [-0.25, 1.5]])), 3),
        "homogeneous": (Geodesic(METRICS[0]), 3),
        "heterogeneous": (Geodesic(METRICS), 3),
        "symmetrised": (Geodesic(METRICS, symmetrised=True), 3),
        "unsquared": (Geodesic(METRICS, squared=False), 2),
    }


def a_priori(osc0: float | arb, layers: Sequence[Layer]) -> tuple[arb, ...]:
    """Upper bounds on osc before and after each layer, from norms and osc0 >= 0 alone.

    osc' <= (|residual| + sum_h |T^h| tanh(a_h osc^p / 4)) osc, Delta <= a osc^p; for tokens on a
    sphere of radius R, one head and T = I, this divided by sqrt(1 - osc^2 / (2 R^2)). Raises
    ValueError for causal layers, other heads on a sphere or tokens there that may average to 0,
    TypeError by name. Source: RA11.
    """
    bound = osc0 if isinstance(osc0, arb) else arb(number("osc0", osc0))
    if not bound >= 0:
        raise ValueError(f"osc0 must be at least 0, got {osc0}")
    found = [bound.upper()]
    with ctx.workprec(PRECISION):
        for layer in layers:
            if not isinstance(layer, Layer):
                raise TypeError(f"layers must hold Layer objects, got {type(layer).__name__}")
            found.append((_left(layer, found[-1]) * found[-1]).upper())
    return tuple(found)


def _left(layer: Layer, osc: arb) -> arb:
    if layer.causal:
        raise ValueError("layers must not be causal: no power of osc bounds them")
    factor = arb(abs(float(layer.residual)))
    for head in layer.heads:
        gain, power = head.score.gain()
        factor += arb(head.norm) * (arb(gain) * osc**power / 4).tanh()
    if layer.radius is None:
        return factor
    head, *others = layer.heads
    if others or layer.residual or not np.array_equal(head.transport, np.eye(len(head.transport))):
        raise ValueError("layers on a sphere must have one head, transport I and no residual")
    room = 1 - osc * osc / (2 * arb(float(layer.radius)) ** 2)
    if not room > 0:
        raise ValueError("osc0 must be below sqrt(2) radius: tokens on the sphere may average to 0")
    return factor / room.sqrt()


def order_rate(name: str, logs: np.ndarray, order: float) -> Rate:
    """The order of collapse that log osc (L + 1) shows; layers before log osc < -1 are left out.

    Raises ValueError for fewer than five layers left, or tokens that are all equal.
    """
    values = np.asarray(logs, float)
    below = values[np.argmax(values < -1) :] if bool(np.any(values < -1)) else values[:0]
    if not np.all(np.isfinite(below)) or len(below) < 6:
        raise ValueError(
            f"{name}: logs must be finite and below -1 for five layers, got {len(below) - 1}"
        )
    orders = below[1:] / below[:-1]
    steps = tuple(1 / -below[:-1])
    return Rate(name, order, steps, tuple(orders), rounding=2.0**-48 * order)


def unmasked_rates() -> list[Rate]:
    """Orders 3 and 2 of unmasked stacks, transport I. Source: RA11."""
    found = []
    for name, (score, order) in families().items():
        run = simulate(TOKENS, [Layer((Head(score, FIXED),))] * (DEPTH + 2 * (order == 2)))
        found.append(order_rate(f"order of collapse, {name} scores", run.logs, order))
    heads = tuple(Head(families()[name][0], FIXED / 2) for name in ("dot product", "heterogeneous"))
    run = simulate(TOKENS, [Layer(heads)] * DEPTH)
    return [*found, order_rate("order of collapse, two heads", run.logs, 3)]


def _ratio_rate(name: str, run: Run, target: float, shrink: float) -> Rate:
    """Ratios of max_i |x_i - x_1|, whose error should fall by shrink a layer."""
    ratios, start = np.exp(np.diff(run.first_logs)), CAUSAL_DEPTH // 3
    layers = range(start, len(ratios), 4)
    steps = tuple(shrink ** float(l) for l in layers)
    values = tuple(float(ratios[l]) for l in layers)
    return Rate(name, target, steps, values, rounding=2.0**-44)


def _causal_run(x: np.ndarray, score: Score, slope: float = 0.0) -> Run:
    return simulate(x, [Layer((Head(score, FIXED, slope),), causal=True)] * CAUSAL_DEPTH)


def causal_rates() -> list[Rate]:
    """Ratios 1/2, 1/3 and that of ALiBi, and the order 1, of causal stacks. Source: RA17.

    Next to 1/k comes 1/(k + 1), whose part of the tokens falls by k/(k + 1) a layer beside it.
    """
    decay = [math.exp(-SLOPE * k) for k in range(3)]
    two, three = sum(decay[:2]), sum(decay)
    twice = [0, 0, 1, 2, 3]  # x_2 = x_1
    found = []
    for name, all_scores, late_scores in (
        ("dot product", families()["dot product"][0], families()["dot product"][0]),
        ("heterogeneous", Geodesic(METRICS), Geodesic(METRICS[twice])),
    ):
        title, late = f"causal, {name} scores", _causal_run(TOKENS[twice], late_scores)
        plain, biased = (_causal_run(TOKENS, all_scores, slope) for slope in (0.0, SLOPE))
        found += [
            _ratio_rate(f"{title}, x_2 != x_1: ratio of layers", plain, 1 / 2, 2 / 3),
            _ratio_rate(f"{title}, x_2 = x_1 != x_3: ratio of layers", late, 1 / 3, 3 / 4),
            _ratio_rate(f"{title}, ALiBi slope {SLOPE:g}: ratio", biased, 1 / two, two / three),
            order_rate(f"{title}: order of collapse", plain.first_logs, 1),
        ]
    return found


def spread_product(c: float, L: int) -> arb:
    """prod_{l=2}^L tanh(c log(l) / 2) = prod (l^c - 1) / (l^c + 1), a ball of about 170 bits.

    What L - 1 layers of two tokens leave of osc where layer l has row spread c log l. Raises
    ValueError for c <= 0 or L < 1, TypeError by name. Source: RA12.
    """
    real("c", c)
    if number("c", c) <= 0:
        raise ValueError(f"c must be positive, got {c}")
    integer("L", L, 1, 10**7)
    with ctx.workprec(PRECISION + 2 * L.bit_length()):
        product, power = arb(1), arb(float(c))
        for l in range(2, L + 1):
            grown = arb(l) ** (int(c) if float(c).is_integer() else power)
            product *= (grown - 1) / (grown + 1)
    return product


def sharpened_layers(c: float, L: int) -> list[Layer]:
    """Layers 2 to L of transport I whose metric is (2 c log(l) / osc^2) I. Source: RA12.

    Raises ValueError for c <= 0 or L < 1, TypeError by name.
    """
    if number("c", c) <= 0:
        raise ValueError(f"c must be positive, got {c}")
    integer("L", L, 1, 10**6)
    with ctx.workprec(2 * PRECISION):
        return [Layer((Head(Sharpened(arb(float(c)) * arb(l).log()), np.eye(1)),))
                for l in range(2, L + 1)]  # fmt: skip


def product_rates() -> list[Rate]:
    """Products at spreads c log l: 2 / (L (L + 1)) for c = 1, then the limits for c = 2, 3.

    Source: RA12.
    """
    lengths = [2**k for k in range(4, 12)]
    steps = tuple(1 / L for L in lengths)
    scaled = tuple(float(spread_product(1, L) * L * (L + 1)) for L in lengths)
    found = [Rate("spreads log l: L(L + 1) product", 2.0, steps, scaled, rounding=2.0**-50)]
    for c, limit, order in ((2, math.pi / math.sinh(math.pi), 1), (3, 2 / 3, 2)):
        values = tuple(float(spread_product(c, L)) for L in lengths)
        found.append(
            Rate(f"spreads {c} log l: product", limit, steps, values, order, rounding=2.0**-50)
        )
    return found
