"""How the next design is proposed: Optuna's samplers by name, on canonical designs that were not tried before.

Every proposal has its own random numbers, by the number of the candidate, and is stored as a whole before anything
else of it: an interrupted search goes on as if nothing had happened.
"""

import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from designstudio.errors import StudioError
from designstudio.search.designs import Parameters, canonicalize, identify_design, list_distributions, place_parameters
from designstudio.search.feasible import draw_feasible, find_design
from designstudio.study import SearchPlan
from designstudio.study.search_plan import CMAES, GP, NSGA2, NSGA3, QMC, RANDOM, TPE

# Candidates before a sampler learns from what it has seen.
NUM_STARTS = 10
# Proposals that are thrown away, because they are not allowed or not new, before one is drawn at random.
MOST_ATTEMPTS = 20
NEEDS = {GP: "torch", CMAES: "cmaes"}
# Points of a low-discrepancy sequence that later attempts skip, so that no attempt takes the point of another candidate.
STRIDE = 2**12
# Where a candidate keeps its whole proposal.
PROPOSAL = "proposal"

_MAKERS: Mapping[str, Callable[[int], BaseSampler]] = {
    TPE: lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=NUM_STARTS),
    RANDOM: lambda seed: optuna.samplers.RandomSampler(seed=seed),
    NSGA2: lambda seed: optuna.samplers.NSGAIISampler(seed=seed, population_size=2 * NUM_STARTS),
    NSGA3: lambda seed: optuna.samplers.NSGAIIISampler(seed=seed, population_size=2 * NUM_STARTS),
    GP: lambda seed: optuna.samplers.GPSampler(seed=seed, n_startup_trials=NUM_STARTS, warn_independent_sampling=False),
    CMAES: lambda seed: optuna.samplers.CmaEsSampler(
        seed=seed, n_startup_trials=NUM_STARTS, warn_independent_sampling=False
    ),
}


def check_sampler(plan: SearchPlan, num_objectives: int) -> None:
    """Refuse a sampler that cannot be used.

    Raises:
        StudioError: saying what is missing.
    """
    package = NEEDS.get(plan.sampler)
    if package is not None and importlib.util.find_spec(package) is None:
        raise StudioError(
            f"The sampler {plan.sampler!r} needs the package {package}, which is not installed: run pip install {package}, "
            "or leave the choice to the default, tpe."
        )
    if plan.sampler == CMAES and num_objectives > 1:
        raise StudioError("The sampler 'cmaes' takes one objective: use tpe, nsga2 or nsga3 for several.")


class DesignSampler(BaseSampler):
    """Proposes designs that are allowed and new: first the starts, then what one of Optuna's samplers says."""

    def __init__(self, plan: SearchPlan, starts: Sequence[Parameters], seed: int) -> None:
        self._plan, self._starts, self._seed = plan, tuple(starts), seed
        self._distributions = list_distributions(plan.space)
        self._keys: dict[int, str] = {}

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Always the whole space."""
        return self._distributions

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """A new design, in canonical form."""
        if PROPOSAL in trial.user_attrs:
            # Whoever began this candidate was killed. To propose again could give something else: only some parameters may
            # be stored, and other candidates may have been finished since.
            return dict(trial.user_attrs[PROPOSAL])
        if trial.number < len(self._starts):
            return dict(self._starts[trial.number])
        tried = self._list_tried(study, trial)
        rng = np.random.default_rng((self._seed, trial.number))
        for attempt in range(MOST_ATTEMPTS):
            proposed = self._propose(study, trial, int(rng.integers(2**31)), attempt)
            parameters = canonicalize(self._plan.space, proposed)
            design = find_design(self._plan, parameters)
            # Parameters without a proposal were stored by an earlier version, which was killed while doing so: they stay.
            if design is not None and identify_design(design) not in tried and trial.params.items() <= parameters.items():
                return parameters
        return _draw_new(self._plan, rng, tried, trial.params)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Never needed: all parameters are proposed together."""
        raise NotImplementedError(param_name)

    def _propose(self, study: optuna.Study, trial: FrozenTrial, seed: int, attempt: int) -> dict[str, Any]:
        if self._plan.sampler == QMC:
            from scipy.stats import qmc  # noqa: PLC0415  (takes half a second)

            # Not Optuna's, which counts its points in the storage: an attempt that was killed would count.
            sequence = qmc.Sobol(len(self._distributions), scramble=True, rng=0)
            point = sequence.fast_forward(1 + trial.number + STRIDE * attempt).random()[0]
            return place_parameters(self._plan.space, point.tolist())
        # Some samplers are new, or say that they do not handle something that is handled here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = _MAKERS[self._plan.sampler](seed)
            space = sampler.infer_relative_search_space(study, trial)
            together = sampler.sample_relative(study, trial, space)
            return {
                name: together[name] if name in together else sampler.sample_independent(study, trial, name, distribution)
                for name, distribution in self._distributions.items()
            }

    def _list_tried(self, study: optuna.Study, trial: FrozenTrial) -> set[str]:
        """What other candidates evaluate or have evaluated; a failed one will be tried again under another number."""
        states = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING, TrialState.WAITING)
        for other in study.get_trials(deepcopy=False, states=states):
            if (
                other.number not in self._keys
                and other.number != trial.number
                and self._distributions.keys() <= other.params.keys()
            ):
                design = find_design(self._plan, other.params)
                self._keys[other.number] = "" if design is None else identify_design(design)
        return set(self._keys.values())


def _draw_new(plan: SearchPlan, rng: np.random.Generator, tried: set[str], noted: dict[str, Any]) -> dict[str, Any]:
    """A random design that was not tried; if all were, one of them again, which then costs nothing."""
    candidates = [canonicalize(plan.space, dict(parameters) | noted) for parameters in draw_feasible(plan, rng, 1000)]
    candidates = [parameters for parameters in candidates if noted.items() <= parameters.items()]
    allowed = [(parameters, find_design(plan, parameters)) for parameters in candidates]
    keys = [(parameters, identify_design(design)) for parameters, design in allowed if design is not None]
    return next((parameters for parameters, key in keys if key not in tried), keys[0][0])
