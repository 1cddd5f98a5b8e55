"""Inversion, the isometry x -> x^-1 of the spaces of invertible matrices."""

from __future__ import annotations

from dataclasses import dataclass

from numerics.arrays import Array, is_array


@dataclass(frozen=True)
class AfterInversion:
    """The isometry x -> g(x^-1), for an isometry g given as the array that `act` of a space reads.

    Raises TypeError for what is no array. Source: AP8.
    """

    g: Array

    def __post_init__(self) -> None:
        if not is_array(self.g):
            raise TypeError(
                f"g must be a NumPy array or a torch tensor, got {type(self.g).__name__}"
            )
