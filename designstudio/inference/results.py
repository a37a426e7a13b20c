"""What a fit collects for every data set, stage by stage."""

import dataclasses

import numpy as np

from designstudio.inference.diagnostics import Draws
from designstudio.inference.settings import FitSettings
from designstudio.model.likelihood.model import BehaviorModel


@dataclasses.dataclass
class Results:
    """Results of all data sets, filled in stage by stage."""

    draws: Draws
    stats: dict[str, np.ndarray]
    diagnostics: dict[str, np.ndarray]

    @classmethod
    def empty(cls, model: BehaviorModel, num_datasets: int, settings: FitSettings) -> "Results":
        shape = (num_datasets, settings.num_chains, settings.num_draws)
        draws = {
            name: np.full((*shape, model.num_conditions) if name in model.per_condition else shape, np.nan, np.float32)
            for name in model.free
        }
        stats = {
            "lp": np.full(shape, np.nan, np.float32),
            "diverging": np.zeros(shape, bool),
            "n_steps": np.zeros(shape, np.int32),
            "acceptance_rate": np.full(shape, np.nan, np.float32),
        }
        diagnostics: dict[str, np.ndarray] = {
            "is_good": np.zeros(num_datasets, bool),
            "stage": np.full(num_datasets, "", dtype="<U32"),
            "reason": np.full(num_datasets, "", dtype="<U160"),
            "khat": np.full(num_datasets, np.nan),
            "importance_ess": np.full(num_datasets, np.nan),
            "log_evidence": np.full(num_datasets, np.nan),
            "rhat": np.full(num_datasets, np.nan),
            "ess": np.full(num_datasets, np.nan),
            "num_divergent": np.zeros(num_datasets, int),
            "rule_error": np.zeros(num_datasets),
        }
        return cls(draws, stats, diagnostics)
