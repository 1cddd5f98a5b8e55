"""Blocks, devices and the two products of the walk, on numbers where every operation is exact."""

import pytest
import torch

from numerics import blockwise

CPU = torch.device("cpu")


@pytest.mark.parametrize("n", [1, 7, 63, 100])
def test_blocks_cover_every_row_once(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 40)
    slices = list(blockwise.row_blocks(n, 5, CPU))
    covered = [row for rows in slices for row in range(n)[rows]]
    assert covered == list(range(n))
    assert max(rows.stop - rows.start for rows in slices) <= 8


def test_a_row_wider_than_a_block_is_a_block_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 4)
    assert list(blockwise.row_blocks(2, 100, CPU)) == [slice(0, 1), slice(1, 2)]


def test_empty_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match="n and row_entries must be positive, got 0 and 3"):
        list(blockwise.row_blocks(0, 3, CPU))


@pytest.mark.parametrize("name", ["tpu", "cuda:", "cuda:x", "cpu:0", "mps:1", ""])
def test_unknown_devices_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected cpu, cuda, cuda:K or mps"):
        blockwise.open_device(name)


@pytest.mark.parametrize("name", ["cuda", "cuda:3"])
def test_an_absent_device_is_not_bad_usage(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(blockwise.AbsentDevice, match="no CUDA device"):
        blockwise.open_device(name)


def test_a_cuda_index_beyond_the_last_device_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(blockwise.AbsentDevice, match="has 2 CUDA devices, not cuda:2"):
        blockwise.open_device("cuda:2")


def fail_inside(seen: list[object]) -> None:
    with blockwise.exact_products():
        matmul = torch.backends.cuda.matmul
        seen += [
            torch.get_float32_matmul_precision(),
            torch.is_grad_enabled(),
            matmul.allow_bf16_reduced_precision_reduction,
        ]
        raise KeyError("planted")


def test_precision_settings_are_restored_after_a_failure() -> None:
    before, seen = torch.get_float32_matmul_precision(), []
    torch.set_float32_matmul_precision("high")
    try:
        with pytest.raises(KeyError, match="planted"):
            fail_inside(seen)
        assert seen == ["highest", False, False]
        assert torch.get_float32_matmul_precision() == "high"
        assert torch.is_grad_enabled()
    finally:
        torch.set_float32_matmul_precision(before)


def dyadic_heads() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Two heads, one query, three keys; edge 0 is in head 1 only, edge 2 in neither."""
    attention = torch.tensor([[[0.0, 1.0, 0.0]], [[0.5, 0.5, 0.0]]])
    head_weights = torch.tensor([0.5, 1.0])
    carried = torch.tensor([[[1.0, 2], [3, 4], [5, 6]], [[8.0, 16], [24, 32], [40, 48]]])
    return attention, head_weights, carried


def test_gates_are_zero_off_the_support_of_the_walk() -> None:
    attention, head_weights, _ = dyadic_heads()
    walk, gates = blockwise.walk_and_gates(attention, head_weights)
    assert walk.tolist() == [[0.5, 1.0, 0.0]]
    assert gates.tolist() == [[[0.0, 0.5, 0.0]], [[1.0, 0.5, 0.0]]]


@pytest.mark.parametrize("product", [blockwise.gated_product, blockwise.edge_product])
@pytest.mark.parametrize("dtype", list(blockwise.DTYPES.values()))
def test_both_products_are_the_sum_of_the_heads(product, dtype: torch.dtype) -> None:
    attention, head_weights, carried = dyadic_heads()
    wide = blockwise.accumulation_dtype(dtype)
    walk, gates = blockwise.walk_and_gates(attention.to(wide), head_weights.to(wide))
    result = product(walk, gates, head_weights.to(wide), carried.to(dtype))
    expected = attention[0] @ carried[0] + attention[1] @ carried[1]
    assert result.dtype == dtype
    assert torch.equal(result.to(torch.float32), expected)


def test_softmax_rows_of_equal_scores_are_uniform() -> None:
    query, key = torch.zeros(2, 3, 4), torch.ones(2, 8, 4)
    uniform = torch.full((2, 3, 8), 1 / 8)
    # log 8 is rounded, by at most half an ulp of 2, before exp undoes it within an ulp or two.
    difference = (blockwise.softmax_rows(query, key, 0.5) - uniform).abs().max()
    assert float(difference) <= 4 * torch.finfo(torch.float32).eps / 8


def test_softmax_rows_survive_scores_that_overflow_exp() -> None:
    query, key = torch.full((1, 1, 1), 1e4), torch.tensor([[[1.0], [-1.0], [0.5]]])
    assert blockwise.softmax_rows(query, key, 1.0).tolist() == [[[1.0, 0.0, 0.0]]]


def test_mixed_dtypes_are_refused() -> None:
    query, key = torch.zeros(1, 2, 3), torch.zeros(1, 2, 3, dtype=torch.float64)
    with pytest.raises(TypeError, match="expected one dtype"):
        blockwise.softmax_rows(query, key, 1.0)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((2, 4, 5), "do not fit together"), ((3, 4, 3), "with one H"), ((4, 3), "with one H")],
)
def test_keys_of_a_wrong_shape_are_refused(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        blockwise.softmax_rows(torch.zeros(2, 1, 3), torch.zeros(shape), 1.0)


def test_values_that_do_not_match_the_keys_are_refused() -> None:
    query, value = torch.zeros(1, 2, 3), torch.zeros(1, 4, 5)
    with pytest.raises(ValueError, match="do not fit together"):
        blockwise.library_attention(query, query, value, 1.0)


def test_one_weight_a_head_is_required() -> None:
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(3,\)"):
        blockwise.walk_and_gates(torch.zeros(2, 1, 4), torch.ones(3))
