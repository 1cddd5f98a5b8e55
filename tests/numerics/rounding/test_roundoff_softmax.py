"""The softmax bound against decimals of 50 digits, the walk's softmax and torch's."""

import decimal
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
import torch

from numerics.rounding import roundoff
from numerics.rounding.roundoff import units
from numerics.walks import softmax_walk

DTYPES = ["float64", "float32", "bfloat16", "float16"]
decimal.getcontext().prec = 50


def tensor(name: str, values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values).to(getattr(torch, name))


def softmax_decimal(logits: np.ndarray, visible: np.ndarray) -> np.ndarray:
    out = np.full(logits.shape, Decimal(0), dtype=object)
    for i, row in enumerate(logits):
        powers = [Decimal(float(x)).exp() if v else Decimal(0)
                  for x, v in zip(row, visible[i], strict=True)]  # fmt: skip
        total = sum(powers)
        out[i] = [p / total if total else Decimal(0) for p in powers]
    return out


LOGITS = {
    "dense": lambda rng: rng.normal(size=(4, 9)),
    "huge": lambda rng: rng.choice([-1e4, 1e4], size=(4, 9)) + rng.normal(size=(4, 9)),
    "spread": lambda rng: rng.uniform(-110, 0, size=(4, 9)),
    "minus infinity": lambda rng: np.where(rng.random((4, 9)) < 0.4, -np.inf, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("kind", LOGITS)
@pytest.mark.parametrize("masked", [False, True])
def test_softmax_bound_covers_walk_and_torch(name: str, kind: str, masked: bool) -> None:
    rng = np.random.default_rng(1)
    logits = tensor(name, LOGITS[kind](rng))
    allowed = torch.from_numpy(rng.random((4, 9)) < (0.6 if masked else 2.0))
    allowed[1] &= not masked
    values = logits.to(torch.float64).numpy()
    true = softmax_decimal(values, allowed.numpy() & (values > -np.inf))
    bound = roundoff.softmax(logits, allowed=allowed)
    results = [softmax_walk(logits, allowed)]
    seen = (allowed & (logits > -torch.inf)).any(dim=1)
    results.append(torch.softmax(logits.masked_fill(~allowed, -torch.inf), dim=1))
    results[1][~seen] = 0
    for computed in results:
        got = np.vectorize(Decimal, otypes=[object])(computed.to(torch.float64).numpy())
        limit = np.vectorize(Decimal, otypes=[object])(bound.error.numpy())
        assert (np.abs(got - true) <= limit).all()
    assert (bound.error.numpy()[~allowed.numpy()] == 0).all()


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_softmax_bound_is_a_few_units(name: str) -> None:
    logits = np.random.default_rng(0).normal(size=(5, 8)).astype(name)
    bound = roundoff.softmax(logits)
    assert (bound.error <= 80 * units(name).store * bound.magnitude).all()


def test_softmax_inherits_the_error_of_its_logits() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 8))
    error = np.full((5, 8), 2.0**-20)
    bound = roundoff.softmax(logits, error=error)
    away = softmax_walk(logits + error * rng.choice([-1, 1], size=(5, 8)))
    shift = np.abs(away - softmax_walk(logits))
    assert (shift <= bound.error).all()
    assert (shift > roundoff.softmax(logits).error).any()


@pytest.mark.parametrize("sign", [-1, 1])
def test_softmax_bound_has_room_for_its_unit_of_exp(sign: int) -> None:
    """An exp off by 1 %, one way at one entry and the other way at the other."""
    coarse = replace(units("float64"), exp=0.01)
    bound = roundoff.softmax(np.array([[0.0, -1.0]]), model=coarse).error
    powers = np.exp([0.0, -1.0])
    off = powers * [1 + sign * 0.01, 1 - sign * 0.01]
    assert (np.abs(off / off.sum() - powers / powers.sum()) <= bound[0]).all()
