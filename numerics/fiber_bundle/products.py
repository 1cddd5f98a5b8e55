"""Scores of geodesic attention as r + 2 products of the size of Q K^T.

With y = x - x_c for a common token c,

    -(1/2) (x_i - x_j)^T G_i (x_i - x_j)
        = -(1/2) y_i^T G_i y_i + (G_i y_i) . y_j - (1/2) D_i . (y_j o y_j) - (1/2) |U_i^T y_j|^2.

The second and third terms are one product of twice the width, [G_i y_i | -D_i / 2] [y_j | y_j o
y_j]^T, the last r products. The form cancels: its error is absolute, a rounding of g osc^2 / 2 with
osc the largest |y|, whatever the distance of the two tokens. Source: RA7.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from numerics.fiber_bundle.metric_field import along, spread

KINDS = ("query", "symmetrised")
# Largest computed score of a token with itself, exactly 0: weights are known to about as much.
LARGEST_ERROR = 2.0**-4


class NoDigits(ArithmeticError):
    """Cancellation or overflow has left no digit of the scores, so no attention is returned."""


@dataclass(frozen=True, eq=False)
class Products:
    """What the scores of N heads are products of.

    own (N, n, 1) = -scale y^T G y / 2; left (N, n, 2 d) = scale [G y | -D / 2]; right (N, n, 2 d) =
    [y | y o y]; columns (N, n, r, d) = U^T, whose products are squared and weighted by scale / 2.
    """

    own: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor
    columns: torch.Tensor
    scale: float

    @classmethod
    def of(cls, centred: torch.Tensor, D: torch.Tensor, U: torch.Tensor, scale: float) -> Products:
        """From centred tokens (N, n, d) and the parts of their metrics (N, n, d), (N, n, d, r).

        Raises NoDigits where a token's score with itself, from these products, is not near 0.
        """
        moved = D * centred + spread(U, along(U, centred))
        own = (moved * centred).sum(-1, keepdim=True) * (-scale / 2)
        left = scale * torch.cat([moved, D * -0.5], -1)
        right = torch.cat([centred, centred * centred], -1)
        # Rows that lie next to each other need no copy in the products of a tile.
        columns = U.mT if U.stride(-2) == 1 else U.mT.contiguous()
        found = cls(own, left, right, columns, scale)
        if not bool((found._with_itself().abs() <= LARGEST_ERROR).all()):
            raise NoDigits(
                f"points must be nearer to each other: {centred.dtype} products leave no digit of "
                "their distances; scale points or metrics, or widen them"
            )
        return found

    def _with_itself(self) -> torch.Tensor:
        """Computed scores s_ii (N, n)."""
        with torch.no_grad():
            seen = (self.columns @ self.right[..., : self.width, None])[..., 0]
            cross = (self.left[..., None, :] @ self.right[..., None])[..., 0, 0]
            return self.own[..., 0] + cross - seen.square().sum(-1) * (self.scale / 2)

    @property
    def rank(self) -> int:
        """Products r besides the first two."""
        return self.columns.shape[2]

    @property
    def width(self) -> int:
        """Width d of a head."""
        return self.columns.shape[-1]

    def rows(self, rows: slice, kind: str) -> torch.Tensor:
        """Scores (N, rows, n) of some queries against all keys, differentiable.

        Symmetrised scores measure by the keys' metrics as well, at twice the cost.
        """
        y, half = self.right[..., : self.width], self.scale / 2
        columns = self.columns.transpose(1, 2)
        scores = self.own[:, rows] + self.left[:, rows] @ self.right.mT
        scores = scores - (columns[:, :, rows] @ y.mT[:, None]).square().sum(1) * half
        if kind == "query":
            return scores
        back = self.own.mT + self.right[:, rows] @ self.left.mT
        back = back - (y[:, None, rows] @ columns.mT).square().sum(1) * half
        return (scores + back) / 2
