"""Refused inputs of features and of tensor attention."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from numerics.pairings import tensor_attention
from numerics.pairings.features import (
    antithetic_features,
    estimate_variance,
    frequencies,
    positive_features,
    taylor_dimension,
    taylor_error_bound,
    taylor_features,
    trigonometric_features,
)
from numerics.pairings.tensor_attention import (
    finite_rank_attention,
    khatri_rao,
    pair_scores,
    prefix,
)

attend = tensor_attention.tensor_attention
NAN, INF, F32 = float("nan"), math.inf, np.float32
X, W, ONES = np.ones((3, 2)), np.ones((4, 2)), np.ones((3, 3))
MASK = np.ones((3, 3), bool)

Row = tuple[Callable[[], Any], type[Exception], str]


def random_features(call: Callable[..., Any]) -> list[Row]:
    """Rows that the three maps of tokens and frequencies have."""
    return [
        (lambda: call([[1.0]], W), TypeError, "^x must be a NumPy array.*got list"),
        (lambda: call(X.astype(int), W), TypeError, "^x must be real floating.*int64"),
        (lambda: call(X, W.astype(F32)), TypeError, "^omega must have the dtype of x"),
        (lambda: call(X, torch.ones(4, 2)), TypeError, "^omega must be of the kind of x"),
        (lambda: call(np.ones(2), W), ValueError, r"^x must have shape \(n, d\).*\(2,\)"),
        (lambda: call(X, np.ones((4, 3))), ValueError, r"^omega must have shape.*d = 2.*\(4, 3\)"),
        (lambda: call(np.ones((0, 2)), W), ValueError, r"^x must have shape.*got \(0, 2\)"),
        (lambda: call(X * NAN, W), ValueError, "^x must be finite, got nan"),
        (lambda: call(X, W * INF), ValueError, "^omega must be finite, got inf"),
        (lambda: call(X * 1e300, W * 1e300), ValueError, "^x must be of finite products"),
    ]


BAD: dict[str, list[Row]] = {
    "pairings.features.frequencies": [
        (lambda: frequencies(0, 2, 1, X), ValueError, "^m must be at least 1, got 0"),
        (lambda: frequencies(2, 0, 1, X), ValueError, "^d must be at least 1, got 0"),
        (lambda: frequencies(2, 2, -1, X), ValueError, "^seed must be at least 0, got -1"),
        (lambda: frequencies(2.0, 2, 1, X), TypeError, "^m must be an integer, got float"),  # type: ignore
        (lambda: frequencies(2, 2, 1, [1.0]), TypeError, "^like must be a NumPy.*got list"),
    ],
    "pairings.features.positive_features": [
        *random_features(positive_features),
        (lambda: positive_features(X, W * 1e3), ValueError, "^x must be of finite features"),
    ],
    "pairings.features.antithetic_features": [
        *random_features(antithetic_features),
        (lambda: antithetic_features(X, -W * 1e3), ValueError, "^x must be of finite features"),
    ],
    "pairings.features.trigonometric_features": [
        *random_features(trigonometric_features),
        (lambda: trigonometric_features(X * 50, W), ValueError, "^x must be of finite features"),
    ],
    "pairings.features.taylor_dimension": [
        (lambda: taylor_dimension(0, 2), ValueError, "^d must be at least 1, got 0"),
        (lambda: taylor_dimension(2, -1), ValueError, "^degree must be at least 0, got -1"),
        (lambda: taylor_dimension(2, True), TypeError, "^degree must be an integer, got bool"),
    ],
    "pairings.features.taylor_features": [
        (lambda: taylor_features(1.0, 2), TypeError, "^x must be a NumPy array.*got float"),
        (lambda: taylor_features(np.ones(2), 2), ValueError, r"^x must have shape \(n, d\)"),
        (lambda: taylor_features(X * INF, 2), ValueError, "^x must be finite, got inf"),
        (lambda: taylor_features(X, -1), ValueError, "^degree must be at least 0, got -1"),
        (lambda: taylor_features(X, 1.5), TypeError, "^degree must be an integer, got float"),  # type: ignore
        (lambda: taylor_features(X * 1e200, 2), ValueError, "^x must be of finite features"),
        (lambda: taylor_features(np.ones((1, 64)), 8), ValueError, "^degree must give at most"),
    ],
    "pairings.features.taylor_error_bound": [
        (lambda: taylor_error_bound(NAN, 2), ValueError, "^s must be finite, got nan"),
        (lambda: taylor_error_bound("1", 2), TypeError, "^s must be a real number, got str"),  # type: ignore
        (lambda: taylor_error_bound(1.0, -2), ValueError, "^degree must be at least 0, got -2"),
    ],
    "pairings.features.estimate_variance": [
        (lambda: estimate_variance("sine", X, W, 1), ValueError, "^kind must be one of positive,"),
        (lambda: estimate_variance("positive", X, np.ones((4, 3)), 1), ValueError,
         r"^k must have shape \(n2, d\)"),
        (lambda: estimate_variance("positive", X, W, 0), ValueError, "^m must be at least 1"),
        (lambda: estimate_variance("positive", X * NAN, W, 1), ValueError, "^q must be finite"),
        (lambda: estimate_variance("positive", X, W.astype(F32), 1), TypeError,
         "^k must have the dtype of q"),
        (lambda: estimate_variance("positive", X * 1e3, W, 1), ValueError,
         "^q must be of finite variances"),
    ],
    "pairings.tensor_attention.khatri_rao": [
        (lambda: khatri_rao([1.0], X), TypeError, "^a must be a NumPy array.*got list"),
        (lambda: khatri_rao(X, np.ones((3, 4))), ValueError, r"^b must have shape.*d = 2"),
        (lambda: khatri_rao(X * NAN, W), ValueError, "^a must be finite, got nan"),
        (lambda: khatri_rao(X * 1e200, W * 1e200), ValueError, "^a must be of finite products"),
    ],
    "pairings.tensor_attention.pair_scores": [
        (lambda: pair_scores(X, W, np.ones((4, 3))), ValueError, r"^k2 must have shape \(m2, d\)"),
        (lambda: pair_scores(X, W.astype(F32), W), TypeError, "^k must have the dtype of q"),
        (lambda: pair_scores(X, W * INF, W), ValueError, "^k must be finite, got inf"),
        (lambda: pair_scores(X * 1e200, W * 1e200, W), ValueError, "^q must be of finite scores"),
    ],
    "pairings.tensor_attention.tensor_attention": [
        (lambda: attend(X, W, X, X, X), ValueError, r"^v must have shape \(m, d_v\).*m = 4"),
        (lambda: attend(X, X, W, X, X), ValueError, r"^v2 must have shape.*m2 = 4"),
        (lambda: attend(X, X, X, X, ONES), ValueError, r"^v2 must have shape.*d_v = 2"),
        (lambda: attend(X, X, X, X * NAN, X), ValueError, "^v must be finite, got nan"),
        (lambda: attend(X, X, X, X, X, ONES), TypeError, "^allowed must be boolean"),
        (lambda: attend(X, X, X, X, X, MASK, MASK[:2]), ValueError,
         r"^allowed2 must have shape \(n, m2\).*\(2, 3\)"),
        (lambda: attend(X, X, X, X * 1e200, X * 1e200), ValueError, "^v must be of finite outputs"),
    ],
    "pairings.tensor_attention.finite_rank_attention": [
        (lambda: finite_rank_attention(X, X, ONES, X, X), ValueError,
         r"^chi must have shape \(m2, w\).*w = 2"),
        (lambda: finite_rank_attention(X, W, W, X, W), ValueError, r"^v must have shape.*m = 4"),
        (lambda: finite_rank_attention(X, W, W, W, W, 1), TypeError, "^causal must be a bool"),  # type: ignore
        (lambda: finite_rank_attention(X, W, W, W, W, True), ValueError,
         r"^causal must have n = m = m2, got \(3, 4, 4\)"),
        (lambda: finite_rank_attention(X * NAN, X, X, X, X), ValueError, "^phi must be finite"),
        (lambda: finite_rank_attention(-X, X, X, X, X), ValueError,
         "^phi must be of positive, finite normalisers, got -18.0"),
        (lambda: finite_rank_attention(X * 0, X, X, X, X), ValueError, "^phi must be of positive"),
        (lambda: finite_rank_attention(X, X, X, X * 1e200, X * 1e200), ValueError,
         "^v must be of finite outputs"),
    ],
    "pairings.tensor_attention.prefix": [
        (lambda: prefix(0, X), ValueError, "^n must be at least 1, got 0"),
        (lambda: prefix(2.0, X), TypeError, "^n must be an integer, got float"),  # type: ignore
        (lambda: prefix(2, [1.0]), TypeError, "^like must be a NumPy array.*got list"),
    ],
}  # fmt: skip
PLAIN: set[str] = set()
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
