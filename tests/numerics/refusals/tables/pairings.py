"""Refused inputs of pairings, worlds and readouts."""

from collections.abc import Callable
from typing import Any

import numpy as np

from numerics.pairings import (
    attention,
    causal_attention,
    causal_mask,
    exponential_pairing,
    free_energy,
    gibbs_weights,
    log_partition,
    readout,
    readout_weights,
)
from tests.numerics.refusals.faults import Call, Choice, Floats, Integer, Mask, Real, Refused, Row

Q, K, V = np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 2))
S, M = np.ones((2, 4)), np.ones((3, 3))
MASK = np.ones((2, 4), bool)
F32, INF, NAN = np.float32, float("inf"), float("nan")


TAU = Real(
    1.0,
    "positive and finite",
    ((0.0, "be positive and finite"), (-1.0, "be positive and finite"), (1e-320, "be a normal nu")),
)
ALIGN = Choice("last", "first, last")
WEIGHING = {"scores": Floats(S, "... n m", "finite or -inf"), "tau": TAU, "allowed": Mask(MASK)}
PAIRING = Floats(S, "n m", "nonnegative")
WORLD = Floats(S, "n m | m", "nonnegative")
VALUES = Floats(V, "m d_v")
QUERIES = Floats(Q, "n d")
ATTENDED = {"q": QUERIES, "k": Floats(K, "m d"), "v": VALUES, "tau": TAU}


def weighing(call: Callable[..., Any]) -> list[Call | Row]:
    """A function of scores, a temperature and a mask."""
    return [
        Call(call, **WEIGHING),
        (lambda: call(np.array([[1e308, -1e308]])), ValueError, "^scores must be such that diff"),
        (lambda: call(S.astype(F32), 1e-40), ValueError, "^tau must be a normal number of float32"),
        (lambda: call(S.astype(F32), 1e300), ValueError, r"^tau must be.*float32, got 1e\+300"),
    ]


def read(call: Callable[..., Any]) -> list[Row]:
    """Rows of a function of a pairing and a world."""
    return [
        (lambda: call(S, S[0, :3]), ValueError, r"^mu must have shape \(m\) with m = 4.*\(3,\)"),
        (lambda: call(S * 1e200, S * 1e200), ValueError, "^mass must be finite: scale kappa or mu"),
        (lambda: call(S * 1e308), ValueError, "^mass must be finite: scale.*got inf"),
        (lambda: call(S * 1e-200, S * 1e-200), ValueError, "^mass must be positive: scale kappa"),
    ]


def attended(call: Callable[..., Any]) -> list[Row]:
    """Rows that attention has, causal or not."""
    return [
        (lambda: call(Q * 1e200, K * 1e200, V), ValueError, "^scores must be finite: scale q or k")
    ]


def causal(q: Any, k: Any, v: Any, align: Any = "last", **options: Any) -> Any:
    return causal_attention(q, k, v, align=align, **options)


def mask(n_q: Any = 2, n_k: Any = 3, align: Any = "last", **options: Any) -> Any:
    return causal_mask(n_q, n_k, align=align, **options)


BAD: Refused = {
    "pairings.readouts.gibbs_weights": weighing(gibbs_weights),
    "pairings.readouts.log_partition": [
        *weighing(log_partition),
        (lambda: log_partition(S, 1.7e308), ValueError, "^value must be finite: scale scores"),
    ],
    "pairings.readouts.free_energy": [
        Call(free_energy, p=PAIRING, scores=Floats(S, "n m", "finite or -inf"), tau=TAU),
        (lambda: free_energy(S.astype(F32), S.astype(F32), 1e-40), ValueError, "^tau must be a no"),
        (lambda: free_energy(S, S * 1e308), ValueError, "^value must be finite: scale scores or"),
    ],
    "pairings.readouts.readout_weights": [
        Call(readout_weights, kappa=PAIRING, mu=WORLD), *read(readout_weights),
    ],
    "pairings.readouts.readout": [
        Call(readout, kappa=PAIRING, v=VALUES, mu=WORLD),
        *read(lambda kappa, mu=None: readout(kappa, V, mu)),
    ],
    "pairings.readouts.exponential_pairing": [
        Call(exponential_pairing, q=QUERIES, M=Floats(M, "d d_k"), k=Floats(K, "m d_k")),
        (lambda: exponential_pairing(Q * 99, K, M), ValueError, "^pairing must be finite: scale"),
    ],
    "pairings.readouts.causal_mask": [
        Call(causal_mask, n_q=Integer(2, 1), n_k=Integer(3, 1), align=ALIGN, like=None),
        (lambda: mask(align="end"), ValueError, "^align must be one of first, last, got 'end'"),
        (lambda: causal_mask(2, 3), TypeError, "required keyword-only argument: 'align'"),  # type: ignore
        (lambda: mask(like=[1.0]), TypeError, "^like must be a NumPy array.*got list"),
    ],
    "pairings.readouts.attention": [
        Call(attention, **ATTENDED, allowed=Mask(MASK)),
        *attended(attention),
    ],
    "pairings.readouts.causal_attention": [
        Call(causal_attention, **ATTENDED, align=ALIGN),
        *attended(causal),
        (lambda: causal(Q, K, V, "end"), ValueError, "^align must be one of first, last, got 'end"),
    ],
}  # fmt: skip
