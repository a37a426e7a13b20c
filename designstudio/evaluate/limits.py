"""What an evaluation needs of this machine, estimated from its shapes: what does not fit is refused before it begins.

Bytes were measured as the growth of a process from small to large designs (Linux, CPU), and rounded up.
"""

from collections.abc import Iterable

import jax

from designstudio.core.cache import BLOCK_SIZE
from designstudio.core.memory import check_memory
from designstudio.evaluate.fidelities import FIT_SETTINGS
from designstudio.inference.settings import FitSettings
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import bucket_size
from designstudio.model.simulate import SMALLEST_BUCKET
from designstudio.study import Study
from designstudio.study.design import Design

# Of a trial while its data set is simulated and packed, or its expected information computed.
BYTES_A_TRIAL = 260
# Of a trial and draw, where the likelihood of all trials is computed draw by draw; and while a sampler explores.
BYTES_A_DRAW, BYTES_A_SAMPLED_DRAW = 16, 40
# Samplers see at most about this many weighted trials of a condition.
MOST_SAMPLED = 2048
# Of a trial and draw of a log likelihood that is kept for leave-one-out.
BYTES_KEPT_A_DRAW = 8
# Of a data set whose posterior is summarised; of one draw of one parameter that is kept.
BYTES_A_SUMMARY, BYTES_A_VALUE = 4000, 12
ADVICE = "ask for fewer trials or fewer data sets"


def check_designs(
    study: Study,
    designs: Iterable[Design],
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    block_size: int = BLOCK_SIZE,
) -> None:
    """Refuse an evaluation for which there is no memory, or with which nothing can be computed.

    Args:
        study: the question.
        designs: that will be evaluated, one after the other.
        fidelity: by default the study's.
        num_datasets: of each design; by default the study's.
        block_size: data sets that are simulated and fitted together.

    Raises:
        StudioError: naming what the first design that cannot be evaluated would need.
    """
    settings = FIT_SETTINGS.get(study.fidelity if fidelity is None else fidelity)
    num_datasets = study.num_datasets if num_datasets is None else num_datasets
    for design in designs:
        study.check_values(design)
        model = study.build_model(design)
        most = max(condition.num_trials for condition in design.conditions)
        needed = num_datasets * BYTES_A_SUMMARY + estimate_bytes(model, min(num_datasets, block_size), most, settings)
        check_memory(needed, f"{_describe(design)} for {num_datasets:,} data sets", ADVICE)


def estimate_bytes(model: BehaviorModel, num_datasets: int, num_trials: int, settings: FitSettings | None) -> float:
    """Memory of data sets that are simulated and fitted together.

    Args:
        model: what is fitted.
        num_datasets: fitted together.
        num_trials: of the longest condition: the others are padded to it.
        settings: of the fits; None if nothing is fitted.
    """
    trials = float(model.num_conditions * bucket_size(num_trials, SMALLEST_BUCKET))
    simulated = num_datasets * trials * BYTES_A_TRIAL
    if settings is None:
        return simulated
    draws = settings.num_chains * settings.num_draws
    values = num_datasets * draws * (model.num_free + 4) * BYTES_A_VALUE
    kept = num_datasets * trials * draws * BYTES_KEPT_A_DRAW if settings.keeps_log_likelihood else 0.0
    if model.is_linear:
        return simulated + values + kept
    # Where policies are not linear, trials do not condense into a regression: a chunk of data sets is on each device.
    together = min(num_datasets, settings.chunk_size * jax.local_device_count())
    sampled = min(trials, MOST_SAMPLED * model.num_conditions) * draws * BYTES_A_SAMPLED_DRAW
    return simulated + values + kept + together * (sampled + trials * settings.num_draws * BYTES_A_DRAW)


def _describe(design: Design) -> str:
    num = len(design.conditions)
    levels = "" if num == 1 else f" in {num} conditions"
    return f"Design {design.name!r}, {design.num_trials:,} trials{levels},"
