"""Bring draws that were made with a fast likelihood to the careful one of all trials."""

import numpy as np

from designstudio.inference.batches import compute_correction
from designstudio.inference.diagnostics import check_weights, resample, take_draws
from designstudio.inference.results import Results
from designstudio.inference.task import Task, pick


def correct_draws(
    task: Task,
    results: Results,
    chosen: np.ndarray,
    is_wanted: np.ndarray,
    rngs: list[np.random.Generator],
    reasons: list[str],
) -> list[str]:
    """Correct the draws of a batch in place.

    Every fourth draw shows by how much the two likelihoods differ. Where that varies from draw to draw, all draws are
    weighted by the difference and resampled; where the weights are too uneven for that, the fit has failed.

    Args:
        task: what is fitted. results: with the draws.
        chosen: data sets of the batch. is_wanted: which of them are not just filling.
        rngs: a generator for each wanted data set. reasons: why each has failed already, or nothing.

    Returns:
        The reasons, with those of fits that cannot be corrected.
    """
    # What has failed anyway is fitted again, or never used.
    is_open = np.array([not reason for reason in reasons])
    if task.is_exact or not is_open.any():
        return reasons
    at, settings = chosen[is_wanted], task.settings
    stride = settings.num_correction_parts if settings.num_draws % settings.num_correction_parts == 0 else 1

    def compare(is_wanted: np.ndarray, first: int) -> np.ndarray:
        part = {name: draws[chosen][:, :, first::stride] for name, draws in results.draws.items()}
        fast, careful = pick(task.sampled, chosen), pick(task.observations, chosen)
        size = settings.chunk_size
        correction = compute_correction(task.model, fast, careful, part, chunk_size=size, is_wanted=is_wanted)
        return np.asarray(correction, float)[is_wanted]

    asked = is_wanted.copy()
    asked[is_wanted] = is_open
    seen = np.zeros((len(at), settings.num_chains, len(range(0, settings.num_draws, stride))))
    seen[is_open] = compare(asked, 0)
    error = seen.std((1, 2))
    results.diagnostics["rule_error"][at] = error
    needs = np.flatnonzero(~(error <= settings.max_rule_error))
    if not needs.size:
        return reasons
    needs_it = np.zeros(len(chosen), bool)
    needs_it[np.flatnonzero(is_wanted)[needs]] = True
    parts = [seen[needs], *(compare(needs_it, first) for first in range(1, stride))]
    correction = np.stack(parts, axis=-1).reshape(len(needs), settings.num_chains, -1)
    # In the order of the draws, so that a chain stays a chain and what was noted about each draw stays with it.
    indices = np.sort(resample(correction, settings.num_draws, [rngs[i] for i in needs]), axis=-1)
    for arrays in (results.draws, results.stats):
        for values in arrays.values():
            values[at[needs]] = take_draws(values[at[needs]], indices)
    check = check_weights(correction)
    for k, i in enumerate(needs):
        is_even = check.ess[k] > correction[0].size / 2 and check.khat[k] < settings.max_khat
        reasons[i] = reasons[i] or ("" if is_even else f"the fast likelihood is off by {error[i]:.2f} nats")
    return reasons
