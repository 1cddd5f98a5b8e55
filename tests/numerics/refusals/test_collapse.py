"""Refused inputs of rank collapse: its quantities, its stacks and its rates."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
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

NAN, INF, F32 = float("nan"), math.inf, np.float32
X, S, T = np.eye(3, 2), np.zeros((1, 3, 3)), np.eye(2)[None]
LH = np.ones((4, 2))
ONE = np.eye(2)
DOT = DotProduct(ONE)
HEAD = Head(DOT, ONE)
LAYER = Layer((HEAD,))

Row = tuple[Callable[[], Any], type[Exception], str]


def matrix(call: Callable[[Any], Any], name: str, axes: str) -> list[Row]:
    """Rows that every function of one array has."""
    return [
        (lambda: call([[1.0]]), TypeError, f"^{name} must be a NumPy array.*got list"),
        (lambda: call(np.eye(2, dtype=int)), TypeError, f"^{name} must be real floating.*int64"),
        (lambda: call(np.ones(3)), ValueError, rf"^{name} must have shape \({axes}\).*\(3,\)"),
        (lambda: call(np.ones((0, 3))), ValueError, rf"^{name} must have shape.*got \(0, 3\)"),
        (lambda: call(np.eye(2) * NAN), ValueError, f"^{name} must be finite, got nan"),
        (lambda: call(np.array([[1.0, INF]])), ValueError, f"^{name} must be finite, got inf"),
    ]


BAD: dict[str, list[Row]] = {
    "collapse.oscillation.osc": [
        *matrix(osc, "x", "n, d"),
        (lambda: osc(np.array([[1e308], [-1e308]])), ValueError, "^x must be of finite differ"),
    ],
    "collapse.oscillation.dobrushin": [
        *matrix(dobrushin, "A", "n, m"),
        (lambda: dobrushin(np.array([[1.0, 0.0], [0.5, 0.25]])), ValueError,
         "^A must be of equal row sums.*got 0.25"),
        (lambda: dobrushin(np.array([[1.0, 0.0], [1 - 1e-9, 0.0]])), ValueError, "^A must be"),
    ],
    "collapse.oscillation.score_spread": [
        *matrix(score_spread, "S", "n, m"),
        (lambda: score_spread(np.array([[0.0, -INF]])), ValueError, "^S must be finite, got -inf"),
        (lambda: score_spread(np.array([[1e308, -1e308], [-1e308, 1e308]])), ValueError,
         "^S must be of finite differences"),
    ],
    "collapse.oscillation.spectral_norm": [
        *matrix(spectral_norm, "W", "p, q"),
        (lambda: spectral_norm(ONE * 1e200), ValueError, r"^W must be at most 2\^500.*got 1e\+200"),
    ],
    "collapse.oscillation.contraction": [
        (lambda: contraction(1.0, LH), TypeError, "^value_norms must be a NumPy.*got float"),  # type: ignore
        (lambda: contraction(LH, LH.astype(F32)), TypeError, "^spreads must have the dtype"),
        (lambda: contraction(LH, torch.ones(4, 2)), TypeError, "^spreads must be of the kind"),
        (lambda: contraction(LH, LH[:, :1]), ValueError, r"^spreads must have shape.*H = 2"),
        (lambda: contraction(LH, LH[:3]), ValueError, r"^spreads must have shape.*batch_0 = 4"),
        (lambda: contraction(-LH, LH), ValueError, "^value_norms must be nonnegative, got -1.0"),
        (lambda: contraction(LH, LH * NAN), ValueError, "^spreads must be finite, got nan"),
    ],
    "collapse.oscillation.collapse_bound": [
        (lambda: collapse_bound(-1.0, LH, LH), ValueError, "^osc0 must be at least 0, got -1.0"),
        (lambda: collapse_bound(NAN, LH, LH), ValueError, "^osc0 must be finite, got nan"),
        (lambda: collapse_bound("1", LH, LH), TypeError, "^osc0 must be a real number.*str"),  # type: ignore
        (lambda: collapse_bound(1.0, LH[0], LH), ValueError, r"^value_norms.*\(L, H\).*\(2,\)"),
        (lambda: collapse_bound(1.0, LH, LH[:2]), ValueError, r"^spreads must have shape.*L = 4"),
        (lambda: collapse_bound(1.0, LH, -LH), ValueError, "^spreads must be nonnegative"),
        (lambda: collapse_bound(1.0, LH, LH.astype(F32)), TypeError, "^spreads.*got float32"),
    ],
    "collapse.oscillation.attention_step": [
        (lambda: attention_step(X[0], S, T), ValueError, r"^x must have shape \(n, d\)"),
        (lambda: attention_step(X, S[:, :2], T), ValueError, "^scores must have shape.*n = 3"),
        (lambda: attention_step(X, S, T[:, :1, :1]), ValueError, "^transports.*d = 2"),
        (lambda: attention_step(X, S, np.stack([ONE, ONE])), ValueError, "^transports.*H = 1"),
        (lambda: attention_step(X[None], S, T), ValueError, "^x, scores and transports must have"),
        (lambda: attention_step(X * NAN, S, T), ValueError, "^x must be finite"),
        (lambda: attention_step(X, S - INF, T), ValueError, "^scores must be finite, got -inf"),
        (lambda: attention_step(X, S, T * NAN), ValueError, "^transports must be finite"),
        (lambda: attention_step(X, S, T.astype(F32)), TypeError, "^transports must have the dtype"),
        (lambda: attention_step(X.astype("f2"), S.astype("f2"), T.astype("f2")), TypeError,
         "^x must be float64 or float32, got float16"),
        (lambda: attention_step(X, S, T, np.ones((3, 3))), TypeError, "^allowed must be boolean"),
        (lambda: attention_step(X, S, T, np.ones((2, 3), bool)), ValueError, "^allowed must have"),
    ],
    "collapse.balls.DotProduct": [
        (lambda: DotProduct([[1.0]]), TypeError, "^M must be a NumPy array.*got list"),  # type: ignore
        (lambda: DotProduct(ONE.astype(F32)), TypeError, "^M must be a float64 NumPy.*float32"),
        (lambda: DotProduct(torch.eye(2, dtype=torch.float64)), TypeError, "^M must be a float64"),  # type: ignore
        (lambda: DotProduct(X), ValueError, r"^M must have shape \(d, d\).*got \(3, 2\)"),
        (lambda: DotProduct(ONE * NAN), ValueError, "^M must be finite"),
        (lambda: DOT.check(3, 4), ValueError, r"^M must have shape \(d, d\) with d = 4"),
    ],
    "collapse.balls.Geodesic": [
        (lambda: Geodesic([[1.0]]), TypeError, "^metrics must be a NumPy array.*got list"),  # type: ignore
        (lambda: Geodesic(ONE.astype(F32)), TypeError, "^metrics must be a float64"),
        (lambda: Geodesic(np.ones(2)), ValueError, r"^metrics must have shape \(d, d\).*\(2,\)"),
        (lambda: Geodesic(np.ones((3, 2, 1))), ValueError, r"^metrics must have.*\(n, d, d\)"),
        (lambda: Geodesic(ONE * NAN), ValueError, "^metrics must be finite"),
        (lambda: Geodesic(np.array([[1.0, 0.5], [0.0, 1.0]])), ValueError, "^metrics.*symmetric"),
        (lambda: Geodesic(np.ones((2, 2))), ValueError, "^metrics must be positive definite"),
        (lambda: Geodesic(np.stack([ONE, -ONE])), ValueError, "positive definite.*got -1.0 at .1,"),
        (lambda: Geodesic(ONE, ceiling=0.0), ValueError, "^ceiling must be positive, got 0.0"),
        (lambda: Geodesic(ONE, ceiling=NAN), ValueError, "^ceiling must be finite, got nan"),
        (lambda: Geodesic(lambda x: [x]).gain(), ValueError, "^ceiling must be given for a metric"),
        (lambda: Geodesic(np.stack([ONE, ONE])).check(3, 2), ValueError, "^metrics.*n = 3"),
    ],
    "collapse.balls.Sharpened": [
        (lambda: Sharpened(-1.0), ValueError, "^B must be finite and at least 0, got -1.0"),
        (lambda: Sharpened(NAN), ValueError, "^B must be finite and at least 0, got nan"),
        (lambda: Sharpened(arb(0, 1)), ValueError, "^B must be finite and at least 0"),
        (lambda: Sharpened("1"), TypeError, "^B must be a real number, got str"),  # type: ignore
    ],
    "collapse.stacks.Head": [
        (lambda: Head(ONE, ONE), TypeError, "^score must be a Score, got ndarray"),  # type: ignore
        (lambda: Head(DOT, [[1.0]]), TypeError, "^transport must be a NumPy array.*list"),  # type: ignore
        (lambda: Head(DOT, ONE.astype(F32)), TypeError, "^transport must be a float64.*float32"),
        (lambda: Head(DOT, X), ValueError, r"^transport must have shape \(d, d\).*\(3, 2\)"),
        (lambda: Head(DOT, ONE * NAN), ValueError, "^transport must be finite"),
        (lambda: Head(DOT, ONE, -1.0), ValueError, "^slope must be at least 0, got -1.0"),
        (lambda: Head(DOT, ONE, NAN), ValueError, "^slope must be finite, got nan"),
    ],
    "collapse.stacks.Layer": [
        (lambda: Layer(()), ValueError, r"^heads must be a tuple of one or more, got \(\)"),
        (lambda: Layer([HEAD]), ValueError, "^heads must be a tuple of one or more"),  # type: ignore
        (lambda: Layer((DOT,)), TypeError, "^heads must be a tuple of Head, got DotProduct"),  # type: ignore
        (lambda: Layer((Head(DOT, ONE, 0.5),)), ValueError, "^slope must be 0 in a layer that is"),
        (lambda: Layer((HEAD,), 1), TypeError, "^causal must be a bool, got int"),  # type: ignore
        (lambda: Layer((HEAD,), residual=INF), ValueError, "^residual must be finite, got inf"),
        (lambda: Layer((HEAD,), residual="1"), TypeError, "^residual must be a real number"),  # type: ignore
        (lambda: Layer((HEAD,), radius=0.0), ValueError, "^radius must be positive, got 0.0"),
    ],
    "collapse.stacks.simulate": [
        (lambda: simulate([[1.0]], [LAYER]), TypeError, "^x must be a NumPy array.*got list"),  # type: ignore
        (lambda: simulate(X.astype(F32), [LAYER]), TypeError, "^x must be a float64.*float32"),
        (lambda: simulate(X[0], [LAYER]), ValueError, r"^x must have shape \(n, d\), all.*\(2,\)"),
        (lambda: simulate(X * NAN, [LAYER]), ValueError, "^x must be finite, got nan"),
        (lambda: simulate(X, [HEAD]), TypeError, "^layers must hold Layer objects, got Head"),  # type: ignore
        (lambda: simulate(np.eye(3), [LAYER]), ValueError, "^transport must have shape.*d = 3"),
        (lambda: simulate(X, [Layer((Head(DotProduct(np.eye(3)), ONE),))]), ValueError,
         r"^M must have shape \(d, d\) with d = 2"),
        (lambda: simulate(X, [Layer((Head(Geodesic(np.stack([ONE, ONE])), ONE),))]), ValueError,
         "^metrics must have shape.*n = 3"),
        (lambda: simulate(X, [LAYER], 0), ValueError, "^bits must be at least 1, got 0"),
        (lambda: simulate(X, [LAYER], 10**6), ValueError, "^bits must be at most 4096"),
        (lambda: simulate(X, [LAYER], 64.0), TypeError, "^bits must be an integer, got float"),  # type: ignore
        (lambda: simulate(X - X, [Layer((HEAD,), radius=1.0)]), stacks.NoDigits,
         "^x must stay known to 64 bits"),
    ],
    "collapse.rates.a_priori": [
        (lambda: a_priori(-1.0, [LAYER]), ValueError, "^osc0 must be at least 0, got -1.0"),
        (lambda: a_priori(NAN, [LAYER]), ValueError, "^osc0 must be finite, got nan"),
        (lambda: a_priori("1", [LAYER]), TypeError, "^osc0 must be a real number, got str"),  # type: ignore
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
    "collapse.rates.spread_product": [
        (lambda: spread_product(0.0, 5), ValueError, "^c must be positive, got 0.0"),
        (lambda: spread_product(NAN, 5), ValueError, "^c must be finite, got nan"),
        (lambda: spread_product("1", 5), TypeError, "^c must be a real number, got str"),  # type: ignore
        (lambda: spread_product(1, 0), ValueError, "^L must be at least 1, got 0"),
        (lambda: spread_product(1, 10**9), ValueError, "^L must be at most 10000000"),
        (lambda: spread_product(1, 5.0), TypeError, "^L must be an integer, got float"),  # type: ignore
    ],
    "collapse.rates.sharpened_layers": [
        (lambda: sharpened_layers(-1.0, 5), ValueError, "^c must be positive, got -1.0"),
        (lambda: sharpened_layers(INF, 5), ValueError, "^c must be finite, got inf"),
        (lambda: sharpened_layers(1.0, 0), ValueError, "^L must be at least 1, got 0"),
        (lambda: sharpened_layers(1.0, "5"), TypeError, "^L must be an integer, got str"),  # type: ignore
    ],
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
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
