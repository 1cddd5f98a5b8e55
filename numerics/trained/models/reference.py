"""One layer of the transformers library as the reference, run in float64 throughout.

Norms and the eager softmax of that library cast to float32, which would leave 3e-8 in a float64
comparison. The casts are lifted; every other line that runs is the library's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from numerics.trained.models.attention import RotaryTables
from numerics.trained.refusals import Refused, optional_module


class InFloat64(TorchFunctionMode):
    """While entered, a float64 tensor asked to become float32 stays float64."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call `func`, with float32 as a wanted dtype replaced for float64 tensors."""
        kwargs = dict(kwargs or {})
        if args and isinstance(args[0], torch.Tensor) and args[0].dtype == torch.float64:
            if func is torch.Tensor.float:
                return args[0]
            args = tuple(torch.float64 if a is torch.float32 else a for a in args)
            if kwargs.get("dtype") is torch.float32:
                kwargs["dtype"] = torch.float64
        return func(*args, **kwargs)


def implementation(softcap: float | None) -> str:
    """The attention implementation of the reference: sdpa has no soft-cap, eager has."""
    return "sdpa" if softcap is None else "eager"


@dataclass(frozen=True)
class DecoderReference:
    """A transformers decoder layer in eval mode, asked for its attention module and its output.

    `attention_name` is the module's name within the layer; the mask is the library's own.
    """

    module: torch.nn.Module
    attention_name: str
    implementation: str
    window: int | None
    rotary: RotaryTables | None

    def attention_output(self, z: torch.Tensor) -> torch.Tensor:
        """The attention module's output (n, d) for its input z, after W_O with its bias."""
        return self._run(self.module.get_submodule(self.attention_name), z)

    def layer_output(self, x: torch.Tensor) -> torch.Tensor:
        """The whole layer's output (n, d) for its input x."""
        return self._run(self.module, x)

    def _run(self, module: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        options: dict[str, Any] = {"attention_mask": self._mask(len(x))}
        if self.rotary is not None:
            cos, sin = self.rotary(len(x))
            options["position_embeddings"] = (cos[None], sin[None])
        with InFloat64():
            found = module(x[None], **options)
        return (found[0] if isinstance(found, tuple) else found)[0]

    def _mask(self, n: int) -> torch.Tensor:
        """The library's rule of who sees whom, on all pairs: (1, 1, n, n)."""
        masks = optional_module("transformers.masking_utils")
        rule = masks.causal_mask_function
        if self.window is not None:
            rule = masks.sliding_window_causal_mask_function(self.window)
        index = torch.arange(n)
        visible = rule(0, 0, index[:, None], index[None, :]).expand(n, n)[None, None]
        if self.implementation == "sdpa":
            return visible
        barred = torch.full((1, 1, n, n), -torch.inf, dtype=torch.float64)
        return barred.masked_fill(visible, 0.0)


def rotary_tables(module: Any, config: Any, head_dim: int, source: str) -> RotaryTables:
    """The cosines and sines of a transformers rotary module, in float64 from its own float32.

    Raises: Refused for a kind of RoPE scaling that the library does not know or that turns
    only part of a head.
    """
    try:
        rotary = module(config)
    except Exception as error:  # a KeyError for an unknown type, others for missing numbers
        parameters = getattr(config, "rope_parameters", None)
        raise Refused(f"{source}: RoPE {parameters} is not known ({error})") from error
    kept: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    @torch.no_grad()
    def tables(n: int) -> tuple[torch.Tensor, torch.Tensor]:
        if n not in kept:
            kept.clear()
            like = torch.empty(0, dtype=torch.float64)
            cos, sin = rotary(like, torch.arange(n)[None])
            kept[n] = (cos[0], sin[0])
        return kept[n]

    if tables(1)[0].shape[-1] != head_dim:
        raise Refused(f"{source}: RoPE that turns only part of a head's {head_dim} channels")
    return tables


def transformers_config(name: str, module: str, values: Any, source: str) -> Any:
    """The library's configuration object made from the entries of config.json.

    Raises: Refused when the library does not accept them.
    """
    library = optional_module(module)
    try:
        return getattr(library, name).from_dict(dict(values))
    except Exception as error:  # its validation raises many kinds
        raise Refused(f"{source}: transformers does not accept it ({error})") from error
