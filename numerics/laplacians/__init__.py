"""Connection Laplacians, and the defects of walks whose generators are none."""

from numerics.laplacians.laplacian import (
    Reversibility,
    additive_reversibilisation,
    adjoint,
    connection_laplacian,
    dirichlet_energy,
    inverse_symmetry_defect,
    logit_gradient_defect,
    metric_defect,
    multiplicative_reversibilisation,
    operator_defect,
    reversibility_defect,
    stationary_distribution,
    stochasticity_defect,
    time_reversal,
)

__all__ = [
    "Reversibility",
    "additive_reversibilisation",
    "adjoint",
    "connection_laplacian",
    "dirichlet_energy",
    "inverse_symmetry_defect",
    "logit_gradient_defect",
    "metric_defect",
    "multiplicative_reversibilisation",
    "operator_defect",
    "reversibility_defect",
    "stationary_distribution",
    "stochasticity_defect",
    "time_reversal",
]
