"""AP5, recurrences.

decays: the recurrence, one token after another, against masked scores at once, from a state
handed over, with decays for every feature or one for all, and resets.
handover: the same recurrence against chunks of one to all tokens.
delta_rule: the delta rule one token after another against chunks of it, whose triangular system
is solved token by token.
A sample makes one of the comparisons, of the outputs and of the state that is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from numerics.pairings import recurrences
from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded, exact

CLAUSES = ("decays", "handover", "delta_rule")


@dataclass(frozen=True)
class Sample:
    """A clause, tokens (T, m), (T, m), (T, w), a state (m, w), decays, resets, beta, a chunk."""

    clause: str
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    state: np.ndarray
    log_decay: np.ndarray | None
    reset: np.ndarray | None
    beta: np.ndarray
    chunk: int


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """One to eight tokens of any kind; no, strong and weak decays; no, some and all resets."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng, T = draw(strategies.generators()), draw(st.integers(1, 8))
    m, w = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    kind = draw(st.sampled_from(("none", "scalar", "diagonal")))
    strength = draw(st.sampled_from((0.0, 0.25, 0.25, 4.0, 200.0)))
    shape = (T,) if kind == "scalar" else (T, m)
    decay = (-strength * rng.random(shape)).astype(dtype)
    resets = draw(st.sampled_from((None, 0.2, 1.0)))
    return Sample(
        clause=clause,
        query=strategies.tokens(draw, rng, T, m, dtype),
        key=strategies.tokens(draw, rng, T, m, dtype),
        value=strategies.tokens(draw, rng, T, w, dtype),
        state=strategies.tokens(draw, rng, m, w, dtype),
        log_decay=None if kind == "none" else decay,
        reset=None if resets is None else rng.random(T) < resets,
        beta=rng.uniform(0.0, 2.0, size=T).astype(dtype),
        chunk=draw(st.integers(1, T)),
    )


def exponential(sums: np.ndarray, terms: int) -> Rounded:
    """exp of computed sums of at most `terms` numbers <= 0, each within gamma of its exact sum."""
    model = roundoff.units(sums.dtype)
    size = np.where(np.isinf(sums), 0.0, np.abs(sums.astype(np.float64)))
    value = np.where(np.isinf(sums), 0.0, np.exp(-size))
    slip = roundoff.gamma(max(terms - 1, 1), model.acc) * size * (1 + 2.0**-20)
    relative = np.expm1(np.minimum(slip, 700.0)) + model.exp
    error = value * (relative + 2.0**-50) + 2 * np.finfo(sums.dtype).tiny * (value < 1e-30)
    return Rounded(value * (1 + relative + 2.0**-50), error, model)


def tokens_in_turn(s: Sample) -> Rounded:
    """Bound of `recurrences.recurrent`, operation by operation."""
    state, rows = exact(s.state), []
    for t in range(len(s.value)):
        if s.log_decay is not None:
            own = np.reshape(s.log_decay[t], (-1, 1))
            state = exponential(own, 1) * state
        if s.reset is not None:
            state = state.where(np.broadcast_to(not s.reset[t], state.shape))
        state = state + exact(s.key[t][:, None]) * exact(s.value[t][None])
        rows.append(exact(s.query[t : t + 1]) @ state)
    return _stacked([*rows, state])


def at_once(s: Sample, rows: slice, state: Rounded) -> tuple[Rounded, Rounded]:
    """Bound of the outputs and of the state of some tokens taken at once."""
    q, k, v = (exact(part[rows]) for part in (s.query, s.key, s.value))
    T = q.shape[0]
    if s.log_decay is None and s.reset is None:
        scores = (q @ k.transpose(1, 0)).where(np.tri(T, dtype=bool))
        return q @ state + scores @ v, state + k.transpose(1, 0) @ v
    decay = np.zeros_like(s.value[:, 0]) if s.log_decay is None else s.log_decay
    decay = decay[rows].reshape(T, -1).T
    reset = None if s.reset is None else np.broadcast_to(s.reset[rows], decay.shape)
    weights = exponential(recurrences.segment_sums(decay, reset), T)
    sums = np.cumsum(decay, axis=-1)
    if reset is not None:
        sums = np.where(np.cumsum(reset, axis=-1) > 0, -np.inf, sums).astype(decay.dtype)
    since = exponential(sums, T)
    if s.log_decay is None or s.log_decay.ndim == 1:
        scores = (q @ k.transpose(1, 0)) * weights[0]
    else:
        pairs = q.transpose(1, 0)[:, :, None] * k.transpose(1, 0)[:, None, :]
        scores = (pairs * weights).sum(0)
    outputs = (q * since.transpose(1, 0)) @ state + scores @ v
    kept = k.transpose(1, 0) * weights[:, T - 1, :]
    return outputs, since[:, T - 1 :] * state + kept @ v


def in_chunks(s: Sample, size: int) -> Rounded:
    """Bound of `recurrences.chunked`; of `recurrences.parallel` for one chunk."""
    state, rows = exact(s.state), []
    for start in range(0, len(s.value), size):
        outputs, state = at_once(s, slice(start, start + size), state)
        rows.append(outputs)
    return _stacked([*rows, state])


def delta_in_turn(s: Sample) -> Rounded:
    """Bound of `recurrences.delta_recurrent`."""
    state, rows = exact(s.state), []
    for t in range(len(s.value)):
        k = exact(s.key[t : t + 1])
        wrong = exact(s.value[t : t + 1]) - k @ state
        state = state + k.transpose(1, 0) * (exact(s.beta[t].reshape(1, 1)) * wrong)
        rows.append(exact(s.query[t : t + 1]) @ state)
    return _stacked([*rows, state])


def delta_in_chunks(s: Sample, size: int) -> Rounded:
    """Bound of `recurrences.delta_chunked`."""
    state, outputs = exact(s.state), []
    for start in range(0, len(s.value), size):
        rows = slice(start, start + size)
        q, k, v = (exact(part[rows]) for part in (s.query, s.key, s.value))
        among, wrong = k @ k.transpose(1, 0), v - k @ state
        written: list[Rounded] = []
        for t in range(k.shape[0]):
            new = wrong[t : t + 1]
            if written:
                new = new - among[t : t + 1, :t] @ _stacked(written)
            written.append(exact(s.beta[rows][t].reshape(1, 1)) * new)
        u = _stacked(written)
        scores = (q @ k.transpose(1, 0)).where(np.tri(k.shape[0], dtype=bool))
        outputs.append(q @ state + scores @ u)
        state = state + k.transpose(1, 0) @ u
    return _stacked([*outputs, state])


def _stacked(rows: list[Rounded]) -> Rounded:
    magnitude, error = (
        np.concatenate([getattr(row, part) for row in rows]) for part in ("magnitude", "error")
    )
    return Rounded(magnitude, error, rows[0].units)


def _all(read: recurrences.Read) -> np.ndarray:
    """The outputs, and the state below them."""
    return np.concatenate([read.outputs, read.state])


def residual(s: Sample) -> Residual:
    """The comparison that the sample asks for, both sides replayed for the bound."""
    k, tokens = max(*s.value.shape, s.key.shape[1]), (s.query, s.key, s.value)
    if s.clause == "delta_rule":
        left: Any = recurrences.delta_recurrent(*tokens, s.beta, s.state)
        right: Any = recurrences.delta_chunked(*tokens, s.beta, s.chunk, s.state)
        bound = delta_in_turn(s).error + delta_in_chunks(s, s.chunk).error
        return Residual(s.clause, _all(left), _all(right), bound, k)
    rest = (s.log_decay, s.reset, s.state)
    left = recurrences.recurrent(*tokens, *rest)
    if s.clause == "decays":
        right, chunk = recurrences.parallel(*tokens, *rest), len(s.value)
    else:
        right, chunk = recurrences.chunked(*tokens, s.chunk, *rest), s.chunk
    bound = tokens_in_turn(s).error + in_chunks(s, chunk).error
    return Residual(s.clause, _all(left), _all(right), bound, k)
