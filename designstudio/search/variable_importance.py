"""Which design variables matter for the score."""

import math
import warnings

import optuna
from optuna.trial import TrialState

from designstudio.search.records import read_record
from designstudio.search.search_job import SearchJob

# With fewer candidates the numbers would be noise.
FEWEST = 20


def rank_variables(job: SearchJob) -> dict[str, float]:
    """Importance of each variable for the first objective, adding up to 1; empty if there are too few candidates.

    Designs that were given up count with the score they had by then: without them only good designs would be compared.
    """
    objective = job.objectives[0]
    finished = [
        (trial, read_record(trial).value(objective)) for trial in job.list_trials(TrialState.COMPLETE, TrialState.PRUNED)
    ]
    finished = [(trial, value) for trial, value in finished if math.isfinite(value)]
    names = sorted({name for trial, _ in finished for name in trial.params})
    names = [name for name in names if len({trial.params[name] for trial, _ in finished}) > 1]
    if len(finished) < FEWEST or not names or len({value for _, value in finished}) == 1:
        return {}
    copy = optuna.create_study(direction="maximize" if objective.is_larger_better else "minimize")
    for trial, value in finished:
        copy.add_trial(optuna.create_trial(params=trial.params, distributions=trial.distributions, value=value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(copy, evaluator=evaluator, params=names)
    return {name: round(float(value), 4) for name, value in found.items()}
