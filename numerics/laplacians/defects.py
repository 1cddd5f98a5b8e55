"""How far the transports T of a walk (P, T) are from those of a connection Laplacian (CW9).

Each defect is a float in [0, 1], computed in float64 and 0, up to rounding, exactly where the
property holds. P (n, n), T (d, d) or (n, n, d, d), finite everywhere and read on edges only,
G (d, d) or (n, d, d), I when absent. Frobenius norms do not change under B -> Q B R with Q, R
orthogonal, so for G^(1/2) any E with E^T E = G will do: it is the Cholesky factor, applied by
triangular systems whose relative error is about d cond(G)^(1/2) 2^-53.
"""

from __future__ import annotations

import array_api_compat
import numpy as np

from numerics.arrays import Array, finite, namespace, refuse, shape
from numerics.rounding.units import gamma, units
from numerics.walks.chains import _on_host, _reversal, _transient, _walk
from numerics.walks.elimination import Wide, float64


def _transposed(blocks: Array) -> Array:
    xp, last = array_api_compat.array_namespace(blocks), blocks.ndim - 1
    return xp.permute_dims(blocks, (*range(last - 1), last, last - 1))


def _swapped(blocks: Array) -> Array:
    """X_ji in the place of X_ij."""
    return array_api_compat.array_namespace(blocks).permute_dims(blocks, (1, 0, 2, 3))


def metric_factors(G: Array) -> Array:
    """Upper triangular E with E^T E = G, (d, d) or (n, d, d) in float64, by Cholesky.

    G must be symmetric up to the rounding of a product E^T E in its dtype, and positive
    definite. Raises ValueError otherwise.
    """
    xp = namespace(G=G)
    shape({}, "G", G, *(() if G.ndim == 2 else ("n",)), "d", "d")
    finite(G=G)
    model, metric = units(G.dtype, array_api_compat.device(G)), float64(G)
    root = xp.linalg.diagonal(metric)
    refuse("the diagonal of G", root, ~(root > 0), "positive")
    root = xp.sqrt(root)
    scale = gamma(4 * (G.shape[-1] + 4), model.acc) + 2 * model.store
    skew = metric - _transposed(metric)
    allowed = scale * root[..., :, None] * root[..., None, :] + model.eta
    refuse("G - G^T", skew, xp.abs(skew) > allowed, "0 up to rounding (G symmetric)")
    pivots = None
    try:
        lower = xp.linalg.cholesky(metric / 2 + _transposed(metric) / 2)
        pivots = xp.linalg.diagonal(lower)
    except (RuntimeError, ValueError):  # LinAlgError of torch and of NumPy
        lower = metric
    # A pivot within the factorisation's own error may be negative: Higham 2002, theorem 10.3.
    least = gamma(2 * (G.shape[-1] + 1), 2.0**-53) * root * root
    if pivots is None or not bool(xp.all(pivots * pivots > least)):
        lowest = xp.min(xp.linalg.eigvalsh(metric)).item()
        raise ValueError(f"G must be positive definite, got a lowest eigenvalue {lowest:.3g}")
    return _transposed(lower)


def connection(P: Array, T: Array, G: Array | None = None) -> tuple[Array, Array, Array]:
    """Checked (P, T, E) in float64: T (n, n, d, d), zero off the edges, or (1, 1, d, d).

    E (n, d, d) or (1, d, d) has E^T E = G. Raises ValueError unless P (n, n) is row-stochastic,
    the shapes agree and T is finite, off the edges too; TypeError for mixed kinds or dtypes.
    """
    xp = namespace(P=P, T=T, G=G)
    _walk(P)
    sizes = {"n": P.shape[0]}
    shape(sizes, "T", T, *(() if T.ndim == 2 else ("n", "n")), "d", "d")
    finite(T=T)
    blocks = float64(T)
    if T.ndim == 2:
        blocks = blocks[None, None]
    else:
        blocks = xp.where((P > 0)[:, :, None, None], blocks, xp.zeros_like(blocks))
    if G is None:
        eye = xp.eye(sizes["d"], dtype=blocks.dtype, device=array_api_compat.device(P))
        return float64(P), blocks, eye[None]
    shape(sizes, "G", G, *(() if G.ndim == 2 else ("n",)), "d", "d")
    factors = metric_factors(G)
    return float64(P), blocks, factors if G.ndim == 3 else factors[None]


def _over(blocks: Array, factors: Array) -> Array:
    """X_ij E_j^-1, one triangular system for each j; ValueError where that overflows."""
    xp = array_api_compat.array_namespace(blocks)
    rows, columns, d, _ = blocks.shape
    sides = xp.reshape(xp.permute_dims(blocks, (1, 3, 0, 2)), (columns, d, rows * d))
    lower = _transposed(factors)
    with np.errstate(over="ignore", invalid="ignore"):
        solved = xp.linalg.solve(lower, sides + xp.zeros_like(lower[:, :, :1]))
    quotient = xp.permute_dims(xp.reshape(solved, (-1, d, rows, d)), (2, 0, 3, 1))
    return representable(quotient)


def product(left: Array, right: Array) -> Array:
    """left @ right in float64; ValueError where it overflows."""
    namespace(left=left, right=right)
    with np.errstate(over="ignore", invalid="ignore"):
        return representable(left @ right)


def representable(blocks: Array, names: str = "T and G") -> Array:
    """The blocks themselves; ValueError where a product of those names left its dtype's range."""
    xp = namespace(blocks=blocks)
    if not bool(xp.all(xp.isfinite(blocks))):
        raise ValueError(
            f"{names} must be of sizes whose products {blocks.dtype} holds, got an overflow"
        )
    return blocks


def stored(blocks: Array, like: Array, names: str = "T and G") -> Array:
    """The blocks in the dtype of like; ValueError where it does not hold them."""
    xp = namespace(blocks=blocks)
    with np.errstate(over="ignore"):
        return representable(xp.astype(blocks, like.dtype), names)


def _norm(blocks: Array) -> Array:
    xp = array_api_compat.array_namespace(blocks)
    return xp.sqrt(xp.sum(blocks * blocks, axis=(-2, -1)))


def _gap(scaled: Array, inverse: Array) -> Array:
    """||M - I||_F / (||M||_F + sqrt d) in [0, 1] for M = scaled / inverse, 0 <= inverse <= 1."""
    xp, d = array_api_compat.array_namespace(scaled), scaled.shape[-1]
    eye = xp.eye(d, dtype=scaled.dtype, device=array_api_compat.device(scaled))
    return _norm(scaled - inverse[..., None, None] * eye) / (_norm(scaled) + inverse * d**0.5)


def _split(blocks: Array) -> tuple[Array, Wide]:
    """Each block over its largest entry, and that entry; a block 0 stays."""
    xp = array_api_compat.array_namespace(blocks)
    top = xp.max(xp.abs(blocks), axis=(-2, -1))
    return blocks / xp.where(top > 0, top, xp.ones_like(top))[..., None, None], Wide.of(top)


def _peak(blocks: Array) -> Array:
    """max(1, largest entry) of each block: dividing by it keeps every square in range."""
    xp = array_api_compat.array_namespace(blocks)
    top = xp.max(xp.abs(blocks), axis=(-2, -1))
    return xp.where(top > 1, top, xp.ones_like(top))


def _at_most_1(defect: Array) -> float:
    """Without what rounding adds above 1; a NaN is no defect and is not hidden."""
    value = defect.item()
    if not value >= 0:
        raise ArithmeticError(f"a defect must lie in [0, 1], got {value}")
    return 1.0 if value > 1 else value


def metric_defect(P: Array, T: Array, G: Array | None = None) -> float:
    """(1/n) sum_ij P_ij ||B^T B - I||_F / (||B^T B||_F + sqrt d), B = G_i^(1/2) T_ij G_j^(-1/2).

    0 iff each T_ij on an edge is an isometry of (R^d, G_j) into (R^d, G_i). Raises ValueError
    unless P is row-stochastic and G positive definite. Source: CW9.
    """
    weights, blocks, factors = connection(P, T, G)
    xp = array_api_compat.array_namespace(weights)
    framed = _over(product(factors[:, None], blocks), factors)
    peak = _peak(framed)
    unit = framed / peak[..., None, None]
    gap = _gap(_transposed(unit) @ unit, (1 / peak) * (1 / peak))
    return _at_most_1(xp.sum(weights * gap) / len(weights))


def inverse_symmetry_defect(P: Array, T: Array, G: Array | None = None) -> float:
    """(1/n) sum_ij P_ij ||M - I||_F / (||M||_F + sqrt d), M = G_i^(1/2) T_ij T_ji G_i^(-1/2).

    An edge with P_ji = 0 counts 1; 0 iff all edges go both ways with T_ji = T_ij^-1. Raises
    ValueError unless P is row-stochastic and G positive definite. Source: CW9.
    """
    weights, blocks, factors = connection(P, T, G)
    xp = array_api_compat.array_namespace(weights)
    there_and_back = product(blocks, _swapped(blocks))
    # The same G_i stands on both sides, so i takes the second place, where `_over` reads it.
    turned = product(factors[None], _swapped(there_and_back))
    framed = _swapped(_over(turned, factors))
    peak = _peak(framed)
    gap = _gap(framed / peak[..., None, None], 1 / peak)
    two_way = xp.permute_dims(weights, (1, 0)) > 0
    gap = xp.where(two_way, gap, xp.ones_like(weights))
    return _at_most_1(xp.sum(weights * gap) / len(weights))


def operator_defect(P: Array, T: Array, G: Array | None = None) -> float:
    """||W - W*|| / (2 ||W||) in ||X||^2 = sum_ij (pi_i / pi_j) ||G_i^(1/2) X_ij G_j^(-1/2)||_F^2.

    0 iff W is self-adjoint for sum_i pi_i u_i^T G_i v_i, in particular for W = 0; 1 where W is
    not 0 and a state is transient (no stationary pi > 0). At most 1 because W* has the norm of
    W. Raises ValueError unless P is row-stochastic and G positive definite. Source: CW9.
    """
    weights, blocks, factors = connection(P, T, G)
    xp = array_api_compat.array_namespace(weights)
    if not bool(xp.any((weights > 0)[:, :, None, None] & (blocks != 0))):
        return 0.0
    if _transient(_on_host(P > 0)):
        return 1.0
    # The size of a block is kept apart, as a wide number: a rare edge with a large T counts.
    blocks, outer = _split(blocks)
    framed, inner = _split(_over(product(factors[:, None], blocks), factors))
    # sqrt(pi_i / pi_j) P_ij = sqrt(P_ij P*_ji): no quotient of a large by a small weight.
    sizes = (Wide.of(weights) * _reversal(P).turned()).sqrt() * outer * inner
    symmetrised = sizes.relative()[:, :, None, None] * framed
    difference = symmetrised - _transposed(_swapped(symmetrised))
    size = xp.sqrt(xp.sum(symmetrised * symmetrised))
    return _at_most_1(xp.sqrt(xp.sum(difference * difference)) / (2 * size))
