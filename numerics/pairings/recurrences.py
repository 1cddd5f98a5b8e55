"""Linear attention as a recurrent network: recurrent, parallel and chunked; the delta rule.

States are (m, w), m features by w value coordinates: S_t = g_t S_{t-1} + k_t v_t^T,
y_t = S_t^T q_t. Decays are given by their logarithms and added before exp; a reset is a mask.
Leading axes (heads, batches) are the same in all arrays. Source: AP5.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from numerics.arrays import Array, boolean, finite, namespace, refuse, shape
from numerics.inputs import integer


class Read(NamedTuple):
    """Outputs (..., T, w) and the state (..., m, w) after the last token, to hand over."""

    outputs: Array
    state: Array


def recurrent(
    query: Array,
    key: Array,
    value: Array,
    log_decay: Array | None = None,
    reset: Array | None = None,
    state: Array | None = None,
) -> Read:
    """One token after another, from a state (..., m, w) handed over or from zero.

    query, key (..., T, m), value (..., T, w), log_decay <= 0 (..., T) or (..., T, m); where reset
    (..., T) is True the state before the token is dropped. Raises TypeError, ValueError by name.
    """
    xp, state = _checked(query, key, value, log_decay, reset, state)
    outputs = []
    for t in range(value.shape[-2]):
        if log_decay is not None:
            state = xp.exp(_per_feature(log_decay, value)[..., t, :])[..., None] * state
        if reset is not None:
            state = xp.where(reset[..., t, None, None], xp.zeros_like(state), state)
        state = state + key[..., t, :, None] * value[..., t, None, :]
        outputs.append((query[..., t : t + 1, :] @ state)[..., 0, :])
    return Read(xp.stack(outputs, axis=-2), state)


def parallel(
    query: Array,
    key: Array,
    value: Array,
    log_decay: Array | None = None,
    reset: Array | None = None,
    state: Array | None = None,
) -> Read:
    """All tokens at once, by masked scores (..., T, T); arguments and errors as `recurrent`."""
    _, state = _checked(query, key, value, log_decay, reset, state)
    return _at_once(query, key, value, log_decay, reset, state)


def chunked(
    query: Array,
    key: Array,
    value: Array,
    chunk: int,
    log_decay: Array | None = None,
    reset: Array | None = None,
    state: Array | None = None,
) -> Read:
    """`chunk` tokens at once, and the state handed over; arguments and errors as `recurrent`."""
    size = integer("chunk", chunk, 1)
    xp, state = _checked(query, key, value, log_decay, reset, state)
    outputs = []
    for rows in _chunks(value.shape[-2], size):
        part = (query[..., rows, :], key[..., rows, :], value[..., rows, :])
        decay = None if log_decay is None else _per_token(log_decay, value, rows)
        mask = None if reset is None else reset[..., rows]
        read = _at_once(*part, decay, mask, state)
        outputs.append(read.outputs)
        state = read.state
    return Read(xp.concat(outputs, axis=-2), state)


def segment_sums(log_decay: Array, reset: Array | None = None) -> Array:
    """Entry (t, j) of (..., T, T): the sum of log_decay over tokens j + 1, ..., t, for j <= t.

    -inf above the diagonal, and where a reset lies between. Every sum has its own terms only: no
    difference of long sums is taken, so that none is positive. Raises TypeError, ValueError.
    """
    xp = namespace(log_decay=log_decay)
    if log_decay.ndim == 0:
        raise ValueError("log_decay must have shape (..., T), got ()")
    _log_decay(log_decay)
    if reset is not None:
        boolean("reset", reset, log_decay)
        if tuple(reset.shape) != tuple(log_decay.shape):
            raise ValueError(
                f"reset must have shape {tuple(log_decay.shape)}, got {tuple(reset.shape)}"
            )
    return _segments(xp, log_decay, reset)


def delta_recurrent(
    query: Array, key: Array, value: Array, beta: Array, state: Array | None = None
) -> Read:
    """The delta rule S_t = S_{t-1} + beta_t k_t (v_t - S_{t-1}^T k_t)^T, one token after another.

    beta (..., T); other arguments and errors as `recurrent`.
    """
    xp, state = _checked(query, key, value, None, None, state)
    _beta(beta, value)
    outputs = []
    for t in range(value.shape[-2]):
        k = key[..., t : t + 1, :]
        wrong = value[..., t : t + 1, :] - k @ state
        state = state + _turned(xp, k) * (beta[..., t, None, None] * wrong)
        outputs.append((query[..., t : t + 1, :] @ state)[..., 0, :])
    return Read(xp.stack(outputs, axis=-2), state)


def delta_chunked(
    query: Array, key: Array, value: Array, beta: Array, chunk: int, state: Array | None = None
) -> Read:
    """The delta rule by chunks: what each token writes solves a triangular system.

    Token t writes u_t = beta_t (v_t - S^T k_t - sum_{j < t} <k_t, k_j> u_j), S the state at the
    chunk's start; the state grows by sum_j k_j u_j^T. Arguments and errors as `delta_recurrent`.
    """
    size = integer("chunk", chunk, 1)
    xp, state = _checked(query, key, value, None, None, state)
    _beta(beta, value)
    outputs = []
    for rows in _chunks(value.shape[-2], size):
        q, k = query[..., rows, :], key[..., rows, :]
        among, wrong = k @ _turned(xp, k), value[..., rows, :] - k @ state
        written: list[Array] = []
        for t in range(k.shape[-2]):
            new = wrong[..., t : t + 1, :]
            if written:
                new = new - among[..., t : t + 1, :t] @ xp.concat(written, axis=-2)
            written.append(beta[..., rows][..., t, None, None] * new)
        u = xp.concat(written, axis=-2)
        outputs.append(q @ state + xp.tril(q @ _turned(xp, k)) @ u)
        state = state + _turned(xp, k) @ u
    return Read(xp.concat(outputs, axis=-2), state)


def with_ones(value: Array) -> Array:
    """Values (..., T, w) and a last coordinate 1, whose outputs are the normalisers."""
    xp = namespace(value=value)
    _ranked("value", value)
    return xp.concat([value, xp.ones_like(value[..., :1])], axis=-1)


def normalised(outputs: Array) -> Array:
    """Readouts (..., T, w) from outputs (..., T, w + 1) of values `with_ones`.

    Raises ValueError where a normaliser is 0: signed features have no readout there (AP4).
    """
    namespace(outputs=outputs)
    _ranked("outputs", outputs)
    if outputs.shape[-1] < 2:
        raise ValueError(f"outputs must have shape (..., T, w + 1), got {tuple(outputs.shape)}")
    finite(outputs=outputs)
    totals = outputs[..., -1:]
    refuse("outputs", totals, totals == 0, "of nonzero normalisers in the last coordinate")
    return outputs[..., :-1] / totals


def _at_once(
    query: Array,
    key: Array,
    value: Array,
    log_decay: Array | None,
    reset: Array | None,
    state: Array,
) -> Read:
    """The masked scores of some tokens and what they read of the state before them."""
    xp = namespace(query=query)
    tokens, scalar = value.shape[-2], log_decay is None or log_decay.ndim < value.ndim
    if log_decay is None and reset is None:
        scores = xp.tril(query @ _turned(xp, key))
        return Read(query @ state + scores @ value, state + _turned(xp, key) @ value)
    decay = value[..., 0] * 0 if log_decay is None else log_decay
    by_feature = decay[..., None, :] if scalar else _turned(xp, decay)  # (..., 1 or m, T)
    mask = None if reset is None else reset[..., None, :]
    weights = xp.exp(_segments(xp, by_feature, mask))  # (..., 1 or m, T, T)
    if scalar:
        scores = (query @ _turned(xp, key)) * weights[..., 0, :, :]
    else:
        pairs = _turned(xp, query)[..., :, None] * _turned(xp, key)[..., None, :]
        scores = xp.sum(pairs * weights, axis=-3)
    since = xp.exp(_from_start(xp, by_feature, mask))  # (..., 1 or m, T)
    outputs = (query * _turned(xp, since)) @ state + scores @ value
    kept = _turned(xp, key) * weights[..., tokens - 1, :]
    return Read(outputs, since[..., tokens - 1 :] * state + kept @ value)


def _segments(xp: ModuleType, log_decay: Array, reset: Array | None) -> Array:
    tokens = log_decay.shape[-1]
    place = xp.arange(tokens, device=log_decay.device)
    after = place[:, None] > place[None, :]
    zero = xp.zeros_like(log_decay)[..., None]
    own = xp.where(after, log_decay[..., :, None], zero)
    sums = xp.cumulative_sum(own, axis=-2)
    seen = place[:, None] >= place[None, :]
    if reset is not None:
        count = xp.cumulative_sum(xp.astype(reset, xp.int64), axis=-1)
        seen = seen & (count[..., :, None] == count[..., None, :])
    return xp.where(seen, sums, zero - float("inf"))


def _from_start(xp: ModuleType, log_decay: Array, reset: Array | None) -> Array:
    """Sums of log_decay up to each token, its own included; -inf after a reset."""
    sums = xp.cumulative_sum(log_decay, axis=-1)
    if reset is None:
        return sums
    count = xp.cumulative_sum(xp.astype(reset, xp.int64), axis=-1)
    return xp.where(count > 0, xp.zeros_like(sums) - float("inf"), sums)


def _turned(xp: ModuleType, array: Array) -> Array:
    return xp.matrix_transpose(array)


def _chunks(tokens: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, tokens)) for start in range(0, tokens, size))


def _per_feature(log_decay: Array, value: Array) -> Array:
    return log_decay if log_decay.ndim == value.ndim else log_decay[..., None]


def _per_token(log_decay: Array, value: Array, rows: slice) -> Array:
    return log_decay[..., rows, :] if log_decay.ndim == value.ndim else log_decay[..., rows]


def _ranked(name: str, array: Array) -> list[str]:
    if array.ndim < 2:
        raise ValueError(f"{name} must have at least two axes, got {tuple(array.shape)}")
    return [f"batch_{axis}" for axis in range(array.ndim - 2)]


def _log_decay(log_decay: Array) -> None:
    finite(log_decay=log_decay)
    refuse("log_decay", log_decay, log_decay > 0, "at most 0")


def _beta(beta: Array, value: Array) -> None:
    namespace(value=value, beta=beta)
    sizes: dict[str, int] = {}
    lead = _ranked("value", value)
    shape(sizes, "value", value, *lead, "T", "w")
    shape(sizes, "beta", beta, *lead, "T")
    finite(beta=beta)


def _checked(
    query: Array,
    key: Array,
    value: Array,
    log_decay: Array | None,
    reset: Array | None,
    state: Array | None,
) -> tuple[ModuleType, Array]:
    """The namespace, and the state to start from."""
    xp = namespace(query=query, key=key, value=value, log_decay=log_decay, state=state)
    sizes: dict[str, int] = {}
    lead = _ranked("query", query)
    shape(sizes, "query", query, *lead, "T", "m")
    shape(sizes, "key", key, *lead, "T", "m")
    shape(sizes, "value", value, *lead, "T", "w")
    finite(query=query, key=key, value=value, state=state)
    if log_decay is not None:
        features = ("m",) if log_decay.ndim == value.ndim else ()
        shape(sizes, "log_decay", log_decay, *lead, "T", *features)
        _log_decay(log_decay)
    if reset is not None:
        boolean("reset", reset, value)
        shape(sizes, "reset", reset, *lead, "T")
    if state is None:
        batch = tuple(value.shape[:-2])
        rows, width = query.shape[-1], value.shape[-1]
        state = xp.zeros((*batch, rows, width), dtype=value.dtype, device=value.device)
    shape(sizes, "state", state, *lead, "m", "w")
    return xp, state
