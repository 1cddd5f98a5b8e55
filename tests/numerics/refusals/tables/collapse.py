"""Refused inputs of rank collapse: its quantities, its stacks and its rates."""

import math

import numpy as np
from flint import arb

from numerics.collapse import (
    attention_step,
    collapse_bound,
    contraction,
    dobrushin,
    osc,
    score_spread,
    spectral_norm,
    stacks,
)
from numerics.collapse.balls import DotProduct, Geodesic, Sharpened
from numerics.collapse.rates import a_priori, order_rate, sharpened_layers, spread_product
from numerics.collapse.stacks import Head, Layer, simulate
from tests.numerics.refusals.faults import Call, Flag, Floats, Integer, Mask, Real, Refused

NAN, INF, F32 = float("nan"), math.inf, np.float32
X, S, T = np.eye(3, 2), np.zeros((1, 3, 3)), np.eye(2)[None]
LH = np.ones((4, 2))
ONE = np.eye(2)
DOT = DotProduct(ONE)
HEAD = Head(DOT, ONE)
LAYER = Layer((HEAD,))


START = Real(1.0, out=((-1.0, "be at least 0"),))
POSITIVE = Real(1.0, out=((0.0, "be positive"), (-1.0, "be positive")))
SQUARE = Floats(ONE, "d d", float64=True)

BAD: Refused = {
    "collapse.oscillation.osc": [
        Call(osc, x=Floats(ONE, "... n d")),
        (lambda: osc(np.array([[1e308], [-1e308]])), ValueError, "^x must be of finite differ"),
    ],
    "collapse.oscillation.dobrushin": [
        Call(dobrushin, A=Floats(ONE, "... n m")),
        (lambda: dobrushin(np.array([[1.0, 0.0], [0.5, 0.25]])), ValueError,
         "^A must be of equal row sums.*got 0.25"),
        (lambda: dobrushin(np.array([[1.0, 0.0], [1 - 1e-9, 0.0]])), ValueError, "^A must be"),
    ],
    "collapse.oscillation.score_spread": [
        Call(score_spread, S=Floats(ONE, "... n m")),
        (lambda: score_spread(np.array([[1e308, -1e308], [-1e308, 1e308]])), ValueError,
         "^S must be of finite differences"),
    ],
    "collapse.oscillation.spectral_norm": [
        Call(spectral_norm, W=Floats(ONE, "... p q")),
        (lambda: spectral_norm(ONE * 1e200), ValueError, r"^W must be at most 2\^500.*got 1e\+200"),
    ],
    "collapse.oscillation.contraction": [
        Call(contraction, value_norms=Floats(LH, "... H", "nonnegative"),
             spreads=Floats(LH, "batch_0=4 H", "nonnegative")),
    ],
    "collapse.oscillation.collapse_bound": [
        Call(collapse_bound, osc0=START, value_norms=Floats(LH, "L H", "nonnegative"),
             spreads=Floats(LH, "L H", "nonnegative")),
    ],
    "collapse.oscillation.attention_step": [
        Call(attention_step, x=Floats(X, "... n d"), scores=Floats(S, "... H n n"),
             transports=Floats(T, "... H d d"), allowed=Mask(S[0] == 0, "~n n | H n n")),
        (lambda: attention_step(X[None], S, T), ValueError, "^x, scores and transports must have"),
        (lambda: attention_step(X.astype("f2"), S.astype("f2"), T.astype("f2")), TypeError,
         "^x must be float64 or float32, got float16"),
    ],
    "collapse.balls.DotProduct": [
        Call(DotProduct, M=SQUARE),
        (lambda: DOT.check(3, 4), ValueError, r"^M must have shape \(d, d\) with d = 4"),
    ],
    "collapse.balls.Geodesic": [
        Call(Geodesic, metrics=Floats(ONE, "d d | n d d", float64=True), ceiling=POSITIVE),
        (lambda: Geodesic(np.ones((3, 2, 1))), ValueError, r"^metrics must have.*\(n, d, d\)"),
        (lambda: Geodesic(np.array([[1.0, 0.5], [0.0, 1.0]])), ValueError, "^metrics.*symmetric"),
        (lambda: Geodesic(np.ones((2, 2))), ValueError, "^metrics must be positive definite"),
        (lambda: Geodesic(np.stack([ONE, -ONE])), ValueError, "positive definite.*got -1.0 at .1,"),
        (lambda: Geodesic(lambda x: [x]).gain(), ValueError, "^ceiling must be given for a metric"),
        (lambda: Geodesic(np.stack([ONE, ONE])).check(3, 2), ValueError, "^metrics.*n = 3"),
    ],
    "collapse.balls.Sharpened": [
        Call(Sharpened,
             B=Real(1.0, "finite and at least 0", ((-1.0, "be finite and at least 0"),))),
        (lambda: Sharpened(arb(0, 1)), ValueError, "^B must be finite and at least 0"),
    ],
    "collapse.stacks.Head": [
        Call(Head, score=DOT, transport=SQUARE, slope=Real(0.0, out=((-1.0, "be at least 0"),))),
        (lambda: Head(ONE, ONE), TypeError, "^score must be a Score, got ndarray"),  # type: ignore
    ],
    "collapse.stacks.Layer": [
        Call(Layer, heads=(HEAD,), causal=Flag(False), residual=Real(0.0), radius=POSITIVE),
        (lambda: Layer(()), ValueError, r"^heads must be a tuple of one or more, got \(\)"),
        (lambda: Layer([HEAD]), ValueError, "^heads must be a tuple of one or more"),  # type: ignore
        (lambda: Layer((DOT,)), TypeError, "^heads must be a tuple of Head, got DotProduct"),  # type: ignore
        (lambda: Layer((Head(DOT, ONE, 0.5),)), ValueError, "^slope must be 0 in a layer that is"),
    ],
    "collapse.stacks.simulate": [
        Call(simulate, x=Floats(X, "n d", float64=True), layers=[LAYER], bits=Integer(64, 1, 4096)),
        (lambda: simulate(X, [HEAD]), TypeError, "^layers must hold Layer objects, got Head"),  # type: ignore
        (lambda: simulate(np.eye(3), [LAYER]), ValueError, "^transport must have shape.*d = 3"),
        (lambda: simulate(X, [Layer((Head(DotProduct(np.eye(3)), ONE),))]), ValueError,
         r"^M must have shape \(d, d\) with d = 2"),
        (lambda: simulate(X, [Layer((Head(Geodesic(np.stack([ONE, ONE])), ONE),))]), ValueError,
         "^metrics must have shape.*n = 3"),
        (lambda: simulate(X - X, [Layer((HEAD,), radius=1.0)]), stacks.NoDigits,
         "^x must stay known to 64 bits"),
    ],
    "collapse.rates.a_priori": [
        Call(a_priori, osc0=START, layers=[LAYER]),
        (lambda: a_priori(1.0, [HEAD]), TypeError, "^layers must hold Layer objects, got Head"),  # type: ignore
        (lambda: a_priori(1.0, [Layer((HEAD,), True)]), ValueError, "^layers must not be causal"),
        (lambda: a_priori(1.0, [Layer((HEAD, HEAD), radius=1.0)]), ValueError, "^layers on a sph"),
        (lambda: a_priori(1.5, [Layer((HEAD,), radius=1.0)]), ValueError, "^osc0 must be below"),
        (lambda: a_priori(1.0, [Layer((Head(Geodesic(lambda x: [x]), ONE),))]), ValueError,
         "^ceiling must be given"),
    ],
    "collapse.rates.order_rate": [
        (lambda: order_rate("few", np.full(4, -2.0), 3), ValueError, "^few: logs must be finite"),
        (lambda: order_rate("none", np.zeros(9), 3), ValueError, "^none: logs must be finite"),
        (lambda: order_rate("bad", -np.arange(9.0) * NAN, 3), ValueError, "^bad: logs must be"),
    ],
    "collapse.rates.spread_product": [Call(spread_product, c=POSITIVE, L=Integer(5, 1, 10**7))],
    "collapse.rates.sharpened_layers": [Call(sharpened_layers, c=POSITIVE, L=Integer(5, 1, 10**6))],
}  # fmt: skip
PLAIN = {  # records of results, an exception, functions without arguments, and what is inside
    "collapse.oscillation.ScoreSpread", "collapse.oscillation.Step", "collapse.stacks.Run",
    "collapse.stacks.NoDigits",
    "collapse.balls.Score", "collapse.balls.Tokens", "collapse.balls.Centred",
    "collapse.balls.balls",
    "collapse.balls.largest", "collapse.balls.squares", "collapse.rates.families",
    "collapse.rates.unmasked_rates", "collapse.rates.causal_rates",
    "collapse.rates.product_rates",
}  # fmt: skip
WARNINGS = ("overflow encountered",)
