"""A small English-like text from a probabilistic grammar, and its unigram entropy.

Verbs agree in number with their subject, also across a relative clause with a noun of its own, so
that a model has something to gain from distant tokens. Draws depend on the seed only.
"""

from __future__ import annotations

import math
from collections import Counter
from random import Random

from numerics.inputs import integer

SINGULAR = ("the", "a", "every", "this")
PLURAL = ("the", "two", "some", "these")
NOUNS = (
    "sailor", "river", "lantern", "fox", "baker", "garden", "stone", "window", "owl", "kettle",
    "cloud", "bridge",
)  # fmt: skip
ADJECTIVES = ("old", "quiet", "bright", "green", "broken", "small", "distant", "warm")
TRANSITIVE = ("follow", "guard", "paint", "remember", "answer", "cover", "need")
INTRANSITIVE = ("sleep", "wander", "listen", "shine", "wait", "turn")
PLACES = ("near", "under", "behind", "above", "across from")
ADVERBS = ("slowly", "often", "again", "at night", "in spring", "without a sound")
ALPHABET = "\n abcdefghijklmnopqrstuvwxyz,."


def sentence(draw: Random) -> str:
    """One sentence with its full stop."""
    if not isinstance(draw, Random):
        raise TypeError(f"draw must be a random.Random, got {type(draw).__name__}")
    plural = draw.random() < 0.5
    subject = _noun_phrase(draw, plural)
    if draw.random() < 0.35:
        inner = draw.random() < 0.5
        verb = _verb(draw, TRANSITIVE, inner)
        subject += f" that {_noun_phrase(draw, inner, plain=True)} {verb}"
    if draw.random() < 0.5:
        verb = _verb(draw, INTRANSITIVE, plural)
    else:
        verb = _verb(draw, TRANSITIVE, plural)
        verb += f" {_noun_phrase(draw, draw.random() < 0.5)}"
    if draw.random() < 0.4:
        verb += f" {_one(draw, PLACES)} {_noun_phrase(draw, draw.random() < 0.5, plain=True)}"
    if draw.random() < 0.3:
        return f"{_one(draw, ADVERBS)}, {subject} {verb}."
    return f"{subject} {verb}."


def text(seed: int, size: int) -> str:
    """At least `size` letters of sentences, one a line; ValueError, TypeError by name."""
    integer("seed", seed, 0)
    integer("size", size, 1)
    draw, lines, length = Random(seed), [], 0
    while length < size:
        lines.append(sentence(draw) + "\n")
        length += len(lines[-1])
    return "".join(lines)


def encode(letters: str) -> list[int]:
    """Places in ALPHABET; ValueError for a letter that it lacks."""
    if not isinstance(letters, str):
        raise TypeError(f"letters must be text, got {type(letters).__name__}")
    foreign = sorted(set(letters) - set(ALPHABET))
    if foreign:
        raise ValueError(f"letters must be of the alphabet {ALPHABET!r}, got {foreign[0]!r}")
    return [ALPHABET.index(letter) for letter in letters]


def unigram_entropy(letters: str) -> float:
    """-sum_a f_a log f_a of the frequencies of letters, in nats: the least loss of a guess that
    does not look at what comes before. ValueError for an empty text."""
    if not isinstance(letters, str):
        raise TypeError(f"letters must be text, got {type(letters).__name__}")
    if not letters:
        raise ValueError("letters must not be empty")
    counts, n = Counter(letters), len(letters)
    return -sum(c / n * math.log(c / n) for c in counts.values())


def _one(draw: Random, words: tuple[str, ...]) -> str:
    return words[int(draw.random() * len(words))]


def _noun_phrase(draw: Random, plural: bool, plain: bool = False) -> str:
    words = [_one(draw, PLURAL if plural else SINGULAR)]
    if not plain and draw.random() < 0.4:
        words.append(_one(draw, ADJECTIVES))
    article = words[0] == "a" and (words[1:] or ["x"])[0]
    noun = _one(draw, NOUNS)
    if article and (words[1] if len(words) > 1 else noun)[0] in "aeiou":
        words[0] = "an"
    return " ".join([*words, _plural(noun) if plural else noun])


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("x") else "s")


def _verb(draw: Random, verbs: tuple[str, ...], plural: bool) -> str:
    verb = _one(draw, verbs)
    return verb if plural else verb + "s"
