"""Attention as a connection walk on a torch device, in blocks of queries.

Nothing here allocates n x n x d, and n x n only for the rows of one block: memory grows linearly
with n at a fixed block. The walk is formed by code of its own (scores, log-sum-exp, gates), so that
it can be compared with torch's `scaled_dot_product_attention`.

Shapes use the symbols of the papers: H heads, n queries, m keys, d model width, d_k key width,
d_v value width, B rows of a block. Half precisions are stored as such and accumulated in float32.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

# Entries (heads x rows x keys) of one block: small enough for a processor's cache hierarchy, large
# enough to fill an accelerator.
CPU_BLOCK = 2**22
ACCELERATOR_BLOCK = 2**28

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


class AbsentDevice(RuntimeError):
    """The device that was asked for is not on this machine."""


def check_device_name(name: str) -> None:
    """Raises ValueError unless `name` is cpu, cuda, cuda:K or mps."""
    if not re.fullmatch(r"cpu|cuda(:[0-9]+)?|mps", name):
        raise ValueError(f"device: expected cpu, cuda, cuda:K or mps, got {name!r}")


def open_device(name: str) -> torch.device:
    """The torch device called `cpu`, `cuda`, `cuda:K` or `mps`.

    Raises ValueError for any other name, AbsentDevice when the machine has no such device.
    """
    check_device_name(name)
    kind, _, index = name.partition(":")
    if kind == "cuda" and not torch.cuda.is_available():
        raise AbsentDevice("torch finds no CUDA device on this machine")
    if kind == "cuda" and index and int(index) >= torch.cuda.device_count():
        raise AbsentDevice(f"this machine has {torch.cuda.device_count()} CUDA devices, not {name}")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise AbsentDevice("torch finds no MPS device on this machine")
    return torch.device(name)


def gpu_name(name: str = "cuda") -> str | None:
    """What a CUDA device calls itself; None for any other, and where this machine has it not.

    Raises ValueError as `open_device`.
    """
    try:
        device = open_device(name)
    except AbsentDevice:
        return None
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None


def accumulation_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype sums are carried in: float32 for the half precisions, else `dtype` itself."""
    return torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype


def drawing_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype inputs are drawn in before they are stored as `dtype`: float64, or float32.

    In float64 products of float32 numbers would be exact, and show nothing of a bound.
    """
    return torch.float64 if dtype == torch.float64 else torch.float32


@contextlib.contextmanager
def exact_products() -> Iterator[None]:
    """Switches off gradients, TF32 and reduced-precision sums, and restores the settings after.

    The rounding bounds assume products of the stored numbers, summed in the accumulation dtype.
    """
    cuda = torch.backends.cuda
    switches = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
    before = {switch: getattr(cuda.matmul, switch) for switch in switches}
    precision = torch.get_float32_matmul_precision()
    math_reduction = cuda.fp16_bf16_reduction_math_sdp_allowed()
    try:
        torch.set_float32_matmul_precision("highest")
        cuda.allow_fp16_bf16_reduction_math_sdp(False)
        for switch in switches:
            setattr(cuda.matmul, switch, False)
        with torch.no_grad():
            yield
    finally:
        torch.set_float32_matmul_precision(precision)
        cuda.allow_fp16_bf16_reduction_math_sdp(math_reduction)
        for switch, value in before.items():
            setattr(cuda.matmul, switch, value)


def row_blocks(n: int, row_entries: int, device: torch.device) -> Iterator[slice]:
    """Slices that cover n rows, each holding about a block's worth of `row_entries` per row.

    Raises ValueError unless n and row_entries are positive.
    """
    if n < 1 or row_entries < 1:
        raise ValueError(f"n and row_entries must be positive, got {n} and {row_entries}")
    budget = CPU_BLOCK if device.type == "cpu" else ACCELERATOR_BLOCK
    rows = max(1, budget // row_entries)
    for start in range(0, n, rows):
        yield slice(start, min(start + rows, n))


def library_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float
) -> torch.Tensor:
    """Softmax attention of every head by torch's own kernel, shapes (H, n, d_k), (H, m, d_k),
    (H, m, d_v) -> (H, n, d_v).

    Raises ValueError when the shapes do not fit together, TypeError for mixed dtypes.
    """
    _check_heads(query, key, value)
    # On CUDA the fused float32 kernels may split a product into TF32 parts, which no bound covers.
    exact = query.is_cuda and query.dtype in (torch.float32, torch.float64)
    backends = [SDPBackend.MATH] if exact else None
    heads, n, _ = query.shape
    result = query.new_empty(heads, n, value.shape[2])
    with sdpa_kernel(backends) if backends else contextlib.nullcontext():
        for rows in row_blocks(n, heads * key.shape[1], query.device):
            block = query[None, :, rows]
            result[:, rows] = functional.scaled_dot_product_attention(
                block, key[None], value[None], scale=scale
            )[0]
    return result


def softmax_rows(query: torch.Tensor, key: torch.Tensor, scale: float) -> torch.Tensor:
    """Attention weights exp(s - log-sum-exp s) of a block, shapes (H, B, d_k), (H, m, d_k) ->
    (H, B, m) in the accumulation dtype.

    Raises ValueError when the shapes do not fit together, TypeError for mixed dtypes.
    """
    _check_heads(query, key)
    wide = accumulation_dtype(query.dtype)
    scores = torch.matmul(query.to(wide), key.to(wide).mT).mul_(scale)
    peak = scores.amax(-1, keepdim=True)
    log_total = (scores - peak).exp_().sum(-1, keepdim=True).log_().add_(peak)
    return scores.sub_(log_total).exp_()


def walk_and_gates(
    attention: torch.Tensor, head_weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Walk matrix P = sum_h w_h A^h (B, m) and gates g^h = w_h A^h / P (H, B, m), 0 where P is 0.

    `attention` is (H, B, m), `head_weights` (H,), positive. Source: CW2.
    Raises ValueError when the shapes do not fit together.
    """
    if head_weights.shape != attention.shape[:1]:
        raise ValueError(
            f"head_weights: expected shape {tuple(attention.shape[:1])}, "
            f"got {tuple(head_weights.shape)}"
        )
    weighted = attention * head_weights[:, None, None]
    walk = weighted.sum(0)
    # Off the support every numerator is 0: dividing by 1 gives the gate 0, never 0/0.
    gates = weighted.div_(walk.masked_fill(walk == 0, 1))
    return walk, gates


def gated_product(
    walk: torch.Tensor, gates: torch.Tensor, head_weights: torch.Tensor, carried: torch.Tensor
) -> torch.Tensor:
    """Rows of the walk by one product [P o g / w] (B, H m) times [T^h x_j] (H m, d) -> (B, d).

    `walk` is (B, m), `gates` (H, B, m), `head_weights` (H,), `carried` (H, m, d) holds T^h x_j in
    the storage dtype, to which the coefficients are rounded. Source: CW2, regrouped.
    """
    heads, rows, keys = gates.shape
    coefficients = carried.new_empty(rows, heads, keys)
    torch.div(walk * gates, head_weights[:, None, None], out=coefficients.transpose(0, 1))
    return stored_product(coefficients.flatten(1), carried.flatten(0, 1))


def edge_product(
    walk: torch.Tensor, gates: torch.Tensor, head_weights: torch.Tensor, carried: torch.Tensor
) -> torch.Tensor:
    """Rows of the walk edge by edge, sum_j P_ij (sum_h g^h_ij T^h x_j / w_h), shapes as in
    `gated_product`; holds (m, B, d) numbers of one block.

    Source: CW2, with the action of T_ij formed literally.
    """
    mixture = (gates / head_weights[:, None, None]).permute(2, 1, 0)
    edges = torch.bmm(mixture, carried.to(walk.dtype).transpose(0, 1))
    return torch.einsum("bj,jbd->bd", walk, edges).to(carried.dtype)


def stored_product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The matrix product of two arrays of one dtype, accumulated wide and rounded once.

    On a CPU the half precisions are widened first: torch's own half product there is about fifty
    times slower and rounds no better.
    """
    if left.device.type == "cpu" and accumulation_dtype(left.dtype) != left.dtype:
        wide = accumulation_dtype(left.dtype)
        return (left.to(wide) @ right.to(wide)).to(left.dtype)
    return left @ right


def pairwise_sum(terms: torch.Tensor) -> torch.Tensor:
    """The sum over the last axis by halving it: every term meets ceil(log2 k) roundings, not k.

    Source: Higham 2002, section 4.2.
    """
    while (k := terms.shape[-1]) > 1:
        half = k // 2
        folded = terms[..., :half] + terms[..., half : 2 * half]
        terms = torch.cat([folded, terms[..., 2 * half :]], -1) if k % 2 else folded
    return terms.squeeze(-1)


def _check_heads(query: torch.Tensor, *others: torch.Tensor) -> None:
    """Raises unless the arrays are (H, ., .) of one dtype, with fitting key and value shapes."""
    shapes = [tuple(array.shape) for array in (query, *others)]
    if any(array.dtype != query.dtype for array in others):
        raise TypeError(f"expected one dtype, got {[query.dtype, *(a.dtype for a in others)]}")
    if any(len(shape) != 3 or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"expected arrays (H, rows, width) with one H, got shapes {shapes}")
    if shapes[0][2] != shapes[1][2] or any(shape[1] != shapes[1][1] for shape in shapes[2:]):
        raise ValueError(f"query, key and value do not fit together: shapes {shapes}")
