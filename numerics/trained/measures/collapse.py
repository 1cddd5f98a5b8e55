"""How far tokens are apart after each layer: of the model, and of its attention alone.

Satisfies, for tokens X (n, d) with mean m:
  relative  |X - 1 m| / |X| (Frobenius) in [0, 1], 0 iff all tokens are one;
  osc       max_ij |x_i - x_j|;   from_first  max_i |x_i - x_1|;
  bound     osc(Y) <= sum_h ||T^h|| tau(A^h) osc(X) for Y = sum_h A^h X T^h + b (RA11), tau the
            Dobrushin coefficient; causal: from_first, with 1 - min_i A^h_i1 in the place of tau
            (RA17).
A factor above 1 bounds nothing: VACUOUS. Pure stacks have no skip and no MLP: `normed` keeps the
norm that precedes attention (post-norm models: a LayerNorm without gain after it), `bare` has no
norm, `frozen` is bare with the patterns of the real model.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import torch

from numerics.collapse.oscillation import contraction, dobrushin, osc, score_spread
from numerics.trained.measures.identity import walk_offset
from numerics.trained.measures.transports import singular_values
from numerics.trained.models.architectures import Layer
from numerics.trained.models.attention import AttentionWeights, attention_pattern

STACKS = ("normed", "bare", "frozen")
MEASURES = ("relative", "osc", "from_first", "floor")
BOUNDED_MEASURES = (*MEASURES, "factor", "spread_factor", "bound")  # of the bare and frozen stacks
LARGEST = 1e100  # of a bare stack's entries: beyond, squares overflow
FLOOR = 8 * 2.0**-53
EPS = 1e-12


def spread_of(x: torch.Tensor, sinks: Collection[int] = ()) -> dict[str, float]:
    """relative, osc, from_first and the floor of osc by rounding, of the tokens that are no sinks.

    Raises: ValueError for no token or tokens not finite.
    """
    kept = x[[i for i in range(len(x)) if i not in sinks]]
    if not len(kept):
        raise ValueError(f"x must have tokens besides the sinks, got {len(x)} in all")
    size = kept.norm().item()
    apart = (kept - kept.mean(dim=0)).norm().item()
    return {
        "relative": apart / size if size else 0.0,
        "osc": osc(kept).item(),
        "from_first": (kept - kept[0]).norm(dim=1).max().item(),
        "floor": FLOOR * size,
    }


def factor(pattern: torch.Tensor, norms: torch.Tensor, causal: bool) -> float:
    """What a layer can leave of osc (of from_first where causal), for A (H, n, n), ||T^h|| (H,).

    Source: RA11, RA17.
    """
    if causal:
        shares = 1 - pattern[:, :, 0].amin(dim=1)
    else:
        shares = torch.stack([dobrushin(A) for A in pattern])
    return (norms * shares).sum().item()


def spread_factor(pattern: torch.Tensor, norms: torch.Tensor) -> float:
    """The weaker sum_h ||T^h|| tanh(Delta_h / 4), Delta_h from log A^h; sum_h ||T^h|| at a zero.

    Source: RA11; a causal row has an infinite spread, so that nothing is left of the form there.
    """
    if not bool((pattern > 0).all()):
        return norms.sum().item()
    return contraction(norms, score_spread(pattern.log()).difference).item()


def transport_norms(weights: AttentionWeights) -> torch.Tensor:
    """Operator norms ||T^h|| (H,)."""
    return singular_values(weights.w_v, weights.w_o)[:, 0]


@dataclass
class Stacks:
    """The three pure stacks of one text, moved layer by layer, and their bounds.

    `bounds` are the running products of factors from the tokens that entered layer 0; a stack
    whose entries leave float64's useful range has ended and is None.
    """

    causal: bool
    state: dict[str, torch.Tensor | None] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)

    def start(self, x: torch.Tensor) -> None:
        """Tokens (n, d) entering layer 0."""
        start = spread_of(x)["from_first" if self.causal else "osc"]
        self.state = dict.fromkeys(STACKS, x)
        self.bounds = {"bare": start, "frozen": start}

    def advance(
        self, layer: Layer, weights: AttentionWeights, real: torch.Tensor, norms: torch.Tensor
    ) -> dict[str, dict[str, float] | None]:
        """Through one layer whose patterns in the real model are `real` (H, n, n).

        Returns: for each stack `spread_of`, with the factor and the running bound where RA11
        gives one, or None where it has ended.
        """
        found: dict[str, dict[str, float] | None] = {}
        for name in STACKS:
            x = self.state[name]
            if x is None:
                found[name] = None
                continue
            z = layer.attention_input(x) if name == "normed" else x
            pattern = real if name == "frozen" else attention_pattern(z, weights)
            moved = (pattern @ (z @ weights.w_v) @ weights.w_o).sum(dim=0)
            y = moved + walk_offset(pattern, weights)
            if name == "normed" and layer.value_fold() is None:
                y = gainless_norm(y)
            ended = not bool(torch.isfinite(y).all()) or y.abs().max().item() > LARGEST
            self.state[name] = None if ended else y
            bound = self._bound(name, pattern, norms)
            found[name] = None if ended else {**spread_of(y), **bound}
        return found

    def _bound(self, name: str, pattern: torch.Tensor, norms: torch.Tensor) -> dict[str, float]:
        if name not in self.bounds:
            return {}
        share = factor(pattern, norms, self.causal)
        self.bounds[name] *= share
        weaker = spread_factor(pattern, norms)
        return {"factor": share, "spread_factor": weaker, "bound": self.bounds[name]}


def gainless_norm(x: torch.Tensor) -> torch.Tensor:
    """LayerNorm of tokens (n, d) without gain and bias."""
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), eps=EPS)
