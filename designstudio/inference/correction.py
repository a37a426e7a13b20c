"""From draws of a fast likelihood to draws of the careful one of all trials."""

import numpy as np
from scipy.special import logsumexp

from designstudio.inference.batches import compute_correction
from designstudio.inference.diagnostics import Draws, check_weights, resample, take_draws
from designstudio.inference.task import Results, Task, pick

LIKELIHOOD_IS_OFF = "the fast likelihood is off by"
# Standard deviation of log weights, in nats, up to which they are nearly equal.
SMALL_ERROR = 0.3
# With many trials the two likelihoods are compared at so many times fewer draws.
FEWER_SEEN = 4


def correct_draws(
    task: Task,
    results: Results,
    chosen: np.ndarray,
    is_wanted: np.ndarray,
    rngs: list[np.random.Generator],
    reasons: list[str],
) -> list[str]:
    """Correct the draws of a batch in place.

    Some draws show by how much the two likelihoods differ. Where that varies from draw to draw, all draws are weighted by
    the difference and resampled; where the weights are too uneven for that, the fit has failed. The difference is a smooth
    function of the parameters: where a regression on the draws that were seen tells it well enough, it is not computed for
    the others, which would take long with thousands of trials.

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
    # A hundred draws are enough for a regression, and thousands of trials take their time.
    num_parts = settings.num_correction_parts * (FEWER_SEEN if task.num_trials > settings.many_trials else 1)
    stride = num_parts if settings.num_draws % num_parts == 0 else 1

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
    # The evidence is corrected by the mean ratio of the likelihoods over the posterior.
    results.diagnostics["log_evidence"][at] += logsumexp(seen, axis=(1, 2)) - np.log(seen[0].size)
    needs = np.flatnonzero(~(error <= settings.max_rule_error))
    if not needs.size:
        return reasons
    draws = {name: values[at[needs]] for name, values in results.draws.items()}
    correction, left = predict_correction(draws, seen[needs], stride)
    is_told = left <= settings.max_rule_error
    if not is_told.all():
        needs_it = np.zeros(len(chosen), bool)
        needs_it[np.flatnonzero(is_wanted)[needs[~is_told]]] = True
        parts = [seen[needs[~is_told]], *(compare(needs_it, first) for first in range(1, stride))]
        correction[~is_told] = np.stack(parts, axis=-1).reshape(len(parts[0]), settings.num_chains, -1)
    # In the order of the draws, so that a chain stays a chain and what was noted about each draw stays with it.
    indices = np.sort(resample(correction, settings.num_draws, [rngs[i] for i in needs]), axis=-1)
    for arrays in (results.draws, results.stats):
        for values in arrays.values():
            values[at[needs]] = take_draws(values[at[needs]], indices)
    check = check_weights(correction)
    for k, i in enumerate(needs):
        # The tail of weights that are nearly equal says nothing about them.
        is_even = check.ess[k] > correction[0].size / 2 and (check.khat[k] < settings.max_khat or error[i] < SMALL_ERROR)
        reasons[i] = reasons[i] or ("" if is_even else f"{LIKELIHOOD_IS_OFF} {error[i]:.2f} nats")
    return reasons


def predict_correction(draws: Draws, seen: np.ndarray, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """The correction of all draws by a quadratic regression on those where it was computed, and what that leaves open.

    Args:
        draws: of each data set. seen: the correction of every so many of them. stride: how many.

    Returns:
        The correction of all draws, and for each data set the standard deviation of what the regression does not tell.
    """
    columns = [values.reshape(*values.shape[:3], -1).astype(float) for values in draws.values()]
    points = np.concatenate([np.log(column) if (column > 0).all() else column for column in columns], axis=-1)
    predicted, left = np.zeros(points.shape[:3]), np.full(len(points), np.inf)
    pairs = np.triu_indices(points.shape[-1])
    for i, mine in enumerate(points):
        scaled = (mine - mine.mean((0, 1))) / np.maximum(mine.std((0, 1)), 1e-12)
        terms = [np.ones_like(scaled[..., :1]), scaled, scaled[..., pairs[0]] * scaled[..., pairs[1]]]
        features = np.concatenate(terms, axis=-1)
        known, target = features[:, ::stride].reshape(-1, features.shape[-1]), seen[i].ravel()
        num_left = len(target) - features.shape[-1]
        is_usable = np.isfinite(target).all() and np.isfinite(features).all()
        if stride == 1 or num_left < features.shape[-1] or not is_usable:
            continue
        coefficients = np.linalg.lstsq(known, target, rcond=None)[0]
        predicted[i] = features @ coefficients
        left[i] = np.sqrt(np.sum((target - known @ coefficients) ** 2) / num_left)
    return predicted, left
