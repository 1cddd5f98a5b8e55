"""Refused inputs of the spaces of matrices: a public name without rows fails."""

from typing import Any

import numpy as np
import torch

from numerics.spaces.grassmann import Grassmann
from numerics.spaces.inversion import AfterInversion
from numerics.spaces.rotations import Rotations
from numerics.spaces.spd import AffineInvariantSPD, LogEuclideanSPD, PositiveDefinite
from numerics.spaces.spectral import singular, spectral, square_matrices, symmetric
from tests.numerics.refusals.faults import Refused

ONE, SKEW = np.eye(2)[None], np.array([[[0.0, 1.0], [-1.0, 0.0]]])
THREE = np.eye(3)[None]
LINE = np.diag([1.0, 0.0])[None]
ABSENT = np.array([[[1.0, np.nan], [np.nan, 1.0]]])
AFFINE, LOG, TURNS, LINES = AffineInvariantSPD(2), LogEuclideanSPD(2), Rotations(), Grassmann(2, 1)
PAIR = np.concatenate([THREE, THREE])
SHEAR = np.array([[1.0, 1.0], [0.0, 1.0]])


def log(t: Any) -> Any:
    return np.log(t)


def none(a: Any, b: Any) -> Any:
    return 0 * (a + b)


BAD: Refused = {
    "spaces.spd.PositiveDefinite": [
        (lambda: AffineInvariantSPD(0), ValueError, "^n must be at least 1, got 0"),
        (lambda: LogEuclideanSPD(2.0), TypeError, "^n must be an integer, got float"),  # type: ignore
        (lambda: PositiveDefinite(2), TypeError, "abstract class"),  # type: ignore
    ],
    "spaces.spd.AffineInvariantSPD": [
        (lambda: AFFINE.check(SKEW), ValueError, r"^x must be symmetric, as the affine-inv.*got 1"),
        (lambda: AFFINE.check(-ONE), ValueError, r"^x must be positive definite.*-1.0 at \(0, 0\)"),
        (lambda: AFFINE.check(LINE), ValueError, r"^x must be positive definite.*got 0.0"),
        (lambda: AFFINE.check(ABSENT), ValueError, r"^x must be finite, got nan at \(0, 0, 1\)"),
        (lambda: AFFINE.check(THREE), ValueError, r"^x must have trailing shape \(2, 2\)"),
        (lambda: AFFINE.check(np.float16(ONE)), TypeError, "^dtype must be float32 or float64"),
        (lambda: AFFINE.check(ONE.tolist()), TypeError, "^x must be a NumPy array or a torch"),
        (lambda: AFFINE.check(ONE * 1e9), ValueError, "^x must be .*radius"),
        (lambda: AFFINE.distance2(ONE, -ONE), ValueError, "^y must be positive definite"),
        (lambda: AFFINE.distance2(ONE, np.float32(ONE)), TypeError, "^y must have the dtype of x"),
        (lambda: AFFINE.distance2(ONE, torch.eye(2)), TypeError, "^y must be of the kind of x"),
        (lambda: AFFINE.distance2(ONE, ONE[0]), ValueError, r"^y must have the shape of x"),
        (lambda: AFFINE.exp(ONE, SKEW), ValueError, "^v must be symmetric"),
        (lambda: AFFINE.exp(ONE, 99 * ONE), ValueError, r"^v must be .* at most 8\.65"),
        (lambda: AFFINE.inner(ONE, ONE, SKEW), ValueError, "^v must be symmetric"),
        (lambda: AFFINE.similarity(ONE, ONE), TypeError,
         r"no similarity: tr\(AB\) changes under c"),
        (lambda: AFFINE.act(LINE[0], ONE), ValueError, "^g must be invertible"),
        (lambda: AFFINE.act(THREE[0], ONE), ValueError, r"^g must have shape \(2, 2\)"),
        (lambda: AFFINE.act(AfterInversion(LINE[0]), ONE), ValueError, "^g must be invertible"),
        (lambda: AFFINE.act((1, 2), ONE), TypeError, "^g must be an array of shape.*got tuple"),
        (lambda: AFFINE.radius("int64"), TypeError, "^dtype must be float32 or float64, got int64"),
    ],
    "spaces.spd.LogEuclideanSPD": [
        (lambda: LOG.check(SKEW), ValueError, "^x must be symmetric, as the log-Euclidean"),
        (lambda: LOG.log(ONE, LINE), ValueError, "^y must be positive definite"),
        (lambda: LOG.exp(ONE, SKEW), ValueError, "^v must be symmetric"),
        (lambda: LOG.exp(ONE, 99 * ONE), ValueError, r"^v must be .* at most 12\.98"),
        (lambda: LOG.similarity(ONE, ONE), TypeError, r"no similarity: tr\(AB\) changes under sc"),
        (lambda: LOG.act(SHEAR, ONE), ValueError, r"^g must be sqrt\(c\) times an orthogonal"),
        (lambda: LOG.act(0 * SHEAR, ONE), ValueError, r"^g must be sqrt\(c\) times an orthogonal"),
        (lambda: LOG.act(1e200 * SHEAR, ONE), ValueError, r"^g must be sqrt\(c\) times an orth"),
        (lambda: LOG.push(AfterInversion(SHEAR), ONE, ONE), ValueError, r"^g must be sqrt\(c\)"),
        (lambda: LOG.radius("int64"), TypeError, "^dtype must be float32 or float64, got int64"),
    ],
    "spaces.rotations.Rotations": [
        (lambda: TURNS.check(-THREE), ValueError, "^x must be a rotation: det x = 1, got -1"),
        (lambda: TURNS.check(2 * THREE), ValueError, r"^x must be a rotation: \|x\^T x - 1\| = 0"),
        (lambda: TURNS.check(1e300 * THREE), ValueError, r"^x must be a rotation: \|x\^T x"),
        (lambda: TURNS.check(ONE), ValueError, r"^x must have trailing shape \(3, 3\)"),
        (lambda: TURNS.exp(THREE, THREE), ValueError, r"^v must be tangent to SO\(3\) at x"),
        (lambda: TURNS.log(THREE, np.diag([1.0, -1, -1])[None]), ValueError, "^y must not lie in"),
        (lambda: TURNS.act(THREE[0], THREE), ValueError, r"^g must have shape \(2, 3, 3\)"),
        (lambda: TURNS.act(-PAIR, THREE), ValueError, "^g must be a rotation: det x = 1"),
        (lambda: TURNS.act(2 * PAIR, THREE), ValueError, "^g must be orthogonal"),
        (lambda: TURNS.act(AfterInversion(-PAIR), THREE), ValueError, "^g must be a rotation"),
        (lambda: TURNS.radius("int64"), TypeError, "^dtype must be float32 or float64, got int64"),
    ],
    "spaces.grassmann.Grassmann": [
        (lambda: Grassmann(1, 1), ValueError, "^n must be at least 2, got 1"),
        (lambda: Grassmann(3, 3), ValueError, "^k must be at most 2, got 3"),
        (lambda: Grassmann(3, 0), ValueError, "^k must be at least 1, got 0"),
        (lambda: Grassmann(3, True), TypeError, "^k must be an integer, got bool"),
        (lambda: LINES.check(ONE), ValueError, "^x must be of trace 1 in the Grassm.*got 2.0"),
        (lambda: LINES.check(2 * LINE), ValueError, r"^x must be a projector, \|x x - x\| = 0"),
        (lambda: LINES.check(1e200 * LINE), ValueError, r"^x must be a projector"),
        (lambda: LINES.check(LINE + SHEAR - ONE), ValueError, "^x must be symmetric, got"),
        (lambda: LINES.exp(LINE, ONE), ValueError, r"^v must be tangent at x: x v \+ v x - v = 0"),
        (lambda: LINES.exp(LINE, SKEW), ValueError, "^v must be symmetric"),
        (lambda: LINES.exp(LINE, 2 * abs(SKEW)), ValueError, r"^v must be .* at most 1\.57"),
        (lambda: LINES.log(LINE, LINE[:, ::-1, ::-1].copy()), ValueError, "^y must not lie in"),
        (lambda: LINES.act(SHEAR, LINE), ValueError, "^g must be orthogonal"),
        (lambda: LINES.span(ONE), ValueError, r"^X must have trailing shape \(2, 1\)"),
        (lambda: LINES.span(0 * LINE[..., :1]), ValueError, "^X must be of independent columns"),
        (lambda: LINES.span(ABSENT[..., :1]), ValueError, r"^X must be finite, got nan"),
        (lambda: LINES.span([[1.0], [0.0]]), TypeError, "^X must be a NumPy array or a torch"),
        (lambda: LINES.span(np.float16(LINE[..., :1])), TypeError, "^dtype must be float32 or fl"),
        (lambda: LINES.principal_angles(LINE, ONE), ValueError, "^y must be of trace 1"),
        (lambda: LINES.radius("int64"), TypeError, "^dtype must be float32 or float64, got int64"),
    ],
    "spaces.inversion.AfterInversion": [
        (lambda: AfterInversion([[1.0]]), TypeError, "^g must be a NumPy array or a torch.*list"),
        (lambda: AfterInversion(AfterInversion(SHEAR)), TypeError, "^g must be .*AfterInversion"),
    ],
    "spaces.spectral.square_matrices": [
        (lambda: square_matrices(a=ONE, b=torch.eye(2)), TypeError, "^b must be of the kind of a"),
        (lambda: square_matrices(a=ONE[..., :1]), ValueError, r"^a must have shape \(\.\.\., n, n"),
        (lambda: square_matrices(a=ONE[0, 0]), ValueError, r"^a must have shape \(\.\.\., n, n\)"),
        (lambda: square_matrices(a=np.float16(ONE)), TypeError, "^dtype must be float32 or float"),
    ],
    "spaces.spectral.symmetric": [
        (lambda: symmetric("b", SKEW), ValueError, r"^b must be symmetric, got 1.0 at \(0, 0, 1\)"),
        (lambda: symmetric("b", ABSENT), ValueError, "^b must be finite"),
    ],
    "spaces.spectral.spectral": [
        (lambda: spectral(SHEAR, log, none), ValueError,
         r"^a must be symmetric, got 1.0 at \(0, 1"),
        (lambda: spectral(ABSENT, log, none), ValueError, "^a must be finite"),
        (lambda: spectral(ONE, log, none, ONE[0]), ValueError, "^factor must have the shape of a"),
        (lambda: spectral(ONE, log, none, np.float32(ONE)), TypeError, "^factor must have the dty"),
    ],
    "spaces.spectral.singular": [
        (lambda: singular(ONE[..., :1], log, none), ValueError, "^m must have shape"),
        (lambda: singular(ABSENT, log, none), ValueError, "^m must be finite"),
    ],
}  # fmt: skip
PLAIN = {"spaces.spectral.sinc", "spaces.spectral.log_difference", "spaces.spectral.exp_difference"}
POINTS = ((AFFINE, ONE), (LOG, ONE), (LINES, LINE), (TURNS, THREE))
SOUND = [
    lambda: all((space.log(x, x) == 0).all() for space, x in POINTS),
    lambda: all((space.distance2(x, x) == 0).all() for space, x in POINTS),
    lambda: AFFINE.act(AfterInversion(SHEAR), ONE).shape == ONE.shape,
    lambda: LOG.act(3 * ONE[0], ONE)[0, 0, 0] > 8,
    lambda: (LINES.span(LINE[..., :1]) == LINE).all(),
    lambda: (spectral(ONE, log, none, ONE) == 0).all(),
    lambda: singular(-ONE, log, none).shape == symmetric("b", ONE).shape,
]
