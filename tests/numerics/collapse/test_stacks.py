"""Stacks in balls against the layer written out literally, and what certified intervals must do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, ctx

from numerics.collapse import stacks
from numerics.collapse.balls import DotProduct, Geodesic, Score, Sharpened, balls, largest
from numerics.collapse.rates import METRICS, TOKENS, a_priori, families
from numerics.collapse.stacks import Head, Layer, NoDigits, simulate

TURN = np.array([[0.8, -0.6], [0.6, 0.8]])
ONE = np.eye(2)


def square(v: list[arb], w: list[arb]) -> arb:
    """|v - w|^2."""
    return sum(((p - q) * (p - q) for p, q in zip(v, w, strict=True)), arb(0)).nonnegative_part()


def widths(x: list[list[arb]]) -> tuple[arb, arb]:
    """osc and max_i |x_i - x_1|."""
    osc = first = arb(0)
    for i, v in enumerate(x):
        first = first.max(square(v, x[0]))
        for w in x[:i]:
            osc = osc.max(square(v, w))
    return osc.sqrt(), first.sqrt()


def score_of(score: Any, x: list[list[arb]], i: int, j: int) -> arb:
    """s_ij as its family is defined, with the row terms left in."""
    d = range(len(x[0]))
    if isinstance(score, DotProduct):
        M = balls(score.M)
        return sum((x[i][a] * M[a, b] * x[j][b] for a in d for b in d), arb(0))
    if isinstance(score, Sharpened):
        return -arb(score.B) * square(x[i], x[j]) / widths(x)[0] ** 2
    step = [p - q for p, q in zip(x[i], x[j], strict=True)]

    def distance(k: int) -> arb:
        metrics = score.metrics
        if callable(metrics):
            found: Any = metrics(x[k])
            G = arb_mat([list(row) for row in found])
        else:
            G = balls(metrics if metrics.ndim == 2 else metrics[k])
        length = sum((step[a] * G[a, b] * step[b] for a in d for b in d), arb(0))
        return -length / 2 if score.squared else -length.nonnegative_part().sqrt()

    if i == j:
        return arb(0)
    return (distance(i) + distance(j)) / 2 if score.symmetrised else distance(i)


def literal(layer: Layer, x: list[list[arb]]) -> list[list[arb]]:
    """One layer from its definition: scores, exponentials, row sums, transported tokens."""
    n, d = len(x), range(len(x[0]))
    out = [[arb(layer.residual) * v for v in row] for row in x]
    for head in layer.heads:
        T = balls(head.transport)
        for i in range(n):
            seen = range(i + 1 if layer.causal else n)
            powers = [(score_of(head.score, x, i, j) - arb(head.slope) * (i - j)).exp()
                      for j in seen]  # fmt: skip
            total = sum(powers, arb(0))
            for a in d:
                for j, p in zip(seen, powers, strict=True):
                    out[i][a] += p / total * sum((T[a, b] * x[j][b] for b in d), arb(0))
    if layer.radius is not None:
        sizes = [sum((v * v for v in row), arb(0)).sqrt() for row in out]
        out = [[arb(layer.radius) * v / s for v in row] for row, s in zip(out, sizes, strict=True)]
    return out


def bent(x: list[arb]) -> list[list[arb]]:
    """A metric field, 1 + 1/(1 + |x|^2) and 2 on the diagonal."""
    length = sum((v * v for v in x), arb(0))
    return [[1 + 1 / (1 + length), arb(0)], [arb(0), arb(2)]]


SCORES: dict[str, Score] = {
    **{name: score for name, (score, _) in families().items()},
    "symmetrised, unsquared": Geodesic(METRICS, symmetrised=True, squared=False),
    "metric field": Geodesic(bent, ceiling=2.0),
    "sharpened": Sharpened(1.5),
}
LAYERS: dict[str, Callable[[Score], Layer]] = {
    "pure": lambda score: Layer((Head(score, ONE),)),
    "turned": lambda score: Layer((Head(score, TURN),)),
    "two heads": lambda score: Layer((Head(score, TURN / 2), Head(SCORES["dot product"], ONE / 2))),
    "residual": lambda score: Layer((Head(score, TURN / 4),), residual=0.75),
    "causal": lambda score: Layer((Head(score, TURN),), causal=True),
    "ALiBi": lambda score: Layer((Head(score, ONE, slope=0.5),), causal=True),
    "sphere": lambda score: Layer((Head(score, TURN),), radius=2.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("name", SCORES)
def test_runs_agree_with_the_layer_written_out(name: str, kind: str) -> None:
    layer, depth = LAYERS[kind](SCORES[name]), 5
    run = simulate(TOKENS, [layer] * depth, bits=100)
    with ctx.workprec(4000):
        x = [[arb(float(v)) for v in row] for row in TOKENS]
        for l in range(depth + 1):
            osc, first = widths(x)
            assert osc.rel_accuracy_bits() > 300, "the literal layer has lost its digits"
            assert run.osc[l].overlaps(osc), (l, run.osc[l], osc)
            assert run.first[l].overlaps(first)
            x = literal(layer, x) if l < depth else x
    assert min(value.rel_accuracy_bits() for value in run.osc) >= 100


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_another_layer_is_told_apart(name: str) -> None:
    layer = LAYERS["pure"](SCORES[name])
    one = simulate(TOKENS, [layer] * 3)
    for other in ("turned", "two heads", "residual", "causal", "sphere"):
        run = simulate(TOKENS, [LAYERS[other](SCORES[name])] * 3)
        assert not run.osc[3].overlaps(one.osc[3]), other


def test_balls_of_few_digits_contain_those_of_many() -> None:
    layers = [LAYERS["pure"](SCORES["heterogeneous"])] * 10
    few, many = simulate(TOKENS, layers, bits=8), simulate(TOKENS, layers, bits=900)
    assert few.bits < many.bits
    assert all(a.contains(b) for a, b in zip(few.osc, many.osc, strict=True))
    assert min(value.rel_accuracy_bits() for value in many.osc) >= 900
    assert few.logs[-1] < -10000  # osc below e^-10000: no float has such a size


def test_a_run_that_loses_its_digits_is_repeated_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "FIRST_BITS", 8)
    run = simulate(TOKENS, [LAYERS["pure"](SCORES["heterogeneous"])] * 10, bits=28)
    assert run.bits == 112, "56 bits leave 14"
    assert min(value.rel_accuracy_bits() for value in run.osc) >= 28


@pytest.mark.slow
def test_every_contraction_bound_holds_in_every_run() -> None:
    for name, score in SCORES.items():
        for kind in ("pure", "turned", "two heads"):
            layers = [LAYERS[kind](score)] * 8
            run = simulate(TOKENS, layers)
            steps = list(zip(run.factors, run.osc, run.osc[1:], strict=False))
            assert len(steps) == 8
            assert all(after <= factor * before for factor, before, after in steps), (name, kind)
            bounds = a_priori(run.osc[0], layers)
            assert all(osc <= bound for osc, bound in zip(run.osc, bounds, strict=True)), name


@pytest.mark.slow
@pytest.mark.parametrize("first", [1.0, 0.0], ids=["first at the edge", "first inside"])
@pytest.mark.parametrize("name", SCORES)
def test_factors_are_those_of_the_definition(name: str, first: float) -> None:
    score, pairs, tokens = SCORES[name], range(4), TOKENS * np.array([[first], [1], [1], [1]])
    with ctx.workprec(300):
        x = [[arb(float(v)) for v in row] for row in tokens]
        S = [[score_of(score, x, i, j) for j in pairs] for i in pairs]
        apart = [[largest([S[i][j] - S[k][j] for j in pairs]) for k in pairs] for i in pairs]
        spread = largest([apart[i][k] + apart[k][i] for i in pairs for k in pairs])
        seen = [1 / sum(((v - S[i][0]).exp() for v in S[i][: i + 1]), arb(0)) for i in pairs]
        cases = {"pure": (spread / 4).tanh(), "causal": largest([1 - a for a in seen[1:]])}
        for kind, exact in cases.items():
            layer = LAYERS[kind](score)
            found, norm = simulate(tokens, [layer]).factors[0], arb(layer.heads[0].norm)
            assert abs(found / norm / exact - 1) < arb(2) ** -60, kind


def test_the_second_token_counts_in_a_causal_factor() -> None:
    with ctx.workprec(300):
        head = Head(Sharpened(arb(3).log()), np.eye(1))
    found = simulate(np.array([[0.0], [1.0]]), [Layer((head,), causal=True)]).factors[0]
    assert 0.75 <= found <= 0.75 * (1 + 2.0**-44)


def test_gains_are_norms() -> None:
    four = np.diag([4.0, 1.0])
    gains = {DotProduct(-four): (4, 2), Geodesic(four): (4, 2), Geodesic(bent, ceiling=3.0): (3, 2),
             Geodesic(np.stack([ONE, four]), symmetrised=True): (4, 2), Sharpened(1.5): (3, 0),
             Geodesic(four, squared=False): (4, 1)}  # fmt: skip
    for score, (gain, power) in gains.items():
        found, exponent = score.gain()
        assert exponent == power
        assert gain <= found <= gain * (1 + 2.0**-44)


def test_half_of_a_bound_is_refuted_by_the_runs() -> None:
    run = simulate(TOKENS[:2], [LAYERS["pure"](Geodesic(2 * ONE))] * 6)
    steps = list(zip(run.factors, run.osc, run.osc[1:], strict=False))
    assert all(after > 0.99 * factor * before for factor, before, after in steps)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4, 6])
@pytest.mark.parametrize("g", [0.25, 1.0, 4.0])
def test_two_clusters_attain_the_bound_to_every_digit(n: int, g: float) -> None:
    x = np.zeros((n, 2))
    x[: n // 2, 0], x[n // 2 :, 1] = 0.5, 0.75
    layers = [LAYERS["pure"](Geodesic(g * ONE))] * 8
    run = simulate(x, layers)
    bounds = a_priori(run.osc[0], layers)
    # Norms are rounded up by some 2^-48, which three powers a layer carry on.
    for l, (osc, bound) in enumerate(zip(run.osc, bounds, strict=True)):
        assert osc <= bound <= osc * (1 + arb(2) ** -46 * 4**l)
    assert run.logs[-1] < 5 * run.logs[-3]


@pytest.mark.parametrize("name", ["dot product", "homogeneous", "heterogeneous", "symmetrised"])
def test_collapse_is_doubly_exponential_within_the_basin(name: str) -> None:
    x, score = TOKENS / 2, SCORES[name]
    gain, power = score.gain()
    assert power == 2
    run = simulate(x, [LAYERS["pure"](score)] * 8)
    root = (arb(gain) / 4).sqrt()
    assert root * run.osc[0] < 1
    for l, osc in enumerate(run.osc[1:], start=1):
        assert osc.log() + root.log() <= 3**l * (root * run.osc[0]).log()
        # Fourth powers would be too much to ask.
        assert l < 3 or osc.log() + root.log() > 4**l * (root * run.osc[0]).log()


@pytest.mark.slow
def test_a_causal_layer_contracts_towards_its_first_token() -> None:
    for name, score in SCORES.items():
        for kind in ("causal", "ALiBi"):
            run = simulate(TOKENS, [LAYERS[kind](score)] * 8)
            steps = zip(run.factors, run.first, run.first[1:], strict=False)
            assert all(after <= factor * before for factor, before, after in steps), name
            with pytest.raises(ValueError, match="layers must not be causal"):
                a_priori(run.osc[0], [LAYERS[kind](score)])


def test_a_residual_stream_keeps_what_attention_cannot_take() -> None:
    for score in SCORES.values():
        run = simulate(TOKENS, [LAYERS["residual"](score)] * 8)
        for factor, before, after in zip(run.factors, run.osc, run.osc[1:], strict=False):
            assert (arb(0.75) - factor) * before <= after <= (arb(0.75) + factor) * before
    # Without the transport's norm the lower bound is false: A = [[3/4, 1/4], [1/4, 3/4]], T = -2.
    layer = Layer((Head(Sharpened(arb(3).log()), -2 * np.eye(1)),), residual=1.0)
    with pytest.raises(NoDigits, match="x must stay known to 64 bits"):
        simulate(np.array([[0.0], [1.0]]), [layer])


def test_transport_of_norm_two_and_spread_log_three_keep_osc_for_ever() -> None:
    # Rational: A = [[3/4, 1/4], [1/4, 3/4]], T = 2. All numbers are floats, no step rounds.
    A, x = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[0.0], [1.0]])
    for _ in range(20):
        x = 2 * A @ x
        assert x[1, 0] - x[0, 0] == 1
    # As a stack of scores with e^B = 3, to every digit; with e^B = 2.9 it collapses.
    with ctx.workprec(400):
        layers = [Layer((Head(Sharpened(arb(3).log()), 2 * np.eye(1)),))] * 40
        flatter = [Layer((Head(Sharpened(arb(2.9).log()), 2 * np.eye(1)),))] * 40
    run = simulate(np.array([[0.0], [1.0]]), layers, bits=200)
    assert all(value.contains(1) and value.rel_accuracy_bits() >= 200 for value in run.osc)
    assert all(factor.contains(1) or factor > 1 for factor in run.factors)
    assert simulate(np.array([[0.0], [1.0]]), flatter).logs[-1] < -0.9


def test_bounded_metrics_diverge_outside_the_basin() -> None:
    layers = [Layer((Head(Geodesic(np.eye(1)), 2 * np.eye(1)),))] * 6
    run = simulate(np.array([[0.0], [4.0]]), layers)
    assert all(after > 1.9 * before for before, after in zip(run.osc, run.osc[1:], strict=False))


def test_equal_tokens_stay_equal_and_a_uniform_layer_leaves_nothing() -> None:
    equal = simulate(np.ones((4, 2)), [LAYERS["two heads"](SCORES["heterogeneous"])] * 3)
    assert all(value.is_zero() for value in (*equal.osc, *equal.first))
    assert np.all(equal.logs == -np.inf)
    uniform = simulate(TOKENS, [LAYERS["pure"](DotProduct(np.zeros((2, 2))))])
    assert uniform.osc[1].is_zero()


def test_a_stack_whose_difference_cancels_is_not_called_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stacks, "MOST_BITS", 2**9)
    layer = Layer((Head(DotProduct(np.zeros((1, 1))), np.eye(1)),), residual=1.0)
    assert simulate(np.array([[0.0], [1.0]]), [layer]).osc[1].contains(1)
    with ctx.workprec(400):
        third = Layer((Head(Sharpened(arb(2).log()), -np.eye(1)),), residual=1 / 3)
    # Attention takes a third, and 1/3 in floats is a little less.
    assert simulate(np.array([[0.0], [1.0]]), [third]).osc[1].overlaps(1 / arb(3 * 2**54))
