"""From a text to token ids: batch 1, no padding, nothing cut off in silence."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from numerics.trained.formats.checkpoint import Checkpoint, Refused, optional_module


@dataclass(frozen=True)
class Tokens:
    """n token ids with their segment ids, of a text with `tokens_in_text` tokens in all."""

    ids: tuple[int, ...]
    type_ids: tuple[int, ...]
    tokens_in_text: int
    text_sha256: str


def read_text(file: Path | None) -> str:
    """The text of a UTF-8 file, or the three paragraphs that ship with the package.

    Raises: Refused for a file that is missing, unreadable or blank.
    """
    if file is None:
        return files("numerics.trained").joinpath("default_text.txt").read_text(encoding="utf-8")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{file}: unreadable text ({error})") from error
    if not text.strip():
        raise Refused(f"{file}: the text is empty")
    return text


def tokenise(checkpoint: Checkpoint, text: str, limit: int) -> Tokens:
    """Token ids by the checkpoint's tokenizer.json, at most `limit` with the special ones.

    A GGUF file brings its own tokenizer, used where no tokenizer.json lies beside it.

    The file's own truncation and padding are switched off: sentence encoders ship with both,
    and padded rows would be measured as if they were text.
    Raises: Refused for a missing or unreadable tokenizer and for a text without tokens.
    """
    file = checkpoint.directory / "tokenizer.json"
    library = optional_module("tokenizers")
    if not file.is_file() and checkpoint.tokenizer is None:
        raise Refused(f"{file}: no such file")
    try:
        if file.is_file() or checkpoint.tokenizer is None:
            tokenizer = library.Tokenizer.from_file(str(file))
        else:
            tokenizer = checkpoint.tokenizer()
        tokenizer.no_padding()
        tokenizer.no_truncation()
        whole = encoding = tokenizer.encode(text)
        if len(whole.ids) > limit:
            tokenizer.enable_truncation(max_length=limit)
            encoding = tokenizer.encode(text)
    except Refused:
        raise
    except Exception as error:  # the library raises nothing narrower
        raise Refused(f"{file}: the tokenizer failed ({error})") from error
    if len(encoding.ids) > limit or all(encoding.special_tokens_mask):
        raise Refused(f"{file}: the text has no tokens besides special ones (room for {limit})")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Tokens(tuple(encoding.ids), tuple(encoding.type_ids), len(whole.ids), digest)
