"""What metrics are given: numbers of the posteriors of all good fits, or facts about a design. No study, no labels."""

from typing import NamedTuple, Self

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.model.parameter_entries import split_label

Vector = Float[np.ndarray, " dataset"]
Matrices = Float[np.ndarray, "dataset parameter parameter_other"]
Matrix = Float[np.ndarray, "parameter parameter_other"]


class QuantitySample(NamedTuple):
    """One quantity in all good fits.

    Attributes:
        truth: the simulated participants'; NaN where there is none.
        mean: of the posterior.
        sd: of the posterior.
        low: lower end of the equal-tailed interval.
        high: upper end.
        prior_sd: of the analysis prior.
    """

    truth: Vector
    mean: Vector
    sd: Vector
    low: Vector
    high: Vector
    prior_sd: float

    @property
    def num_datasets(self) -> int:
        """How many fits there are."""
        return len(self.truth)

    @property
    def error(self) -> Vector:
        """Posterior mean minus truth."""
        return self.mean - self.truth


class PosteriorShape(NamedTuple):
    """Covariances of the logarithms of the free parameters in all good fits.

    Attributes:
        names: of the parameters, one for each condition where they differ.
        covariance: of the posteriors.
        prior: covariance of the analysis prior.
        of_prior: places of the parameters of the participants' prior.
        of_cost: places of the cost's parameters.
        gain: information gained about these parameters; None if it is not known.
        pair_gain: the same about prior and cost.
    """

    names: tuple[str, ...]
    covariance: Matrices
    prior: Matrix
    of_prior: tuple[int, ...]
    of_cost: tuple[int, ...]
    gain: Vector | None = None
    pair_gain: Vector | None = None

    def select(self, places: tuple[int, ...]) -> Self:
        """The marginal posteriors of some parameters."""
        rows, columns = np.ix_(places, places)
        return self._replace(
            names=tuple(self.names[place] for place in places),
            covariance=self.covariance[:, rows, columns],
            prior=self.prior[rows, columns],
            of_prior=tuple(places.index(place) for place in self.of_prior if place in places),
            of_cost=tuple(places.index(place) for place in self.of_cost if place in places),
        )

    def select_prior_and_cost(self) -> Self:
        """The marginal posteriors of prior and cost."""
        return self.select((*self.of_prior, *self.of_cost))._replace(gain=self.pair_gain)


class DesignFacts(NamedTuple):
    """What is known about a design before anything is simulated.

    Attributes:
        minutes: of one participant.
        num_trials: of one participant.
        num_participants: who take part.
        levels: of all parameters that the experimenter sets.
    """

    minutes: float
    num_trials: int
    num_participants: int
    levels: tuple[float, ...]


def keep_good(summaries: xr.Dataset) -> xr.Dataset:
    """Summaries of the data sets whose fit is good."""
    is_good = summaries["is_good"].values
    # Sliders wait for this: nothing is taken out where nothing has failed.
    return summaries if is_good.all() else summaries.isel(dataset=np.flatnonzero(is_good))


def find_quantities(summaries: xr.Dataset, *names: str) -> list[str]:
    """What parameters or quantities are called in summaries: by their own name, or by one name for each condition."""
    bases = summaries["base"].values.astype(str)
    return [str(name) for name, base in zip(summaries["quantity"].values, bases, strict=True) if base in names]


def sample_quantity(summaries: xr.Dataset, quantity: str) -> QuantitySample:
    """One quantity of summaries, which hold good fits only; see `designstudio.metrics.summaries`."""
    # Variables are quicker than arrays with their coordinates.
    arrays = summaries.variables
    place = arrays["quantity"].values.tolist().index(quantity)
    columns = (arrays[name].values[:, place].astype(float) for name in ("truth", "mean", "sd", "low", "high"))
    truth, mean, sd, low, high = columns
    return QuantitySample(truth, mean, sd, low, high, float(arrays["prior_sd"].values[place]))


def shape_posteriors(
    summaries: xr.Dataset, prior_parameters: tuple[str, ...], cost_parameters: tuple[str, ...]
) -> PosteriorShape:
    """Covariances of summaries, which hold good fits only.

    Args:
        summaries: see `designstudio.metrics.summaries`.
        prior_parameters: names of the parameters of the participants' prior.
        cost_parameters: names of the cost's parameters.
    """
    names = tuple(str(name) for name in summaries["parameter"].values)
    bases = [split_label(name)[0] for name in names]
    gains = summaries["information_gain"].values.astype(float).T if "information_gain" in summaries else (None, None)
    return PosteriorShape(
        names,
        summaries["log_covariance"].values.astype(float),
        summaries["prior_log_covariance"].values.astype(float),
        tuple(place for place, base in enumerate(bases) if base in prior_parameters),
        tuple(place for place, base in enumerate(bases) if base in cost_parameters),
        *gains,
    )
