"""How far an actor is from the exact one, over its training box.

Participants come from the actor's training priors. Their measurements come from stimuli that are distributed like the prior
means and scattered by the participant's own perceptual noise. The exact actions are solved in 64 bits.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from designstudio.model.actors.base import AbstractActor
from designstudio.model.actors.exact import ExactActor
from designstudio.model.costs.base import AbstractCost
from designstudio.model.parameters import training_priors
from designstudio.model.perception.lognormal import measure
from designstudio.model.priors import PriorSet

CHUNK = 1000


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """Relative errors |a / a_exact - 1| over `num_actions` random decisions."""

    num_actions: int
    median: float
    p99: float
    max: float

    def reaches(self, median: float, p99: float) -> bool:
        """Whether both quantiles are at or below their targets."""
        return self.median <= median and self.p99 <= p99


class Decisions(eqx.Module):
    """Participants and one log measurement each."""

    participants: dict[str, Float[Array, " decision"]]
    log_measurements: Float[Array, " decision"]


def draw_decisions(
    cost: AbstractCost, num_decisions: int, *, priors: PriorSet | None = None, key: Key[Array, ""]
) -> Decisions:
    """Random decisions over the training box: this version's, unless an actor's own `training_priors` are given."""
    participant_key, stimulus_key, noise_key = jax.random.split(key, 3)
    priors = training_priors(cost.all_parameters) if priors is None else priors
    participants = priors.sample(num_decisions, key=participant_key)
    stimuli = priors["mu_0"].distribution().sample(stimulus_key, (num_decisions,))
    measurements = measure(stimuli, participants["sigma"], key=noise_key)
    return Decisions(participants, jnp.log(measurements))


def solve_decisions(cost: AbstractCost, decisions: Decisions) -> np.ndarray:
    """Logarithms of the exact actions, in 64 bits."""
    numbers = jax.tree.map(lambda x: np.asarray(x, np.float64), decisions)
    with jax.enable_x64(True):
        return np.asarray(_act_in_chunks(ExactActor(cost), jax.tree.map(jnp.asarray, numbers)))


def relative_errors(actor: AbstractActor, decisions: Decisions, exact: np.ndarray) -> np.ndarray:
    """|a / a_exact - 1| for each decision."""
    log_actions = np.asarray(_act_in_chunks(actor, decisions), np.float64)
    return np.abs(np.expm1(log_actions - exact))


def summarize_errors(errors: np.ndarray) -> Accuracy:
    """Quantiles of relative errors."""
    median, p99 = np.quantile(errors, [0.5, 0.99])
    return Accuracy(errors.size, float(median), float(p99), float(errors.max()))


def measure_accuracy(actor: AbstractActor, num_actions: int = 20_000, *, key: Key[Array, ""]) -> Accuracy:
    """Compare an actor with the exact one on random decisions."""
    decisions = draw_decisions(actor.cost, num_actions, priors=actor.training_priors, key=key)
    exact = solve_decisions(actor.cost, decisions)
    return summarize_errors(relative_errors(actor, decisions, exact))


@eqx.filter_jit
def _act_in_chunks(actor: AbstractActor, decisions: Decisions) -> Float[Array, " decision"]:
    # In chunks: an exact actor that integrates numerically would need gigabytes for all decisions at once.
    return jax.lax.map(
        lambda decision: actor.policy(decision.participants)(decision.log_measurements), decisions, batch_size=CHUNK
    )
