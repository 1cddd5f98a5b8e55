"""The parity gate of all layers, before anything is measured; then each layer's identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version

import torch

from numerics.runs import ranks
from numerics.trained.formats.checkpoint import Refused
from numerics.trained.forward import layers
from numerics.trained.measures import identity
from numerics.trained.measures.identity import Parity
from numerics.trained.models.architectures import Layer, Model
from numerics.trained.records import LayerIdentity
from numerics.trained.tokens import Tokens

Advance = Callable[[str], None]


def silent(line: str) -> None:
    """No progress shown."""


def gate_layers(
    model: Model, tokens: Tokens, advance: Advance = silent, depth: int | None = None
) -> dict[int, Parity]:
    """The parity of every layer (the first `depth`) that this rank owns.

    Raises: Refused at the first layer that does not agree with transformers.
    """
    found = {}
    for index, layer, x in layers(model, tokens):
        if depth is not None and index >= depth:
            break
        if ranks.current().owns(index):
            found[index] = gate_layer(index, layer, x)
            advance(f"layer {index}: parity gate passed ({found[index].attention:.1e})")
    return found


def gate_layer(index: int, layer: Layer, x: torch.Tensor) -> Parity:
    """The parity of one layer at its input x (n, d).

    Raises: Refused where it does not agree with transformers.
    """
    try:
        parity = identity.parity(x, layer)
    except ValueError as error:
        raise Refused(f"layer {index}: {error}; nothing is measured") from error
    if not parity.ok:
        raise Refused(
            f"layer {index} fails the parity gate against transformers "
            f"{version('transformers')}: attention module {parity.attention:.2e}, layer "
            f"{parity.layer:.2e}, threshold {identity.PARITY_THRESHOLD:g}; nothing is measured"
        )
    return parity


def identity_record(
    index: int, layer: Layer, x: torch.Tensor, model: Model, parity: Parity, seed: int
) -> LayerIdentity:
    """Parity and identity of one layer at its input x (n, d).

    Raises: Refused where a transport overflows though the module's output does not.
    """
    rows = identity.rows_to_form(len(x), model.d, model.heads, seed, index)
    try:
        found = identity.measure(x, layer, rows)
    except ValueError as error:
        raise Refused(f"layer {index}: {error}") from error
    return LayerIdentity(
        layer=index,
        parity_attention=parity.attention,
        parity_layer=parity.layer,
        **asdict(found),
        ok=found.ok,
    )
