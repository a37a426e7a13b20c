"""The behaviour model: who the participant may be, and how likely their responses are.

A model says for every parameter whether it is *shared* by all conditions (the default), *per condition*, or *fixed* to a
value that comes with the data (measured beforehand). Values of the free parameters are dicts: a scalar for a shared
parameter, one number for each condition otherwise. Everything here is for one data set; vmap for many.
"""

from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.actors.base import AbstractActor
from designstudio.model.family import Family
from designstudio.model.gauss_hermite import gauss_hermite
from designstudio.model.likelihood.density import LOG_TWO_PI, QuadratureRule
from designstudio.model.likelihood.lapses import LAPSE_RATE, mix_lapses
from designstudio.model.likelihood.observations import Moments, Observations
from designstudio.model.parameters import Parameter, analysis_priors
from designstudio.model.priors import AbstractPrior, PriorSet

Values = dict[str, Float[Array, "..."]]
Scalar = Float[Array, ""]
Responses = tuple[Float[Array, " range"], Float[Array, " range"], Float[Array, " range"]]
# Nodes over the measurement noise for the moments of responses.
NUM_RANGE_NODES = 3


class BehaviorModel(eqx.Module):
    """An actor, the prior of a fit, and which parameters are shared, per condition or fixed."""

    actor: AbstractActor
    num_conditions: int = eqx.field(static=True)
    per_condition: tuple[str, ...] = eqx.field(static=True)
    fixed: tuple[str, ...] = eqx.field(static=True)
    is_careful: bool = eqx.field(static=True)
    has_lapses: bool = eqx.field(static=True)
    _priors: tuple[tuple[str, AbstractPrior], ...] = eqx.field(static=True)

    def __init__(
        self,
        actor: AbstractActor,
        *,
        num_conditions: int = 1,
        per_condition: tuple[str, ...] | list[str] = (),
        fixed: tuple[str, ...] | list[str] = (),
        priors: PriorSet | None = None,
        is_careful: bool = False,
        has_lapses: bool = False,
    ) -> None:
        """Build a model.

        Args:
            actor: exact or amortized, for one cost.
            num_conditions: how many conditions every data set has.
            per_condition: parameters with one value for each condition.
            fixed: parameters whose values come with the data.
            priors: what the fit assumes; by default the paper's. Truncated to where the actor was trained.
            is_careful: whether posteriors are explored by the careful rule of the likelihood from the beginning.
            has_lapses: whether some responses may have nothing to do with their stimulus; their share is a parameter.

        Raises:
            StudioError: if a name is unknown, a parameter is both fixed and per condition, or nothing is free.
        """
        parameters = (*actor.parameters, *((LAPSE_RATE,) if has_lapses else ()))
        names = [parameter.name for parameter in parameters]
        for name in (*per_condition, *fixed):
            if name not in names:
                raise UnknownNameError("parameter", name, names)
        both = sorted(set(per_condition) & set(fixed))
        if both:
            raise StudioError(f"Parameter {both[0]!r} cannot be both fixed and per condition; name it once.")
        if num_conditions < 1:
            raise StudioError(f"A model needs at least 1 condition, but {num_conditions} was given.")
        if set(fixed) >= {parameter.name for parameter in actor.parameters}:
            raise StudioError(f"All of {', '.join(names)} are fixed: leave at least one parameter free.")
        if LAPSE_RATE.name in per_condition:
            raise StudioError(f"The {LAPSE_RATE.meaning} is shared by all conditions: name another parameter.")
        chosen = PriorSet({**analysis_priors(parameters), **({} if priors is None else priors)})
        missing = [name for name in names if priors is not None and name not in priors and name != LAPSE_RATE.name]
        if missing:
            raise StudioError(f"The priors have none for {missing[0]!r}; this model needs: {', '.join(names)}.")
        self.actor = actor
        self.has_lapses = has_lapses
        self.num_conditions = num_conditions
        self.is_careful = is_careful
        # With one condition, "per condition" and "shared" are the same: keep one name for it.
        self.per_condition = tuple(n for n in names if n in per_condition) if num_conditions > 1 else ()
        self.fixed = tuple(name for name in names if name in fixed)
        self._priors = tuple((name, _truncate(chosen[name], actor, name)) for name in names if name not in fixed)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters of the model, free and fixed."""
        return (*self.actor.parameters, *((LAPSE_RATE,) if self.has_lapses else ()))

    @property
    def family(self) -> Family:
        """How stimuli become responses."""
        return self.actor.family

    @property
    def priors(self) -> PriorSet:
        """Priors of the free parameters."""
        return PriorSet(dict(self._priors))

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the free parameters."""
        return tuple(name for name, _ in self._priors)

    @property
    def free_entries(self) -> tuple[str, ...]:
        """The same with a name for each condition where a parameter differs: one for each dimension of the posterior."""
        repeats = ((name, self.num_conditions if name in self.per_condition else 1) for name, _ in self._priors)
        return tuple(name for name, num in repeats for _ in range(num))

    @property
    def num_free(self) -> int:
        """How many numbers are free: the dimension of the posterior."""
        return len(self.free_entries)

    def num_entries(self, name: str) -> int:
        """How many values a free parameter has."""
        return self.num_conditions if name in self.per_condition else 1

    def broadcast_to_conditions(self, values: Values, fixed: Values) -> Values:
        """One value of every parameter for every condition."""
        given = {**values, **fixed}
        return {p.name: jnp.broadcast_to(given[p.name], (self.num_conditions,)) for p in self.parameters}

    def sample_prior(self, *, key: Array) -> Values:
        """One draw of the free parameters from the fit's prior."""
        keys = jax.random.split(key, len(self._priors))
        return {
            name: prior.distribution().sample(subkey, (self.num_conditions,) if name in self.per_condition else ())
            for subkey, (name, prior) in zip(keys, self._priors, strict=True)
        }

    def log_prior(self, values: Values) -> Float[Array, ""]:
        """Log prior density of the free parameters."""
        terms = [jnp.sum(prior.distribution().log_prob(values[name])) for name, prior in self._priors]
        return jnp.sum(jnp.stack(terms))

    def log_likelihood(self, values: Values, observations: Observations, *, is_fast: bool = False) -> Float[Array, ""]:
        """Log likelihood of a data set, the measurements integrated out; if fast, by `fast_rule`."""
        participants = self.broadcast_to_conditions(values, observations.fixed)
        if self.is_linear:
            return jnp.sum(jax.vmap(self._regression_log_likelihood)(participants, observations.moments))
        if self.has_lapses and observations.ranges is not None:
            return jnp.sum(jax.vmap(self._contaminated_log_likelihood)(participants, observations))
        if observations.ranges is not None:
            return jnp.sum(jax.vmap(self._ranges_log_likelihood)(participants, observations.ranges))
        pointwise = self.pointwise_log_likelihood(values, observations, is_fast=is_fast)
        present = jnp.where(observations.is_present, pointwise, 0.0).ravel()
        # A dot product, not a sum: compilers merge a sum into the loop over trials, which then runs one trial at a time.
        return present @ observations.weight.ravel()

    def pointwise_log_likelihood(
        self, values: Values, observations: Observations, *, is_fast: bool = False
    ) -> Float[Array, "condition trial"]:
        """Log density of every response; padded trials have one too, to be masked."""
        participants = self.broadcast_to_conditions(values, observations.fixed)
        rule = self.fast_rule if is_fast else self.rule

        def one_condition(participant: Values, data: Observations) -> Float[Array, " trial"]:
            policy, scale = self.actor.policy(participant), self.family.response.noise_scale(participant)
            measure, log_density = self.family.perception.measure, self.family.likelihood.log_density

            def one_trial(stimulus: Scalar, response: Scalar) -> Scalar:
                def act(noise: Scalar) -> Scalar:
                    return policy(measure(stimulus, participant, noise))

                return log_density(act, response, participant, scale, rule=rule)

            usual = jax.vmap(one_trial)(data.stimulus, data.response)
            return mix_lapses(usual, participant[LAPSE_RATE.name], data.log_broad) if self.has_lapses else usual

        return jax.vmap(one_condition)(participants, observations)

    @property
    def rule(self) -> QuadratureRule:
        """How measurements are integrated out."""
        return self.actor.rule

    @property
    def fast_rule(self) -> QuadratureRule:
        """How measurements are integrated out while the posterior is explored."""
        return self.rule if self.is_careful else self.actor.fast_rule

    def change(self, *, num_conditions: int | None = None, is_careful: bool | None = None) -> "BehaviorModel":
        """The same model for another number of conditions, or explored in another way."""
        return BehaviorModel(
            self.actor,
            num_conditions=self.num_conditions if num_conditions is None else num_conditions,
            per_condition=self.per_condition,
            fixed=self.fixed,
            priors=analysis_priors(self.parameters).replace(**self.priors),
            is_careful=self.is_careful if is_careful is None else is_careful,
            has_lapses=self.has_lapses,
        )

    @property
    def is_straight(self) -> bool:
        """Whether responses are a linear function of stimuli plus Gaussian noise, on their scales, but for lapses."""
        return self.rule.is_exact and self.family.likelihood.is_gaussian

    @property
    def is_linear(self) -> bool:
        """Whether a regression tells all that a condition's trials do."""
        return self.is_straight and not self.has_lapses

    def _regression_log_likelihood(self, participant: Values, moments: Moments) -> Float[Array, ""]:
        """Log likelihood of one condition from its regression."""
        policy = self.actor.policy(participant)
        mean, slope = jax.jvp(policy, (moments.mean_x,), (jnp.ones_like(moments.mean_x),))
        family = self.family
        variance = (slope * family.perception.noise_scale(participant)) ** 2 + family.response.noise_scale(participant) ** 2
        return _gaussian_log_likelihood(moments, mean, slope, variance)

    def _ranges_log_likelihood(self, participant: Values, ranges: Moments) -> Float[Array, " range"]:
        """Log likelihood of the ranges of one condition, with Gaussian responses that have the moments of the true ones."""
        return _gaussian_log_likelihood(ranges, *self._describe_ranges(participant, ranges))

    def _contaminated_log_likelihood(self, participant: Values, data: Observations) -> Scalar:
        """The same of one condition with lapses, trial by trial; see `designstudio.model.likelihood.lapses`."""
        ranges = cast(Moments, data.ranges)
        describe = self._describe_lines if self.is_straight else self._describe_ranges
        mean, slope, variance = (array[:, None] for array in describe(participant, ranges))
        x, y = (array.reshape(len(ranges.mean_x), -1) for array in (data.stimulus, data.response))
        residual = y - mean - slope * (x - ranges.mean_x[:, None])
        usual = -(LOG_TWO_PI + jnp.log(variance) + residual**2 / variance) / 2
        return mix_lapses(usual, participant[LAPSE_RATE.name], data.log_broad).ravel() @ data.weight

    def _describe_lines(self, participant: Values, ranges: Moments) -> Responses:
        """Mean, slope and variance of the responses in each range, under a linear policy."""
        policy, family = self.actor.policy(participant), self.family
        mean, slope = jax.vmap(lambda x: jax.jvp(policy, (x,), (jnp.ones_like(x),)))(ranges.mean_x)
        noise = family.perception.noise_scale(participant), family.response.noise_scale(participant)
        return mean, slope, (slope * noise[0]) ** 2 + noise[1] ** 2

    def _describe_ranges(self, participant: Values, ranges: Moments) -> Responses:
        """The same under a policy that bends."""
        policy, family = self.actor.policy(participant), self.family
        nodes, shares = (jnp.asarray(array, jnp.float32) for array in gauss_hermite(NUM_RANGE_NODES))

        def act(noise: Scalar) -> Float[Array, " range"]:
            return jax.vmap(lambda x: policy(family.perception.measure(x, participant, noise)))(ranges.mean_x)

        # Matrix products, not sums: compilers merge sums into the computation of actions, and then repeat that for each.
        actions = jax.vmap(act)(nodes)
        mean = shares @ actions
        # How the mean moves with the stimulus is how the action moves with the noise (Stein's lemma).
        tilt = (shares * nodes) @ actions
        # Around the action without noise, where nothing large cancels.
        offsets = actions - actions[NUM_RANGE_NODES // 2]
        spread = shares @ offsets**2 - (shares @ offsets) ** 2
        variance = spread + family.response.noise_scale(participant) ** 2
        return mean, tilt / family.perception.noise_scale(participant), variance


def _gaussian_log_likelihood(
    moments: Moments, mean: Float[Array, "..."], slope: Float[Array, "..."], variance: Float[Array, "..."]
) -> Float[Array, "..."]:
    """Log likelihood of a regression, of responses that are Gaussian around a line through `mean` at the mean stimulus."""
    squares = moments.sum_rr + moments.sum_xx * (slope - moments.slope) ** 2 + moments.count * (moments.mean_y - mean) ** 2
    return -moments.count / 2 * (LOG_TWO_PI + jnp.log(variance)) - squares / (2 * variance)


def _truncate(prior: AbstractPrior, actor: AbstractActor, name: str) -> AbstractPrior:
    """The prior within the parameter's training box, unless the actor is right everywhere."""
    boxes = actor.parameter_boxes
    return prior.within(boxes[name]) if name in boxes else prior
