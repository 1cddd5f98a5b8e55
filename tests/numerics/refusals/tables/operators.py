"""Refused inputs of chains, Laplacians, holonomies and head counts: a name without rows fails."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from numerics.laplacians import defects, holonomy
from numerics.laplacians import laplacian as laplacians
from numerics.laplacians import reversibility as rev
from numerics.laplacians.holonomy import SpanningTree
from numerics.laplacians.reversibility import Reversibility
from numerics.walks import chains, elimination, head_count
from numerics.walks import realignment as aligned
from numerics.walks.elimination import Wide
from numerics.walks.head_count import Head, HeadCount
from tests.numerics.refusals.faults import Call, Floats, Mask, Refused, Row

P = np.full((2, 2), 0.5)
SINK = np.array([[0.5, 0.25], [0.5, 0.5]])
CAUSAL = np.array([[1.0, 0.0], [0.5, 0.5]])
WIDE = np.full((2, 3), 1 / 3)
NAN = np.array([[np.nan, 1.0], [1.0, 1.0]])
I = np.eye(3)
U = np.ones((2, 3))
PI = np.full(2, 0.5)
HUGE = np.full((2, 2, 1, 1), 1e200)
TOP = np.eye(4) * 1e308
F32 = np.float32
HALF = Fraction(1, 2)


WALK = Floats(P, "n n", "nonnegative")
STOCHASTIC = Floats(P, "n m | n n", "nonnegative")
BLOCKS = Floats(I, "d d | n n d d")
METRIC = Floats(I, "d d | n d d")

Rows = list[Call | Row]


def sums(call: Callable[[Any], Any]) -> list[Row]:
    """Rows of what takes a square P whose rows sum to 1."""
    return [
        (lambda: call(WIDE), ValueError, r"P must have shape \(n, n\).*got \(2, 3\)"),
        (lambda: call(SINK), ValueError, "P must be row-stochastic.*got 0.75 in row 0"),
        (lambda: call(P + 1e-14), ValueError, "P must be row-stochastic.*float64"),
    ]


def walk(function: Callable[..., Any]) -> Rows:
    """A function of a row-stochastic square P."""
    return [Call(function, P=STOCHASTIC), *sums(function)]


def edges(function: Callable[..., Any]) -> Rows:
    """A function of the edges of P alone."""
    return [
        Call(function, P=WALK),
        (lambda: function(np.ones((2, 3), bool)), ValueError, r"P must have shape.*got \(2, 3\)"),
    ]


def connected(call: Callable[..., Any], **others: Floats) -> Rows:
    """A function of P, T and G."""
    return [
        Call(call, P=STOCHASTIC, T=BLOCKS, G=METRIC, **others),
        *sums(lambda p: call(p, I)),
        (lambda: call(P, np.ones((1, 2, 3, 3))), ValueError, "T must have shape.*n = 2"),
        (lambda: call(P, np.ones((2, 3, 3))), ValueError, r"T must have shape.*got \(2, 3, 3\)"),
        (lambda: call(P, I, np.stack([I] * 3)), ValueError, r"G must have shape.*n = 2"),
        (lambda: call(P, I, -I), ValueError, r"the diagonal of G must be positive, got -1.0"),
        (lambda: call(P, I, I + np.triu(I + 1)), ValueError, r"G - G\^T must be 0 up to round"),
        (lambda: call(P, I, 2 * np.ones((3, 3)) - I), ValueError, "G must be positive definite"),
    ]


T2 = np.broadcast_to(np.eye(1), (2, 2, 1, 1))
WRONG = np.array([[[[1.0]], [[2.0]]], [[[2.0]], [[1.0]]]])
ONE_WAY = [
    (lambda: holonomy.spanning_tree(CAUSAL), ValueError, "P must have symmetric edges.*1 -> 0"),
    (lambda: holonomy.spanning_tree(np.eye(2)), ValueError, r"P must be connected.*nodes \[1\]"),
    (lambda: holonomy.spanning_tree(P, 2), ValueError, r"root must lie in \[0, 2\), got 2"),
    (lambda: holonomy.spanning_tree(P, 0.0), TypeError, "root must be an int, got float"),  # type: ignore
]


def transported(call: Callable[..., Any]) -> Rows:
    """A function of symmetric edges and mutually inverse transports."""
    return [
        *edges(lambda P: call(P, I)),
        Call(lambda T: call(P, T), T=BLOCKS),
        (lambda: call(CAUSAL, I), ValueError, "P must have symmetric edges, got 1 -> 0"),
        (lambda: call(np.eye(2), I), ValueError, "P must be connected"),
        (lambda: call(P, I, 5), ValueError, "root must lie in"),
        (lambda: call(P, WRONG), ValueError, r"T must have T_ij T_ji = I.*3 at \(0, 1\)"),
        (lambda: call(P, torch.eye(3)), TypeError, "T must be of the kind of P, ndarray, got Tens"),
    ]


def exact(call: Callable[..., Any]) -> list[Row]:
    """Rows of a function of an exact W and of n, m."""
    return [
        (lambda: call([[1.0]], 1, 1), TypeError, "W must have integer or rational.*got float"),
        (lambda: call([[True]], 1, 1), TypeError, "W must have integer or rational.*got bool"),
        (lambda: call([1, 2], 1, 2), TypeError, "W must be a matrix of rationals, got list"),
        (lambda: call([[1, 2], [3]], 1, 1), ValueError, r"rows of one length.*\[1, 2\]"),
        (lambda: call([[1, 2]], 2, 1), ValueError, r"W must have shape.*n = 2.*got \(1, 2\)"),
        (lambda: call([[1, 2]], 1, 3), ValueError, r"W must have shape.*m = 3.*got \(1, 2\)"),
        (lambda: call([[1]], 0, 1), ValueError, "n must be positive, got 0"),
        (lambda: call([[1]], 1, 1.0), TypeError, "m must be an int, got float"),
    ]


def energy(P: Any, T: Any, G: Any = None, pi: Any = PI, u: Any = U) -> Any:
    return laplacians.dirichlet_energy(P, T, G, pi, u)


BAD: Refused = {
    "walks.chains.row_stochastic": [
        Call(chains.row_stochastic, P=Floats(WIDE, "n m", "nonnegative")),
        *sums(chains.row_stochastic)[1:],
    ],
    "walks.chains.support": edges(chains.support),
    "walks.chains.logit_support": [
        Call(chains.logit_support, S=Floats(P, "n m", "any"), allowed=Mask(P > 0, "n m")),
        (lambda: chains.logit_support(NAN), ValueError, "S must be finite or -inf.*got NaN"),
    ],
    "walks.chains.communicating_classes": edges(chains.communicating_classes),
    "walks.chains.closed_classes": edges(chains.closed_classes),
    "walks.chains.transient_states": edges(chains.transient_states),
    "walks.chains.is_irreducible": edges(chains.is_irreducible),
    "walks.chains.period": [
        *edges(chains.period),
        (lambda: chains.period(CAUSAL), ValueError, "P must be irreducible.*got 2 communicating"),
        (lambda: chains.period(np.zeros((1, 1))), ValueError, "P must be irreducible with an edge"),
    ],
    "walks.chains.stationary_distribution": walk(chains.stationary_distribution),
    "walks.elimination.float64": [Call(elimination.float64, array=Floats(P, entries="any"))],
    "walks.elimination.Wide": [
        (lambda: Wide.of(-P), ValueError, "mantissa must be nonnegative"),
        (lambda: Wide.of(NAN), ValueError, "mantissa must be finite"),
        (lambda: Wide(-1.0), ValueError, "mantissa must be nonnegative and finite, got -1.0"),
        (lambda: Wide(P + np.inf), ValueError, r"mantissa must be nonnegative and finite.*inf inf"),
    ],
    "walks.elimination.concatenate": [
        (lambda: elimination.concatenate([]), ValueError, "parts must hold at least one vector")
    ],
    "walks.elimination.stationary_law": [
        (lambda: elimination.stationary_law(WIDE), ValueError, r"P must have shape \(n, n\)"),
        (lambda: elimination.stationary_law(np.eye(2)), ValueError, "P must be irreducible.*1"),
    ],
    "laplacians.reversibility.Reversibility": [
        (lambda: Reversibility(1.5, False, (), "flow", 0.0), ValueError, "defect must lie in"),
        (lambda: Reversibility(0.5, False, (), "flow", np.nan), ValueError, "edge_asymmetry must"),
    ],
    "laplacians.reversibility.stochasticity_defect": [
        Call(rev.stochasticity_defect, P=Floats(WIDE, "n m", "nonnegative")),
    ],
    "laplacians.reversibility.reversibility_defect": walk(rev.reversibility_defect),
    "laplacians.reversibility.logit_gradient_defect": [
        Call(rev.logit_gradient_defect, S=Floats(P, "n n")),
    ],
    "laplacians.defects.metric_factors": [
        Call(defects.metric_factors, G=Floats(I, "d d | n d d")),
        (lambda: defects.metric_factors(CAUSAL), ValueError, r"G - G\^T must be 0.*got -0.5"),
        (lambda: defects.metric_factors(1 - 2 * I), ValueError, "the diagonal of G must be"),
        (lambda: defects.metric_factors(P), ValueError, "G must be positive definite.*eigenvalue"),
    ],
    "laplacians.defects.connection": connected(defects.connection),
    "laplacians.defects.metric_defect": [
        *connected(defects.metric_defect),
        (lambda: defects.metric_defect(P, HUGE * 1e100, np.array([[[1e150]], [[1e-150]]])),
         ValueError, "T and G must be of sizes.*overflow"),
    ],
    "laplacians.defects.inverse_symmetry_defect": [
        *connected(defects.inverse_symmetry_defect),
        (lambda: defects.inverse_symmetry_defect(P, HUGE), ValueError, "T and G must.*overflow"),
    ],
    "laplacians.defects.product": [
        (lambda: defects.product(HUGE, HUGE), ValueError, "T and G must be of sizes.*overflow")
    ],
    "laplacians.defects.representable": [
        (lambda: defects.representable(NAN), ValueError, "T and G must be of sizes.*overflow")
    ],
    "laplacians.defects.stored": [
        (lambda: defects.stored(1e30 * HUGE, P.astype(F32)), ValueError, "products float32 holds")
    ],
    "laplacians.defects.operator_defect": connected(defects.operator_defect),
    "laplacians.laplacian.connection_laplacian": [
        Call(laplacians.connection_laplacian, w=WALK, O=BLOCKS),
        (lambda: laplacians.connection_laplacian(CAUSAL, I), ValueError, r"w - w\^T must be 0"),
        (lambda: laplacians.connection_laplacian(0 * P, I), ValueError, "the row sums of w must"),
        (lambda: laplacians.connection_laplacian(P, WRONG), ValueError, "T_ij T_ji = I"),
    ],
    "laplacians.laplacian.dirichlet_energy": [
        *connected(energy, pi=Floats(PI, "n", "nonnegative"), u=Floats(U, "n d")),
    ],
    "laplacians.laplacian.adjoint": [
        *connected(laplacians.adjoint, pi=Floats(PI, "n", "positive")),
        (lambda: laplacians.adjoint(CAUSAL, I), ValueError, r"P must have no transient.*\(1,\)"),
    ],
    "laplacians.holonomy.SpanningTree": [
        (lambda: SpanningTree(0, (0, 0), (1, 0)), ValueError, "order must list every node"),
        (lambda: SpanningTree(0, (0, 2, 0), (0, 1, 2)), ValueError, "parents must come earlier"),
        (lambda: SpanningTree(0, (0, 5), (0, 1)), ValueError, r"parents must lie in \[0, 2\)"),
        (lambda: SpanningTree(2, (0, 0), (0, 1)), ValueError, r"root must lie in \[0, 2\), got 2"),
    ],
    "laplacians.holonomy.spanning_tree": edges(holonomy.spanning_tree) + ONE_WAY,
    "laplacians.holonomy.mutually_inverse": [
        Call(lambda T: holonomy.mutually_inverse(P, T), T=Floats(T2, "n=2 n d d | d d")),
        (lambda: holonomy.mutually_inverse(P, WRONG), ValueError, r"T must have T_ij T_ji = I"),
        (lambda: holonomy.mutually_inverse(P, torch.eye(1)), TypeError, "T must be of the kind of"),
    ],
    "walks.realignment.SchmidtValues": [
        (lambda: aligned.SchmidtValues(PI, -1.0, 2), ValueError, "null must be nonnegative"),
        (lambda: aligned.SchmidtValues(PI, np.inf, 2), ValueError, "null must.*finite, got inf"),
    ],
    "walks.realignment.exact_realignment": exact(aligned.exact_realignment),
    "walks.realignment.rows_of": [
        (lambda: aligned.rows_of([], 0), ValueError, "columns must divide the 0 entries, got 0")
    ],
    "walks.realignment.realignment": [
        *exact(aligned.realignment),
        (lambda: aligned.realignment(PI, 1, 1), ValueError, r"W must be a matrix.*\(2,\)"),
        (lambda: aligned.realignment(P, 2, 3), ValueError, r"W must have shape.*m = 3"),
    ],
    "walks.realignment.operator_schmidt_rank": [
        *exact(aligned.operator_schmidt_rank),
        (lambda: aligned.operator_schmidt_rank(P, 2, 2), TypeError, "W must have integer or rat"),
    ],
    "walks.realignment.operator_schmidt_values": [
        Call(aligned.operator_schmidt_values, W=Floats(P), n=1, m=1),
        (lambda: aligned.operator_schmidt_values(P, 3, 1), ValueError, "W must have shape.*n = 3"),
        (lambda: aligned.operator_schmidt_values(P, 1, 1, "int8"), ValueError, "dtype must be"),
        (lambda: aligned.operator_schmidt_values(TOP, 2, 2), ValueError, "W must be of a size"),
    ],
    "walks.head_count.HeadCount": [
        (lambda: HeadCount(1, 1, None, None), ValueError, "positive or annihilator must be given"),
        (lambda: HeadCount(3, 1, None, ((HALF,),)), ValueError, "heads must be 2, got 3"),
        (lambda: HeadCount(2, 1, None, ((-HALF,),)), ValueError, "certificate must not have"),
        (lambda: HeadCount(2, 1, None, ((0 * HALF,),)), ValueError, "annihilator must not be 0"),
    ],
    "walks.head_count.Head": [
        (lambda: Head(((HALF, HALF), (HALF, 2 * HALF)), ()), ValueError, "rows of sum 1"),
        (lambda: Head(((HALF * 0, HALF * 2),), ()), ValueError, "attention must have positive"),
        (lambda: Head((), ()), ValueError, r"attention must have rows.*got lengths \[\]"),
    ],
    "walks.head_count.least_heads": exact(head_count.least_heads),
    "walks.head_count.softmax_heads": exact(head_count.softmax_heads),
}  # fmt: skip
for _name in ("time_reversal", "additive_reversibilisation", "multiplicative_reversibilisation"):
    _call = getattr(chains, _name)
    BAD[f"walks.chains.{_name}"] = [
        *walk(_call),
        (lambda call=_call: call(CAUSAL), ValueError, r"P must have no transient states.*\(1,\)"),
    ]
for _name in ("tree_gauge", "holonomies", "flatness_defects", "is_flat"):
    BAD[f"laplacians.holonomy.{_name}"] = transported(getattr(holonomy, _name))
