"""Goals of whole studies: how often simulated studies decide for an effect that is there, and for one that is not.

A decision is an interval that stays away from no effect: that of the middle of the groups in the hierarchical analysis, or
that of a t test on posterior means (Welch's, or of one sample). Studies are simulated and decisions counted, so power and
false-positive rate are shares of studies, with nothing plugged in. What a decision says of the effect when it is made is
scored, too: how often its sign is wrong (type S), and how many times it is too large (type M).
"""

from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy import stats

from designstudio.core.cache import BlockCache
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError
from designstudio.evaluate.goals import label_goal, resolve_exclusion
from designstudio.evaluate.group_studies import Members, Sample, find_members, simulate_group
from designstudio.inference.scales import Scale
from designstudio.metrics.monte_carlo import UNDEFINED, Score, score_share
from designstudio.metrics.power import ALPHA, PowerScore
from designstudio.study import Goal, Group, Study
from designstudio.study.design import Design
from designstudio.study.goals import GROUPS_DIFFER
from designstudio.study.groups import FEWEST_MEMBERS, HIERARCHICAL

# Effects smaller than this, relative to the values, are none.
NO_EFFECT = 1e-9


class Decisions(NamedTuple):
    """What simulated studies decide.

    Attributes:
        estimate: of the effect; NaN where no decision could be made.
        low, high: interval of the effect.
    """

    estimate: Float[np.ndarray, " study"]
    low: Float[np.ndarray, " study"]
    high: Float[np.ndarray, " study"]

    @property
    def is_made(self) -> Bool[np.ndarray, " study"]:
        """Whether a study could decide."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    def find_effect(self, margin: float) -> Bool[np.ndarray, " study"]:
        """Whether a study decides for an effect beyond a margin."""
        return (self.low > margin) | (self.high < -margin)


def score_group_goals(
    study: Study,
    design: Design,
    *,
    cache: BlockCache,
    num_studies: int | None = None,
    progress: ProgressCallback | None = None,
) -> dict[str, PowerScore]:
    """Chances to reach each goal of whole studies, with its effect and without.

    Args:
        study: the question. design: one of its designs.
        cache: where finished work is kept.
        num_studies: by default the study's.
        progress: called now and then.
    """
    goals = [goal for goal in study.goals if goal.is_of_studies]
    num_studies = study.num_studies if num_studies is None else num_studies
    asked = [_list_members(study, design, goal) for goal in goals]
    everybody = {_key(members): members for of_goal in asked for state in of_goal if state is not None for members in state}
    counter = Counter(progress, len(everybody) * num_studies)
    samples: dict[tuple, dict[str, Sample]] = {}
    for place, (key, members) in enumerate(everybody.items()):

        def report(done: int, place: int = place, name: str = members.group.name) -> None:
            counter.report(place * num_studies + done, f"{design.name}, {name}")

        samples[key] = simulate_group(members, design, num_studies=num_studies, cache=cache, report=report)
    scores: dict[str, PowerScore] = {}
    for goal, (present, absent) in zip(goals, asked, strict=True):
        found = [samples[_key(members)] for members in present]
        names = [name for name in found[0] if name == goal.quantity or name.startswith(f"{goal.quantity}[")]
        without = None if absent is None else [samples[_key(members)] for members in absent]
        words = absent[-1].words if absent is not None else _explain_missing(study, design, goal)
        for name, label in label_goal(goal, names).items():
            scores[label] = _score(
                study, design, goal, [sample[name] for sample in found],
                None if without is None else [sample[name] for sample in without], words,
            )  # fmt: skip
    return scores


def _key(members: Members) -> tuple:
    study, group = members.study, members.group
    return (study.identity, group.num_participants, group.dropout, tuple(sorted(group.factors.items())), members.words)


def _list_members(study: Study, design: Design, goal: Goal) -> tuple[list[Members], list[Members] | None]:
    """Whom a goal is about: with its effect, and without, if that can be taken away."""
    groups = study.choose_groups(goal)
    places = {group.name: place for place, group in enumerate(study.groups)}
    present = [find_members(study, group, places.get(group.name, 0)) for group in groups]
    for group in groups:
        if (group.num_participants or design.num_participants) < FEWEST_MEMBERS:
            raise StudioError(
                f"The goal that {goal} needs at least {FEWEST_MEMBERS} participants in each group, but design "
                f"{design.name!r} has {group.num_participants or design.num_participants}: set participants."
            )
    if goal.kind == GROUPS_DIFFER:
        first, second = groups
        same = Group(second.name, second.num_participants, second.dropout, first.differs)
        alike = find_members(study, same, places[second.name])
        words = f"{second.name} differ from the population as {first.name} do"
        return present, [present[0], alike._replace(words=words)]
    absent = _shift_middle(study, design, goal, present[0])
    return present, None if absent is None else [absent]


def _shift_middle(study: Study, design: Design, goal: Goal, members: Members) -> Members | None:
    """The group with its middle at the goal's value, and its people as different as they are; None if there is no way."""
    name, group = goal.quantity, members.group
    model = study.build_model(design)
    parameters = {p.name: p for p in study.load_actor(study.population.cost or study.cost).parameters}
    if name not in parameters or name in (*design.levels, *design.own_parameters):
        return None
    value, _ = resolve_exclusion(goal, model, study.conversion)
    # People are simulated in the actor's unit.
    given, value = value, float(study.conversion.convert(value, parameters[name]))
    support, box = Scale(parameters[name].support), parameters[name].box
    cost = study.load_actor(study.population.cost or study.cost).cost
    prior = members.study.population.resolve_for_actor(cost, study.conversion)[name]
    if study.population.follows_analysis and name in model.free and name not in members.study.population.priors:
        prior = model.priors[name]
    middle = float(prior.quantile(np.array(0.5))) * group.factors.get(name, 1.0)
    is_inside = box.low < value < box.high
    # At the end of what actors know there is no room for people who differ.
    nearest = min(max(value, box.low), box.high)

    def change(people: xr.Dataset) -> xr.Dataset:
        values = people[name].values
        if is_inside:
            moved = support.backward(
                support.forward(values) + support.forward(np.array(value)) - support.forward(np.array(middle))
            )
            moved = np.clip(moved, box.low, box.high)
        else:
            moved = np.full_like(values, nearest)
        return people.assign({name: (people[name].dims, moved, people[name].attrs)})

    end = float(study.conversion.restore(nearest, parameters[name]))
    words = f"the median of {name} is {given:g}" if is_inside else f"{name} is {end:g} for everybody"
    return members._replace(change=change, words=words)


def _explain_missing(study: Study, design: Design, goal: Goal) -> str:
    if goal.quantity in [quantity.name for quantity in study.quantities]:
        return f"{goal.quantity} can have the same value in many ways"
    if goal.quantity in (*design.levels, *design.own_parameters):
        return f"{goal.quantity} is what conditions make it"
    return f"{goal.quantity} is no parameter of the simulated participants"


def _score(
    study: Study, design: Design, goal: Goal, present: list[Sample], absent: list[Sample] | None, words: str
) -> PowerScore:
    model = study.build_model(design)
    value, margin = (
        (0.0, goal.margin or 0.0) if goal.kind == GROUPS_DIFFER else resolve_exclusion(goal, model, study.conversion)
    )
    decisions = _decide(study, goal, present, value)
    without = None if absent is None else _decide(study, goal, absent, value)
    effect = _find_effect(goal, present, value)
    type_s, type_m = score_errors(decisions, margin, effect)
    return PowerScore(
        *_share(decisions, margin),
        when_absent=None if without is None else _share(without, margin),
        absent=words,
        nominal=goal.nominal_level(study.interval),
        kind=goal.kind,
        rule=describe_group_rule(study, goal, value, margin),
        num_datasets=len(decisions.low),
        num_failed=int((~decisions.is_made).sum()),
        num_failed_absent=0 if without is None else int((~without.is_made).sum()),
        num_studies=len(decisions.low),
        type_s=type_s,
        type_m=type_m,
    )


def _share(decisions: Decisions, margin: float) -> Score:
    is_made = decisions.is_made
    return score_share(decisions.find_effect(margin)[is_made]) if is_made.any() else UNDEFINED


def _decide(study: Study, goal: Goal, samples: list[Sample], value: float) -> Decisions:
    if goal.decision == HIERARCHICAL:
        return decide_by_interval(samples, value, study.interval)
    return decide_by_t_test(samples, value)


def decide_by_interval(samples: list[Sample], value: float, interval: float) -> Decisions:
    """By the middle of a group minus a value, or of the second group minus the first."""
    draws = samples[-1].middle - (samples[0].middle if len(samples) > 1 else value)
    is_good = np.all([sample.is_good for sample in samples], axis=0)
    low, high = np.quantile(draws, [(1 - interval) / 2, (1 + interval) / 2], axis=1)
    return Decisions(*(np.where(is_good, found, np.nan) for found in (draws.mean(axis=1), low, high)))


def decide_by_t_test(samples: list[Sample], value: float) -> Decisions:
    """By posterior means: Welch's test of two groups, or a test of one group against a value."""
    means, variances, counts = [], [], []
    for sample in samples:
        is_there = np.isfinite(sample.mean)
        counts.append(is_there.sum(axis=1))
        with np.errstate(all="ignore"):
            mean = np.where(is_there, sample.mean, 0.0).sum(axis=1) / counts[-1]
            squares = np.where(is_there, (sample.mean - mean[:, None]) ** 2, 0.0).sum(axis=1)
            means.append(mean)
            variances.append(squares / (counts[-1] - 1) / counts[-1])
    estimate = means[-1] - (means[0] if len(samples) > 1 else value)
    with np.errstate(all="ignore"):
        squared = np.sum(variances, axis=0)
        freedom = squared**2 / np.sum([v**2 / (n - 1) for v, n in zip(variances, counts, strict=True)], axis=0)
        reach = stats.t.ppf(1 - ALPHA / 2, freedom) * np.sqrt(squared)
    return Decisions(estimate, estimate - reach, estimate + reach)


def _find_effect(goal: Goal, samples: list[Sample], value: float) -> float:
    """The true effect: of median people, as the hierarchical analysis sees it, or of means."""
    centre = np.nanmedian if goal.decision == HIERARCHICAL else np.nanmean
    if any(np.isnan(sample.truth).all() for sample in samples):
        return float("nan")
    middles = [float(centre(sample.truth)) for sample in samples]
    effect = middles[-1] - (middles[0] if len(middles) > 1 else value)
    return 0.0 if abs(effect) < NO_EFFECT * max(map(abs, middles)) else effect


def score_errors(decisions: Decisions, margin: float, effect: float) -> tuple[Score | None, Score | None]:
    """Of studies that decide for an effect: the share with the wrong sign, and how many times too large they find it."""
    found = decisions.estimate[decisions.find_effect(margin) & decisions.is_made]
    if not len(found) or not abs(effect) > 0:
        return None, None
    exaggeration = np.abs(found) / abs(effect)
    error = float(exaggeration.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
    return score_share(np.sign(found) != np.sign(effect)), Score(float(exaggeration.mean()), error)


def describe_group_rule(study: Study, goal: Goal, value: float, margin: float) -> str:
    """What a goal asks of a study, with its numbers."""
    groups = study.choose_groups(goal)
    beyond = f" by more than {margin:g}" if margin else ""
    if goal.decision == HIERARCHICAL:
        how = f"the {study.interval:.0%} interval of the hierarchical analysis, for the median person"
    else:
        how = f"the {1 - ALPHA:.0%} interval of a t test on posterior means"
    if goal.kind == GROUPS_DIFFER:
        return f"{groups[1].name} minus {groups[0].name} in {goal.quantity} stays away from 0{beyond}: {how}"
    return f"{goal.quantity} of {groups[0].name} stays away from {value:g}{beyond}: {how}"
