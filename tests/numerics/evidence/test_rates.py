"""A rate passes for the right limit at the right order, and for nothing else."""

import dataclasses
from typing import Any

import pytest

from numerics.evidence.rates import FINEST, ORDER_WITHIN, Rate

EPSILONS = tuple(0.04 / 2**k for k in range(6))


def rate(target: float = 2.0, limit: float = 2.0, order: float = 1.0, **fields: Any) -> Rate:
    """Values limit + eps^order - eps^(order + 1), as if they should tend to target."""
    values = tuple(limit + eps**order - eps ** (order + 1) for eps in EPSILONS)
    return Rate("planted", target, EPSILONS, values, **fields)


def test_first_order_error_at_the_right_limit_passes() -> None:
    found = rate()
    assert found.ok, found.explain()
    assert found.low is not None
    assert found.high is not None
    assert found.slope is not None
    assert 1 - 2 * EPSILONS[2] < found.low < found.slope < found.high < 1
    assert found.explain().startswith("planted: 2.00125 at eps = 0.00125, limit 2, error 0.0012, ")


def test_error_of_either_sign_and_a_limit_of_zero_pass() -> None:
    assert rate(0.0, 0.0).ok
    falling = Rate("below", 1.0, EPSILONS, tuple(1 - eps for eps in EPSILONS))
    assert falling.ok, falling.explain()


@pytest.mark.parametrize("target", [0.0, 1.0, 1.98, 2.02, 4.0, -2.0])
def test_a_wrong_limit_is_not_approached(target: float) -> None:
    found = rate(target)
    assert not found.ok, found.explain()
    assert found.high is not None
    assert found.high < 1 - ORDER_WITHIN


@pytest.mark.parametrize("order", [0.5, 0.9, 1.1, 2.0])
def test_another_order_is_not_first_order(order: float) -> None:
    found = dataclasses.replace(rate(1.0, 1.0, order), values=rate(1.0, 1.0, order).values)
    assert found.slope is not None
    assert abs(found.slope - order) < ORDER_WITHIN / 2
    assert not found.ok, found.explain()
    # Told to expect that order, and that close, the same values pass.
    near = Rate("near", 1.0, EPSILONS, tuple(1 + 0.1 * (v - 1) for v in found.values), order)
    assert near.ok, near.explain()


def test_first_order_far_from_the_limit_does_not_pass() -> None:
    largest = FINEST / EPSILONS[-1]
    for factor, passes in ((0.99, True), (1.01, False)):
        values = tuple(1 + factor * largest * eps for eps in EPSILONS)
        assert Rate("far", 1.0, EPSILONS, values).ok == passes


def test_one_slope_outside_the_others_is_enough_to_fail() -> None:
    values = [1 + eps for eps in EPSILONS]
    values[-2] = 1 + 1.2 * EPSILONS[-2]
    assert not Rate("bent", 1.0, EPSILONS, tuple(values)).ok
    values = [1 + eps for eps in EPSILONS]
    values[0] = 1 + 1.2 * EPSILONS[0]
    assert Rate("bent early", 1.0, EPSILONS, tuple(values)).ok


def test_a_limit_attained_to_rounding_has_no_order() -> None:
    attained = Rate("attained", 1.0, EPSILONS, (1.1, 1.0, 1.0, 1.0, 1.0, 1 + 1e-15), rounding=2e-15)
    assert attained.attained
    assert attained.ok
    assert attained.slope is attained.low is attained.high is None
    assert attained.explain().endswith("limit attained")
    stuck = dataclasses.replace(attained, values=(*attained.values[:-1], 1 + 1e-14))
    assert not stuck.ok
    assert stuck.slope is None
    assert stuck.explain().endswith("an error within rounding, no order")


def test_rounding_widens_the_interval() -> None:
    exact, rounded = rate(), rate(rounding=EPSILONS[-1] / 100)
    assert exact.low is not None
    assert exact.high is not None
    assert rounded.low is not None
    assert rounded.high is not None
    assert rounded.low < exact.low < exact.high < rounded.high
    # Two errors, each off by 1 %, in a ratio of 2.
    assert rounded.high - exact.high < 0.02 / 0.69 * 1.1
    assert not rate(rounding=EPSILONS[-1] / 25).ok


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": (1.0,) * 5}, "planted: values must be four or more, one .* got 5 for 6"),
        ({"epsilons": (3.0, 2.0, 1.0), "values": (1.0,) * 3}, "values must be four or more"),
        ({"epsilons": EPSILONS[::-1]}, "epsilons must be falling and positive"),
        ({"epsilons": (5.0, 4.0, 3.0, 2.0, 1.0, 0.0)}, "epsilons must be falling and positive"),
        ({"epsilons": (5.0, 4.0, 3.0, 2.0, 1.0, float("nan"))}, "epsilons must be falling"),
        ({"epsilons": (float("inf"), *EPSILONS[1:])}, "epsilons must be finite"),
        ({"values": (float("nan"),) * 6}, "values must be finite, got .*nan"),
        ({"target": float("inf")}, "target must be finite, got inf"),
        ({"expected": float("nan")}, "expected must be finite, got nan"),
        ({"rounding": float("nan")}, "rounding must be finite, got nan"),
        ({"rounding": -1e-9}, "rounding must lie between 0 and 6e-05, .* got -1e-09"),
        ({"rounding": 1e-4}, "rounding must lie between 0 and 6e-05, .* got 0.0001"),
    ],
)
def test_what_is_no_rate_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(rate(), **fields)
