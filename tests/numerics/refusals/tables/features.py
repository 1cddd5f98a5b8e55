"""Refused inputs of features and of tensor attention."""

import math

import numpy as np

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
from tests.numerics.refusals.faults import Call, Choice, Flag, Floats, Integer, Mask, Real, Refused

attend = tensor_attention.tensor_attention
NAN, INF, F32 = float("nan"), math.inf, np.float32
X, W, ONES = np.ones((3, 2)), np.ones((4, 2)), np.ones((3, 3))
MASK = np.ones((3, 3), bool)


TOKENS = {"x": Floats(X, "n d"), "omega": Floats(W, "m d")}
KEYS = {"q": Floats(X, "n d"), "k": Floats(X, "m d"), "k2": Floats(W, "m2 d")}
VALUES = {"v": Floats(X, "m d_v"), "v2": Floats(W, "m2 d_v")}
LIKE = Floats(X, entries="any")
DEGREE = Integer(2, 0)

BAD: Refused = {
    "pairings.features.frequencies": [
        Call(frequencies, m=Integer(2, 1), d=Integer(2, 1), seed=Integer(1, 0), like=LIKE),
    ],
    "pairings.features.positive_features": [
        Call(positive_features, **TOKENS),
        (lambda: positive_features(X * 1e300, W * 1e300), ValueError,
         "^x must be of finite products"),
        (lambda: positive_features(X, W * 1e3), ValueError, "^x must be of finite features"),
    ],
    "pairings.features.antithetic_features": [
        Call(antithetic_features, **TOKENS),
        (lambda: antithetic_features(X * 1e300, W * 1e300), ValueError,
         "^x must be of finite products"),
        (lambda: antithetic_features(X, -W * 1e3), ValueError, "^x must be of finite features"),
    ],
    "pairings.features.trigonometric_features": [
        Call(trigonometric_features, **TOKENS),
        (lambda: trigonometric_features(X * 1e300, W * 1e300), ValueError,
         "^x must be of finite products"),
        (lambda: trigonometric_features(X * 50, W), ValueError, "^x must be of finite features"),
    ],
    "pairings.features.taylor_dimension": [Call(taylor_dimension, d=Integer(2, 1), degree=DEGREE)],
    "pairings.features.taylor_features": [
        Call(taylor_features, x=Floats(X, "n d"), degree=DEGREE),
        (lambda: taylor_features(X * 1e200, 2), ValueError, "^x must be of finite features"),
        (lambda: taylor_features(np.ones((1, 64)), 8), ValueError, "^degree must give at most"),
    ],
    "pairings.features.taylor_error_bound": [Call(taylor_error_bound, s=Real(1.0), degree=DEGREE)],
    "pairings.features.estimate_variance": [
        Call(estimate_variance, kind=Choice("positive", ".*"), q=Floats(X, "n d"),
             k=Floats(W, "n2 d"), m=Integer(1, 1)),
        (lambda: estimate_variance("sine", X, W, 1), ValueError, "^kind must be one of positive,"),
        (lambda: estimate_variance("positive", X * 1e3, W, 1), ValueError,
         "^q must be of finite variances"),
    ],
    "pairings.tensor_attention.khatri_rao": [
        Call(khatri_rao, a=Floats(X, "m d"), b=Floats(W, "m2 d")),
        (lambda: khatri_rao(X * 1e200, W * 1e200), ValueError, "^a must be of finite products"),
    ],
    "pairings.tensor_attention.pair_scores": [
        Call(pair_scores, **KEYS),
        (lambda: pair_scores(X * 1e200, W * 1e200, W), ValueError, "^q must be of finite scores"),
    ],
    "pairings.tensor_attention.tensor_attention": [
        Call(attend, **KEYS, **VALUES, allowed=Mask(ONES > 0, "n m"),
             allowed2=Mask(np.ones((3, 4), bool), "n m2")),
        (lambda: attend(X, X, X, X * 1e200, X * 1e200), ValueError, "^v must be of finite outputs"),
    ],
    "pairings.tensor_attention.finite_rank_attention": [
        Call(finite_rank_attention, phi=Floats(X, "n w"), psi=Floats(X, "m w"),
             chi=Floats(W, "m2 w"), **VALUES, causal=Flag(False)),
        (lambda: finite_rank_attention(X, W, W, W, W, True), ValueError,
         r"^causal must have n = m = m2, got \(3, 4, 4\)"),
        (lambda: finite_rank_attention(-X, X, X, X, X), ValueError,
         "^phi must be of positive, finite normalisers, got -18.0"),
        (lambda: finite_rank_attention(X * 0, X, X, X, X), ValueError, "^phi must be of positive"),
        (lambda: finite_rank_attention(X, X, X, X * 1e200, X * 1e200), ValueError,
         "^v must be of finite outputs"),
    ],
    "pairings.tensor_attention.prefix": [Call(prefix, n=Integer(2, 1), like=LIKE)],
}  # fmt: skip
PLAIN: set[str] = set()
