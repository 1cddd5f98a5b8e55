"""How much the walk of a layer differs from that of the next, and of control models.

Satisfies, for walks P, Q (n, n) of layers l and l + 1 (head means) and U the uniform attention,
1/n everywhere, or 1/i over the past of token i where attention is causal (windows, where a
model has them, are wider than the texts):
  distance  2 ||P - Q||_F / (||P||_F + ||Q||_F) in [0, 2], 0 iff P = Q;
  cosine    <P, Q> / (||P||_F ||Q||_F); centred: of P - U and Q - U, which is 0/0 at P = U;
  spectrum  root mean square difference of the sorted eigenvalues of the degree-normalised
            Laplacians of (P + P^T)/2 and (Q + Q^T)/2.
Uniform attention in every layer has distance 0: a small distance shows nothing by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch

from numerics.trained.measures.pattern_reversibility import trimmed

MEASURES = ("distance", "cosine", "centred", "spectrum")
VIEWS = ("whole", "no_sinks")
THIRDS = ("shallow", "middle", "deep")


def uniform(n: int, causal: bool) -> torch.Tensor:
    """U (n, n)."""
    ones = torch.ones((n, n), dtype=torch.float64)
    ones = ones.tril() if causal else ones
    return ones / ones.sum(dim=1, keepdim=True)


def laplacian_spectrum(P: torch.Tensor) -> torch.Tensor:
    """Ascending eigenvalues (n,) of I - D^(-1/2) A D^(-1/2), A = (P + P^T)/2, D its degrees.

    Raises: ValueError where a token has degree 0.
    """
    A = (P + P.mT) / 2
    degrees = A.sum(dim=1)
    if not bool((degrees > 0).all()):
        raise ValueError("P must give every token a positive degree")
    scale = degrees.rsqrt()
    normal = scale[:, None] * A * scale
    return torch.linalg.eigvalsh(torch.eye(len(P), dtype=P.dtype) - (normal + normal.mT) / 2)


def compare(P: torch.Tensor, Q: torch.Tensor, causal: bool) -> dict[str, float | None]:
    """The four measures of two walks (n, n); centred is None where a walk is uniform.

    Raises: ValueError for walks of different sizes.
    """
    if P.shape != Q.shape or P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"P and Q must be (n, n), got {tuple(P.shape)} and {tuple(Q.shape)}")
    flat = uniform(len(P), causal)
    sizes = P.norm() + Q.norm()
    spectra = laplacian_spectrum(P) - laplacian_spectrum(Q)
    return {
        "distance": (2 * (P - Q).norm() / sizes).item(),
        "cosine": _cosine(P, Q),
        "centred": _cosine(P - flat, Q - flat),
        "spectrum": spectra.square().mean().sqrt().item(),
    }


def views(
    P: torch.Tensor, Q: torch.Tensor, sinks: Collection[int], causal: bool
) -> dict[str, dict[str, float | None]]:
    """`compare` on the whole walks and without the sinks, rows renormalised.

    Rows that are empty without the sinks leave both walks.
    """
    whole = compare(P, Q, causal)
    lost = set(sinks)
    while True:  # a row lost in one walk goes from the other too
        left, right = trimmed(P, lost), trimmed(Q, lost)
        if left.kept == right.kept:
            break
        lost |= set(range(len(P))) - (set(left.kept) & set(right.kept))
    return {"whole": whole, "no_sinks": compare(left.walk, right.walk, causal)}


def cut(P: torch.Tensor, n: int) -> torch.Tensor:
    """The first n tokens of a walk, rows renormalised: what texts of other lengths share."""
    head = P[:n, :n]
    return head / head.sum(dim=1, keepdim=True)


def other_texts(
    walks: Sequence[torch.Tensor],
    later: Sequence[torch.Tensor],
    drains: Sequence[Collection[int]],
    causal: bool,
) -> list[dict[str, dict[str, float | None]]]:
    """`views` of each text's walk against the next layer's walk of the next text, both cut.

    Empty for a single text.
    """
    found = []
    count = len(walks)
    for t in range(count if count > 1 else 0):
        other = (t + 1) % count
        n = min(len(walks[t]), len(later[other]))
        drained = {i for i in (*drains[t], *drains[other]) if i < n}
        found.append(views(cut(walks[t], n), cut(later[other], n), drained, causal))
    return found


def _cosine(P: torch.Tensor, Q: torch.Tensor) -> float | None:
    """<P, Q> / (||P|| ||Q||), None where a factor is 0 up to the rounding of entries near 1/n."""
    sizes = P.norm(), Q.norm()
    if min(sizes) <= 2.0**-50:
        return None
    return ((P * Q).sum() / (sizes[0] * sizes[1])).item()
