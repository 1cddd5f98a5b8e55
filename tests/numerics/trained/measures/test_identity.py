"""The walk forms of one attention module, and the faults that gate and identity must catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from numerics.trained.formats.checkpoint import open_checkpoint
from numerics.trained.forward import layers
from numerics.trained.measures import identity
from numerics.trained.models.architectures import Layer, open_model
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.models.bert import BertLayer
from numerics.trained.tokens import read_text, tokenise
from numerics.walks import multi_head_walk

# Sums of at most 100 products at u = 1.1e-16, without cancellation to speak of: about 1e-14.
# A wrong term is of order one.
ROUNDING = 1e-13


def draw(heads: int, n: int, m: int, d: int, seed: int) -> tuple[torch.Tensor, ...]:
    """Pattern (H, n, m) with zeros and one fully masked row, transports (H, d, d), x (m, d)."""
    generator = torch.Generator().manual_seed(seed)
    pattern = torch.rand((heads, n, m), generator=generator, dtype=torch.float64)
    pattern = torch.where(pattern < 0.3, 0.0, pattern)
    pattern[:, n // 2] = 0
    transports = torch.randn((heads, d, d), generator=generator, dtype=torch.float64)
    return pattern, transports, torch.randn((m, d), generator=generator, dtype=torch.float64)


def inputs(directory: Path, text: Path) -> list[tuple[Layer, torch.Tensor]]:
    """Every layer of a checkpoint with its input."""
    checkpoint = open_checkpoint(directory)
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, read_text(text), model.positions)
    return [(layer, x) for _, layer, x in layers(model, tokens)]


@pytest.mark.parametrize("block_bytes", [1, 1000, 2**22])
@pytest.mark.parametrize(("heads", "n", "m", "d"), [(1, 5, 3, 2), (2, 3, 7, 5), (4, 6, 1, 3)])
def test_both_walk_forms_are_the_sum_over_heads(
    heads: int, n: int, m: int, d: int, block_bytes: int
) -> None:
    pattern, transports, x = draw(heads, n, m, d, seed=heads)
    expected = (pattern @ (x @ transports.mT)).sum(dim=0)
    for form in (identity.edge_walk, identity.formed_walk):
        found = form(pattern, transports, x, block_bytes)
        error = identity.relative_error(found, expected)
        assert error < ROUNDING, f"{form.__name__} is off by {error}: {found - expected}"
        assert bool((found[n // 2] == 0).all()), f"masked row gave {found[n // 2]}"


def test_formed_matrices_are_the_transports_of_multi_head_walk() -> None:
    pattern, transports, x = draw(3, 4, 6, 5, seed=11)
    expected = multi_head_walk(pattern, transports).apply(x)
    found = identity.formed_walk(pattern, transports, x)
    assert identity.relative_error(found, expected) < ROUNDING, f"{found} is not {expected}"


def test_a_walk_by_hand_is_exact() -> None:
    pattern = torch.tensor([[[1.0, 0.0]], [[0.5, 0.5]]], dtype=torch.float64)
    transports = torch.tensor([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [4.0, 0.0]]]).double()
    x = torch.tensor([[1.0, 3.0], [5.0, 7.0]], dtype=torch.float64)
    # 1 T^1 x_1 + (T^2 x_1 + T^2 x_2) / 2 = (2, 3) + ((3, 4) + (7, 20)) / 2 = (7, 15)
    expected = torch.tensor([[7.0, 15.0]], dtype=torch.float64)
    for form in (identity.edge_walk, identity.formed_walk):
        found = form(pattern, transports, x)
        # Thirds enter through the gates 2/3 and 1/3, so the last bit may differ.
        assert identity.relative_error(found, expected) < 4 * 2**-52, f"{form.__name__}: {found}"


def test_value_bias_of_a_killed_walk_shifts_by_row_sums() -> None:
    eye, zero = torch.eye(2, dtype=torch.float64)[None], torch.zeros((1, 2, 2)).double()
    none = torch.zeros((1, 2), dtype=torch.float64)
    bias = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    weights = AttentionWeights(zero, none, zero, none, eye, bias, eye, none[0], 1.0)
    pattern = torch.tensor([[[0.6, 0.3], [0.2, 0.5]]], dtype=torch.float64)
    found = identity.walk_offset(pattern, weights)
    expected = torch.tensor([[0.9, 1.8], [0.7, 1.4]], dtype=torch.float64)
    assert identity.relative_error(found, expected) < 4 * 2**-52, f"{found} is not {expected}"


def test_one_head_is_its_own_surrogate_and_three_are_not(
    make_bert: Callable[..., Path], text: Path
) -> None:
    for heads in (1, 3):
        directory = make_bert(f"heads{heads}", num_attention_heads=heads)
        for layer, x in inputs(directory, text):
            found = identity.measure(x, layer, torch.arange(len(x)))
            assert found.ok, f"H = {heads}: {found}"
            missed = found.surrogate > 0.1
            assert missed == (heads > 1), f"H = {heads}: surrogate error {found.surrogate}"


FAULTY_WEIGHTS: dict[str, Callable[[AttentionWeights], AttentionWeights]] = {
    "dropped value bias": lambda w: replace(w, b_v=torch.zeros_like(w.b_v)),
    "dropped output bias": lambda w: replace(w, b_o=torch.zeros_like(w.b_o)),
    "dropped query bias": lambda w: replace(w, b_q=torch.zeros_like(w.b_q)),
    "missing 1/sqrt(d_k)": lambda w: replace(w, scale=1.0),
    "scale by d instead of d_k": lambda w: replace(w, scale=w.w_q.shape[1] ** -0.5),
    "scale applied twice": lambda w: replace(w, scale=w.scale**2),
    "W_V and W_K exchanged": lambda w: replace(w, w_v=w.w_k, w_k=w.w_v),
    "queries and keys exchanged": lambda w: replace(w, w_q=w.w_k, b_q=w.b_k, w_k=w.w_q, b_k=w.b_q),
    "heads of W_O swapped": lambda w: replace(w, w_o=w.w_o.roll(1, dims=0)),
    "W_Q transposed": lambda w: replace(w, w_q=w.w_q.permute(0, 2, 1).reshape(w.w_q.shape)),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTY_WEIGHTS)
def test_gate_rejects_faulty_weights(
    fault: str, tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = inputs(tiny, text)
    right = BertLayer.attention
    monkeypatch.setattr(BertLayer, "attention", lambda self: FAULTY_WEIGHTS[fault](right(self)))
    for layer, x in sound:
        found = identity.parity(x, layer)
        assert not found.ok, f"{fault} passed the gate: {found}"
        assert found.attention > 1e-3, f"{fault} left only {found.attention}"


def test_gate_compares_the_rest_of_the_layer_too(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = inputs(tiny, text)
    right = BertLayer.after_attention
    monkeypatch.setattr(
        BertLayer, "after_attention", lambda self, x, y: right(self, torch.zeros_like(x), y)
    )
    for layer, x in sound:
        found = identity.parity(x, layer)
        assert not found.ok, f"a dropped residual passed the gate: {found}"
        assert found.attention < identity.PARITY_THRESHOLD, f"attention was blamed: {found}"


FAULTY_WALKS: dict[str, tuple[str, Callable[..., torch.Tensor]]] = {
    "transports transposed": ("head_transports", lambda w_v, w_o: w_v @ w_o),
    "heads swapped": ("head_transports", lambda w_v, w_o: (w_v @ w_o).mT.roll(1, dims=0)),
    "factor H missing": ("head_transports", lambda w_v, w_o: (w_v @ w_o).mT / len(w_v)),
    "values moved by another head's W_O": (
        "head_transports",
        lambda w_v, w_o: (w_v @ w_o.roll(1, dims=0)).mT,
    ),
    "uniform gates": ("gates", lambda pattern: torch.full_like(pattern, 1 / len(pattern))),
    "value bias left out of the offset": (
        "walk_offset",
        lambda pattern, w: w.b_o.expand(pattern.shape[1], -1),
    ),
    "output bias counted once a head": (
        "walk_offset",
        lambda pattern, w, right=identity.walk_offset: (
            right(pattern, w) + (len(pattern) - 1) * w.b_o
        ),
    ),
    "walk against time": (
        "attention_pattern",
        lambda x, w, right=identity.attention_pattern: right(x, w).mT,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTY_WALKS)
def test_identity_rejects_faulty_walks(
    fault: str, tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = inputs(tiny, text)
    name, wrong = FAULTY_WALKS[fault]
    monkeypatch.setattr(identity, name, wrong)
    for layer, x in sound:
        found = identity.measure(x, layer, torch.arange(len(x)))
        assert not found.ok, f"{fault} passed: {found}"
        assert min(found.edges, found.matrices) > 1e-3, f"{fault} left only {found}"


def test_each_form_of_the_identity_can_fail_alone(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (layer, x), *_ = inputs(tiny, text)
    for form in ("edge_walk", "formed_walk"):
        with monkeypatch.context() as patch:
            right = getattr(identity, form)
            patch.setattr(identity, form, lambda *a, right=right: right(*a) * (1 + 1e-9))
            found = identity.measure(x, layer, torch.arange(len(x)))
            assert not found.ok, f"{form} off by 1e-9 passed: {found}"


def test_a_fault_in_one_formed_row_is_seen(
    tiny: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (layer, x), *_ = inputs(tiny, text)
    right = identity.formed_walk

    def wrong(pattern: torch.Tensor, transports: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        out = right(pattern, transports, x)
        out[1] += 1e-9
        return out

    monkeypatch.setattr(identity, "formed_walk", wrong)
    found = identity.measure(x, layer, torch.tensor([0, 4]))
    assert (found.rows_formed, found.ok) == (2, False), f"row 4 was spoilt, found {found}"


def test_relative_error_of_independent_vectors_is_of_order_one() -> None:
    generator = torch.Generator().manual_seed(3)
    a, b = torch.rand((2, 9, 4), generator=generator, dtype=torch.float64)
    assert identity.relative_error(a, b) > 0.2, f"{a} passes for {b}"
    assert identity.relative_error(3 * a, a) == pytest.approx(2, rel=2**-50, abs=0)


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        ([[3.0, 0.0], [0.0, 1.0]], [[0.0, 3.0], [0.0, 1.0]], 2**0.5),  # equal norms, turned
        ([[4.0, 0.0], [0.0, 2.0]], [[4.0, 0.0], [0.0, 1.0]], 0.25),  # wrong in a small row only
        ([[4.0, 0.0], [0.0, 1.0]], [[4.0, 0.0], [0.0, 1.0]], 0.0),
    ],
)
def test_relative_error_by_hand(
    found: list[list[float]], expected: list[list[float]], error: float
) -> None:
    value = identity.relative_error(torch.tensor(found).double(), torch.tensor(expected).double())
    assert value == pytest.approx(error, rel=2**-51, abs=0), f"{found} against {expected}: {value}"


def test_relative_error_refuses_what_it_cannot_compare() -> None:
    one, nan = torch.ones((2, 3)), torch.full((2, 3), float("nan"))
    with pytest.raises(ValueError, match="found has shape"):
        identity.relative_error(torch.ones((1, 3)), one)
    with pytest.raises(ValueError, match="found holds NaN"):
        identity.relative_error(nan, one)
    with pytest.raises(ValueError, match="expected holds NaN"):
        identity.relative_error(one, nan)
    with pytest.raises(ValueError, match="zero at every token"):
        identity.relative_error(one, 0 * one)


def test_all_rows_are_formed_where_affordable_and_a_seeded_sample_elsewhere() -> None:
    assert identity.rows_to_form(129, 384, 12, seed=0, layer=3).tolist() == list(range(129))
    sample = identity.rows_to_form(512, 4096, 32, seed=0, layer=3)
    again = identity.rows_to_form(512, 4096, 32, seed=0, layer=3)
    other = identity.rows_to_form(300, 384, 12, seed=0, layer=4)
    assert sample.tolist() == again.tolist()
    assert 0 < len(other) < 300
    assert other.tolist() == sorted(set(other.tolist())), f"{other} repeats or is not sorted"
