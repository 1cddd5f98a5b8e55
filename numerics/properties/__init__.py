"""Statements as functions of concrete arrays: one module a theorem, samples() and residual().

`run_property` accepts a module only when its comparison was made, was not vacuous, was tight, and
rejects a planted error. The runner is the module `run`: no theorem may have that slug.
"""

from numerics.evidence.comparison import PLANTED, Residual
from numerics.properties.run import NONZERO, TIGHTNESS, PropertyModule, PropertyResult, run_property

__all__ = [
    "NONZERO",
    "PLANTED",
    "TIGHTNESS",
    "PropertyModule",
    "PropertyResult",
    "Residual",
    "run_property",
]
