"""Low-rank metrics: exact oracles, inputs on which the textbook form fails."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics.metrics import Frame, LowRankMetric, NoDigits, pair_distances2
from numerics.properties import distance_cost, woodbury
from numerics.properties.woodbury import exact_solution
from numerics.rounding.roundoff import gamma

DTYPES = [np.float32, np.float64]


def in_order(A: Any, B: Any) -> Any:
    """A B by one rounded product and one rounded sum at a time: the same on every machine."""
    total = np.zeros((A.shape[0], B.shape[1]), A.dtype)
    for k in range(A.shape[1]):
        total = total + A[:, k, None] * B[k]
    return total


def eliminated(C: Any, y: Any) -> Any:
    """C^-1 y by Gaussian elimination without pivots, for symmetric positive definite C."""
    rows, r = np.concatenate([C, y], axis=1), len(C)
    for k in range(r):
        for i in range(k + 1, r):
            rows[i] = rows[i] - rows[i, k] / rows[k, k] * rows[k]
    for k in reversed(range(r)):
        rows[k] = rows[k] / rows[k, k]
        for i in range(k):
            rows[i] = rows[i] - rows[i, k] * rows[k]
    return rows[:, r:]


def textbook(D: Any, U: Any, v: Any) -> Any:
    """v^T G^-1 v as v^T (D^-1 v - D^-1 U (I + U^T D^-1 U)^-1 U^T D^-1 v), in v's dtype."""
    scaled, column = U / D[:, None], v[:, None]
    capacitance = np.eye(U.shape[1], dtype=D.dtype) + in_order(U.T, scaled)
    y = eliminated(capacitance, in_order(scaled.T, column))
    return in_order(column.T, column / D[:, None] - in_order(scaled, y))[0, 0]


def in_range(multiplier: int, dtype: Any, diagonal: float) -> tuple[Any, Any, Any]:
    """D = diagonal, U_ac = (multiplier a^c mod 11) - 5 for a = 1..64, c = 1..4, and v half the sum
    of the columns, all exact: v^T G^-1 v is 1 up to about D."""
    a, c = np.arange(1, 65)[:, None], np.arange(1, 5)
    U = (multiplier * a**c % 11 - 5).astype(dtype)
    return np.full(64, diagonal, dtype), U, U.sum(axis=1) / 2


def exact_dual(D: Any, U: Any, v: Any) -> tuple[float, float]:
    """v^T G^-1 v from the exact solution, and what its rounding to float64 may have cost."""
    x = exact_solution(woodbury.Sample("inverse", D, U, v[None]))[0]
    products = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(v, x, strict=True)]
    return float(sum(products)), 2.0**-52 * float(sum(abs(product) for product in products))


def dual_bound(metric: LowRankMetric, v: Any, value: float) -> float:
    """Error of |x|_D^2 + |w|^2, whose root is off by at most the pair's error, then rounded."""
    error = float(metric.solve_pair(v).error[0])
    carried = error * (2 * value**0.5 + error)
    rounded = gamma(sum(metric.U.shape) + 3, 2.0**-53) + np.finfo(v.dtype).eps
    return carried + float(rounded) * (value + carried)


# What the textbook form returns for a diagonal and a multiplier; the truth is 1.
NEGATIVE = {
    (np.float32, 1e-6): ((2, -265.5), (6, -29.0625), (9, -140.375)),
    (np.float64, 1e-15): ((1, -53.9375), (8, -61.875), (9, -44.6875)),
}


@pytest.mark.parametrize(("dtype", "diagonal"), NEGATIVE)
def test_the_textbook_form_is_right_in_exact_arithmetic(dtype: Any, diagonal: float) -> None:
    for multiplier, _ in NEGATIVE[dtype, diagonal]:
        D, U, v = in_range(multiplier, dtype, diagonal)
        truth, slack = exact_dual(D, U, v)
        exact = (np.vectorize(lambda x: Fraction(float(x)), otypes=[object])(x) for x in (D, U, v))
        assert abs(float(textbook(*exact)) - truth) <= slack


@pytest.mark.parametrize(("multiplier", "wrong"), NEGATIVE[np.float32, 1e-6])
def test_where_the_textbook_form_is_negative_in_float32_the_metric_is_not(
    multiplier: int, wrong: float
) -> None:
    D, U, v = in_range(multiplier, np.float32, 1e-6)
    assert textbook(D, U, v) == wrong
    truth, slack = exact_dual(D, U, v)
    metric = LowRankMetric(D, U)
    x, bound = metric.solve_with_bound(v)
    lost = gamma(64, 2.0**-24) * float(np.abs(v) @ np.abs(x)) + float(np.abs(v) @ bound)
    assert 0.9 < truth < 1.1
    assert abs(float(metric.dual_norm2(v)) - truth) <= dual_bound(metric, v, truth) + slack
    assert abs(float(v @ x) - truth) <= lost + slack
    assert lost < truth / 10


@pytest.mark.parametrize(("multiplier", "wrong"), NEGATIVE[np.float64, 1e-15])
def test_where_the_textbook_form_is_negative_in_float64_the_metric_is_not(
    multiplier: int, wrong: float
) -> None:
    D, U, v = in_range(multiplier, np.float64, 1e-15)
    assert textbook(D, U, v) == wrong
    truth, slack = exact_dual(D, U, v)
    metric = LowRankMetric(D, U)
    bound = dual_bound(metric, v, truth)
    assert abs(float(metric.dual_norm2(v)) - truth) <= bound + slack
    assert bound < truth / 100


def test_a_metric_beyond_float64_is_refused_and_never_solved_wrongly() -> None:
    rng = np.random.default_rng(3)
    U, D = rng.normal(size=(64, 4)), np.full(64, 1e-40)
    with pytest.raises(NoDigits, match="rounding may have destroyed the result"):
        LowRankMetric(D, U).solve(rng.normal(size=64))


def test_residuals_that_round_to_zero_still_leave_a_bound() -> None:
    D, U, v = np.array([8e-8, 1e-7]), np.array([[-1.0], [-1.0]]), np.array([2.0, 2.0])
    x, bound = LowRankMetric(D, U).solve_with_bound(v)
    exact = exact_solution(woodbury.Sample("inverse", D, U, v[None]))[0]
    assert (x != exact).any()
    assert (np.abs(x - exact) <= bound).all()


def known_system(d: int, r: int, decades: int) -> tuple[Any, Any, Any, Any]:
    """D of condition 2^decades, U, x and v = G x, all exact in float64: every sum has 45 bits."""
    rng = np.random.default_rng(decades)
    D = 2.0 ** np.rint(rng.permutation(np.linspace(-decades / 2, decades / 2, d)))
    U = rng.integers(-2, 3, size=(d, r)).astype(np.float64)
    x = rng.integers(-3, 4, size=d).astype(np.float64)
    return D, U, x, D * x + U @ (U.T @ x)


@pytest.mark.slow
@pytest.mark.parametrize("decades", [0, 20, 40])
def test_width_4096_and_rank_64_solve_within_their_bound(decades: int) -> None:
    D, U, exact, v = known_system(4096, 64, decades)
    x, bound = LowRankMetric(D, U).solve_with_bound(v)
    assert np.isfinite(x).all()
    assert (np.abs(x - exact) <= bound).all()
    pair = LowRankMetric(D, U).solve_pair(v)
    assert float(pair.error[0]) < 1e-4 * np.linalg.norm(np.sqrt(D) * exact)
    single = [part.astype(np.float32) for part in (D, U, v)]
    again, stored = LowRankMetric(*single[:2]).solve_with_bound(single[2])
    x, bound = LowRankMetric(D, U).solve_with_bound(single[2].astype(np.float64))
    assert again.dtype == np.float32
    assert (np.abs(again - x) <= bound + stored).all()
    seen = exact != 0
    assert np.max(stored[seen] / np.abs(exact[seen])) < 0.05


@pytest.mark.parametrize("dtype", DTYPES)
def test_distance_from_itself_is_exactly_zero(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    metric = LowRankMetric(
        np.exp(rng.normal(size=9)).astype(dtype), rng.normal(size=(9, 2)).astype(dtype)
    )
    a = (1e4 * rng.normal(size=(5, 9))).astype(dtype)
    assert not metric.distance2(a, a).any()
    assert (metric.distance2(a, a + dtype(1)) > 0).all()


def test_near_pairs_far_from_the_origin_keep_their_digits() -> None:
    """|a| = 1e4, |a - b| = 1e-3: differences keep their digits, squares about 0 lose them."""
    rng, d = np.random.default_rng(1), 64
    a, step = rng.normal(size=d), rng.normal(size=d)
    a = 1e4 * a / np.linalg.norm(a)
    b = a + 1e-3 * step / np.linalg.norm(step)
    D, U, zero = np.full((1, d), 0.5), rng.normal(size=(1, d, 4)), np.zeros(d)
    sample = distance_cost.Sample("products", D, U, a[None], b[None], zero)
    exact = float(distance_cost.exact_distances(sample)[0, 0])
    own = float(distance_cost.explicit_bound(sample).error[0, 0])
    assert abs(float(LowRankMetric(D[0], U[0]).distance2(a, b)) - exact) <= own < 1e-11 * exact
    metric = LowRankMetric(D, U)
    assert abs(pair_distances2(metric, a[None], b[None], zero)[0, 0] - exact) > 1e-4 * exact
    near = replace(sample, origin=a)
    moved = float(distance_cost.products_bound(near).error[0, 0])
    assert abs(pair_distances2(metric, a[None], b[None], a)[0, 0] - exact) <= moved < 1e-11 * exact


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_rank_one_metric_is_what_paper_and_pencil_say(dtype: Any) -> None:
    """D = I, U = (1,1,1)^T: G^-1 = I - J/4, det G = 4, E = I + J/3."""
    metric = LowRankMetric(np.ones(3, dtype), np.ones((3, 1), dtype))
    v, u = np.array([3.0, 0.0, 1.0], dtype), float(np.finfo(dtype).eps) / 2
    assert (metric.apply(v) == np.array([7, 4, 5])).all()
    x, bound = metric.solve_with_bound(v)
    assert (np.abs(x - np.array([2, -1, 0])) <= bound).all()
    assert abs(float(metric.dual_norm2(v)) - 6) <= dual_bound(metric, v, 6.0)
    assert abs(float(metric.logdet()) - np.log(4)) <= woodbury.logdet_bound(metric) + 2.0**-52
    # A handful of roundings in float64 for the factors, in the dtype for their application.
    frame, few = metric.frame(), gamma(64, 2.0**-53) + gamma(16, u)
    assert (np.abs(frame.apply(v) - (v + 4 / 3)) <= few * (v + 4 / 3)).all()
    assert (np.abs(frame.solve(v) - (v - 2 / 3)) <= few * (v + 4 / 3)).all()


def frames_gap(frame: Frame, D: Any, U: Any) -> float:
    """|E^T E - G| / |G| after scaling by D^-1/2 on both sides, in Frobenius norm."""
    d = len(D)
    E = np.stack([np.asarray(frame.apply(column)) for column in np.eye(d)], axis=1)
    G, root = np.diag(D) + U @ U.T, np.sqrt(D)
    return float(
        np.linalg.norm((E.T @ E - G) / root / root[:, None])
        / np.linalg.norm(G / root / root[:, None])
    )


@pytest.mark.parametrize(("d", "r"), [(1, 1), (5, 2), (3, 7), (40, 6)])
@pytest.mark.parametrize("condition", [1.0, 1e6, 1e12])
def test_the_frame_is_a_root_of_the_metric(d: int, r: int, condition: float) -> None:
    rng = np.random.default_rng(d + r)
    D = np.geomspace(1 / condition, 1.0, d)
    metric = LowRankMetric(D, rng.normal(size=(d, r)))
    # Householder QR is backward stable up to gamma_{c m r} with a small integer c (Higham 19.3).
    allowed = gamma(16 * (d + r) * r + 16 * d, 2.0**-53)
    frame = metric.frame()
    assert frames_gap(frame, D, metric.U) <= allowed
    wrong = Frame(frame.root, frame.basis, frame.stretch * (1 + 1e-9))
    assert frames_gap(wrong, D, metric.U) > allowed
    x = rng.normal(size=(3, d))
    back, scale = frame.solve(frame.apply(x)), np.sqrt(D)
    worst = float(frame.stretch.max())
    assert np.linalg.norm((back - x) * scale) <= allowed * worst * np.linalg.norm(x * scale)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_torch_and_batches_give_what_single_metrics_give(dtype: str) -> None:
    source = torch.Generator().manual_seed(4)
    kind = getattr(torch, dtype)
    D = (0.5 + torch.rand(3, 5, generator=source)).to(kind)
    U, v = (torch.randn(*s, generator=source).to(kind) for s in ((3, 5, 2), (3, 4, 5)))
    batch, once = LowRankMetric(D, U), torch.finfo(kind).eps
    few = gamma(16, once / 2)
    size = LowRankMetric(D.double(), U.double().abs()).apply(v.double().abs())
    x, bound = batch.solve_with_bound(v)
    for i in range(3):
        one = LowRankMetric(D[i], U[i])
        mine, mine_bound = one.solve_with_bound(v[i])
        assert mine.dtype == one.apply(v[i]).dtype == one.dual_norm2(v[i]).dtype == kind
        assert bool(((mine.double() - x[i].double()).abs() <= mine_bound + bound[i]).all())
        gap = (one.apply(v[i]).double() - batch.apply(v)[i].double()).abs()
        assert bool((gap <= 2 * few * size[i]).all())
        norms = one.dual_norm2(v[i]).double(), batch.dual_norm2(v)[i].double()
        assert bool(((norms[0] - norms[1]).abs() <= 2 * few * norms[0]).all())
        assert abs(float(one.logdet() - batch.logdet()[i])) <= few * (1 + abs(float(one.logdet())))
        assert one.distance2(v[i], v[i]).shape == (4,)
        assert not batch.distance2(v, v).any()


def test_numpy_and_torch_agree_bit_for_bit_on_one_product() -> None:
    D, U, v = np.array([1.0, 2.0]), np.array([[1.0], [3.0]]), np.array([[1.0, -1.0]])
    there = LowRankMetric(*(torch.from_numpy(part) for part in (D, U)))
    assert (LowRankMetric(D, U).apply(v) == there.apply(torch.from_numpy(v)).numpy()).all()


def test_nothing_of_size_d_times_d_is_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        entries = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            found = func(*args, **(kwargs or {}))
            for part in found if isinstance(found, tuple | list) else (found,):
                if isinstance(part, torch.Tensor):
                    self.entries = max(self.entries, part.numel())
            return found

    d, r = 300, 3
    source = torch.Generator().manual_seed(2)
    D, U = 1 + torch.rand(d, generator=source), torch.randn(d, r, generator=source)
    with Largest() as largest:
        metric = LowRankMetric(D, U)
        metric.frame().solve(metric.frame().apply(metric.solve(metric.apply(D))))
        metric.logdet()
    assert largest.entries <= max((d + r) * r, 64 * 64) < d * d


def test_solutions_have_gradients() -> None:
    D = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64, requires_grad=True)
    U = torch.tensor([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([1.0, -1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda D, U: LowRankMetric(D, U).solve(v), (D, U))
    assert torch.autograd.gradcheck(lambda D, U: LowRankMetric(D, U).logdet(), (D, U))
