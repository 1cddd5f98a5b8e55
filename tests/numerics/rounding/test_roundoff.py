"""Rounding bounds against exact rationals, decimals of 50 digits, and the machine itself."""

import decimal
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics.rounding.roundoff import Rounded, exact, gamma, units

DTYPES = ["float64", "float32", "bfloat16", "float16"]
decimal.getcontext().prec = 50


def tensor(name: str, values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values).to(getattr(torch, name))


def rational(array: Any) -> np.ndarray:
    """The exact value of every float."""
    if isinstance(array, torch.Tensor):
        array = array.to(torch.float64).numpy()
    return np.vectorize(lambda v: Fraction(float(v)), otypes=[object])(array)


def within(computed: Any, true: np.ndarray, bound: Rounded) -> bool:
    error = np.abs(rational(computed) - true)
    return bool((error <= rational(bound.error)).all())


@pytest.mark.parametrize("k", [0, 1, 7, 4096])
@pytest.mark.parametrize("u", [2.0**-53, 2.0**-24])
def test_gamma_is_rounded_up(k: int, u: float) -> None:
    ku = k * Fraction(u)
    assert ku / (1 - ku) <= Fraction(gamma(k, u)) <= ku / (1 - ku) * (1 + Fraction(1, 2**49))


@pytest.mark.parametrize(("k", "u"), [(256, 2.0**-8), (2**24, 2.0**-24), (-1, 2.0**-53)])
def test_gamma_refuses_sums_without_a_bound(k: int, u: float) -> None:
    with pytest.raises(ValueError, match=rf"k \* u must lie in \[0, 1\), got k = {k}"):
        gamma(k, u)


@pytest.mark.parametrize("name", DTYPES)
def test_storage_unit_is_half_the_spacing_at_one(name: str) -> None:
    u, one = units(name).store, tensor(name, np.ones(1))
    assert (one + u == one).all()
    assert (one + 2 * u != one).all()
    assert units(name) == units(getattr(torch, name))


@pytest.mark.parametrize("name", DTYPES)
def test_eta_is_half_the_smallest_subnormal_where_nothing_is_flushed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerics.rounding.units._flushes", lambda *arguments: False)
    smallest = tensor(name, np.array([max(2 * units(name).eta, 2.0**-1074)]))
    assert (smallest > 0).all()
    if name != "float64":  # where eta itself is not a number, and the smallest stands for it
        assert (tensor(name, np.array([units(name).eta])) == 0).all()


@pytest.mark.parametrize("name", DTYPES)
def test_where_subnormals_are_flushed_eta_is_twice_the_smallest_that_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerics.rounding.units._flushes", lambda *arguments: True)
    flush = units(name).flush
    assert units(name).eta == 2 * flush
    assert flush == {"float64": 2.0**-1022, "float16": 2.0**-14}.get(name, 2.0**-126)


@pytest.mark.parametrize(("name", "top"), [("bfloat16", 256.0), ("float16", 2048.0)])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 64), (1, 64), (64, 1)])
def test_half_products_accumulate_in_float32(name: str, top: float, shape: tuple) -> None:
    """Added one at a time to 1/u, ones would all be lost in storage precision."""
    a, b = np.ones((shape[0], 2049)), np.ones((2049, shape[1]))
    a[:, 0] = top
    product = tensor(name, a) @ tensor(name, b)
    assert (product == tensor(name, np.array([top + 2048.0]))).all()


def test_numpy_half_products_accumulate_in_float32() -> None:
    a = np.ones((3, 2049), np.float16)
    a[:, 0] = 2048
    assert (a @ np.ones((2049, 5), np.float16) == 4096).all()


@pytest.fixture
def flushing() -> Iterator[None]:
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush to zero; nothing to detect until it can")
    yield
    torch.set_flush_denormal(False)


@pytest.mark.usefixtures("flushing")
def test_flushing_to_zero_is_detected() -> None:
    assert units("float32") == units(torch.float32)
    assert units("float32").eta == 2.0**-125
    assert units(torch.float64).flush == 2.0**-1022


@pytest.mark.usefixtures("flushing")
def test_bound_covers_inputs_that_are_read_as_zero() -> None:
    a, b = torch.full((1, 1), 2.0**-127), torch.full((1, 1), 2.0**20)
    assert (a @ b == 0).all()
    assert ((exact(a) @ exact(b)).error >= 2.0**-107).all()


def test_gradual_underflow_returns_after_flushing() -> None:
    assert units("float32").flush == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["float64", "float32"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_exp_is_within_its_unit(name: str, library: str) -> None:
    points = np.random.default_rng(0).uniform(-80, 0, size=3000).astype(name)
    got = np.exp(points) if library == "numpy" else torch.exp(torch.from_numpy(points)).numpy()
    unit = Decimal(units(name).exp)
    for x, y in zip(points, got, strict=True):
        true = Decimal(float(x)).exp()
        assert abs(Decimal(float(y)) - true) <= unit * true


SCALES = {"unit": 1.0, "subnormal": 2.0**-1072, "wide": 2.0**300}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(5))
def test_replayed_bound_covers_float64(scale: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(3, 4)), rng.integers(-5, 6, size=(4, 2)) * SCALES[scale]
    c, d = rng.normal(size=(3, 2)) * SCALES[scale], 1 + rng.uniform(size=(3, 2))
    computed = ((a @ b + c) * d / d[::-1]).sum(axis=0)
    ra, rb, rc, rd = map(rational, (a, b, c, d))
    true = ((ra @ rb + rc) * rd / rd[::-1]).sum(axis=0)
    bound = ((exact(a) @ exact(b) + exact(c)) * exact(d) / exact(d)[::-1]).sum(axis=0)
    assert within(computed, true, bound)
    assert (np.abs(true) <= rational(bound.magnitude)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("k", [1, 63, 1000])
def test_product_bound_covers_every_dtype(name: str, k: int) -> None:
    rng = np.random.default_rng(k)
    a, b = tensor(name, rng.normal(size=(3, k))), tensor(name, rng.normal(size=(k, 2)))
    bound = exact(a) @ exact(b)
    assert within(a @ b, rational(a) @ rational(b), bound)
    u = units(name)
    formula = gamma(k, u.acc) * (exact(a).magnitude @ exact(b).magnitude)
    if u.store != u.acc:
        formula = formula + u.store * (exact(a).magnitude @ exact(b).magnitude + formula)
    eta = 2 * (k + 1) * u.eta
    assert (bound.error <= (formula + eta) * (1 + 4 * (k + 8) * 2.0**-53)).all()


def test_float32_error_falls_with_the_unit() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(5, 100)), rng.normal(size=(100, 5))
    narrow = exact(a.astype(np.float32)) @ exact(b.astype(np.float32))
    ratio = narrow.error / (exact(a) @ exact(b)).error
    assert (ratio >= 2.0**28).all()
    assert (ratio <= 2.0**30).all()


@pytest.mark.parametrize("name", DTYPES)
def test_quotient_by_a_computed_sum(name: str) -> None:
    a = tensor(name, 0.5 + np.random.default_rng(0).uniform(size=(3, 4)))
    total = a.sum(dim=0)
    bound = exact(a).divide(exact(a).sum(axis=0), total)
    assert within(a / total, rational(a) / rational(a).sum(axis=0), bound)


@pytest.mark.slow
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("scale", [1.0, 2.0**-12, 2.0**-540])
def test_square_root_of_a_computed_sum(name: str, scale: float) -> None:
    a = tensor(name, scale * np.random.default_rng(0).normal(size=(3, 400)))
    total = (a * a).sum(dim=0)
    true = np.vectorize(lambda v: Fraction((Decimal(v.numerator) / v.denominator).sqrt()))
    bound = (exact(a) * exact(a)).sum(axis=0).sqrt(total)
    assert within(total.sqrt(), true((rational(a) ** 2).sum(axis=0)), bound)


def test_bounds_of_subnormals_do_not_underflow() -> None:
    """u times a subnormal is 0; times something large or over another subnormal it is not."""
    tiny = float(np.finfo(np.float64).smallest_subnormal)
    few, many = np.array([[3.0, 2.0**51 + 1]]) * tiny, np.array([[7.0, 2.0**50 + 3]]) * tiny
    large = np.array([[1 / 3, 0.3]]) * 2.0**60
    assert within(few / many, rational(few) / rational(many), exact(few) / exact(many))
    assert within(few * large, rational(few) * rational(large), exact(few) * exact(large))
    doubled = exact(many) + exact(many)
    bound = exact(few).divide(doubled, many + many)
    assert within(few / (many + many), rational(few) / (2 * rational(many)), bound)


def test_quotient_refuses_a_denominator_that_may_be_zero() -> None:
    a = np.array([[1.0, 1.0], [-1.0, 2.0]])
    with pytest.raises(ValueError, match="computed must exceed its error bound"):
        exact(a).divide(exact(a).sum(axis=0), a.sum(axis=0))
    with pytest.raises(ValueError, match="other must be exact for /"):
        _ = exact(a) / exact(a).sum(axis=0)


def test_seeing_the_result_sharpens_the_magnitude_only() -> None:
    a, b = np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])
    product = exact(a) @ exact(b)
    seen = product.seen(a @ b)
    assert product.magnitude.item() >= 2
    assert seen.magnitude.item() <= 2 * seen.error.item()
    assert seen.error.item() == product.error.item()


def test_numpy_and_torch_bounds_agree() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 3, 3))
    ours, theirs = exact(a) @ exact(b), exact(torch.from_numpy(a)) @ exact(torch.from_numpy(b))
    assert isinstance(theirs.error, torch.Tensor)
    slack = 1 + gamma(8, 2.0**-53)
    assert (ours.error <= theirs.error.numpy() * slack).all()
    assert (theirs.error.numpy() <= ours.error * slack).all()


def test_bounds_are_outside_the_gradient_tape() -> None:
    leaf = torch.ones(2, 2, requires_grad=True)
    assert not (exact(leaf) @ exact(leaf)).error.requires_grad


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda a, b: a @ b,
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a.divide(b, b.magnitude) if isinstance(a, Rounded) else a / b,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("side", [0, 1])
def test_every_operation_passes_on_the_error_of_either_operand(operation: str, side: int) -> None:
    """Inputs of error 1/8 move the exact result by more than all roundings together."""
    values = list(np.random.default_rng(0).uniform(1, 2, size=(2, 2, 2)))
    stored = [exact(value) for value in values]
    off = np.full((2, 2), 0.125)
    stored[side] = replace(stored[side], error=off, inexact=True)
    bound = OPERATIONS[operation](*stored)
    for sign in (-1, 1):
        moved = list(values)
        moved[side] = moved[side] + sign * off
        apply = OPERATIONS[operation]
        shift = np.abs(apply(*map(rational, moved)) - apply(*map(rational, values)))
        assert (shift <= rational(bound.error)).all()
