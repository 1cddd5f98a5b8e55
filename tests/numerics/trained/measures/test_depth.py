"""Distances of walks: values by hand, what sinks do, and what the controls are compared on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from numerics.trained.measures import depth
from numerics.trained.measures.depth import (
    compare,
    cut,
    laplacian_spectrum,
    other_texts,
    uniform,
    views,
)
from numerics.trained.scale import thirds


def walk(n: int, seed: int = 0, causal: bool = False) -> torch.Tensor:
    scores = torch.from_numpy(np.random.default_rng([seed, n]).standard_normal((n, n)))
    weights = scores.exp().tril() if causal else scores.exp()
    return weights / weights.sum(dim=1, keepdim=True)


@pytest.mark.parametrize("causal", [True, False])
def test_equal_walks_have_distance_0_and_cosine_1(causal: bool) -> None:
    found = compare(walk(7, causal=causal), walk(7, causal=causal), causal)
    assert found["distance"] == found["spectrum"] == 0
    for name in ("cosine", "centred"):
        assert found[name] == pytest.approx(1, rel=2**-48, abs=0)


def test_identity_against_the_exchange_of_two_tokens_by_hand() -> None:
    P, Q = torch.eye(2).double(), torch.tensor([[0.0, 1], [1, 0]]).double()
    found = compare(P, Q, causal=False)
    # |P - Q| = 2, |P| = |Q| = sqrt 2; P - U = -(Q - U); spectra {0, 0} and {0, 2}.
    assert found["distance"] == pytest.approx(2**0.5, rel=2**-50, abs=0)
    assert found["cosine"] == 0
    assert found["centred"] == pytest.approx(-1, rel=2**-50, abs=0)
    assert found["spectrum"] == pytest.approx(2**0.5, rel=2**-50, abs=0)


def test_independent_causal_walks_look_alike_until_the_uniform_is_removed() -> None:
    found = compare(walk(60, 1, causal=True), walk(60, 2, causal=True), causal=True)
    assert found["cosine"] is not None
    assert found["centred"] is not None
    assert found["cosine"] > 0.5, f"{found}"
    assert abs(found["centred"]) < 0.15, f"{found}"
    wrong = compare(walk(60, 1, causal=True), walk(60, 2, causal=True), causal=False)
    assert wrong["centred"] is not None
    assert wrong["centred"] > 0.5, "1/n is no uniform attention of a causal head"


def test_uniform_attention_is_1_over_i_and_has_no_centred_cosine() -> None:
    U = uniform(3, causal=True)
    assert U.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert compare(U, walk(3, causal=True), causal=True)["centred"] is None


def test_laplacian_spectrum_of_a_complete_graph() -> None:
    found = laplacian_spectrum(torch.full((4, 4), 0.25, dtype=torch.float64))
    np.testing.assert_allclose(
        found, [0, 1, 1, 1], rtol=0, atol=2.0**-48, err_msg="rounding of eigenvalues below 2"
    )
    with pytest.raises(ValueError, match="positive degree"):
        laplacian_spectrum(torch.zeros((2, 2)).double())


def test_a_common_sink_makes_different_walks_look_alike() -> None:
    def sunk(P: torch.Tensor) -> torch.Tensor:
        out = 0.02 * P
        out[:, 0] += 0.98
        return out

    found = views(sunk(walk(20, 1)), sunk(walk(20, 2)), (0,), causal=False)
    plain = views(walk(20, 1), walk(20, 2), (0,), causal=False)
    assert found["whole"]["distance"] is not None
    assert found["whole"]["distance"] < 0.02
    assert found["no_sinks"]["distance"] == pytest.approx(
        plain["no_sinks"]["distance"], rel=2**-40, abs=0
    )


def test_rows_that_only_reach_sinks_leave_both_walks() -> None:
    P, Q = walk(5, 1), walk(5, 2)
    P[3] = torch.tensor([1.0, 0, 0, 0, 0])
    kept = [1, 2, 4]

    def rest(X: torch.Tensor) -> torch.Tensor:
        inner = X[kept][:, kept]
        return inner / inner.sum(dim=1, keepdim=True)

    found = views(P, Q, (0,), causal=False)["no_sinks"]
    expected = compare(rest(P), rest(Q), causal=False)
    assert found["distance"] == pytest.approx(expected["distance"], rel=2**-48, abs=0)


def test_other_texts_are_compared_on_what_they_share() -> None:
    now, later = [walk(6, 1), walk(4, 2)], [walk(6, 3), walk(4, 4)]
    found = other_texts(now, later, [(0, 5), (0, 3)], causal=False)
    expected = views(cut(now[0], 4), later[1], (0, 3), causal=False)
    assert len(found) == 2
    for view in depth.VIEWS:
        assert found[0][view]["distance"] == pytest.approx(
            expected[view]["distance"], rel=2**-48, abs=0
        )
    assert other_texts(now[:1], later[:1], [(0,)], causal=False) == []


@pytest.mark.parametrize(
    ("count", "sizes"), [(3, [1, 1, 1]), (5, [2, 1, 2]), (11, [4, 3, 4]), (29, [10, 9, 10])]
)
def test_thirds_cover_all_transitions_in_order(count: int, sizes: list[int]) -> None:
    parts = thirds(count)
    assert [i for part in parts for i in part] == list(range(count))
    assert [len(part) for part in parts] == sizes
    with pytest.raises(ValueError, match="at least 3"):
        thirds(2)


def test_walks_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"P and Q must be \(n, n\)"):
        compare(walk(3), walk(4), causal=False)
