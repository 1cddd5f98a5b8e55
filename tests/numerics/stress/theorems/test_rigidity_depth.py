"""Stress of CW7 and CW11: faults in one side of a cell, and hypotheses that both sides need."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import depth
from numerics.stress.theorems import rigidity as rigid_mixture
from numerics.stress.theorems.depth import Stack
from numerics.stress.theorems.rigidity import Mixture

CPU = torch.device("cpu")


def judge(
    module: Any,
    inputs: Any,
    name: str,
    left: Callable[[Any], Any] = lambda x: x,
    right: Callable[[Any], Any] = lambda x: x,
) -> Comparison:
    """The cell's comparison with each side on inputs of its own, the bound on the honest ones."""
    cell = Cell("", name)  # the theorem is that of the module
    with blockwise.exact_products():
        sides = module.left_side(left(inputs), cell), module.right_side(right(inputs), cell)
        model = precision(inputs.tokens.dtype, CPU)
        (found,) = merged(module.comparisons(inputs, cell, *sides, model))
        return found


def mixture(dtype: torch.dtype = torch.float32) -> Mixture:
    return rigid_mixture.draw(
        Cell("CW7", "contraction", 70, 24, 3, dtype_name(dtype), "cpu", 5), CPU
    )[0]


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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", MIXTURE_FAULTS)
def test_a_fault_in_one_side_of_the_mixture_is_rejected(fault: str, dtype: torch.dtype) -> None:
    m, spoil = mixture(dtype), MIXTURE_FAULTS[fault]
    assert judge(rigid_mixture, m, "contraction").ok
    assert not judge(rigid_mixture, m, "contraction", left=spoil).ok
    assert not judge(rigid_mixture, m, "contraction", right=spoil).ok


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gross_faults_in_the_mixture_are_rejected_in_half_precision(dtype: torch.dtype) -> None:
    for fault in ("a head dropped", "heads in a wrong order", "pairs counted half"):
        spoil = MIXTURE_FAULTS[fault]
        assert not judge(rigid_mixture, mixture(dtype), "contraction", right=spoil).ok, fault


def test_the_mixture_needs_heads_that_are_isometries() -> None:
    """A head that forgets a feature is an isometry of no metric."""
    m = mixture()
    order = m.order.clone()
    order[0, 0] = order[0, 1]
    folded = replace(m, order=order)
    assert not judge(rigid_mixture, m, "contraction", lambda _: folded, lambda _: folded).ok


def test_the_mixture_needs_gates_that_sum_to_one() -> None:
    m = mixture()
    heavy = replace(m, gates=m.gates * 1.001)
    assert not judge(rigid_mixture, m, "contraction", lambda _: heavy, lambda _: heavy).ok


def test_heads_that_coincide_contract_nothing() -> None:
    m = mixture(torch.float64)
    same = replace(m, order=m.order[:1].expand(3, -1), signs=m.signs[:1].expand(3, -1))
    assert judge(rigid_mixture, same, "contraction").ok
    assert not rigid_mixture.right_side(same, Cell("CW7", "contraction")).result.any()
    assert bool((rigid_mixture.right_side(m, Cell("CW7", "contraction")).result > 0).any())


def stack(cell: str, dtype: torch.dtype = torch.float32) -> Stack:
    return depth.draw(Cell("CW11", cell, 40, 24, 3, dtype_name(dtype), "cpu", 5), CPU)[0]


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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", STACK_FAULTS)
@pytest.mark.parametrize("cell", depth.CELLS)
def test_a_fault_in_one_side_of_the_stack_is_rejected(
    cell: str, fault: str, dtype: torch.dtype
) -> None:
    s = stack(cell, dtype)
    assert judge(depth, s, cell).ok
    found = judge(depth, s, cell, left=STACK_FAULTS[fault])
    assert found.finite
    assert not found.ok, found


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("cell", depth.CELLS)
def test_layers_in_reverse_are_rejected_in_half_precision(cell: str, dtype: torch.dtype) -> None:
    assert not judge(depth, stack(cell, dtype), cell, left=reversed_layers).ok


def test_words_of_a_residual_stack_are_not_those_without() -> None:
    """prod (I + W_l) is not prod W_l: side two must pass layers by exactly where side one does."""
    s = stack("residual")
    with blockwise.exact_products():
        layered, words = (
            depth.left_side(s, Cell("CW11", "residual")),
            depth.right_side(s, Cell("CW11", "two-layers")),
        )
        other = depth.right_side(s, Cell("CW11", "residual"))
        wrong = replace(other, result=words.result)
        model = precision(torch.float32, CPU)
        (found,) = merged(depth.comparisons(s, Cell("CW11", "residual"), layered, wrong, model))
    assert not found.ok


@pytest.mark.parametrize(
    ("cell", "words"), [("two-layers", 9), ("three-layers", 27), ("residual", 16)]
)
def test_there_are_as_many_words_as_the_theorem_says(cell: str, words: int) -> None:
    transports = depth.right_side(stack(cell), Cell("CW11", cell)).transports
    assert transports[-1].shape == (words, 24, 24)


def test_thinned_weights_have_four_entries_a_row_and_column() -> None:
    layer = stack("two-layers").layers[0]
    for weights in (layer.w_v.transpose(0, 1).flatten(1), layer.w_o.flatten(0, 1)):
        assert (weights != 0).sum(0).tolist() == [4] * 24
        assert (weights != 0).sum(1).tolist() == [4] * 24


@pytest.mark.parametrize("cell", ["two-layers", "three-layers"])
def test_the_bound_of_a_stack_scales_with_its_last_layer(cell: str) -> None:
    """A power of 2 scales every rounding error of both sides, so each side's bound must follow."""
    s = stack(cell)
    *inner, last = s.layers
    louder = Stack((*inner, replace(last, w_o=1024 * last.w_o)))
    plain, loud = judge(depth, s, cell), judge(depth, louder, cell)
    assert plain.entry == loud.entry
    assert loud.residual == 1024 * plain.residual
    assert 1023 < loud.bound / plain.bound < 1025
