"""What the numbers mean, in plain sentences: which designs confound prior and cost, which is best, what to do.

Thresholds are ours and stated here. Prior and cost count as confounded if their posterior correlation is strong and the data
leave much of the prior's uncertainty in the weakest direction; strong correlation alone is harmless if both are well known.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from designstudio.evaluate.power_words import warn_of_power
from designstudio.evaluate.results import Evaluation
from designstudio.metrics.comparison import ModelRecovery
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.paired import compare_rmse
from designstudio.model.family import DEFAULT_FAMILY

STRONG_CORRELATION = 0.8
MUCH_REMAINS = 0.5
# Uncertainty levels closer than this factor have room to be moved apart.
WIDE_LEVELS = 4.0
# Intervals that cover the truth this much less often than they should deserve a warning, if noise cannot explain it.
LOW_COVERAGE = 0.1

NO_RECOVERY: Mapping[str, ModelRecovery] = MappingProxyType({})


def find_verdict(evaluations: Sequence[Evaluation], recovery: Mapping[str, ModelRecovery] = NO_RECOVERY) -> list[str]:
    """Sentences about all designs, the most important first."""
    # Not by information: designs with more parameters have more to learn.
    ranked = sorted(evaluations, key=lambda evaluation: _left_open(evaluation).value)
    sentences = []
    if len(ranked) > 1:
        sentences.append(_name_best(ranked))
    sentences += [_describe_pair(evaluation) for evaluation in evaluations if evaluation.identifiability.prior_cost]
    confounding = [evaluation for evaluation in evaluations if is_confounded(evaluation)]
    for evaluation in evaluations:
        if confounding and not is_confounded(evaluation) and evaluation.identifiability.prior_cost:
            sentences.append(_compare_with(evaluation, confounding))
    sentences += [_describe_candidates(name, matrices) for name, matrices in recovery.items()]
    for evaluation in evaluations:
        sentences += _warn_about(evaluation)
    return [sentence for sentence in sentences if sentence]


def is_confounded(evaluation: Evaluation) -> bool:
    """Whether prior and cost cannot be told apart."""
    found = evaluation.identifiability
    if not found.prior_cost:
        return False
    return abs(found.prior_cost["correlation"].value) >= STRONG_CORRELATION and found.remaining.value >= MUCH_REMAINS


def _describe_pair(evaluation: Evaluation) -> str:
    found, name = evaluation.identifiability, evaluation.design.name
    first, second = found.prior_cost_pair or ("", "")
    correlation, confounding = found.prior_cost["correlation"].value, found.prior_cost["confounding"].value
    if is_confounded(evaluation):
        return (
            f"{name}: {first} and {second} are confounded: correlation {correlation:.2f}, and {second} is {confounding:.1f} "
            f"times less certain than if the prior were known; {_advise(evaluation)}."
        )
    if abs(correlation) >= STRONG_CORRELATION:
        return (
            f"{name} tells {first} and {second} apart, though their estimates remain correlated ({correlation:.2f}); "
            f"{_advise(evaluation)} to go further."
        )
    return f"{name} tells {first} and {second} apart: correlation {correlation:.2f}."


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
    least, next_least = _left_open(best), _left_open(second)
    if next_least.value - least.value < 2 * math.hypot(least.mcse, next_least.mcse):
        return f"{best.design.name} and {second.design.name} leave about equally little open."
    ratios = _list_ratios({n: r for n, r in compare_rmse(best.summaries, second.summaries).items() if r.value > 1}, best)
    return (
        f"{best.design.name} leaves least open: in the direction that it knows worst, {least.value:.0%} of the prior's "
        f"uncertainty remains (next best {second.design.name}, {next_least.value:.0%})"
        f"{f'; its errors are smaller by {ratios}' if ratios else ''}."
    )


def _compare_with(evaluation: Evaluation, confounding: Sequence[Evaluation]) -> str:
    """By how much a design that separates beats all that do not."""
    smallest: dict[str, Score] = {}
    for other in confounding:
        for name, ratio in compare_rmse(evaluation.summaries, other.summaries).items():
            if not math.isnan(ratio.value) and (name not in smallest or ratio.value < smallest[name].value):
                smallest[name] = ratio
    ratios = _list_ratios(smallest, evaluation)
    names = ", ".join(other.design.name for other in confounding)
    least = "at least " if len(confounding) > 1 else ""
    return f"{evaluation.design.name} has smaller errors than {names}: by {least}{ratios}." if ratios else ""


def _list_ratios(ratios: dict[str, Score], evaluation: Evaluation) -> str:
    """Ratios of the pair that is at stake, or of all parameters without a pair."""
    pair = evaluation.identifiability.prior_cost_pair or evaluation.identifiability.parameters
    parts = [
        f"{ratios[n].value:.1f} ± {ratios[n].mcse:.1f} times ({n})" for n in pair if n in ratios and ratios[n].value > 0
    ]
    return " and ".join(parts)


def _describe_candidates(name: str, recovery: ModelRecovery) -> str:
    costs = [str(cost) for cost in recovery.confusion["simulated"].values]
    chances = {cost: recovery.chance_to_win(cost) for cost in costs}
    parts = [f"{cost} in {chance.value:.0%} (± {chance.mcse:.0%})" for cost, chance in chances.items()]
    undecided = int(recovery.num_undecided.sum())
    left_out = f"; {undecided} data sets have no winner because a fit failed" if undecided else ""
    return f"{name}: the right cost wins by leave-one-out: {', '.join(parts)} of the data sets{left_out}."


def _warn_about(evaluation: Evaluation) -> list[str]:
    warnings = []
    nominal, name = evaluation.study.interval, evaluation.design.name
    for quantity, scores in evaluation.recovery.items():
        coverage = scores["coverage"]
        if coverage.value < nominal - LOW_COVERAGE and coverage.value < nominal - 3 * coverage.mcse:
            warnings.append(
                f"{name}: {nominal:.0%} intervals of {quantity} hold the truth in only {coverage.value:.0%} "
                f"(± {coverage.mcse:.0%}) of the data sets: what the fit assumes does not suit these participants."
            )
    warnings += warn_of_power(name, evaluation.study.goals, evaluation.power)
    convergence = evaluation.convergence
    if convergence.failed:
        reason = max(convergence.reasons, key=lambda r: convergence.reasons[r])
        count = f"{convergence.failed} of {evaluation.num_datasets}"
        warnings.append(f"{name}: {count} fits failed (most often: {reason}); no score uses them.")
    return warnings


def _left_open(evaluation: Evaluation) -> Score:
    """Share of the prior's uncertainty that remains in the weakest direction."""
    score = evaluation.identifiability.remaining
    return score if not math.isnan(score.value) else Score(math.inf, 0.0)
