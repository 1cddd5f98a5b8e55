"""Stress of CW7 and CW11: faults in one side of a cell, and hypotheses that both sides need."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
import torch

from numerics.stress.theorems.depth import Stack
from numerics.stress.theorems.rigidity import Mixture
from tests.numerics.stress.theorems.sides import Faults, drawn

HALF = "bfloat16 float16"
mixture = partial(drawn, "CW7", n=70, d=24, heads=3)
stack = partial(drawn, "CW11", n=40, d=24, heads=3)


def without_a_head(m: Mixture) -> Mixture:
    gates = m.gates.clone()
    gates[1] = 0
    return replace(m, gates=gates)


MIXTURE_FAULTS: dict[str, Callable[[Mixture], Mixture]] = {
    "a head dropped": without_a_head,
    "heads in a wrong order": lambda m: replace(m, order=m.order.flip(0), signs=m.signs.flip(0)),
    "a sign of one head": lambda m: replace(m, signs=m.signs * torch.tensor([[-1], [1], [1]])),
    "gates of another query": lambda m: replace(m, gates=m.gates.roll(1, 1)),
    "pairs counted twice": lambda m: replace(m, gates=m.gates * 2**0.5),
    "pairs counted half": lambda m: replace(m, gates=m.gates / 2**0.5),
    "metric left out": lambda m: replace(
        m, frame=replace(m.frame, stretch=torch.ones_like(m.frame.stretch))
    ),
    "tokens scaled by 1.01": lambda m: replace(m, tokens=m.tokens * 1.01),
}


def changed_layer(s: Stack, **parts: torch.Tensor | float) -> Stack:
    return replace(s, layers=(replace(s.layers[0], **parts), *s.layers[1:]))


def without_a_head_of_the_first(s: Stack) -> Stack:
    w_o = s.layers[0].w_o.clone()
    w_o[1] = 0
    return changed_layer(s, w_o=w_o)


def reversed_layers(s: Stack) -> Stack:
    first, *others = reversed(s.layers)
    return Stack((replace(first, tokens=s.tokens), *others))


def exchanged_transports(s: Stack) -> Stack:
    one, two, *others = s.layers
    return Stack(
        (replace(one, w_v=two.w_v, w_o=two.w_o), replace(two, w_v=one.w_v, w_o=one.w_o), *others)
    )


STACK_FAULTS: dict[str, Callable[[Stack], Stack]] = {
    "layers in reverse": reversed_layers,
    "transports of two layers exchanged": exchanged_transports,
    "a head dropped": without_a_head_of_the_first,
    "heads in a wrong order": lambda s: changed_layer(s, w_o=s.layers[0].w_o.flip(0)),
    "transports transposed": lambda s: changed_layer(
        s, w_v=s.layers[0].w_o.mT, w_o=s.layers[0].w_v.mT
    ),
    "scale missing": lambda s: changed_layer(s, scale=1.0),
    "queries and keys exchanged": lambda s: changed_layer(
        s, query=s.layers[0].key, key=s.layers[0].query
    ),
}
GROSS = ("a head dropped", "heads in a wrong order", "pairs counted half")
FAULTS = [
    Faults(mixture, MIXTURE_FAULTS),
    Faults(mixture, {key: MIXTURE_FAULTS[key] for key in GROSS}, dtypes=HALF, sides="right"),
    Faults(stack, STACK_FAULTS, sides="left"),
    Faults(stack, {"layers in reverse": reversed_layers}, dtypes=HALF, sides="left"),
]


def folded(m: Mixture) -> Mixture:
    """A head that forgets a feature is an isometry of no metric."""
    order = m.order.clone()
    order[0, 0] = order[0, 1]
    return replace(m, order=order)


def heavy(m: Mixture) -> Mixture:
    """Gates that do not sum to 1."""
    return replace(m, gates=m.gates * 1.001)


@pytest.mark.parametrize("change", [folded, heavy])
def test_what_is_false_on_both_sides_is_rejected(change: Callable[[Mixture], Mixture]) -> None:
    assert not mixture("contraction").agree(change, change)


def test_heads_that_coincide_contract_nothing() -> None:
    sides = mixture("contraction", dtype="float64")
    m = sides.inputs
    same = replace(m, order=m.order[:1].expand(3, -1), signs=m.signs[:1].expand(3, -1))
    assert sides.on(same).agree()
    assert not sides.on(same).right().result.any()
    assert bool((sides.right().result > 0).any())


def test_words_of_a_residual_stack_are_not_those_without() -> None:
    """prod (I + W_l) is not prod W_l: side two must pass layers by exactly where side one does."""
    sides = stack("residual")
    words = replace(sides, cell=replace(sides.cell, name="two-layers")).right()
    assert not sides.equal(sides.left(), replace(sides.right(), result=words.result))


@pytest.mark.parametrize(
    ("cell", "words"), [("two-layers", 9), ("three-layers", 27), ("residual", 16)]
)
def test_there_are_as_many_words_as_the_theorem_says(cell: str, words: int) -> None:
    transports = stack(cell).right().transports
    assert transports[-1].shape == (words, 24, 24)


def test_thinned_weights_have_four_entries_a_row_and_column() -> None:
    layer = stack("two-layers").inputs.layers[0]
    for weights in (layer.w_v.transpose(0, 1).flatten(1), layer.w_o.flatten(0, 1)):
        assert (weights != 0).sum(0).tolist() == [4] * 24
        assert (weights != 0).sum(1).tolist() == [4] * 24


@pytest.mark.parametrize("cell", ["two-layers", "three-layers"])
def test_the_bound_of_a_stack_scales_with_its_last_layer(cell: str) -> None:
    """A power of 2 scales every rounding error of both sides, so each side's bound must follow."""
    sides = stack(cell)
    *inner, last = sides.inputs.layers
    louder = Stack((*inner, replace(last, w_o=1024 * last.w_o)))
    (plain,), (loud,) = (found.judged().values() for found in (sides, sides.on(louder)))
    assert plain.entry == loud.entry
    assert loud.residual == 1024 * plain.residual
    assert 1023 < loud.bound / plain.bound < 1025
