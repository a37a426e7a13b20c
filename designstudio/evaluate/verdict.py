"""What the numbers mean, in plain sentences: what each design teaches, which is best, what to do.

What is said about a design follows its status (`designstudio.evaluate.status`, where the limits are), and no sentence
compares designs that have none.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from designstudio.core.numbers import format_fixed, format_percent
from designstudio.evaluate.power_words import warn_of_power
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.status import CONFOUNDED, NO_ANSWER, NOT_LEARNED, PARTLY, is_low_coverage
from designstudio.metrics.comparison import ModelRecovery
from designstudio.metrics.edges import list_at_end
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.paired import compare_rmse
from designstudio.metrics.power import FalsePositives
from designstudio.model.family import DEFAULT_FAMILY

# Uncertainty levels closer than this factor have room to be moved apart.
WIDE_LEVELS = 4.0
# Monte Carlo errors by which one design must differ from another to be called better.
CLEARLY = 2.0

NO_RECOVERY: Mapping[str, ModelRecovery] = MappingProxyType({})


def find_verdict(evaluations: Sequence[Evaluation], recovery: Mapping[str, ModelRecovery] = NO_RECOVERY) -> list[str]:
    """Sentences about all designs, the most important first."""
    # Not by information: designs with more parameters have more to learn.
    answered = [evaluation for evaluation in evaluations if evaluation.status.name != NO_ANSWER]
    ranked = sorted(answered, key=lambda evaluation: evaluation.identifiability.remaining.value)
    sentences = [_name_best(ranked)] if len(ranked) > 1 else []
    sentences += [describe_status(evaluation) for evaluation in evaluations]
    for evaluation in evaluations:
        sentences += warn_about(evaluation)
    worse = [evaluation for evaluation in answered if not evaluation.status.is_about_data]
    for evaluation in answered:
        if worse and evaluation.status.is_about_data:
            sentences.append(_compare_with(evaluation, worse))
    sentences += [_describe_candidates(name, matrices) for name, matrices in recovery.items()]
    return [sentence for sentence in sentences if sentence]


def describe_status(evaluation: Evaluation) -> str:
    """What a design teaches, and what would help."""
    status = evaluation.status
    advice = {
        NOT_LEARNED: "; try other levels or stimuli, or more trials",
        CONFOUNDED: f"; {_advise(evaluation)}",
        PARTLY: f"; {_advise(evaluation)} to go further",
    }
    helps = advice.get(status.name, "") if status.is_of_design else ""
    return f"{evaluation.design.name}: {status.reason}{helps}."


def _advise(evaluation: Evaluation) -> str:
    """What would help, given what the design does already."""
    noise = DEFAULT_FAMILY.perceptual_noise.name
    levels = [condition.levels[noise] for condition in evaluation.design.conditions if noise in condition.levels]
    if len(set(levels)) < 2:
        return "add a second uncertainty level"
    if max(levels) / min(levels) < WIDE_LEVELS:
        return "move the uncertainty levels further apart"
    return "add trials"


def _name_best(ranked: Sequence[Evaluation]) -> str:
    best, second = ranked[0], ranked[1]
    least, next_least = (evaluation.identifiability.remaining for evaluation in (best, second))
    if next_least.value - least.value < CLEARLY * math.hypot(least.mcse, next_least.mcse):
        return f"{best.design.name} and {second.design.name} leave about equally much open."
    ratios = _list_ratios(compare_rmse(best.summaries, second.summaries), best)
    return (
        f"{best.design.name} leaves least open: in the direction that it knows worst, {least.percent} of the prior's "
        f"uncertainty remains (next best {second.design.name}, {next_least.percent})"
        f"{f'; its errors are smaller by {ratios}' if ratios else ''}."
    )


def _compare_with(evaluation: Evaluation, worse: Sequence[Evaluation]) -> str:
    """By how much a design that separates beats all that do not."""
    smallest: dict[str, Score] = {}
    for other in worse:
        for name, ratio in compare_rmse(evaluation.summaries, other.summaries).items():
            if not math.isnan(ratio.value) and (name not in smallest or ratio.value < smallest[name].value):
                smallest[name] = ratio
    ratios = _list_ratios(smallest, evaluation)
    names = ", ".join(other.design.name for other in worse)
    least = "at least " if len(worse) > 1 else ""
    return f"{evaluation.design.name} has smaller errors than {names}: by {least}{ratios}." if ratios else ""


def _list_ratios(ratios: dict[str, Score], evaluation: Evaluation) -> str:
    """Ratios of the pair that is at stake, or of all parameters without a pair, as far as they are clearly above 1."""
    pair = evaluation.identifiability.prior_cost_pair or evaluation.identifiability.parameters
    clear = {name: ratio for name, ratio in ratios.items() if name in pair and ratio.value - CLEARLY * ratio.mcse > 1}
    return " and ".join(
        f"{format_fixed(ratio.value, 1)} ± {format_fixed(ratio.mcse, 1)} times ({name})" for name, ratio in clear.items()
    )


def _describe_candidates(name: str, recovery: ModelRecovery) -> str:
    """How often the right cost wins, and how often none does."""
    costs = [str(cost) for cost in recovery.confusion["simulated"].values]
    wins = _list_shares({cost: recovery.chance_to_win(cost) for cost in costs})
    if not wins:
        return f"{name}: which cost wins cannot be said: of every data set some cost's fit failed."
    num_failed = int(recovery.counts["num_failed"].sum())
    left_out = f"; {num_failed} data sets are left out because a fit failed" if num_failed else ""
    open_ = _list_shares({cost: recovery.chance_to_be_undecided(cost) for cost in costs})
    undecided = f" Undecided, within the Monte Carlo error of the fits: {open_}." if (recovery.undecided > 0).any() else ""
    return f"{name}: the right cost wins by leave-one-out: {wins} of its data sets{left_out}.{undecided}"


def _list_shares(chances: Mapping[str, Score]) -> str:
    known = {cost: chance for cost, chance in chances.items() if not math.isnan(chance.value)}
    return ", ".join(f"{cost} in {chance.percent} ({chance.percent_error})" for cost, chance in known.items())


def warn_about(evaluation: Evaluation) -> list[str]:
    """What a reader of any score of a design must know beforehand; empty if all is well."""
    warnings = []
    nominal, name = evaluation.study.interval, evaluation.design.name
    at_end, has_answer = list_at_end(evaluation.summaries), evaluation.status.name != NO_ANSWER
    # Where most fits have failed the others are not those of the participants.
    for quantity, scores in evaluation.recovery.items() if has_answer else ():
        coverage = scores["coverage"]
        if is_low_coverage(coverage, nominal) and quantity in at_end:
            warnings.append(
                f"{name}: {quantity} of the participants lies at an end of its analysis prior, where equal-tailed intervals "
                f"cannot hold it: its coverage of {coverage.percent} says nothing about the fits."
            )
        elif is_low_coverage(coverage, nominal):
            warnings.append(
                f"{name}: {nominal:.0%} intervals of {quantity} hold the truth in only {coverage.percent} "
                f"({coverage.percent_error}) of the data sets: what the fit assumes does not suit these participants."
            )
    warnings += [f"{name}: {sentence}" for sentence in (evaluation.edges.list_warnings() if evaluation.edges else ())]
    warnings += warn_of_power(name, evaluation.power)
    convergence = evaluation.convergence
    if convergence.failed and has_answer:
        reason = max(convergence.reasons, key=lambda r: convergence.reasons[r])
        count = f"{convergence.failed} of {evaluation.num_datasets}"
        warnings.append(f"{name}: {count} fits failed (most often: {reason}); no score uses them{_bound(evaluation)}.")
    return warnings


def _bound(evaluation: Evaluation) -> str:
    """What shares may be with the failed fits, if those are many."""
    parts = [
        f"{kind} of {name} is between {format_percent(bounds.low)} and {format_percent(bounds.high)}"
        if kind == "coverage"
        else f"P({name}) is between {bounds.in_words}"
        for kind, found in evaluation.bounds.items()
        # The fits without the effect are others.
        if kind != FalsePositives.name
        for name, bounds in found.items()
    ]
    return f"; counted as misses or as hits, {', '.join(parts)}" if parts else ""
