"""Stochasticity and reversibility of a walk, by its flow and by its logits (CW8, CW9)."""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat

from numerics.arrays import Array, finite, namespace, nonnegative, shape
from numerics.rounding.units import units
from numerics.walks.chains import _classes, _law, _on_host, _transient, _walk
from numerics.walks.elimination import Wide, float64


@dataclass(frozen=True)
class Reversibility:
    """Flow defect in [0, 1], what it stands for, and the largest asymmetry of an edge.

    reason is "flow", or "transient states": then no stationary pi > 0 exists, defect is 1 by
    definition and edge_asymmetry, max_{i<j} |F_ij - F_ji| / (F_ij + F_ji) with F = Pi P, is None.
    Raises ValueError for numbers outside [0, 1]. Source: CW9.
    """

    defect: float
    reducible: bool
    transient: tuple[int, ...]
    reason: str
    edge_asymmetry: float | None

    def __post_init__(self) -> None:
        for name in ("defect", "edge_asymmetry"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {value}")


def stochasticity_defect(P: Array) -> float:
    """max_i |rho_i - 1| / (rho_i + 1) in [0, 1], rho_i the row sums of P (n, m) >= 0.

    Raises ValueError, TypeError by name. Source: CW9.
    """
    xp = namespace(P=P)
    shape({}, "P", P, "n", "m")
    nonnegative(P=P)
    # Beyond 2^900 the quotient is 1 to the last digit, and the sums stay finite.
    rho = xp.sum(xp.clip(float64(P), 0.0, 2.0**900), axis=1)
    return xp.max(xp.abs(rho - 1) / (rho + 1)).item()


def reversibility_defect(P: Array) -> Reversibility:
    """(1/2) sum_ij |pi_i P_ij - pi_j P_ji|: how far the flow of the edges is from its reverse.

    P (n, n) row-stochastic, pi its `stationary_distribution`; 1 by definition where a state is
    transient, as in every causal walk that moves. That value jumps; the asymmetry of the edges
    does not, so it stands beside it. Raises ValueError unless P is row-stochastic. Source: CW9.
    """
    _walk(P)
    xp, edges = array_api_compat.array_namespace(P), _on_host(P > 0)
    reducible = len(_classes(edges)) > 1
    if states := _transient(edges):
        return Reversibility(1.0, reducible, states, "transient states", None)
    law = _law(P)
    flow = law.value()[:, None] * float64(P)
    gap = xp.sum(xp.abs(flow - xp.permute_dims(flow, (1, 0)))).item() / 2
    return Reversibility(min(gap, 1.0), reducible, (), "flow", _edge_asymmetry(P, law))


def _edge_asymmetry(P: Array, law: Wide) -> float:
    """Largest (1 - r) / (1 + r), r <= 1 the ratio of the two flows of an edge; no underflow."""
    xp = array_api_compat.array_namespace(P)
    edge = P > 0
    flow = law[:, None] * Wide.of(xp.where(edge, P, xp.ones_like(P)))

    ratio = (flow.turned() / flow).value()
    ratio = xp.where(ratio < 1, ratio, xp.ones_like(ratio))
    ratio = xp.minimum(ratio, xp.permute_dims(ratio, (1, 0)))
    back = xp.permute_dims(edge, (1, 0))
    each = xp.where(edge & back, (1 - ratio) / (1 + ratio), xp.astype(edge | back, ratio.dtype))
    return xp.max(xp.triu(each, k=1)).item()


def logit_gradient_defect(S: Array) -> float:
    """||B - grad u||_F / ||J S J||_F in [0, 1], B = (S - S^T) / 2, u_i = (1/n) sum_j B_ij.

    S (n, n) finite logits, (grad u)_ij = u_i - u_j, J = I - 11^T/n. B - grad u = J B J is the
    antisymmetric part of J S J: hence the range, and 0 iff softmax(S) is reversible; invariant
    under row and column terms up to the rounding of S + r + c to its dtype. 0 where J S J = 0,
    that is, within two roundings of each entry of S (then B = grad u too), and for n <= 2. Raises
    ValueError, TypeError by name. Source: CW8.
    """
    xp = namespace(S=S)
    shape({}, "S", S, "n", "n")
    finite(S=S)
    scores, n = float64(S), S.shape[0]
    peak = xp.max(xp.abs(scores)).item()
    if n <= 2 or peak == 0:
        return 0.0
    # A power of two: exact, and then no square over- or underflows.
    scores = scores * (2.0**-600 if peak > 2.0**300 else 2.0**600 if peak < 2.0**-300 else 1.0)
    # Row and column terms go before any mean is rounded, exactly where there is nothing else.
    # The order is the same for S^T.
    corner, row, column = scores[:1, :1], scores[:1], scores[:, :1]
    rest = (scores + corner) - (column + row)
    known = xp.abs(scores) + xp.abs(corner) + xp.abs(column) + xp.abs(row)
    rows, columns = xp.mean(rest, axis=1), xp.mean(rest, axis=0)
    centred = rest - (rows[:, None] + columns[None, :]) + xp.mean(rest)
    size = xp.sqrt(xp.sum(centred * centred)).item()
    # Two roundings of S's dtype in each entry, two of float64 here. J . J lengthens no error, and
    # adds none of its own that counts: |rest| <= 4 max |centred|.
    u = 2 * units(S.dtype, array_api_compat.device(S)).store + 2 * 2.0**-53
    if size <= u * xp.sqrt(xp.sum(known * known)).item():
        return 0.0
    curl = (centred - xp.permute_dims(centred, (1, 0))) / 2
    return min(xp.sqrt(xp.sum(curl * curl)).item() / size, 1.0)
