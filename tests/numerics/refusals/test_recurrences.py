"""Refused inputs of recurrences and of the matrices that they realise."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

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

NAN, INF, F32 = float("nan"), float("inf"), np.float32
Q, V, STATE = np.ones((2, 4, 3)), np.ones((2, 4, 5)), np.ones((2, 3, 5))
DECAY, RESET, BETA = -np.ones((2, 4)), np.zeros((2, 4), bool), np.ones((2, 4))
LOWER = [[1, 0], [2, 3]]

Row = tuple[Callable[[], Any], type[Exception], str]


def tokens(call: Callable[..., Any]) -> list[Row]:
    """Rows that every form has for queries, keys and values."""
    return [
        (lambda: call([[1.0]], Q, V), TypeError, "^query must be a NumPy array.*got list"),
        (lambda: call(Q, Q.astype(F32), V), TypeError, "^key must have the dtype.*got float32"),
        (lambda: call(Q, Q, torch.ones(2, 4, 5)), TypeError, "^value must be of the kind.*Tensor"),
        (lambda: call(Q[0, 0], Q, V), ValueError, r"^query must have at least two axes.*\(3,\)"),
        (lambda: call(Q, Q[:, :3], V), ValueError, r"^key must have.*T = 4, m = 3.*\(2, 3, 3\)"),
        (lambda: call(Q, Q, V[:1]), ValueError, r"^value must have.*batch_0 = 2.*got \(1, 4, 5\)"),
        (lambda: call(Q[:, :0], Q[:, :0], V[:, :0]), ValueError, "^query must have.*all positive"),
        (lambda: call(Q * NAN, Q, V), ValueError, r"^query must be finite, got nan at \(0, 0, 0\)"),
        (lambda: call(Q, Q, V - INF), ValueError, "^value must be finite, got -inf"),
    ]


def decays(call: Callable[..., Any]) -> list[Row]:
    """Rows that forms with decays and resets have."""
    return [
        (lambda: call(Q, Q, V, -DECAY), ValueError, "^log_decay must be at most 0, got 1.0 at"),
        (lambda: call(Q, Q, V, DECAY - INF), ValueError, "^log_decay must be finite, got -inf"),
        (lambda: call(Q, Q, V, DECAY[:, :3]), ValueError, r"^log_decay must have.*got \(2, 3\)"),
        (lambda: call(Q, Q, V, -V), ValueError, r"^log_decay must have.*m = 3.*got \(2, 4, 5\)"),
        (lambda: call(Q, Q, V, DECAY.astype(F32)), TypeError, "^log_decay must have the dtype"),
        (lambda: call(Q, Q, V, None, BETA), TypeError, "^reset must be boolean.*got float64"),
        (lambda: call(Q, Q, V, None, RESET[:1]), ValueError, "^reset must have shape.*batch_0 = 2"),
        (lambda: call(Q, Q, V, None, torch.zeros(2, 4) > 0), TypeError, "^reset must be a boolean"),
        (lambda: call(Q, Q, V, None, None, STATE[:, :2]), ValueError, "^state must have.*m = 3"),
        (lambda: call(Q, Q, V, None, None, STATE * INF), ValueError, "^state must be finite"),
    ]


def sizes(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every form by chunks has."""
    return [
        (lambda: call(0), ValueError, "^chunk must be at least 1, got 0"),
        (lambda: call(2.0), TypeError, "^chunk must be an integer, got float"),
        (lambda: call(True), TypeError, "^chunk must be an integer, got bool"),
    ]


def rates(call: Callable[..., Any]) -> list[Row]:
    """Rows that the delta rule has."""
    return [
        (lambda: call(BETA[:, :3]), ValueError, r"^beta must have.*T = 4.*got \(2, 3\)"),
        (lambda: call(BETA * NAN), ValueError, "^beta must be finite, got nan"),
        (lambda: call(BETA.astype(F32)), TypeError, "^beta must have the dtype.*got float32"),
        (lambda: call(1.0), TypeError, "^beta must be a NumPy array.*got float"),
    ]


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


BAD: dict[str, list[Row]] = {
    "pairings.recurrences.recurrent": [*tokens(recurrent), *decays(recurrent)],
    "pairings.recurrences.parallel": [*tokens(parallel), *decays(parallel)],
    "pairings.recurrences.chunked": [
        *tokens(lambda q, k, v: chunked(q, k, v, 2)),
        *decays(lambda q, k, v, *rest: chunked(q, k, v, 2, *rest)),
        *sizes(lambda size: chunked(Q, Q, V, size)),
    ],
    "pairings.recurrences.segment_sums": [
        (lambda: segment_sums([0.0]), TypeError, "^log_decay must be a NumPy array.*got list"),
        (lambda: segment_sums(np.array(0.0)), ValueError, r"^log_decay must have.*got \(\)"),
        (lambda: segment_sums(-DECAY), ValueError, "^log_decay must be at most 0, got 1.0"),
        (lambda: segment_sums(DECAY * NAN), ValueError, "^log_decay must be finite"),
        (lambda: segment_sums(DECAY, BETA), TypeError, "^reset must be boolean"),
        (lambda: segment_sums(DECAY, RESET[0]), ValueError, r"^reset must have.*got \(4,\)"),
    ],
    "pairings.recurrences.delta_recurrent": [
        *tokens(lambda q, k, v: delta_recurrent(q, k, v, BETA)),
        *rates(lambda beta: delta_recurrent(Q, Q, V, beta)),
        (lambda: delta_recurrent(Q, Q, V, BETA, STATE[0]), ValueError, "^state must have shape"),
    ],
    "pairings.recurrences.delta_chunked": [
        *tokens(lambda q, k, v: delta_chunked(q, k, v, BETA, 2)),
        *rates(lambda beta: delta_chunked(Q, Q, V, beta, 2)),
        *sizes(lambda size: delta_chunked(Q, Q, V, BETA, size)),
        (lambda: delta_chunked(Q, Q, V, BETA, 2, STATE * NAN), ValueError, "^state must be finite"),
    ],
    "pairings.recurrences.with_ones": [
        (lambda: with_ones([1.0]), TypeError, "^value must be a NumPy array.*got list"),
        (lambda: with_ones(np.ones(3)), ValueError, r"^value must have at least two axes.*\(3,\)"),
    ],
    "pairings.recurrences.normalised": [
        (lambda: normalised(1.0), TypeError, "^outputs must be a NumPy array.*got float"),
        (lambda: normalised(np.ones(3)), ValueError, "^outputs must have at least two axes"),
        (lambda: normalised(np.ones((3, 1))), ValueError, r"^outputs must have shape.*\(3, 1\)"),
        (lambda: normalised(np.eye(2)), ValueError, "^outputs must be of nonzero normalisers"),
        (lambda: normalised(np.eye(2) * NAN), ValueError, "^outputs must be finite"),
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
        (lambda: power_matrix(0), ValueError, "^n must be at least 1, got 0"),
        (lambda: power_matrix(2.0), TypeError, "^n must be an integer, got float"),  # type: ignore
        (lambda: power_matrix(2, 1), ValueError, "^base must be at least 2, got 1"),
    ],
    "pairings.semiseparable.exponential_minors": [
        (lambda: exponential_minors([], []), ValueError, "^query must have entries, got none"),
        (lambda: exponential_minors([1.0], [1.0, 2.0]), ValueError, "^key must have n = 1.*got 2"),
        (lambda: exponential_minors([NAN], [1.0]), ValueError, "^query must be finite, got nan"),
        (lambda: exponential_minors([1.0], ["1"]), TypeError, "^key must be a real.*str"),  # type: ignore
        (lambda: exponential_minors(1.0, [1.0]), TypeError, "^query must be an array"),  # type: ignore
        (lambda: exponential_minors([1.0], [1.0], -1), ValueError, "^digits must be at least 0"),
    ],
}  # fmt: skip
PLAIN = {"pairings.recurrences.Read"}  # a record of results
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
