"""Orders of collapse, the causal rate and the logarithmic law, with what would refute each."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from numerics.collapse import rates as collapse_rates
from numerics.collapse.balls import Geodesic, Sharpened
from numerics.collapse.rates import (
    TOKENS,
    a_priori,
    causal_rates,
    families,
    order_rate,
    product_rates,
    sharpened_layers,
    spread_product,
    unmasked_rates,
)
from numerics.collapse.stacks import Head, Layer, simulate
from numerics.evidence.rates import Rate

RATES = [*unmasked_rates(), *causal_rates(), *product_rates()]
TWO = np.array([[0.0], [1.0]])


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.name)
def test_measured_rates_are_as_expected(rate: Rate) -> None:
    assert rate.ok, rate.explain()


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.name)
@pytest.mark.parametrize("wrong", [0.97, 1.03, 2 / 3, 1.5])
def test_no_other_limit_passes(rate: Rate, wrong: float) -> None:
    assert not replace(rate, target=rate.target * wrong).ok


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.name)
def test_no_other_speed_passes(rate: Rate) -> None:
    assert rate.attained or not replace(rate, expected=rate.expected + 0.5).ok


def test_orders_are_three_two_and_one() -> None:
    targets = {rate.name: rate.target for rate in RATES}
    orders = {name.partition(",")[2]: t for name, t in targets.items() if name.startswith("order")}
    assert orders == {
        **{f" {name} scores": float(order) for name, (_, order) in families().items()},
        " two heads": 3.0,
    }
    assert [order for _, order in families().values()] == [3, 3, 3, 3, 2]
    causal = {rate.target for rate in RATES if rate.name.startswith("causal")}
    assert causal == {1 / 2, 1 / 3, 1.0, 1 / (1 + math.exp(-0.75))}


def test_orders_are_fitted_over_five_layers_or_more_below_any_float() -> None:
    unmasked = [rate for rate in RATES if rate.name.startswith("order")]
    assert all(len(rate.values) >= 8 for rate in unmasked)
    # 1/eps is -log osc: the last layers are far below the smallest float, e^-745.
    assert min(1 / rate.epsilons[-1] for rate in unmasked if rate.target == 3) > 5000


def test_an_order_needs_five_layers_below_one() -> None:
    logs = -np.array([1.5, 4.5, 13.5, 40.0, 121.0])
    with pytest.raises(ValueError, match=r"^short: logs must be finite and below -1 for five"):
        order_rate("short", logs, 3)
    found = order_rate("three", -(3.0 ** np.arange(9)) + 0.5, 3)
    assert len(found.values) == 7
    assert found.ok, found.explain()
    assert not order_rate("two", -(2.0 ** np.arange(14)) + 0.5, 3).ok
    with pytest.raises(ValueError, match=r"^equal tokens: logs must be finite"):
        order_rate("equal tokens", np.array([-2.0] * 8 + [-np.inf]), 3)


def holds(ball: arb, rational: fmpq) -> bool:
    """Whether the ball contains the number, at more digits than the ball has."""
    with ctx.workprec(1000):
        return ball.contains(arb(rational))


def rational_product(c: int, L: int) -> fmpq:
    found = fmpq(1)
    for l in range(2, L + 1):
        found *= fmpq(l**c - 1, l**c + 1)
    return found


@pytest.mark.parametrize("L", [1, 2, 3, 10, 200])
def test_products_of_whole_spreads_are_rational(L: int) -> None:
    for c in (1, 2, 3, 4):
        found = spread_product(c, L)
        assert holds(found, rational_product(c, L))
        assert found.rel_accuracy_bits() > 160
    with ctx.workprec(200):
        root = arb(1)
        for l in range(2, L + 1):
            root *= (arb(l).log() / 4).tanh()
        assert spread_product(0.5, L).overlaps(root)


def test_closed_forms_of_the_products() -> None:
    for L in (2, 7, 300, 20000):
        assert holds(spread_product(1, L), fmpq(2, L * (L + 1)))
        cube = fmpq(2 * (L * L + L + 1), 3 * L * (L + 1))
        assert holds(spread_product(3, L), cube)
        assert not holds(spread_product(3, L + 1), cube)
        assert cube > fmpq(2, 3)
    # The product of (1 - 1/l^2) is (L + 1)/(2 L); dividing by that of (1 + 1/l^2) gives pi/sinh pi.
    limit = arb.pi() / arb.pi().sinh()
    tail = spread_product(2, 2000) / limit - 1
    assert fmpq(1, 1000) < tail < fmpq(101, 100000)
    assert f"{float(limit):.5f}" == "0.27203"
    # c = 2 does not collapse; a product that did would lie below any positive number.
    assert spread_product(2, 2000) > limit > 0.27


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.5, 1.0, 2.0, 3.0])
def test_two_tokens_of_sharpened_metrics_keep_the_product(c: float) -> None:
    L = 120
    run = simulate(TWO, sharpened_layers(c, L))
    assert len(run.osc) == L
    for l in (1, 2, 50, L - 1):
        assert run.osc[l].overlaps(spread_product(c, l + 1))
        assert not run.osc[l].overlaps(spread_product(c, l + 2))


def test_the_threshold_lies_at_one() -> None:
    # sum e^{-B_l} = sum l^-c: l^{-2} each for c = 1, and no loss in the limit above.
    left = {c: [float(spread_product(c, 2**k)) for k in (8, 10, 12)] for c in (0.5, 1.0, 1.5, 2.0)}
    assert all(a > 15 * b for c in (0.5, 1.0) for a, b in zip(left[c], left[c][1:], strict=False))
    assert all(a < 2 * b for c in (1.5, 2.0) for a, b in zip(left[c], left[c][1:], strict=False))


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), [(1, 1), (2, 2), (3, 3), (1, 3)])
def test_two_clusters_of_any_size_escape_at_summable_spreads(p: int, q: int) -> None:
    x = np.zeros((p + q, 1))
    x[p:] = 1.0
    osc = arb(1)
    with ctx.workprec(600):
        spreads = [arb(2 * l).log() * 2 for l in range(1, 21)]
        layers = [Layer((Head(Sharpened(B), np.eye(1)),)) for B in spreads]
    run = simulate(x, layers)
    for B, found in zip(spreads, run.osc[1:], strict=True):
        away, near = p / (p + q * B.exp()), p * B.exp() / (q + p * B.exp())
        osc *= near - away
        assert found.overlaps(osc)
        # What is lost, 1 - tau, is about (p/q + q/p) e^{-B}.
        loss = (1 - near + away) * B.exp() / (arb(p) / q + arb(q) / p)
        assert 0 < 1 - loss < 2 * max(p / q, q / p) * (-B).exp()
    assert run.osc[-1] > 0.2


def test_causal_tokens_keep_their_own_weight() -> None:
    with ctx.workprec(600):
        layers = [Layer((Head(Sharpened(arb(l).log() * 2), np.eye(1)),), causal=True)
                  for l in range(2, 60)]  # fmt: skip
    run, kept = simulate(TWO, layers), fmpq(1)
    for l in range(2, 60):
        kept *= fmpq(l * l, 1 + l * l)
        assert holds(run.first[l - 1], kept)


def test_tokens_v_and_minus_v_collapse_while_the_relative_residual_stays_one() -> None:
    x = np.array([[0.5, 0.25], [-0.5, -0.25]])
    run = simulate(x, [Layer((Head(Geodesic(np.eye(2)), np.eye(2)),))] * 6)
    # The mean is zero at every layer: each token is half of the difference.
    assert run.logs[-1] < -100
    with ctx.workprec(3000):
        tokens = [[arb(v) for v in row] for row in x]
        for _ in range(6):
            gap = sum(((a - b) ** 2 for a, b in zip(*tokens, strict=True)), arb(0)) / 2
            tau = (gap / 2).tanh()
            tokens = [[tau * v for v in row] for row in tokens]
        size = sum((4 * v * v for v in tokens[0]), arb(0)).sqrt()
        assert run.osc[6].overlaps(size)


def test_a_priori_bounds_of_unsquared_scores_and_of_the_sphere_hold() -> None:
    unsquared = [Layer((Head(families()["unsquared"][0], np.eye(2)),))] * 10
    on_sphere = TOKENS / np.linalg.norm(TOKENS, axis=1, keepdims=True)
    near = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.96, 0.28]])
    sphere = [Layer((Head(Geodesic(np.eye(2)), np.eye(2)),), radius=1.0)] * 8
    for x, layers in ((TOKENS, unsquared), (near, sphere)):
        run = simulate(x, layers)
        bounds = a_priori(run.osc[0], layers)
        assert all(osc <= bound for osc, bound in zip(run.osc, bounds, strict=True))
        assert bounds[-1] < 1e-100
    with pytest.raises(ValueError, match=r"^osc0 must be below sqrt.2. radius"):
        a_priori(simulate(on_sphere, sphere).osc[0], sphere)


def test_a_priori_bounds_take_residuals_and_radii_into_account() -> None:
    head = Head(Geodesic(np.eye(2)), np.eye(2))
    tau = (arb(0.25) / 4).tanh()
    expected = {
        Layer((head,), residual=-0.75): (tau + 0.75) / 2,
        Layer((head,), radius=0.5): tau / arb(0.5).sqrt() / 2,
    }
    for layer, exact in expected.items():
        found = a_priori(0.5, [layer])[1]
        assert exact <= found <= exact * (1 + 2.0**-44)
    # The sphere's divisor is needed: two tokens at a right angle meet at the chord's middle.
    pair, sphere = np.eye(2), Layer((head,), radius=1.0)
    run = simulate(pair, [sphere])
    flat = a_priori(run.osc[0], [replace(sphere, radius=None)])[1]
    assert flat < run.osc[1]
    near = np.array([[1.0, 0.0], [0.8, 0.6]])
    run = simulate(near, [sphere])
    assert run.osc[1] <= a_priori(run.osc[0], [sphere])[1]
    assert run.osc[1] > a_priori(run.osc[0], [replace(sphere, radius=None)])[1]


def test_a_bound_with_an_eighth_or_the_largest_head_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair, gain = TOKENS[:2], Geodesic.gain
    alone, half = Geodesic(np.eye(2)), np.eye(2) / 2
    for layer in (Layer((Head(alone, np.eye(2)),)), Layer((Head(alone, half), Head(alone, half)))):
        run = simulate(pair, [layer])
        assert run.osc[1] <= a_priori(run.osc[0], [layer])[1]
        monkeypatch.setattr(Geodesic, "gain", lambda self: (gain(self)[0] / 2, 2))
        assert run.osc[1] > a_priori(run.osc[0], [layer])[1]
        monkeypatch.undo()
        fewer = replace(layer, heads=layer.heads[1:] or (Head(alone, half),))
        assert run.osc[1] > a_priori(run.osc[0], [fewer])[1]


def test_nothing_is_measured_at_random() -> None:
    assert [rate.values for rate in collapse_rates.unmasked_rates()] == [
        rate.values for rate in RATES if rate.name.startswith("order")
    ]
