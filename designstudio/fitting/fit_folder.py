"""Fits to real data as a folder of plain files, and back.

| file | what it holds |
|---|---|
| trials.nc | the trials, in the unit of the data |
| posterior_<cost>.nc | draws, diagnostics and leave-one-out densities, in the actor's unit |
| pooled_<cost>.nc | the group and its subjects, if they were pooled |
| request.json | what was asked for, the report on reading, the scale |
| estimates.csv | every estimate: subject, cost, parameter, condition, mean, sd, interval, unit |
| result.json | all results for people and other programs, in the unit of the data |

Every file is written whole or not at all. Nothing in them is executed when they are read.
"""

import json
from pathlib import Path
from typing import Any

from designstudio.core.files import write_json
from designstudio.core.tables import write_csv
from designstudio.errors import StudioError
from designstudio.fitting.compare_costs import compare_costs
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.estimates import list_estimates
from designstudio.fitting.models import build_models
from designstudio.fitting.planned import PlannedAnalysis
from designstudio.fitting.posterior_cache import PosteriorCache, locate
from designstudio.fitting.reading import LoadReport
from designstudio.fitting.request import request_as_dict, request_from_dict
from designstudio.inference.posterior import load_posterior, save_posterior
from designstudio.model.scale import Scale
from designstudio.model.trials import load_trials, save_trials

TRIALS, REQUEST, RESULT, ESTIMATES = "trials.nc", "request.json", "result.json", "estimates.csv"
FORMAT = "designstudio fit 1"


def save_fit(fit: EmpiricalFit, folder: Path | str) -> None:
    """Write a fit into a folder; other files there stay as they are.

    Raises:
        StudioError: if it cannot be written there.
    """
    target = Path(folder)
    cache = PosteriorCache(target)
    record = {
        "format": FORMAT,
        "name": fit.name,
        "request": request_as_dict(fit.request),
        "report": fit.report.as_dict(),
        "scale": {"factor": fit.scale.factor, "unit": fit.scale.unit, "note": fit.scale.note},
        "pooled": list(fit.pooled),
        "seconds": fit.seconds,
        "notes": list(fit.notes),
        "plan": None if fit.plan is None else fit.plan.as_dict(),
    }
    try:
        target.mkdir(parents=True, exist_ok=True)
        save_trials(fit.trials, target / TRIALS)
        for kind, trees in (("posterior", fit.posteriors), ("pooled", fit.pooled)):
            for cost, tree in trees.items():
                # What a run has kept already is as it should be.
                fingerprint = str(tree.attrs.get("fingerprint", ""))
                if not fingerprint or cache.find(kind, cost, fingerprint) is None:
                    save_posterior(tree, locate(target, kind, cost))
        write_json(target / REQUEST, record)
        write_csv(target / ESTIMATES, list_estimates(fit))
        write_json(target / RESULT, fit.as_dict())
    except OSError as error:
        raise StudioError(f"The fit cannot be written to {str(target)!r}: {error.strerror or error}.") from None


def load_fit(folder: Path | str) -> EmpiricalFit:
    """Read a fit; models are built again and costs compared again.

    Raises:
        StudioError: if the folder holds no whole fit.
    """
    source = Path(folder)
    record = _read_json(source / REQUEST)
    try:
        request = request_from_dict(record["request"])
        report, scale = LoadReport.from_dict(record["report"]), Scale(**record["scale"])
        name, pooled_costs = str(record["name"]), list(record["pooled"])
        seconds, notes = float(record["seconds"]), tuple(record["notes"])
        # Older fits had none.
        plan = None if record.get("plan") is None else PlannedAnalysis.from_dict(record["plan"])
    except (KeyError, TypeError, AttributeError) as error:
        raise StudioError(f"{str(source / REQUEST)!r} is not complete ({error}): fit the data again.") from None
    trials = load_trials(source / TRIALS)
    prepared = build_models(request, scale.apply(trials), scale)
    posteriors = {cost: load_posterior(locate(source, "posterior", cost)) for cost in request.costs}
    pooled = {cost: load_posterior(locate(source, "pooled", cost)) for cost in pooled_costs}
    comparison = compare_costs(posteriors) if len(posteriors) > 1 else None
    models = {cost: one.model for cost, one in prepared.items()}
    return EmpiricalFit(name, trials, report, scale, request, models, posteriors, pooled, comparison, seconds, notes, plan)


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise StudioError(
            f"There is no fit in {str(path.parent)!r}: give a folder that designstudio fit --out has finished."
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudioError(f"{str(path)!r} cannot be read ({error}): fit the data again.") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise StudioError(f"{str(path)!r} is not of the form {FORMAT!r}: fit the data again.")
    return record
