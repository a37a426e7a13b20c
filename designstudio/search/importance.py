"""Which design variables matter for the score."""

import warnings

import optuna
from optuna.trial import TrialState

from designstudio.search.search_job import SearchJob

# With fewer complete trials the numbers would be noise.
FEWEST = 20


def rank_variables(job: SearchJob) -> dict[str, float]:
    """Importance of each variable for the first objective, adding up to 1; empty if there are too few trials."""
    complete = [trial for trial in job.list_trials(TrialState.COMPLETE) if trial.values]
    names = sorted({name for trial in complete for name in trial.params if len({t.params.get(name) for t in complete}) > 1})
    if len(complete) < FEWEST or not names:
        return {}
    target = None if len(job.objectives) == 1 else (lambda trial: trial.values[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = optuna.importance.get_param_importances(
                job.study, evaluator=optuna.importance.PedAnovaImportanceEvaluator(), target=target, params=names
            )
        except (ValueError, RuntimeError):
            # All trials have the same value.
            return {}
    return {name: round(float(value), 4) for name, value in found.items()}
