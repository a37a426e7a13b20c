"""Priors of all parameters of a model."""

from collections.abc import Iterator, Mapping

import jax
from jaxtyping import Array, Float, Key

from designstudio.errors import UnknownNameError
from designstudio.model.priors.base import AbstractPrior


class PriorSet(Mapping[str, AbstractPrior]):
    """One prior for each parameter of a model, in the model's order."""

    def __init__(self, priors: Mapping[str, AbstractPrior]) -> None:
        self._priors = dict(priors)

    def __getitem__(self, name: str) -> AbstractPrior:
        return self._priors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._priors)

    def __len__(self) -> int:
        return len(self._priors)

    def __repr__(self) -> str:
        return "PriorSet(" + ", ".join(f"{name}={prior}" for name, prior in self.items()) + ")"

    def replace(self, **priors: AbstractPrior) -> "PriorSet":
        """The same set with some priors exchanged."""
        for name in priors:
            if name not in self._priors:
                raise UnknownNameError("parameter", name, self._priors)
        return PriorSet({**self._priors, **priors})

    def sample(self, num_draws: int, *, key: Key[Array, ""]) -> dict[str, Float[Array, " draw"]]:
        """Independent draws of all parameters."""
        keys = jax.random.split(key, len(self))
        return {
            name: prior.distribution().sample(subkey, (num_draws,))
            for subkey, (name, prior) in zip(keys, self.items(), strict=True)
        }
