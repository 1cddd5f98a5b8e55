"""Arrays, numbers, hypotheses and numbered words at the levels of an induction on depth."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import prod

from sympy import Expr, Indexed, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Rejected, SmallIntegers, evaluate
from theorems.statement import Assumption, Equation, Local, Step, array, symbols_of

i, j, a, b, p, q, m, w = symbols_of("i j a b p q m w")
STAGES = ("1", "l", "l+1")
MOST = 9  # words of an exact instance


def level(name: str, label: str, *shape: Expr) -> IndexedBase:
    """The array of this name at a level of an induction."""
    return array(f"{name}_{{{label}}}", *shape)


def number(name: str, label: str) -> Symbol:
    """The number of this name at a level of an induction."""
    return Symbol(f"{name}_{{{label}}}", real=True)


def size(name: str, label: str) -> Symbol:
    """The dimension of this name at a level of an induction."""
    return Symbol(f"{name}_{{{label}}}", integer=True, positive=True)


def equality(
    name: str, text: str, equation: Equation, chosen: IndexedBase | Symbol, value: Expr
) -> Local:
    """An equation of one theorem; instances choose one of its arrays or numbers."""
    base = chosen if isinstance(chosen, IndexedBase) else array(chosen.name)
    entry = (i, j, a, b)[: len(base.shape)]

    def impose(draw: Draw) -> None:
        for cell in draw.cells(base):
            draw.put(base, cell, evaluate(value, draw, dict(zip(entry, cell, strict=True))))

    return Local(name, text, (equation,), impose)


def induction_hypothesis(
    name: str, equation: Equation, chosen: IndexedBase | Symbol, value: Expr
) -> Local:
    """The claim at level l; instances choose one of its arrays or numbers."""
    return equality(f"{name} at level l", f"{name} at level $l$", equation, chosen, value)


def limits(entry: Indexed) -> list[tuple[Symbol, int, Expr]]:
    """The ranges of the indices of an entry."""
    return [(index, 1, axis) for index, axis in zip(entry.indices, entry.base.shape, strict=True)]


def primed(entry: Indexed, *kept: Symbol) -> Indexed:
    """The entry at other indices, but for those that are kept."""
    return entry.base[
        tuple(index if index in kept else symbols_of(f"{index}'")[0] for index in entry.indices)
    ]


@hypothesis("words", array("J", w, m)[q, p])
def own_numbers(words: str, *kinds: Indexed) -> Assumption:
    """Each word has one number q, and no two words the same: the entry [q, word] is 1 if q is the
    number of the word and 0 otherwise, with one array for each kind of word."""
    q, total = kinds[0].indices[0], kinds[0].base.shape[0]
    rules = []
    for one, other in combinations_with_replacement(kinds, 2):
        second, same = primed(other, q), Integer(0)
        if one is other:
            pairs = zip(one.indices[1:], second.indices[1:], strict=True)
            same = prod((KroneckerDelta(*pair) for pair in pairs), start=Integer(1))
        rules.append((Sum(one * second, limits(one)[0]), same))

    def impose(draw: Draw) -> None:
        ranges = [[draw.size(axis) for axis in kind.base.shape[1:]] for kind in kinds]
        count = sum(prod(lengths) for lengths in ranges)
        if count > MOST:
            raise Rejected(f"{count} words are too many")
        # Searches also try a number without a word, which only `no_spare_number` rules out.
        numbers = count + (type(draw.source) is SmallIntegers and draw.source.rng.randrange(3) == 0)
        draw.sizes[total.name] = numbers
        order = iter(draw.source.rng.sample(range(1, numbers + 1), count))
        for kind, lengths in zip(kinds, ranges, strict=True):
            for word in product(*(range(1, length + 1) for length in lengths)):
                its_number = next(order)
                for place in range(1, numbers + 1):
                    draw.put(kind.base, (place, *word), int(place == its_number))

    return Assumption(f"each of the {words} has its own number",
                      f"each of the {words} has its own number, from 1 to ${total}$",
                      tuple(rules), impose)


@hypothesis("words", array("J", w, m)[q, p])
def no_spare_number(words: str, *kinds: Indexed) -> Assumption:
    """Every number is the number of one word."""
    *others, last = kinds
    q, *_ = last.indices
    other_q = symbols_of(f"{q}'")[0]

    def both(kind: Indexed) -> Expr:
        return Sum(kind * primed(kind, *kind.indices[1:]), *limits(kind)[1:])

    rest = sum((both(kind) for kind in others), start=Integer(0))
    total = last.base.shape[0]
    return Assumption(f"no number without one of the {words}",
                      f"each number from 1 to ${total}$ is that of one of the {words}",
                      ((both(last), KroneckerDelta(q, other_q) - rest),))


def count_words(name: str, own: Assumption, spare: Assumption, *kinds: Indexed) -> Step:
    """There are as many numbers as words of all kinds together."""
    total = kinds[0].base.shape[0]
    squares = [Sum(kind**2, *limits(kind)) for kind in kinds]
    counts = [prod(kind.base.shape[1:], start=Integer(1)) for kind in kinds]
    listed = [
        Step(id=f"{name}_of_kind_{kind}", lhs=count, rhs=square, by=(own,),
             because="Each word has one number.")
        for kind, (count, square) in enumerate(zip(counts, squares, strict=True), start=1)
    ]
    numbered = Step(
        id=f"{name}_numbers", lhs=squares[-1], rhs=total - sum(squares[:-1], start=Integer(0)),
        by=(spare,), because="Each number has one word.",
    )
    return Step(id=name, lhs=total, rhs=sum(counts, start=Integer(0)), by=(*listed[::-1], numbered),
                because="Words and their numbers are equally many.")
