"""Linear attention in its forms: one result for every chunk size, split and kind of array."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from numerics.pairings import recurrences
from numerics.pairings.recurrences import Read
from numerics.rounding.roundoff import gamma

r: Any = recurrences  # arguments are unpacked from tuples
LENGTHS = (1, 63, 64, 65, 100, 2000)
HEADS, M, W = 2, 3, 5
DECAYS = ("none", "scalar", "diagonal")
Tokens = tuple[np.ndarray, np.ndarray, np.ndarray]


def heads(T: int) -> int:
    return HEADS if T < 2000 else 1


def tokens(T: int, seed: int = 0) -> tuple[Tokens, np.ndarray]:
    """Queries, keys, values of pairwise different sizes, and a state."""
    rng, H = np.random.default_rng(seed), heads(T)
    query, key, value = (rng.normal(size=(H, T, width)) for width in (M, M, W))
    return (query, key, value), rng.normal(size=(H, M, W))


def decays(T: int, kind: str) -> np.ndarray | None:
    rng = np.random.default_rng(T)
    shape = {"none": None, "scalar": (heads(T), T), "diagonal": (heads(T), T, M)}[kind]
    return None if shape is None else -rng.random(shape)


def resets(T: int) -> np.ndarray:
    return np.random.default_rng(T).random((heads(T), T)) < 0.05


def bound(parts: Any, log_decay: Any, reset: Any, state: Any) -> Read:
    """Twice the error of any of the forms: a term is rounded at most 8 T + m + 40 times, exp and
    its argument included, which is a sum of at most T numbers."""
    T = parts[0].shape[-2]
    sizes = [np.abs(part) for part in parts]
    terms = r.recurrent(*sizes, log_decay, reset, None if state is None else np.abs(state))
    # Beyond exp(-745) a weight is 0, and below 1e-300 is allowed for underflow.
    relative = gamma(8 * T + M + 40, 2.0**-53) + np.expm1(745 * gamma(T, 2.0**-53))
    return Read(*(2 * (relative * part + 1e-300) for part in terms))


def assert_agree(one: Read, other: Read, within: Read) -> None:
    for left, right, most in zip(one, other, within, strict=True):
        assert left.shape == right.shape
        assert np.isfinite(left).all()
        assert np.isfinite(right).all()
        assert (np.abs(left - right) <= most).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", DECAYS)
@pytest.mark.parametrize("T", LENGTHS)
def test_chunked_recurrent_and_parallel_forms_agree(T: int, kind: str) -> None:
    parts, state = tokens(T)
    rest: Any = (decays(T, kind), resets(T) if T > 1 else None, state)
    most, whole = bound(parts, *rest), r.recurrent(*parts, *rest)
    for chunk in (1, 2, 3, 16, T):
        assert_agree(r.chunked(*parts, chunk, *rest), whole, most)
    if T < 2000:  # else it is the chunk of all tokens
        assert_agree(r.parallel(*parts, *rest), whole, most)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DECAYS)
@pytest.mark.parametrize("T", [2, 63, 64, 65, 2000])
def test_a_state_may_be_handed_over_at_any_split(T: int, kind: str) -> None:
    parts, state = tokens(T)
    log_decay, reset = decays(T, kind), resets(T)
    most, whole = (
        bound(parts, log_decay, reset, state),
        r.recurrent(*parts, log_decay, reset, state),
    )
    splits = range(1, T) if T <= 65 else np.random.default_rng(1).choice(T - 1, 10, False) + 1
    for split in splits:
        ends = slice(None, split), slice(split, None)
        first, second = (
            (*(part[:, rows] for part in parts), 16,
             None if log_decay is None else log_decay[:, rows], reset[:, rows]) for rows in ends
        )  # fmt: skip
        before = r.chunked(*first, state)
        after = r.chunked(*second, before.state)
        joined = np.concatenate([before.outputs, after.outputs], axis=-2)
        assert_agree(Read(joined, after.state), whole, most)


def test_a_state_that_is_not_handed_over_is_seen() -> None:
    parts, state = tokens(64)
    late = tuple(part[:, 32:] for part in parts)
    whole, most = r.recurrent(*parts, None, None, state), bound(parts, None, None, state)
    gap = np.abs(r.chunked(*late, 16).outputs - whole.outputs[:, 32:])
    assert (gap > most.outputs[:, 32:]).all(axis=(1, 2)).any()


@pytest.mark.parametrize("T", [1, 64, 100])
def test_integer_tokens_without_decay_are_exact_in_every_form(T: int) -> None:
    rng = np.random.default_rng(3)
    parts: Any = [rng.integers(-4, 5, (HEADS, T, width)).astype(float) for width in (M, M, W)]
    reset = rng.random((HEADS, T)) < 0.1
    whole = r.recurrent(*parts, None, reset)
    forms = [r.parallel(*parts, None, reset)]
    forms += [r.chunked(*parts, chunk, None, reset) for chunk in (1, 2, 3, 16, T)]
    for form in forms:
        assert np.array_equal(form.outputs, whole.outputs)
        assert np.array_equal(form.state, whole.state)
    brute = np.zeros((HEADS, T, W))
    for h in range(HEADS):
        for t in range(T):
            first = max([0, *np.flatnonzero(reset[h, : t + 1])])
            for j in range(first, t + 1):
                brute[h, t] += (parts[0][h, t] @ parts[1][h, j]) * parts[2][h, j]
    assert np.array_equal(brute, whole.outputs)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_torch_and_numpy_agree(dtype: torch.dtype) -> None:
    parts, state = tokens(65)
    log_decay, reset = decays(65, "diagonal"), resets(65)
    unit = torch.finfo(dtype).eps / 2
    most = bound(parts, log_decay, reset, state).outputs * (unit / 2.0**-53)
    arrays = [torch.as_tensor(a).to(dtype) for a in (*parts, log_decay, state)]
    same: Any = [np.asarray(a.to(torch.float64)) for a in arrays]
    exactly = r.recurrent(*same[:4], reset, same[4]).outputs
    for form in (r.recurrent, r.parallel, lambda *a: r.chunked(*a[:3], 16, *a[3:])):
        found: Any = form(*arrays[:4], torch.as_tensor(reset), arrays[4])
        assert found.outputs.dtype == dtype
        assert (np.abs(np.asarray(found.outputs.to(torch.float64)) - exactly) <= most).all()


def test_weights_of_long_sequences_never_overflow() -> None:
    drop = np.full(1024, -3.0, dtype=np.float32)
    sums = r.segment_sums(drop)
    assert np.max(sums) == 0
    assert sums[5, 4] == -3
    weights = np.exp(sums)
    assert np.isfinite(weights).all()
    assert weights.max() == 1
    total = np.cumsum(drop, dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        masked = np.exp(total[:, None] - total[None, :]) * np.tri(1024, dtype=np.float32)
    assert np.isnan(masked).any()  # differences of sums are large above the diagonal


def test_powers_of_a_decay_and_their_inverses_are_never_formed() -> None:
    T = 200
    with np.errstate(over="ignore"):
        assert np.isinf(np.float32(0.5) ** -np.arange(T, dtype=np.float32)).any()
    ones = np.ones((T, 1), dtype=np.float32)
    log_decay = np.full(T, math.log(0.5), dtype=np.float32)
    found = r.chunked(ones, ones, ones, T, log_decay).outputs[:, 0]
    exact = 2 - 0.5 ** np.arange(T)
    most = exact * (gamma(9 * T, 2.0**-24) + np.expm1(103 * gamma(T, 2.0**-24)))
    assert np.isfinite(found).all()
    assert (np.abs(found - exact) <= most).all()


def test_a_reset_is_a_mask_and_a_huge_number_in_its_place_breaks_sums() -> None:
    drop = np.array([-1.0, -0.1 * np.finfo(np.float32).max, -1.0, -2.0, -1.0], dtype=np.float32)
    total = np.cumsum(drop)
    assert total[3] - total[1] == 0  # the sum of -1 and -2 by differences
    assert r.segment_sums(drop)[3, 1] == -3
    reset = np.array([False, True, False, False, False])
    kept = np.where(reset, np.float32(0), drop)
    sums = r.segment_sums(kept, reset)
    assert sums[3, 1] == -3
    assert (sums[1:, 0] == -math.inf).all()
    assert np.array_equal(np.exp(sums), np.exp(r.segment_sums(drop)))


def test_nothing_is_left_of_the_state_before_a_reset() -> None:
    parts, state = tokens(9)
    reset = np.zeros((HEADS, 9), dtype=bool)
    reset[:, 4] = True
    late = tuple(part[:, 4:] for part in parts)
    for form in FORMS.values():
        whole, rest = form(*parts, None, reset, 1e200 * state), form(*late, None, None, None)
        assert_agree(Read(whole.outputs[:, 4:], whole.state), rest, bound(late, None, None, None))


FORMS: dict[str, Callable[..., Read]] = {
    "recurrent": r.recurrent,
    "parallel": r.parallel,
    "chunked": lambda *a: r.chunked(*a[:3], 3, *a[3:]),
}


def test_one_decay_for_all_features_is_a_diagonal_one() -> None:
    parts, state = tokens(12)
    one = decays(12, "scalar")
    assert one is not None
    for form in FORMS.values():
        each = np.repeat(one[..., None], M, axis=-1)
        scalar, diagonal = (form(*parts, decay, None, state) for decay in (one, each))
        assert_agree(scalar, diagonal, bound(parts, one, None, state))


def test_readouts_are_refused_where_a_normaliser_vanishes() -> None:
    query, key = np.array([[1.0, 0.0]] * 2), np.array([[1.0, 0.0], [-1.0, 1.0]])
    outputs = r.recurrent(query, key, r.with_ones(np.array([[1.0], [0.0]]))).outputs
    assert outputs.tolist() == [[1, 1], [1, 0]]
    with pytest.raises(ValueError, match=r"outputs must be of nonzero normalisers.*got 0.0 at"):
        r.normalised(outputs)
    assert r.normalised(outputs[:1]).tolist() == [[1.0]]


def test_positive_features_give_causal_averages() -> None:
    ones, value = np.ones((4, 1)), np.arange(4.0)[:, None]
    found = r.normalised(r.parallel(ones, ones, r.with_ones(value)).outputs)
    assert found[:, 0].tolist() == [0.0, 0.5, 1.0, 1.5]
