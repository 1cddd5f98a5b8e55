"""How near the transports of an attention module are to scaled isometries.

Satisfies, for T^h = W_V^h W_O^h (row form) of inner width k:
  values    the min(d, k) singular values of T^h, from thin QR of its two factors;
  spread    CV = std / mean of them, 0 iff T^h is a scaled isometry on the space that it reads;
  joined    sum_h g_h T^h has at most min(d, K k) nonzero values, K the value heads: query heads
            that read one value head share its factor W_V;
  lengths   |(z_i - z_j) T^h| / |z_i - z_j| over pairs of tokens, equal iff T^h scales them alike.
On all of R^d no T^h of rank k is nearer to a scaled isometry than sqrt(1 - k/d): not used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from numerics.trained.models.architectures import ValueFold
from numerics.trained.models.attention import AttentionWeights

NULL = 2.0**-52  # times the larger side: a singular value below this share of the first is none


@dataclass(frozen=True)
class Factors:
    """v (..., K, d, k) of K value heads, o (..., H, k, d), and the value head of each query head.

    Leading axes are draws of a control. Source: CW2.
    """

    v: torch.Tensor
    o: torch.Tensor
    owner: tuple[int, ...]

    @property
    def d(self) -> int:
        """Model width."""
        return self.v.shape[-2]


@dataclass(frozen=True)
class Spread:
    """CV, condition number and participation share of singular values, each (...).

    participation = (sum s^2)^2 / (k sum s^4) in [1/k, 1]. NaN where all values are 0; an infinite
    condition where the last value is 0 up to rounding.
    """

    cv: torch.Tensor
    condition: torch.Tensor
    participation: torch.Tensor


def factors(weights: AttentionWeights, fold: ValueFold | None = None) -> Factors:
    """The factors of one module, the preceding norm's gain and centring folded into v if given.

    Source: CW2; CW12 for the fold, V' = C diag(gain) V with C = I - 11^T/d.
    """
    owner = value_heads(weights.w_v)
    first = [owner.index(head) for head in range(max(owner) + 1)]
    v = weights.w_v[first]
    if fold is not None:
        v = fold.gain[:, None] * v
        v = v - v.mean(dim=-2, keepdim=True) if fold.centred else v
    return Factors(v, weights.w_o, owner)


def value_heads(w_v: torch.Tensor) -> tuple[int, ...]:
    """The value head that each query head reads: equal neighbours in w_v (H, d, k) are one."""
    owner = [0]
    for before, after in pairwise(w_v):
        owner.append(owner[-1] + (not torch.equal(before, after)))
    return tuple(owner)


def singular_values(v: torch.Tensor, o: torch.Tensor) -> torch.Tensor:
    """The min(d, k) largest singular values (...), descending, of v (..., d, k) o (..., k, d).

    The other d - k vanish. From the triangles of thin QR, so small values keep their digits.
    """
    left = torch.linalg.qr(v, mode="r")[1]
    right = torch.linalg.qr(o.mT, mode="r")[1]
    return torch.linalg.svdvals(left @ right.mT)


def spread(sigma: torch.Tensor) -> Spread:
    """CV, condition and participation of singular values (..., k), descending.

    Raises: ValueError for values that are negative, NaN or infinite.
    """
    if not bool((torch.isfinite(sigma) & (sigma >= 0)).all()):
        raise ValueError("sigma must be nonnegative and finite singular values")
    k, top = sigma.shape[-1], sigma[..., :1]
    unit = sigma / top  # 0/0 of a zero transport stays NaN
    mean = unit.mean(dim=-1)
    square = unit.square().sum(dim=-1)
    last = torch.where(unit[..., -1] > k * NULL, unit[..., -1], 0 * unit[..., -1])
    return Spread(
        cv=(unit - mean[..., None]).square().mean(dim=-1).sqrt() / mean,
        condition=1 / last,
        participation=square.square() / (k * unit.square().square().sum(dim=-1)),
    )


def joined(found: Factors, mix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors (..., d, K k) and (..., K k, d) of sum_h mix_h T^h, for mix (..., H).

    Source: CW2, T_ij = sum_h g^h_ij H T^h; mix = 1 gives the summed transport.
    """
    *draws, value, d, k = found.v.shape
    o = mix[..., None, None] * found.o
    batch = o.shape[:-3]
    if value < len(found.owner):
        shared = o.new_zeros((*batch, value, k, d))
        o = shared.index_add_(len(batch), torch.tensor(found.owner), o)
    v = found.v.movedim(-3, -2).reshape(*draws, d, value * k)
    return v, o.reshape(*batch, value * k, d)


def distinct_tokens(ids: Sequence[int]) -> list[int]:
    """Positions of the first occurrence of each token id: repeated tokens have no difference."""
    return [i for i, token in enumerate(ids) if token not in ids[:i]]


def squared_gaps(tokens: torch.Tensor, metric: torch.Tensor | None = None) -> torch.Tensor:
    """(x_i - x_j) B (x_i - x_j)^T, (..., n, n), of tokens (..., n, k); B = I if absent.

    Raises: ValueError for fewer than three tokens: one pair has no spread.
    """
    n = tokens.shape[-2]
    if n < 3:
        raise ValueError(f"tokens must be at least 3 to have pairs that differ, got {n}")
    centred = tokens - tokens.mean(dim=-2, keepdim=True)  # less cancellation
    gram = (centred if metric is None else centred @ metric) @ centred.mT
    own = gram.diagonal(dim1=-2, dim2=-1)
    gaps = (own[..., :, None] + own[..., None, :] - 2 * gram).clamp(min=0)
    return gaps * (1 - torch.eye(n, dtype=gaps.dtype))


def pair_variation(squares: Sequence[torch.Tensor]) -> torch.Tensor:
    """std / mean of the roots of symmetric squares (..., n, n) over all pairs i < j of all texts.

    NaN where all are 0.
    """
    # Both halves count alike and the diagonal is 0: whole sums save picking the pairs.
    pairs = sum(s.shape[-1] * (s.shape[-1] - 1) for s in squares)
    mean = torch.stack([s.sqrt().sum(dim=(-2, -1)) for s in squares]).sum(dim=0) / pairs
    square = torch.stack([s.sum(dim=(-2, -1)) for s in squares]).sum(dim=0) / pairs
    return (square - mean.square()).clamp(min=0).sqrt() / mean
