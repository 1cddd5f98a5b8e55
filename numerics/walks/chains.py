"""Walk matrices as Markov chains: classes, period, stationary law, time reversal.

P is (n, n), an edge i -> j is P_ij > 0. What depends on the edges alone also takes the support
itself, a boolean (n, n): `logit_support` reads it off the logits, where no weight underflows.
"""

from __future__ import annotations

from math import gcd

import array_api_compat
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from numerics.arrays import Array, boolean, dtype_name, is_array, namespace, nonnegative, shape
from numerics.rounding.units import gamma, units
from numerics.walks.elimination import Wide, concatenate, float64, stationary_law


def row_stochastic(P: Array) -> None:
    """ValueError unless P (n, m) is nonnegative with row sums 1, up to rounding in its dtype.

    A softmax or a normalised kernel passes: each row sum, taken in float64, may be off by
    gamma_{4 (m + 16)} of the accumulating format + 4 unit roundoffs of the stored one + m eta.
    """
    xp = namespace(P=P)
    shape({}, "P", P, "n", "m")
    nonnegative(P=P)
    model, m = units(P.dtype, array_api_compat.device(P)), P.shape[1]
    allowed = gamma(4 * (m + 16), model.acc) + 4 * model.store + m * model.eta
    sums = xp.sum(float64(P), axis=1)
    worst = int(xp.argmax(xp.abs(sums - 1)))
    total = sums[worst].item()
    if not abs(total - 1) <= allowed:
        raise ValueError(
            f"P must be row-stochastic (row sums 1 within {allowed:.1e} for {P.dtype}, "
            f"m = {m}), got {total} in row {worst}"
        )


def support(P: Array) -> np.ndarray:
    """Edges of P, (n, n) boolean on the host: P > 0, or P itself where it is boolean.

    Raises ValueError, TypeError for what is neither a nonnegative matrix nor a boolean one.
    """
    if is_array(P) and dtype_name(P.dtype) == "bool":
        edges = P
    else:
        namespace(P=P)
        nonnegative(P=P)
        edges = P > 0
    shape({}, "P", P, "n", "n")
    return _on_host(edges)


def _on_host(edges: Array) -> np.ndarray:
    return np.asarray(edges if isinstance(edges, np.ndarray) else edges.cpu().numpy())


def logit_support(S: Array, allowed: Array | None = None) -> Array:
    """Edges of softmax(S) in exact arithmetic, (n, m) boolean: S > -inf where allowed.

    Scores that differ by 110 leave zeros in a float32 softmax, not here. Raises ValueError for
    an allowed logit that is NaN or +inf, TypeError for a mask that is not boolean.
    """
    xp = namespace(S=S)
    shape({}, "S", S, "n", "m")
    edges = S > -float("inf")
    refused = xp.isnan(S) | (S == float("inf"))
    if allowed is not None:
        boolean("allowed", allowed, S)
        shape({"n": S.shape[0], "m": S.shape[1]}, "allowed", allowed, "n", "m")
        edges, refused = edges & allowed, refused & allowed
    if bool(xp.any(refused)):
        raise ValueError("S must be finite or -inf where allowed, got NaN or +inf")
    return edges


def _classes(edges: np.ndarray) -> tuple[tuple[int, ...], ...]:
    count, label = connected_components(csr_array(edges), directed=True, connection="strong")
    members = [tuple(np.flatnonzero(label == c).tolist()) for c in range(count)]
    return tuple(sorted(members))


def communicating_classes(P: Array) -> tuple[tuple[int, ...], ...]:
    """Classes of states that reach each other, each ascending, in the order of first members.

    P (n, n) nonnegative, or its boolean support. Raises ValueError, TypeError by name.
    """
    return _classes(support(P))


def closed_classes(P: Array) -> tuple[tuple[int, ...], ...]:
    """Communicating classes that no edge leaves: the recurrent ones, where rows are stochastic.

    P (n, n) nonnegative, or its boolean support. Raises ValueError, TypeError by name.
    """
    return _closed(support(P))


def _closed(edges: np.ndarray) -> tuple[tuple[int, ...], ...]:
    inside = np.ones(len(edges), bool)
    closed = []
    for members in _classes(edges):
        inside[:] = False
        inside[list(members)] = True
        if not edges[inside][:, ~inside].any():
            closed.append(members)
    return tuple(closed)


def transient_states(P: Array) -> tuple[int, ...]:
    """States outside all closed classes, ascending.

    P (n, n) nonnegative, or its boolean support. Raises ValueError, TypeError by name.
    """
    return _transient(support(P))


def _transient(edges: np.ndarray) -> tuple[int, ...]:
    recurrent = {state for members in _closed(edges) for state in members}
    return tuple(state for state in range(len(edges)) if state not in recurrent)


def is_irreducible(P: Array) -> bool:
    """Whether every state reaches every other.

    P (n, n) nonnegative, or its boolean support. Raises ValueError, TypeError by name.
    """
    return len(communicating_classes(P)) == 1


def period(P: Array) -> int:
    """Greatest common divisor of the lengths of all closed walks of an irreducible P (n, n).

    Raises ValueError where P is reducible or has no edge.
    """
    edges = support(P)
    if (count := len(_classes(edges))) != 1 or not edges.any():
        raise ValueError(f"P must be irreducible with an edge, got {count} communicating classes")
    order, before = breadth_first_order(csr_array(edges), 0)
    depth = np.zeros(len(edges), int)
    for state in order[1:]:
        depth[state] = depth[before[state]] + 1
    start, end = np.nonzero(edges)
    return gcd(*np.unique(depth[start] + 1 - depth[end]).tolist())


def _law(P: Array) -> Wide:
    """Stationary law as wide numbers, of a checked row-stochastic P."""
    xp = array_api_compat.array_namespace(P)
    classes, n = _closed(_on_host(P > 0)), P.shape[0]
    order, parts = [], []
    for members in classes:
        index = list(members)
        law = stationary_law(P[index][:, index])
        parts.append(Wide(law.mantissa / len(classes), law.exponent))
        order += index
    rest = sorted(set(range(n)) - set(order))
    if rest:
        zeros = xp.zeros(len(rest), dtype=xp.float64, device=array_api_compat.device(P))
        parts.append(Wide(zeros))
    return concatenate(parts)[np.argsort(order + rest).tolist()]


def _walk(P: Array) -> None:
    row_stochastic(P)
    shape({}, "P", P, "n", "n")


def stationary_distribution(P: Array) -> Array:
    """Stationary law pi (n,), pi P = pi, sum 1, of a row-stochastic P (n, n).

    Several closed classes: the average of their laws; transient states get exactly 0. Each
    entry has relative error at most (n + 2)^3 2^-53 plus a rounding to P's dtype, with the
    diagonal read as 1 minus the rest of its row; periods do not matter. Raises ValueError unless
    P is row-stochastic. Source: CW9; Grassmann, Taksar and Heyman 1985.
    """
    _walk(P)
    return array_api_compat.array_namespace(P).astype(_law(P).value(), P.dtype)


def _reversal(P: Array) -> Wide:
    """P*_ij = pi_j P_ji / pi_i as wide numbers, of a checked P without transient states."""
    xp, law = array_api_compat.array_namespace(P), _law(P)
    backward = Wide.of(xp.permute_dims(P, (1, 0)))
    return law[None, :] * backward / law[:, None]


def _recurrent(P: Array) -> None:
    _walk(P)
    if states := _transient(_on_host(P > 0)):
        raise ValueError(f"P must have no transient states (pi > 0), got {states}")


def time_reversal(P: Array) -> Array:
    """P* = Pi^-1 P^T Pi, (n, n), of a row-stochastic P whose states are all recurrent.

    Raises ValueError for transient states (then no stationary pi > 0 exists). Source: CW9.
    """
    _recurrent(P)
    return array_api_compat.array_namespace(P).astype(_reversal(P).value(), P.dtype)


def additive_reversibilisation(P: Array) -> Array:
    """(P + P*) / 2, (n, n): reversible, with P's stationary law and quadratic form.

    Raises like `time_reversal`. Source: CW9.
    """
    _recurrent(P)
    xp = array_api_compat.array_namespace(P)
    return xp.astype((float64(P) + _reversal(P).value()) / 2, P.dtype)


def multiplicative_reversibilisation(P: Array) -> Array:
    """P P*, (n, n): reversible, with P's stationary law, and reducible for some irreducible P.

    Raises like `time_reversal`. Source: CW9.
    """
    _recurrent(P)
    xp = array_api_compat.array_namespace(P)
    return xp.astype(float64(P) @ _reversal(P).value(), P.dtype)
