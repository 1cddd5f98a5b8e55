"""Refused inputs of recurrences and of the matrices that they realise."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from numerics.pairings.recurrences import (
    chunked,
    delta_chunked,
    delta_recurrent,
    normalised,
    parallel,
    recurrent,
    segment_sums,
    with_ones,
)
from numerics.pairings.semiseparable import (
    block_ranks,
    exponential_minors,
    least_states,
    power_matrix,
    realise,
)
from tests.numerics.refusals.faults import Call, Floats, Integer, Mask, Refused, Row

NAN, INF, F32 = float("nan"), float("inf"), np.float32
Q, V, STATE = np.ones((2, 4, 3)), np.ones((2, 4, 5)), np.ones((2, 3, 5))
DECAY, RESET, BETA = -np.ones((2, 4)), np.zeros((2, 4), bool), np.ones((2, 4))
LOWER = [[1, 0], [2, 3]]


TOKENS = {
    "query": Floats(Q, "~... T m"),
    "key": Floats(Q, "batch_0=2 T m"),
    "value": Floats(V, "batch_0 T w"),
}
INITIAL = Floats(STATE, "batch_0 m w")
GATES = {"state": INITIAL, "reset": Mask(RESET, "batch_0 T")}
PER_TOKEN = Floats(DECAY, "batch_0 T | batch_0 T m", "at most 0")
PER_FEATURE = Floats(-Q, "batch_0 T m | batch_0 T", "at most 0")
RATES = Floats(BETA, "batch_0 T", beside="value")
CHUNK = Integer(2, 1)


def gated(call: Callable[..., Any]) -> list[Call]:
    """A form with decays for each token, or for each feature of it."""
    return [Call(call, **TOKENS, log_decay=decay, **GATES) for decay in (PER_TOKEN, PER_FEATURE)]


def matrices(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every function of a lower-triangular matrix has."""
    return [
        (lambda: call(1), TypeError, "^L must be an array or a list, got int"),
        (lambda: call([[1, 0]]), ValueError, r"^L must be square, got 1 rows of lengths \[2\]"),
        (lambda: call([]), ValueError, "^L must be square, got 0 rows"),
        (
            lambda: call([[1, 2], [0, 1]]),
            ValueError,
            r"^L must be lower triangular, got 2 at .0, 1",
        ),
        (lambda: call(np.eye(2)), TypeError, "^L must hold integers or fractions, got float"),
        (lambda: call([[True]]), TypeError, "^L must hold integers or fractions, got bool"),
    ]


BAD: Refused = {
    "pairings.recurrences.recurrent": gated(recurrent),
    "pairings.recurrences.parallel": gated(parallel),
    "pairings.recurrences.chunked": [
        *gated(partial(chunked, chunk=2)),
        Call(chunked, **TOKENS, chunk=CHUNK),
    ],
    "pairings.recurrences.segment_sums": [
        Call(segment_sums, log_decay=Floats(DECAY, "", "at most 0"),
             reset=Mask(RESET, "~batch_0=2 T=4")),
        (lambda: segment_sums(np.array(0.0)), ValueError, r"^log_decay must have.*got \(\)"),
    ],
    "pairings.recurrences.delta_recurrent": [
        Call(delta_recurrent, **TOKENS, state=INITIAL, beta=RATES),
    ],
    "pairings.recurrences.delta_chunked": [
        Call(delta_chunked, **TOKENS, state=INITIAL, beta=RATES, chunk=CHUNK),
    ],
    "pairings.recurrences.with_ones": [
        Call(with_ones, value=Floats(V, entries="any")),
        (lambda: with_ones(np.ones(3)), ValueError, r"^value must have at least two axes.*\(3,\)"),
    ],
    "pairings.recurrences.normalised": [
        Call(normalised, outputs=Floats(V)),
        (lambda: normalised(np.ones(3)), ValueError, "^outputs must have at least two axes"),
        (lambda: normalised(np.ones((3, 1))), ValueError, r"^outputs must have shape.*\(3, 1\)"),
        (lambda: normalised(np.eye(2)), ValueError, "^outputs must be of nonzero normalisers"),
    ],
    "pairings.semiseparable.block_ranks": [
        *matrices(lambda L: block_ranks(L, "after")),
        (lambda: block_ranks(LOWER, "strict"), ValueError, "^version must be one of.*'strict'"),
    ],
    "pairings.semiseparable.least_states": [
        *matrices(lambda L: least_states(L, "before")),
        (lambda: least_states(LOWER, ""), ValueError, "^version must be one of after, b"),
    ],
    "pairings.semiseparable.realise": [
        *matrices(lambda L: realise(L, "free")),
        (lambda: realise(LOWER, "After"), ValueError, "^version must be one of.*'After'"),
    ],
    "pairings.semiseparable.Realisation": [
        (lambda: realise(LOWER, "after").apply([1]), ValueError, "^x must have n = 2.*got 1"),
        (lambda: realise(LOWER, "after").apply([1, 0.5]), TypeError, "^x must hold.*got float"),
        (lambda: realise(LOWER, "after").apply(Fraction(1)), TypeError, "^x must be an a"),  # type: ignore
    ],
    "pairings.semiseparable.power_matrix": [
        Call(power_matrix, n=Integer(2, 1), base=Integer(2, 2)),
    ],
    "pairings.semiseparable.exponential_minors": [
        Call(exponential_minors, query=[1.0], key=[1.0], digits=Integer(0, 0)),
        (lambda: exponential_minors([], []), ValueError, "^query must have entries, got none"),
        (lambda: exponential_minors([1.0], [1.0, 2.0]), ValueError, "^key must have n = 1.*got 2"),
        (lambda: exponential_minors([NAN], [1.0]), ValueError, "^query must be finite, got nan"),
        (lambda: exponential_minors([1.0], ["1"]), TypeError, "^key must be a real.*str"),  # type: ignore
        (lambda: exponential_minors(1.0, [1.0]), TypeError, "^query must be an array"),  # type: ignore
    ],
}  # fmt: skip
PLAIN = {"pairings.recurrences.Read"}  # a record of results
WARNINGS = ("invalid value encountered",)
