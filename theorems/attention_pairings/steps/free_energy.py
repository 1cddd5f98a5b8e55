"""AP1, the value <p, s> + tau H(p) of weights p, with s = tau (log q + L)."""

from __future__ import annotations

from sympy import Expr, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.statement import Definition, array, symbols_of

n, m = symbols_of("n m")
i, j, k = symbols_of("i j k")
tau = Symbol("tau", real=True)
s, q, lam, L = array("s", n, m), array("q", n, m), array(r"\lambda", n, m), array("L", n)
at_temperature = Definition(s[i, j], tau * (lam[i, j] + L[i]))
positive_tau = signed(array("tau"), ">0")


def free_energy(weight: Expr, log_weight: Expr) -> Expr:
    """<p, s_i> + tau H(p), H(p) = -sum_j p_j log p_j, from the entries of p and of log p."""
    return Sum(weight * s[i, j], (j, 1, m)) - tau * Sum(weight * log_weight, (j, 1, m))
