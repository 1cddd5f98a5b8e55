"""Every entry of the vocabulary is drawn, checked and broken; generators have what they say."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from random import Random

import numpy as np
import pytest
import torch

import theorems.assumptions
from numerics.properties import hypotheses
from numerics.properties.vocabulary import CONDITIONED, reversible, stochastic
from theorems.assumptions.vocabulary import VOCABULARY

for found in iter_modules(theorems.assumptions.__path__, "theorems.assumptions."):
    import_module(found.name)

pytestmark = pytest.mark.slow
SEEDS = range(6)
CHANGED = 0  # a seed whose draws depend on their entries: in others an edge may be absent


@pytest.mark.parametrize("name", sorted(VOCABULARY))
def test_a_hypothesis_is_drawn_and_checked(name: str) -> None:
    assumed = VOCABULARY[name].example()
    for seed in SEEDS:
        arrays = hypotheses.instance([assumed], Random(seed))
        assert hypotheses.violation(assumed, arrays) is None
        tensors = {key: torch.from_numpy(value) for key, value in arrays.items()}
        assert hypotheses.violation(assumed, tensors) is None


@pytest.mark.parametrize("name", sorted(VOCABULARY))
def test_a_hypothesis_is_broken_by_one_entry(name: str) -> None:
    assumed = VOCABULARY[name].example()
    arrays = hypotheses.instance([assumed], Random(CHANGED))
    wrong = hypotheses.broken(assumed, arrays)
    assert sum(int((wrong[key] != arrays[key]).sum()) for key in arrays) == 1
    found = hypotheses.violation(assumed, wrong)
    assert found is not None
    assert found.startswith(assumed.id)


@pytest.mark.parametrize("name", CONDITIONED)
@pytest.mark.parametrize("size", range(1, 8))
def test_conditioned_arrays_have_the_hypothesis(name: str, size: int) -> None:
    assumed, generator = VOCABULARY[name].example(), CONDITIONED[name]
    for seed in range(10):
        arrays = generator.arrays(np.random.default_rng(seed), size)
        errors = generator.errors(arrays)
        assert hypotheses.violation(assumed, arrays, errors) is None


@pytest.mark.parametrize("name", CONDITIONED)
@pytest.mark.parametrize("size", range(1, 8))
def test_conditioned_arrays_twice_as_large_lack_it(name: str, size: int) -> None:
    assumed, generator = VOCABULARY[name].example(), CONDITIONED[name]
    arrays = generator.arrays(np.random.default_rng(size), size)
    first = next(iter(generator.errors(arrays)))
    wrong = {**arrays, first: 2 * arrays[first]}
    found = hypotheses.violation(assumed, wrong, generator.errors(wrong))
    assert found is not None
    assert assumed.id in found


def test_a_walk_by_softmax_need_not_be_reversible() -> None:
    """Kolmogorov's criterion on triangles, enough for full support (CW8)."""

    def around(p: np.ndarray) -> float:
        products = np.einsum("ij,jk,ki->ijk", p, p, p)
        return float(np.max(np.abs(products - products.transpose(2, 1, 0)) / products))

    rng = np.random.default_rng(0)
    assert around(stochastic(rng, 5)) > 0.1
    assert around(reversible(rng, 5)) < 64 * 2.0**-53
