"""A byte-level BPE tokenizer built from a GGUF file's metadata, without a network.

The file names the rule that cuts text into words (`tokenizer.ggml.pre`) without stating it; a rule
that is not known here is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numerics.trained.refusals import Refused, optional_module, shown

CONTROL, USER_DEFINED = 3, 4
# Both cut as GPT-2 does (letters, digits, other signs, each with the space before it); SmolLM's
# rule also sets every digit apart.
WORD_RULES = ("gpt-2", "smollm")
INSTEAD = "put the model's tokenizer.json beside the file"


def tokenizer_from_metadata(metadata: Mapping[str, object], file: Path) -> Any:
    """The tokenizer (of the package `tokenizers`) that a GGUF file's metadata describes.

    Raises: Refused for a kind of tokenizer or a word rule that is not known, and for tokens,
    merges or types that do not fit together.
    """
    kind, pre = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")
    if kind != "gpt2":
        raise Refused(f"{file}: tokenizer {shown(kind)} is not known in GGUF; {INSTEAD}")
    if pre not in WORD_RULES:
        raise Refused(f"{file}: the word rule {shown(pre)} is not known; {INSTEAD}")
    tokens, merges, types = (
        metadata.get(f"tokenizer.ggml.{part}") for part in ("tokens", "merges", "token_type")
    )
    library = optional_module("tokenizers")
    try:
        tokenizer = _byte_level_bpe(library, tokens, merges, str(pre))
        _add_whole_tokens(library, tokenizer, tokens, types)
        _begin_with_bos(library, tokenizer, tokens, metadata)
    except Exception as error:  # the library raises nothing narrower
        raise Refused(f"{file}: no tokenizer in the metadata ({error}); {INSTEAD}") from error
    return tokenizer


def _byte_level_bpe(library: Any, tokens: Any, merges: Any, pre: str) -> Any:
    vocabulary = {token: i for i, token in enumerate(tokens)}
    if len(vocabulary) != len(tokens):
        raise ValueError("a token stands twice")
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = library.Tokenizer(library.models.BPE(vocab=vocabulary, merges=pairs))
    parts = library.pre_tokenizers
    digits = [parts.Digits(individual_digits=True)] if pre == "smollm" else []
    words = parts.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = parts.Sequence([*digits, words])
    tokenizer.decoder = library.decoders.ByteLevel()
    return tokenizer


def _add_whole_tokens(library: Any, tokenizer: Any, tokens: Any, types: Any) -> None:
    """Tokens that text is never merged into: those marked as control or user-defined."""
    for token, kind in zip(tokens, types, strict=True):
        if kind in (CONTROL, USER_DEFINED):
            added = library.AddedToken(token, normalized=False, special=kind == CONTROL)
            (tokenizer.add_special_tokens if kind == CONTROL else tokenizer.add_tokens)([added])


def _begin_with_bos(
    library: Any, tokenizer: Any, tokens: Any, metadata: Mapping[str, object]
) -> None:
    if not metadata.get("tokenizer.ggml.add_bos_token", False):
        return
    bos = metadata["tokenizer.ggml.bos_token_id"]
    tokenizer.post_processor = library.processors.TemplateProcessing(
        single=f"{tokens[bos]} $A", special_tokens=[(tokens[bos], bos)]
    )
