"""The tokenizer that a GGUF file's metadata describes, against merging done by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from numerics.trained.formats.checkpoint import Refused, open_checkpoint
from numerics.trained.formats.gguf_header import read_header
from numerics.trained.tokens import read_text, tokenise

# GPT-2's rule on ASCII: contractions, letters, digits, other signs, blanks.
WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")


def merged(word: str, rank: Mapping[tuple[str, str], int]) -> list[str]:
    """Byte-level BPE of one word (ASCII): the earliest merge first, until none applies."""
    parts = [chr(256 + ord(c)) if ord(c) <= 32 else c for c in word]
    while True:
        pairs = [(rank[p], i) for i, p in enumerate(pairwise(parts)) if p in rank]
        if not pairs:
            return parts
        _, i = min(pairs)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def by_hand(text: str, metadata: Any, digits_apart: bool) -> list[int]:
    """Token ids of an ASCII text without special tokens."""
    ids = {token: i for i, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = enumerate(metadata["tokenizer.ggml.merges"])
    rank = {(first, second): i for i, (first, second) in ((i, m.split(" ")) for i, m in merges)}
    pieces = re.findall(r"[0-9]|[^0-9]+", text) if digits_apart else [text]
    words = [word for piece in pieces for word in WORDS.findall(piece)]
    return [ids[part] for word in words for part in merged(word, rank)]


TEXT = "the walk, the  other 1234 walks;\n\nit's  77 the\n"


@pytest.mark.parametrize("pre", ["gpt-2", "smollm"])
def test_ids_are_those_merged_by_hand(pre: str, make_gguf: Callable[..., Path]) -> None:
    checkpoint = open_checkpoint(make_gguf("llama", metadata={"pre": pre}))
    metadata = read_header(checkpoint.files[0]).metadata
    assert checkpoint.tokenizer is not None
    tokenizer = checkpoint.tokenizer()
    found, expected = tokenizer.encode(TEXT).ids, by_hand(TEXT, metadata, pre == "smollm")
    assert found == expected, f"{pre}: {tokenizer.encode(TEXT).tokens}"
    assert found != by_hand(TEXT, metadata, pre != "smollm"), "the rules agree on this text"
    assert tokenizer.decode(found) == TEXT


def test_control_and_user_defined_tokens_stay_whole(make_gguf: Callable[..., Path]) -> None:
    checkpoint = open_checkpoint(make_gguf("llama"))
    assert checkpoint.tokenizer is not None
    tokens = checkpoint.tokenizer().encode("the<|end|> wa<tool>").tokens
    assert tokens == ["the", "<|end|>", "Ġwa", "<tool>"]


def test_a_text_begins_with_bos_where_the_file_says_so(make_gguf: Callable[..., Path]) -> None:
    added = {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 261}
    checkpoint = open_checkpoint(make_gguf("llama", metadata=added))
    assert tokenise(checkpoint, "the", 16).ids == (261, 257)


def test_a_tokenizer_beside_the_file_comes_first(
    make_gguf: Callable[..., Path], decoder: Callable[[str], Path]
) -> None:
    file = make_gguf("llama")
    beside = decoder("llama") / "tokenizer.json"
    (file.parent / "tokenizer.json").write_bytes(beside.read_bytes())
    assert tokenise(open_checkpoint(file), "every walk", 16).ids == (2, 4, 5, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metadata", "match"),
    [
        ({"pre": "default"}, "word rule 'default' is not known; put the model's tokenizer.json"),
        ({"pre": "llama-bpe"}, "word rule 'llama-bpe' is not known"),
        (
            {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 999},
            "no tokenizer in the metadata .* put the model's",
        ),
        ({"tokenizer.ggml.add_bos_token": True}, "no tokenizer in the metadata"),
    ],
)
def test_an_unknown_tokenizer_is_refused_by_name(
    metadata: dict[str, Any], match: str, make_gguf: Callable[..., Path]
) -> None:
    checkpoint = open_checkpoint(make_gguf("llama", metadata=metadata))
    with pytest.raises(Refused, match=match):
        tokenise(checkpoint, "the", 16)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"tokenizer.ggml.model": "llama"}, "tokenizer 'llama' is not known in GGUF"),
        ({"tokenizer.ggml.model": None}, "tokenizer nothing is not known in GGUF"),
        ({"tokenizer.ggml.tokens": None}, "no tokenizer in the metadata"),
        ({"tokenizer.ggml.tokens": ["a", "a"]}, "a token stands twice"),
        ({"tokenizer.ggml.merges": ["qq qq"]}, "no tokenizer in the metadata"),
        ({"tokenizer.ggml.token_type": [1, 1]}, "no tokenizer in the metadata"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    changes: dict[str, Any], match: str, make_gguf: Callable[..., Path]
) -> None:
    from numerics.trained.formats.gguf_tokenizer import tokenizer_from_metadata

    file = make_gguf("llama")
    metadata = dict(read_header(file).metadata) | changes
    with pytest.raises(Refused, match=match):
        tokenizer_from_metadata(metadata, file)


@pytest.mark.slow
@pytest.mark.models
def test_smollm2_reads_a_text_as_merged_by_hand(smollm2: Path) -> None:
    checkpoint = open_checkpoint(smollm2)
    text = read_text(None) + "\n In 1794, it's 3.14159!  Twice."
    assert text.isascii()
    tokens = tokenise(checkpoint, text, 8192)
    expected = by_hand(text, read_header(smollm2).metadata, True)
    assert list(tokens.ids) == expected
    assert tokens.tokens_in_text == len(expected)
    assert checkpoint.tokenizer is not None
    # As the model's own card shows its chat: special tokens are single ids.
    chat = checkpoint.tokenizer().encode("<|im_start|>user\nHello<|im_end|>")
    assert chat.ids == [1, 4093, 198, 19556, 2]
