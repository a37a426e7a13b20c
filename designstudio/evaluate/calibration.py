"""Simulation-based calibration of the whole chain, from simulated participants to posteriors.

Participants come from the fit's own prior, their simulated data are fitted, and each true value is ranked among its
posterior draws. If simulation, likelihood and sampler are all right, the ranks are uniform. Ranked are all parameters and
the quantities that a confounded design trades: log mu_0 (1 - w_m) + log of the cost's parameter, and sigma_0 / sigma.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.core.memory import check_memory
from designstudio.core.presentation import AbstractResult, Overview
from designstudio.core.progress import ProgressCallback
from designstudio.core.randomness import make_generator, make_key
from designstudio.evaluate.experiment import PARTICIPANTS, RESPONSES, STIMULI
from designstudio.evaluate.limits import ADVICE, estimate_bytes
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.metrics.calibration import fractional_ranks, score_calibration
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import list_array_entries
from designstudio.model.parameters import Parameter
from designstudio.model.simulate import draw_participants, draw_stimuli, simulate_trials

if TYPE_CHECKING:
    import pandas as pd

# Ranks want nearly independent draws.
NUM_RANKED = 200


@dataclasses.dataclass(frozen=True, repr=False)
class Calibration(AbstractResult):
    """Ranks of the true values, and the fits they come from.

    Attributes:
        cost: of the model that was calibrated.
        ranks: one variable for each quantity, over dataset; NaN where the fit failed.
        diagnostics: the verdict on each fit.
    """

    cost: str
    ranks: xr.Dataset
    diagnostics: xr.Dataset

    def overview(self) -> Overview:
        """How far the ranks of each quantity are from uniform."""
        frame = self.to_frame()
        num_failed = int((~self.diagnostics["is_good"]).sum())
        return Overview(
            title=f"Calibration of {self.cost}",
            facts=f"{self.ranks.sizes['dataset']} data sets, of which {num_failed} could not be fitted. band used: largest "
            "deviation of the ranks' distribution, as a share of its 95 % simultaneous band.",
            columns=("quantity", "max deviation", "band used", "inside", "mean rank"),
            rows=tuple(
                (row.quantity, f"{row.max_deviation:.3f}", f"{row.band_used:.2f}", "yes" if row.is_inside else "NO",
                 f"{row.mean_rank:.3f}")
                for row in frame.itertuples()
            ),
            hint="All numbers: .to_frame(). Figure: .plot(). Ranks: .ranks.",
        )  # fmt: skip

    def to_frame(self) -> "pd.DataFrame":
        """One row a quantity: how far its ranks are from uniform; see `designstudio.metrics.calibration`."""
        scores = score_calibration(self.ranks)
        return scores[[name for name in scores.data_vars if scores[name].dims == ("quantity",)]].to_dataframe().reset_index()


def calibrate(
    model: BehaviorModel,
    *,
    num_datasets: int,
    num_trials: int = 60,
    low: float = 0.5,
    high: float = 5.0,
    settings: FitSettings | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Calibration:
    """Simulate, fit and rank.

    Args:
        model: simulates and is fitted.
        num_datasets: how many.
        num_trials: trials in each condition.
        low: smallest stimulus.
        high: largest stimulus.
        settings: of the fits.
        seed: of participants, stimuli, noise and fits.
        progress: called after every batch.
    """
    settings = FitSettings(keeps_log_likelihood=False) if settings is None else settings
    check_memory(
        estimate_bytes(model, num_datasets, num_trials, settings),
        f"A calibration with {num_trials:,} trials in each condition and {num_datasets:,} data sets",
        ADVICE,
    )
    people_key, stimulus_key, noise_key = (make_key(seed, purpose) for purpose in (PARTICIPANTS, STIMULI, RESPONSES))
    participants = draw_participants(model, num_datasets, key=people_key)
    stimuli = draw_stimuli(num_datasets, model.num_conditions, num_trials, low=low, high=high, key=stimulus_key)
    trials = simulate_trials(model, participants, stimuli, key=noise_key)
    fixed = {name: participants[name] for name in model.fixed}
    posterior = fit_datasets(model, trials, fixed=fixed, settings=settings, seed=seed, progress=progress)
    draws = posterior["posterior"].to_dataset()
    truth = participants.expand_dims(("chain", "draw"), (1, 2))
    draws = xr.merge([draws.drop_vars(["dataset", "subject", "condition"]), participants[list(model.fixed)]])
    ranked, true = list_quantities(model, draws), list_quantities(model, truth.drop_vars("condition", errors="ignore"))
    diagnostics = posterior["diagnostics"].to_dataset()
    is_good = diagnostics["is_good"].values
    rng = make_generator(seed, "ranks")
    thin = max(1, settings.num_chains * settings.num_draws // NUM_RANKED)
    ranks = {}
    for name, values in ranked.items():
        flat = values.reshape(num_datasets, -1)[:, ::thin]
        ranks[name] = (
            "dataset",
            np.where(is_good, fractional_ranks(flat, true[name].reshape(num_datasets), rng=rng), np.nan),
        )
    return Calibration(model.actor.cost.name, xr.Dataset(ranks), diagnostics)


def quantity_symbols(parameters: Iterable[Parameter]) -> dict[str, str]:
    """Short labels of everything that is ranked, for the panels of a figure."""
    known = tuple(parameters)
    names = {parameter.name for parameter in known}
    symbols = {parameter.name: parameter.symbol for parameter in known}
    for parameter in known:
        for trade_off in DEFAULT_FAMILY.perception.list_trade_offs(names, [parameter]):
            symbols[trade_off.name] = trade_off.symbol
    return symbols


def list_quantities(model: BehaviorModel, values: xr.Dataset) -> Mapping[str, Float[np.ndarray, "dataset chain draw"]]:
    """All free parameters, one entry for each condition, and the ratios and products that confounded designs determine."""
    dims = ("dataset", "chain", "draw")
    entries = list_array_entries(values[list(model.free)])
    quantities = {entry.label(): entry.pick(values[entry.name]).transpose(*dims).values for entry in entries}
    first = {str(name): v.isel(condition=0) if "condition" in v.dims else v for name, v in values.items()}
    for trade_off in model.family.perception.list_trade_offs(model.free, model.actor.cost.parameters):
        quantities[trade_off.name] = trade_off.compute(first).transpose(*dims).values
    return quantities
