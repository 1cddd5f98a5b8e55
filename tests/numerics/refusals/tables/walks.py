"""One table of refused inputs over every public name: a name without rows fails."""

import numpy as np

from numerics.rounding import roundoff
from numerics.rounding.roundoff import exact
from numerics.walks import Walk, gauges, transports
from numerics.walks import walk as walks
from tests.numerics.refusals.faults import Call, Floats, Mask, Refused

A = np.full((2, 3), 0.25)
HEADS = np.full((2, 3, 4), 0.25)
T = np.ones((2, 5, 6))
X = np.ones((3, 6))
NAN = np.array([[np.nan, 1.0], [1.0, 1.0]])
SQUARE = Walk(np.full((2, 2), 0.5), np.eye(3))
WIDE = Walk(A, np.ones((5, 6)))
FRAMES = np.stack([np.eye(3)] * 2)
F32 = np.float32
B = np.ones((2, 5))
EDGES = "d_out d_in | n m d_out d_in"
SHARES = Floats(np.ones(2), "H", "positive")

BAD: Refused = {
    "walks.walk.softmax_walk": [
        Call(walks.softmax_walk, logits=Floats(A, "... n m", "finite or -inf"), allowed=Mask(A > 0))
    ],
    "walks.walk.Walk": [
        Call(
            Walk,
            weights=Floats(A, "n m", "nonnegative"),
            transports=Floats(T[0], EDGES),
            offset=Floats(B, "n d_out"),
        ),
        (lambda: Walk(A, np.ones((3, 2, 1, 1))), ValueError, "transports.*n = 2, m = 3.*got"),
    ],
    "walks.walk.Walk.apply": [Call(WIDE.apply, x=Floats(X, "m=3 d_in=6", beside="weights"))],
    "walks.walk.Walk.generator": [
        (lambda: WIDE.generator(), ValueError, "walk must be square.*n = 2, m = 3")
    ],
    "walks.walk.single_head_walk": [
        Call(
            walks.single_head_walk,
            weights=Floats(A, "n m", "nonnegative"),
            w_v=Floats(T[0], "d_in d_v"),
            w_o=Floats(T[0].T, "d_v d_out"),
            b_v=Floats(X[0], "d_v"),
            b_o=Floats(B[0], "d_out"),
        )
    ],
    "walks.walk.multi_head_walk": [
        Call(
            walks.multi_head_walk,
            attention=Floats(HEADS, "H n m", "nonnegative"),
            transports=Floats(T, "H d_out d_in"),
            weights=SHARES,
        )
    ],
    "walks.transports.kv_head": [
        (lambda: transports.kv_head(4, 4, 2), ValueError, r"h must lie in \[0, 4\), got 4"),
        (lambda: transports.kv_head(0, 2, 4), ValueError, r"kv_heads must lie in \[1, 2\], got 4"),
        (lambda: transports.kv_head(0.5, 2, 1), TypeError, "h must be an int, got float"),  # type: ignore
    ],
    "walks.transports.head_transports": [
        Call(
            transports.head_transports,
            w_v=Floats(T, "H_kv d_in d_v"),
            w_o=Floats(np.ones((2, 6, 5)), "H d_v d_out"),
        ),
        (lambda: transports.head_transports(T, T[:1].transpose(0, 2, 1)), ValueError, "w_v.*got 2"),
    ],
    "walks.transports.head_weights": [
        Call(transports.head_weights, attention=Floats(HEADS, "H n m", "any"), weights=SHARES)
    ],
    "walks.transports.gates": [
        Call(transports.gates, attention=Floats(HEADS, "H n m", "nonnegative"), weights=SHARES)
    ],
    "walks.gauges.frobenius_factors": [
        Call(gauges.frobenius_factors, transports=Floats(T, "... d_out d_in"))
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
        Call(gauges.node_gauge, walk=SQUARE, g=Floats(FRAMES, "n=2 d=3 d", beside="weights")),
        (lambda: gauges.node_gauge(A, FRAMES), TypeError, "walk must be a Walk"),  # type: ignore
        (lambda: gauges.node_gauge(WIDE, FRAMES), ValueError, "walk must be square"),
        (lambda: gauges.node_gauge(SQUARE, 0 * FRAMES), ValueError, "g must be invertible"),
    ],
    "rounding.roundoff.units": [
        (lambda: roundoff.units("int32"), ValueError, "dtype must be one of float64.*got int32"),
        (lambda: roundoff.units("float64", "mps"), ValueError, "got float64 on mps"),
        (lambda: roundoff.units("nonsense"), TypeError, "dtype must be a NumPy or torch dtype"),
    ],
    "rounding.roundoff.gamma": [
        (lambda: roundoff.gamma(2**24, 2.0**-24), ValueError, r"k \* u must lie in \[0, 1\)")
    ],
    "rounding.roundoff.exact": [Call(exact, array=Floats(A))],
    "rounding.roundoff.softmax": [
        Call(roundoff.softmax, logits=Floats(A, entries="finite or -inf"), allowed=Mask(A > 0)),
        (lambda: roundoff.softmax(A, error=A[0]), ValueError, r"error.*\(2, 3\), got \(3,\)"),
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
