"""Refused inputs of pairings, worlds and readouts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from numerics.pairings import (
    attention,
    causal_attention,
    causal_mask,
    exponential_pairing,
    free_energy,
    gibbs_weights,
    log_partition,
    readout,
    readout_weights,
)

Q, K, V = np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 2))
S, M = np.ones((2, 4)), np.ones((3, 3))
MASK = np.ones((2, 4), bool)
F32, INF, NAN = np.float32, float("inf"), float("nan")

Row = tuple[Callable[[], Any], type[Exception], str]


def weighing(call: Callable[..., Any]) -> list[Row]:
    """Rows that the functions of scores and a temperature have."""
    return [
        (lambda: call(S.tolist()), TypeError, "^scores must be a NumPy array.*got list"),
        (lambda: call(S.astype(int)), TypeError, "^scores must be real.*got int64"),
        (lambda: call(S[0]), ValueError, r"^scores must have shape \(\.\.\., n, m\).*got \(4,\)"),
        (lambda: call(S[:, :0]), ValueError, r"^scores must have.*got \(2, 0\)"),
        (lambda: call(S * NAN), ValueError, r"^scores must be finite or -inf, got nan at \(0, 0\)"),
        (lambda: call(S * INF), ValueError, "^scores must be finite or -inf, got inf"),
        (lambda: call(np.array([[1e308, -1e308]])), ValueError, "^scores must be such that diff"),
        (lambda: call(S, 0.0), ValueError, "^tau must be positive and finite, got 0.0"),
        (lambda: call(S, -1.0), ValueError, "^tau must be positive and finite, got -1.0"),
        (lambda: call(S, NAN), ValueError, "^tau must be positive and finite, got nan"),
        (lambda: call(S, INF), ValueError, "^tau must be positive and finite, got inf"),
        (lambda: call(S, "1"), TypeError, "^tau must be a real number, got str"),
        (lambda: call(S, 1e-320), ValueError, "^tau must be a normal number of float64"),
        (lambda: call(S.astype(F32), 1e-40), ValueError, "^tau must be a normal number of float32"),
        (lambda: call(S.astype(F32), 1e300), ValueError, r"^tau must be.*float32, got 1e\+300"),
        (lambda: call(S, 1.0, MASK.tolist()), TypeError, "^allowed must be a boolean ndarray"),
        (lambda: call(S, 1.0, S), TypeError, "^allowed must be boolean.*got float64"),
        (lambda: call(S, 1.0, torch.ones(2, 4, dtype=torch.bool)), TypeError, "^allowed must be a"),
        (lambda: call(S, 1.0, MASK[:, :1]), ValueError, r"^allowed must have.*got \(2, 1\)"),
    ]


def read(call: Callable[..., Any]) -> list[Row]:
    """Rows that the functions of a pairing and a world have; call takes kappa and mu."""
    return [
        (lambda: call(S.tolist()), TypeError, "^kappa must be a NumPy array.*got list"),
        (lambda: call(S[0]), ValueError, r"^kappa must have shape \(n, m\).*got \(4,\)"),
        (lambda: call(-S), ValueError, "^kappa must be nonnegative, got -1.0"),
        (lambda: call(S * NAN), ValueError, "^kappa must be finite, got nan"),
        (lambda: call(S * INF), ValueError, "^kappa must be finite, got inf"),
        (
            lambda: call(S, S[0, :3]),
            ValueError,
            r"^mu must have shape \(m\) with m = 4.*got \(3,\)",
        ),
        (lambda: call(S, S[:1]), ValueError, r"^mu must have shape \(n, m\) with n = 2.*\(1, 4\)"),
        (lambda: call(S, S[None]), ValueError, r"^mu must have shape \(n, m\).*got \(1, 2, 4\)"),
        (lambda: call(S, -S), ValueError, "^mu must be nonnegative, got -1.0"),
        (lambda: call(S, S.astype(F32)), TypeError, "^mu must have the dtype of kappa"),
        (lambda: call(S * 1e200, S * 1e200), ValueError, "^mass must be finite: scale kappa or mu"),
        (lambda: call(S * 1e308), ValueError, "^mass must be finite: scale.*got inf"),
        (lambda: call(S * 1e-200, S * 1e-200), ValueError, "^mass must be positive: scale kappa"),
    ]


def attended(call: Callable[..., Any]) -> list[Row]:
    """Rows that attention has, causal or not."""
    return [
        (lambda: call(Q.tolist(), K, V), TypeError, "^q must be a NumPy array.*got list"),
        (lambda: call(Q, K.astype(F32), V), TypeError, "^k must have the dtype of q"),
        (lambda: call(Q, K, torch.ones(4, 2)), TypeError, "^v must be of the kind of q"),
        (lambda: call(Q[0], K, V), ValueError, r"^q must have shape \(n, d\).*got \(3,\)"),
        (lambda: call(Q, K[:, :2], V), ValueError, r"^k must.*d = 3.*got \(4, 2\)"),
        (lambda: call(Q, K, V[:3]), ValueError, r"^v must.*m = 4.*got \(3, 2\)"),
        (lambda: call(Q * NAN, K, V), ValueError, "^q must be finite, got nan"),
        (lambda: call(Q, K * INF, V), ValueError, "^k must be finite, got inf"),
        (lambda: call(Q, K, V * NAN), ValueError, "^v must be finite, got nan"),
        (lambda: call(Q * 1e200, K * 1e200, V), ValueError, "^scores must be finite: scale q or k"),
        (lambda: call(Q, K, V, tau=0), ValueError, "^tau must be positive and finite, got 0"),
        (lambda: call(Q, K, V, tau="1"), TypeError, "^tau must be a real number, got str"),
    ]


def causal(q: Any, k: Any, v: Any, align: Any = "last", **options: Any) -> Any:
    return causal_attention(q, k, v, align=align, **options)


def mask(n_q: Any = 2, n_k: Any = 3, align: Any = "last", **options: Any) -> Any:
    return causal_mask(n_q, n_k, align=align, **options)


BAD: dict[str, list[Row]] = {
    "pairings.readouts.gibbs_weights": weighing(gibbs_weights),
    "pairings.readouts.log_partition": [
        *weighing(log_partition),
        (lambda: log_partition(S, 1.7e308), ValueError, "^value must be finite: scale scores"),
    ],
    "pairings.readouts.free_energy": [
        (lambda: free_energy(S.tolist(), S), TypeError, "^p must be a NumPy.*got list"),
        (lambda: free_energy(S, S.astype(F32)), TypeError, "^scores must have the dtype of p"),
        (lambda: free_energy(S[0], S), ValueError, r"^p must have shape \(n, m\).*got \(4,\)"),
        (lambda: free_energy(S, S[:1]), ValueError, r"^scores must.*n = 2.*got \(1, 4\)"),
        (lambda: free_energy(-S, S), ValueError, "^p must be nonnegative, got -1.0"),
        (lambda: free_energy(S * NAN, S), ValueError, "^p must be finite, got nan"),
        (lambda: free_energy(S, S * NAN), ValueError, "^scores must be finite or -inf, got nan"),
        (lambda: free_energy(S, S * INF), ValueError, "^scores must be finite or -inf, got inf"),
        (lambda: free_energy(S, S, 0.0), ValueError, "^tau must be positive and finite"),
        (lambda: free_energy(S, S, "1"), TypeError, "^tau must be a real number, got str"),  # type: ignore
        (lambda: free_energy(S.astype(F32), S.astype(F32), 1e-40), ValueError, "^tau must be a no"),
        (lambda: free_energy(S, S * 1e308), ValueError, "^value must be finite: scale scores or"),
    ],
    "pairings.readouts.readout_weights": read(readout_weights),
    "pairings.readouts.readout": [
        *read(lambda kappa, mu=None: readout(kappa, V, mu)),
        (lambda: readout(S, V.tolist()), TypeError, "^v must be a NumPy array.*got list"),
        (lambda: readout(S, V.astype(F32)), TypeError, "^v must have the dtype of kappa"),
        (lambda: readout(S, V[:3]), ValueError, r"^v must have.*m = 4.*got \(3, 2\)"),
        (lambda: readout(S, V[:, 0]), ValueError, r"^v must have shape \(m, d_v\).*got \(4,\)"),
        (lambda: readout(S, V * NAN), ValueError, "^v must be finite, got nan"),
    ],
    "pairings.readouts.exponential_pairing": [
        (lambda: exponential_pairing(Q.tolist(), K, M), TypeError, "^q must be a NumPy"),
        (lambda: exponential_pairing(Q, K, M.astype(F32)), TypeError, "^M must have the dtype"),
        (lambda: exponential_pairing(Q, torch.ones(4, 3), M), TypeError, "^k must be of the kind"),
        (lambda: exponential_pairing(Q[0], K, M), ValueError, r"^q must have shape \(n, d\)"),
        (lambda: exponential_pairing(Q, K, M[:2]), ValueError, r"^M must have.*d = 3.*\(2, 3\)"),
        (lambda: exponential_pairing(Q, K[:, :2], M), ValueError, r"^k must.*d_k = 3.*\(4, 2\)"),
        (lambda: exponential_pairing(Q * NAN, K, M), ValueError, "^q must be finite, got nan"),
        (lambda: exponential_pairing(Q, K * INF, M), ValueError, "^k must be finite, got inf"),
        (lambda: exponential_pairing(Q, K, M * NAN), ValueError, "^M must be finite, got nan"),
        (lambda: exponential_pairing(Q * 99, K, M), ValueError, "^pairing must be finite: scale"),
    ],
    "pairings.readouts.causal_mask": [
        (lambda: mask(0), ValueError, "^n_q must be at least 1, got 0"),
        (lambda: mask(n_k=0), ValueError, "^n_k must be at least 1, got 0"),
        (lambda: mask(2.0), TypeError, "^n_q must be an integer, got float"),
        (lambda: mask(n_k=True), TypeError, "^n_k must be an integer, got bool"),
        (lambda: mask(align="end"), ValueError, "^align must be one of first, last, got 'end'"),
        (lambda: mask(align=None), ValueError, "^align must be one of first, last, got None"),
        (lambda: causal_mask(2, 3), TypeError, "required keyword-only argument: 'align'"),  # type: ignore
        (lambda: mask(like=[1.0]), TypeError, "^like must be a NumPy array.*got list"),
    ],
    "pairings.readouts.attention": [
        *attended(attention),
        (lambda: attention(Q, K, V, allowed=MASK[:1]), ValueError, r"^allowed.*got \(1, 4\)"),
        (lambda: attention(Q, K, V, allowed=S), TypeError, "^allowed must be boolean.*float64"),
    ],
    "pairings.readouts.causal_attention": [
        *attended(causal),
        (lambda: causal(Q, K, V, "end"), ValueError, "^align must be one of first, last, got 'end"),
    ],
}  # fmt: skip
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
