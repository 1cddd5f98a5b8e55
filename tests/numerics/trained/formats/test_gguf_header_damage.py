"""Damaged and lying GGUF files: one line that names the file, nothing read, nothing written."""

from __future__ import annotations

import argparse
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from numerics.trained import analyze
from numerics.trained.formats.checkpoint import Refused, open_checkpoint
from numerics.trained.models.architectures import open_model

STRING, ARRAY, U32 = 8, 9, 4


def text(value: bytes) -> bytes:
    """A string as the format stores it."""
    return struct.pack("<Q", len(value)) + value


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    """One key of the metadata."""
    return text(key) + struct.pack("<I", kind) + value


def info(name: bytes, dims: tuple[int, ...], kind: int, offset: int) -> bytes:
    """The header's words on one tensor; dims are innermost first."""
    stored = struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
    return text(name) + stored + struct.pack("<IQ", kind, offset)


def build(
    entries: tuple[bytes, ...] = (),
    infos: tuple[bytes, ...] = (),
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    counts: tuple[int, int] | None = None,
    data: int = 256,
) -> bytes:
    """A whole GGUF file of zeros."""
    tensors, keys = counts or (len(infos), len(entries))
    head = magic + struct.pack("<IQQ", version, tensors, keys) + b"".join(entries + infos)
    return head + bytes(-len(head) % 32) + bytes(data)


LLAMA = (
    entry(b"general.architecture", STRING, text(b"llama")),
    entry(b"llama.embedding_length", U32, struct.pack("<I", 8)),
    entry(b"llama.attention.head_count", U32, struct.pack("<I", 2)),
)
TABLE = info(b"token_embd.weight", (8, 4), 0, 0)
HUGE = 2**63

DAMAGE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no whole GGUF file"),
    "three bytes": (b"GGU", "truncated at byte 3"),
    "bad magic": (build(magic=b"GGML"), "it does not begin with GGUF"),
    "a pickle": (b"\x80\x04" + bytes(40), "it does not begin with GGUF"),
    "version 1": (build(version=1), "version 1 is not one of 2, 3"),
    "big-endian": (build(version=3 << 24), "version 50331648 is not one of 2, 3"),
    "more keys than bytes": (build(counts=(0, HUGE)), "items cannot fit"),
    "more tensors than bytes": (build(counts=(HUGE, 0)), "items cannot fit"),
    "one key too many": (build(LLAMA, counts=(0, 9)), "metadata value of the unknown type|stands"),
    "endless key": (build((struct.pack("<Q", HUGE),)), "truncated at byte"),
    "endless string": (build((entry(b"k", STRING, struct.pack("<Q", HUGE)),)), "truncated at byte"),
    "endless array": (
        build((entry(b"k", ARRAY, struct.pack("<IQ", STRING, HUGE)),)),
        "items cannot fit",
    ),
    "endless numbers": (
        build((entry(b"k", ARRAY, struct.pack("<IQ", U32, 2**62)),)),
        "items cannot fit",
    ),
    "array of arrays": (
        build((entry(b"k", ARRAY, struct.pack("<IQ", ARRAY, 1)),)),
        "unknown type 9",
    ),
    "unknown value": (build((entry(b"k", 13, bytes(8)),)), "unknown type 13"),
    "key twice": (build((LLAMA[0], LLAMA[0])), "the key 'general.architecture' stands twice"),
    "key no UTF-8": (build((entry(b"\xff", U32, bytes(4)),)), "no UTF-8"),
    "no architecture": (build(LLAMA[1:], (TABLE,)), "architecture nothing is not known in GGUF"),
    "architecture t5": (
        build((entry(b"general.architecture", STRING, text(b"t5")),), (TABLE,)),
        "architecture 't5' is not known in GGUF",
    ),
    "architecture a number": (
        build((entry(b"general.architecture", U32, bytes(4)),), (TABLE,)),
        "architecture 0 is not known",
    ),
    "alignment 0": (
        build((entry(b"general.alignment", U32, bytes(4)), *LLAMA), (TABLE,)),
        "general.alignment is 0",
    ),
    "no embedding": (build(LLAMA), "tensor token_embd.weight is missing"),
    "tensor twice": (build(LLAMA, (TABLE, TABLE)), "tensor 'token_embd.weight' stands twice"),
    "unknown quantisation": (
        build(LLAMA, (info(b"token_embd.weight", (8, 4), 99, 0),)),
        "has the unknown type 99",
    ),
    "partial block": (
        build(LLAMA, (info(b"token_embd.weight", (8, 4), 3, 0),)),
        "no whole number of Q4_1 blocks",
    ),
    "lying shape": (
        build(LLAMA, (info(b"token_embd.weight", (8, 400), 0, 0),)),
        r"shape \[400, 8\] ends at byte",
    ),
    "overflowing shape": (
        build(LLAMA, (info(b"token_embd.weight", (2**33, 2**33), 0, 0),)),
        "ends at byte",
    ),
    "offset past the end": (
        build(LLAMA, (info(b"token_embd.weight", (8, 4), 0, HUGE),)),
        "ends at byte",
    ),
    "truncated data": (build(LLAMA, (TABLE,), data=127), "ends at byte"),
    "no extent": (
        build(LLAMA, (info(b"token_embd.weight", (0, 4), 0, 0),)),
        r"shape \[4, 0\] is no whole",
    ),
    "no dimensions": (build(LLAMA, (info(b"token_embd.weight", (), 0, 0),)), r"shape \[\]"),
    "nine dimensions": (
        build(LLAMA, (info(b"token_embd.weight", (1,) * 9, 0, 0),)),
        "has 9 dimensions",
    ),
    "integers": (
        build(LLAMA, (info(b"token_embd.weight", (8, 4), 26, 0),)),
        "cannot dequantise I32",
    ),
    "unknown tensor": (
        build(LLAMA, (TABLE, info(b"blk.0.attn_sinks.weight", (2,), 0, 0))),
        "tensor blk.0.attn_sinks.weight is not known for llama",
    ),
    "frequency factors": (
        build(LLAMA, (TABLE, info(b"rope_freqs.weight", (2,), 0, 0))),
        "tensor rope_freqs.weight rescales RoPE",
    ),
    "no heads": (build((LLAMA[0], LLAMA[1]), (TABLE,)), "llama has nothing heads and width 8"),
    "zero heads": (
        build((*LLAMA[:2], entry(b"llama.attention.head_count", U32, bytes(4))), (TABLE,)),
        "llama has 0 heads",
    ),
    "no layers": (build(LLAMA, (TABLE,)), "num_hidden_layers must be a positive integer"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_file_is_refused(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, match = DAMAGE[case]
    file = tmp_path / "damaged.gguf"
    file.write_bytes(content)
    with pytest.raises(Refused, match=match) as refusal:
        open_model(open_checkpoint(file))
    assert str(file) in str(refusal.value), f"the file is not named: {refusal.value}"
    parser = argparse.ArgumentParser()
    analyze.add_arguments(parser)
    status = analyze.run(parser.parse_args([str(file), "--out", str(tmp_path / "out")]))
    error = capsys.readouterr().err
    assert (status, error.count("\n")) == (2, 1), f"{status}: {error!r}"
    assert [p.name for p in tmp_path.iterdir()] == ["damaged.gguf"], "something was written"


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_model_is_refused(share: float, make_gguf: Callable[..., Path]) -> None:
    file = make_gguf("llama")
    open_model(open_checkpoint(file))
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(Refused, match="no whole GGUF file"):
        open_checkpoint(file)


def refusal_of(file: Path) -> str | None:
    """Why a file is refused, or None where it opens; no other exception is caught."""
    try:
        open_checkpoint(file)
    except Refused as refusal:
        return str(refusal)
    return None


@pytest.mark.slow
def test_no_changed_byte_of_a_header_raises_anything_else(tmp_path: Path) -> None:
    content, file, refused = build(LLAMA, (TABLE,)), tmp_path / "changed.gguf", 0
    for position in range(len(content) - 256):
        for mask in (0x01, 0xFF):
            changed = bytearray(content)
            changed[position] ^= mask
            file.write_bytes(changed)
            refusal = refusal_of(file)
            refused += refusal is not None
            assert refusal is None or str(file) in refusal, f"byte {position}: {refusal}"
    assert refused > 100, f"only {refused} changes were refused: the test reads nothing"
