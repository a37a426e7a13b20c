"""Many trials with the same stimulus, told by few: what samplers see of large data sets.

Trials whose stimuli are the same, or nearly so, differ in their responses only, and their log likelihood is a sum of one
smooth function of the response. Such a sum is an integral over the empirical distribution of the responses, and has a
Gauss rule like any other: a few nodes, with weights, that give the sum exactly for every polynomial of degree below twice
their number. A log density is close to a polynomial of degree two, so five nodes tell what a thousand trials would.

This is for exploring a posterior. What it leaves out is measured on all trials and corrected: see
`designstudio.inference.correction`.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from designstudio.model.likelihood.observations import Observations, bucket_size

# Stimuli closer than this, on the perception's scale, are taken to be the same, after their responses are moved along the
# regression line.
SAME_STIMULUS = 0.01
NUM_NODES = 5
# A data set is condensed if that leaves at most this share of its trials.
LARGEST_SHARE = 0.5
# Relative size below which a norm in the recurrence is only rounding: the responses have no more distinct values.
NO_MORE_VALUES = 1e-9


def condense(observations: Observations) -> Observations:
    """The same data sets with weighted nodes in place of trials, where that makes them much shorter.

    Args:
        observations: of data sets along one leading axis, on the host.

    Returns:
        The observations themselves if no data set becomes shorter.
    """
    x, y = np.asarray(observations.stimulus, float), np.asarray(observations.response, float)
    present, moments = np.asarray(observations.is_present), observations.moments
    dataset, condition, _ = at = np.nonzero(present)
    if not dataset.size:
        return observations
    cell = np.floor(x[at] / SAME_STIMULUS).astype(int)
    rows = np.stack([dataset, condition, cell], axis=1)
    groups, group = np.unique(rows, axis=0, return_inverse=True)
    group = group.ravel()
    count = np.bincount(group)
    centre = np.bincount(group, x[at]) / count
    moved = y[at] - np.asarray(moments.slope)[dataset, condition] * (x[at] - centre[group])
    nodes, weights = summarize_groups(moved, group)
    # Data sets decide each for itself, so that others change nothing.
    num_nodes = np.bincount(groups[:, 0], (weights > 0).sum(1), minlength=len(x))
    is_short = num_nodes <= LARGEST_SHARE * np.bincount(dataset, minlength=len(x))
    if not is_short.any():
        return observations
    stands = (weights > 0) & is_short[groups[:, 0], None]
    which, node = np.nonzero(stands)
    stays = ~is_short[dataset]
    return _lay_out(
        observations,
        np.concatenate([groups[which, 0], dataset[stays]]),
        np.concatenate([groups[which, 1], condition[stays]]),
        np.concatenate([centre[which], x[at][stays]]),
        np.concatenate([nodes[which, node], y[at][stays]]),
        np.concatenate([weights[which, node], np.ones(stays.sum())]),
    )


def summarize_groups(
    values: Float[np.ndarray, " value"], group: np.ndarray, num_nodes: int = NUM_NODES
) -> tuple[Float[np.ndarray, "group node"], Float[np.ndarray, "group node"]]:
    """Gauss nodes and weights of the empirical distribution of each group, its size being the sum of its weights.

    A group with fewer distinct values than nodes has these values, and further nodes of weight 0.

    Args:
        values: of all groups. group: to which each belongs, numbered from 0.
        num_nodes: at the most, for each group.
    """
    count = np.bincount(group)
    mean = np.bincount(group, values) / count
    centred = values - mean[group]
    scale = np.sqrt(np.bincount(group, centred**2) / count)
    scale = np.where(scale > 0, scale, 1.0)
    points = centred / scale[group]
    # Stieltjes' recurrence of the polynomials that are orthogonal under each distribution, all groups at once.
    diagonal, off_diagonal = np.zeros((2, len(count), num_nodes))
    previous, current = np.zeros_like(points), np.ones_like(points)
    last_norm, goes_on = count.astype(float), np.ones(len(count), bool)
    for k in range(num_nodes):
        norm = np.bincount(group, current**2)
        goes_on &= norm > NO_MORE_VALUES * count
        safe = np.where(goes_on, norm, 1.0)
        diagonal[:, k] = np.where(goes_on, np.bincount(group, points * current**2) / safe, 0.0)
        ratio = np.where(goes_on, norm / last_norm, 0.0)
        off_diagonal[:, k] = np.sqrt(ratio) if k else 0.0
        following = (points - diagonal[group, k]) * current - (ratio[group] if k else 0.0) * previous
        previous, current = current, np.where(goes_on[group], following, 0.0)
        last_norm = safe
    matrices = np.zeros((len(count), num_nodes, num_nodes))
    at = np.arange(num_nodes)
    matrices[:, at, at] = diagonal
    matrices[:, at[1:], at[:-1]] = matrices[:, at[:-1], at[1:]] = off_diagonal[:, 1:]
    roots, vectors = np.linalg.eigh(matrices)
    shares = vectors[:, 0] ** 2
    shares = np.where(shares > NO_MORE_VALUES, shares, 0.0)
    return mean[:, None] + scale[:, None] * roots, count[:, None] * shares


def _lay_out(
    observations: Observations, dataset: np.ndarray, condition: np.ndarray, x: np.ndarray, y: np.ndarray, weight: np.ndarray
) -> Observations:
    """Put nodes side by side, padded as trials are."""
    num_datasets, num_conditions = observations.weight.shape[:2]
    which = dataset * num_conditions + condition
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which, minlength=num_datasets * num_conditions)
    number = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = (which[order], number)
    shape = (len(counts), bucket_size(int(counts.max())))
    means = (observations.moments.mean_x, observations.moments.mean_y)
    # Padding repeats the mean stimulus and response, as that of trials does.
    padding = [np.repeat(np.reshape(mean, (-1, 1)), shape[1], axis=1) for mean in means]

    def fill(values: np.ndarray, empty: np.ndarray) -> np.ndarray:
        filled = empty.astype(np.float32)
        filled[at] = values[order]
        return filled.reshape(num_datasets, num_conditions, -1)

    arrays = tuple(map(fill, (x, y, weight), (*padding, np.zeros(shape))))
    return eqx.tree_at(lambda o: (o.stimulus, o.response, o.weight), observations, arrays)
