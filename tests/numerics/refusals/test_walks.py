"""One table of refused inputs over every public name: a name without rows fails."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from numerics.rounding import roundoff
from numerics.rounding.roundoff import exact
from numerics.walks import Walk, gauges, transports
from numerics.walks import walk as walks

A = np.full((2, 3), 0.25)
HEADS = np.full((2, 3, 4), 0.25)
T = np.ones((2, 5, 6))
X = np.ones((3, 6))
NAN = np.array([[np.nan, 1.0], [1.0, 1.0]])
SQUARE = Walk(np.full((2, 2), 0.5), np.eye(3))
WIDE = Walk(A, np.ones((5, 6)))
FRAMES = np.stack([np.eye(3)] * 2)
F32 = np.float32

Row = tuple[Callable[[], Any], type[Exception], str]
BAD: dict[str, list[Row]] = {
    "walks.walk.softmax_walk": [
        (lambda: walks.softmax_walk([[0.0]]), TypeError, "logits must be a NumPy.*got list"),
        (lambda: walks.softmax_walk(np.ones((2, 2), int)), TypeError, "logits must be real.*int64"),
        (lambda: walks.softmax_walk(np.ones(2)), ValueError, r"logits must have shape.*got \(2,\)"),
        (lambda: walks.softmax_walk(NAN), ValueError, r"logits must be finite or -inf, got nan"),
        (lambda: walks.softmax_walk(A + np.inf), ValueError, r"logits.*got inf at \(0, 0\)"),
        (lambda: walks.softmax_walk(A, A), TypeError, "allowed must be boolean.*got float64"),
        (lambda: walks.softmax_walk(A, torch.ones(2, 3) > 0), TypeError, "allowed.*got Tensor"),
        (lambda: walks.softmax_walk(A, A[:1] > 0), ValueError, r"allowed.*\(2, 3\).*got \(1, 3\)"),
    ],
    "walks.walk.Walk": [
        (lambda: Walk(-A, np.ones((5, 6))), ValueError, r"weights must be nonnegative, got -0.25"),
        (lambda: Walk(NAN, np.eye(2)), ValueError, r"weights must be finite, got nan at \(0, 0\)"),
        (lambda: Walk(A, np.eye(2, dtype=F32)), TypeError, "transports.*float64, got float32"),
        (lambda: Walk(A, torch.eye(2)), TypeError, "transports must be of the kind.*got Tensor"),
        (lambda: Walk(A[0], np.eye(2)), ValueError, r"weights must have shape \(n, m\).*\(3,\)"),
        (lambda: Walk(A, np.ones((3, 2, 1, 1))), ValueError, "transports.*n = 2, m = 3.*got"),
        (lambda: Walk(A, np.ones((1, 1, 1))), ValueError, "transports must have shape"),
        (lambda: Walk(A, NAN), ValueError, "transports must be finite, got nan"),
        (lambda: Walk(A, np.eye(2), np.ones((1, 2))), ValueError, "offset.*n = 2.*d_out = 2"),
        (lambda: Walk(np.ones((0, 3)), np.eye(2)), ValueError, "weights.*all positive.*0, 3"),
    ],
    "walks.walk.Walk.apply": [
        (lambda: WIDE.apply(X.T), ValueError, r"x must have.*m = 3, d_in = 6.*got \(6, 3\)"),
        (lambda: WIDE.apply(X.astype(F32)), TypeError, "x must have the dtype.*got float32"),
        (lambda: WIDE.apply(torch.ones(3, 6)), TypeError, "x must be of the kind.*got Tensor"),
        (lambda: WIDE.apply(X * np.nan), ValueError, "x must be finite in every row.*got nan"),
    ],
    "walks.walk.Walk.generator": [
        (lambda: WIDE.generator(), ValueError, "walk must be square.*n = 2, m = 3")
    ],
    "walks.walk.single_head_walk": [
        (lambda: walks.single_head_walk(A, T[0], T[0]), ValueError, "w_o.*d_v = 6.*got"),
        (lambda: walks.single_head_walk(A, T[0], T[0].T, X[0][:2]), ValueError, "b_v.*d_v = 6"),
        (lambda: walks.single_head_walk(A, T[0], T[0].T, None, X[0]), ValueError, "b_o.*d_out = 5"),
        (lambda: walks.single_head_walk(A, NAN, NAN), ValueError, "w_v must be finite"),
        (lambda: walks.single_head_walk(-A, T[0], T[0].T), ValueError, "weights must be nonneg"),
        (lambda: walks.single_head_walk(A, T[0].astype(F32), T[0].T), TypeError, "w_v must have"),
    ],
    "walks.walk.multi_head_walk": [
        (lambda: walks.multi_head_walk(A, T), ValueError, r"attention.*\(H, n, m\).*got \(2, 3\)"),
        (lambda: walks.multi_head_walk(HEADS, T[:1]), ValueError, "transports.*H = 2"),
        (lambda: walks.multi_head_walk(HEADS, T * np.inf), ValueError, "transports.*got inf"),
        (lambda: walks.multi_head_walk(-HEADS, T), ValueError, "attention must be nonnegative"),
        (lambda: walks.multi_head_walk(HEADS, T, np.zeros(2)), ValueError, "weights must be posi"),
    ],
    "walks.transports.kv_head": [
        (lambda: transports.kv_head(4, 4, 2), ValueError, r"h must lie in \[0, 4\), got 4"),
        (lambda: transports.kv_head(0, 2, 4), ValueError, r"kv_heads must lie in \[1, 2\], got 4"),
        (lambda: transports.kv_head(0.5, 2, 1), TypeError, "h must be an int, got float"),  # type: ignore
    ],
    "walks.transports.head_transports": [
        (lambda: transports.head_transports(T[0], T), ValueError, r"w_v.*\(H_kv, d_in, d_v\)"),
        (lambda: transports.head_transports(T, T), ValueError, "w_o.*d_v = 6"),
        (lambda: transports.head_transports(T, T[:1].transpose(0, 2, 1)), ValueError, "w_v.*got 2"),
        (lambda: transports.head_transports(T * np.nan, T), ValueError, "w_o|w_v"),
    ],
    "walks.transports.head_weights": [
        (lambda: transports.head_weights(HEADS, np.ones(3)), ValueError, r"weights.*H = 2.*\(3,\)"),
        (lambda: transports.head_weights(HEADS, np.array([1, -1.0])), ValueError, "got -1.0 at"),
    ],
    "walks.transports.gates": [
        (lambda: transports.gates(-HEADS), ValueError, "attention must be nonnegative, got -0.25"),
        (lambda: transports.gates(HEADS * np.nan), ValueError, "attention must be finite, got nan"),
        (lambda: transports.gates(HEADS, np.ones(2, F32)), TypeError, "weights must have the dtyp"),
    ],
    "walks.gauges.frobenius_factors": [
        (lambda: gauges.frobenius_factors(X[0]), ValueError, r"transports.*got \(6,\)"),
        (lambda: gauges.frobenius_factors(NAN), ValueError, "transports must be finite"),
    ],
    "walks.walk.checked": [
        (lambda: walks.checked(A), TypeError, "walk must be a Walk, got ndarray")  # type: ignore
    ],
    "walks.walk.square": [
        (lambda: walks.square(A), TypeError, "walk must be a Walk, got ndarray"),  # type: ignore
        (lambda: walks.square(WIDE), ValueError, "walk must be square.*n = 2, m = 3"),
    ],
    "walks.gauges.block_norms": [
        (lambda: gauges.block_norms(A), TypeError, "walk must be a Walk, got ndarray")  # type: ignore
    ],
    "walks.gauges.frobenius_gauge": [
        (lambda: gauges.frobenius_gauge(A), TypeError, "walk must be a Walk, got ndarray")  # type: ignore
    ],
    "walks.gauges.node_gauge": [
        (lambda: gauges.node_gauge(A, FRAMES), TypeError, "walk must be a Walk"),  # type: ignore
        (lambda: gauges.node_gauge(WIDE, FRAMES), ValueError, "walk must be square"),
        (lambda: gauges.node_gauge(SQUARE, FRAMES[:1]), ValueError, "g must have.*n = 2"),
        (lambda: gauges.node_gauge(SQUARE, 0 * FRAMES), ValueError, "g must be invertible"),
        (lambda: gauges.node_gauge(SQUARE, FRAMES * np.nan), ValueError, "g must be finite"),
    ],
    "rounding.roundoff.units": [
        (lambda: roundoff.units("int32"), ValueError, "dtype must be one of float64.*got int32"),
        (lambda: roundoff.units("float64", "mps"), ValueError, "got float64 on mps"),
        (lambda: roundoff.units("nonsense"), TypeError, "dtype must be a NumPy or torch dtype"),
    ],
    "rounding.roundoff.gamma": [
        (lambda: roundoff.gamma(2**24, 2.0**-24), ValueError, r"k \* u must lie in \[0, 1\)")
    ],
    "rounding.roundoff.exact": [
        (lambda: roundoff.exact([1.0]), TypeError, "array must be a NumPy.*got list"),
        (lambda: roundoff.exact(NAN), ValueError, r"array must be finite, got nan at \(0, 0\)"),
    ],
    "rounding.roundoff.softmax": [
        (lambda: roundoff.softmax(NAN), ValueError, "logits must be finite or -inf, got nan"),
        (lambda: roundoff.softmax(A, error=A[0]), ValueError, r"error.*\(2, 3\), got \(3,\)"),
        (lambda: roundoff.softmax(A, allowed=A), TypeError, "allowed must be boolean"),
    ],
    "rounding.roundoff.Rounded": [
        (lambda: exact(A) @ exact(X.astype(F32)), TypeError, "other must have units"),
        (lambda: exact(A) + A, TypeError, "other must be Rounded.*got ndarray"),
        (lambda: exact(A) / (exact(A) + exact(A)), ValueError, "other must be exact for /"),
        (lambda: exact(A).divide(exact(A), 0 * A), ValueError, "computed must exceed"),
    ],
    "rounding.roundoff.Units": [
        (lambda: roundoff.Units(2.0**-53, 2.0**-53, 0.0, 0.0), ValueError, "exp must lie in"),
        (lambda: roundoff.Units(2.0, 2.0**-53, 0.5, 0.0), ValueError, "store must lie in"),
        (lambda: roundoff.Units(0.5, 0.5, 0.5, -1.0), ValueError, "eta must be finite and nonneg"),
    ],
}
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
