"""Sentences about priors, lapses, and how posteriors were sampled."""

from collections.abc import Mapping, Sequence
from typing import Any

from designstudio.model.costs import get_cost
from designstudio.model.likelihood.lapses import FREE_LAPSES, NO_LAPSES, Lapses
from designstudio.report.assumptions import describe_analysis
from designstudio.report.formatting import join_words
from designstudio.study import Study
from designstudio.study.design import Design
from designstudio.viz.families import name_cost

# Of runs of older versions, whose fidelity information had no settings.
OLD_INFORMATION = (
    "Posteriors were predicted from the expected Fisher information and the prior, without simulating responses."
)


def describe_fit(study: Study, designs: Sequence[Design], settings: Mapping[str, Any], levels: Sequence[str] = ()) -> str:
    """How the posterior of a simulated participant was found, and under which priors."""
    changed = {name for design in designs for name in (*design.levels, *design.own_parameters)} | set(levels)
    cost = get_cost(study.cost)
    symbols = {parameter.name: parameter.symbol for parameter in cost.all_parameters}
    said = describe_analysis(study, changed)
    priors = [f"{symbols[name]} ~ {text}" for name, text in said.items() if name not in study.analysis.known]
    known = [f"{symbols[name]} was {said[name]}" for name in study.analysis.known]
    how = describe_sampler(settings, "data set")
    assumed = f"The analysis assumed the {name_cost(cost.name)} cost and the priors {join_words(priors)}"
    lapses = "".join(f" {sentence}" for sentence in describe_lapses(study.analysis.lapses))
    return f"{how} {assumed}{f'; {join_words(known)}' if known else ''}.{lapses}"


def describe_sampler(settings: Mapping[str, Any], what: str) -> str:
    """How posteriors were sampled, and when a fit counts."""
    if not settings:
        return OLD_INFORMATION
    draws = f"{settings['num_chains']} {{}} of {settings['num_draws']:,} draws each"
    ess, khat, rhat = (f"{settings[name]:g}" for name in ("min_ess", "max_khat", "max_rhat"))
    enough = f"at least {ess} effective draws"
    if settings.get("sees_ranges"):
        # Older runs do not have the setting.
        what += ", summarised by regressions of the responses on the stimuli,"
    match settings["method"]:
        case "nuts":
            how = _describe_nuts(settings, draws.format("chains"))
            return f"Each {what} was fitted by {how}; fits with an R-hat up to {rhat} and {enough} were used."
        case "importance":
            how = f"importance sampling ({draws.format('blocks')})"
            return f"Each {what} was fitted by {how}; fits with a Pareto k-hat below {khat} and {enough} were used."
        case _:
            nuts = _describe_nuts(settings, "").partition(" (")[0]
            how = f"importance sampling, and by {nuts} where that failed ({draws.format('blocks or chains')})"
            used = f"fits with a Pareto k-hat below {khat}, or an R-hat up to {rhat}, and {enough} were used"
            return f"Each {what} was fitted by {how}; {used}."


def _describe_nuts(settings: Mapping[str, Any], draws: str) -> str:
    """What NUTS was, with its draws in brackets."""
    if "jumps" not in settings:
        # Until version 0.1 one leapfrog step was taken between independence proposals.
        return f"a Metropolis-Hastings sampler of one leapfrog step between independence proposals ({draws})"
    jumps = {
        "never": "without jumps",
        "ridges": (
            "followed by jumps, accepted or rejected proposals of importance sampling, where a direction stayed open or "
            "chains without jumps were not good enough"
        ),
        "always": "each followed by a jump, an accepted or rejected proposal of importance sampling",
    }[settings["jumps"]]
    return (
        f"NUTS ({draws} after {settings['num_warmup']} of warm-up, in which step sizes and dense mass matrices were "
        f"adapted; trees of up to {2 ** settings['max_tree_depth'] - 1:,} steps, {jumps})"
    )


def describe_lapses(lapses: Lapses) -> list[str]:
    """What an analysis does about responses that have nothing to do with their stimulus, if anything."""
    if lapses == NO_LAPSES:
        return []
    share = (
        "a share λ of the trials, which was estimated," if lapses == FREE_LAPSES else f"{float(lapses):.1%} of the trials"
    )
    return [
        f"Each response was the actor's, or, in {share} a lapse: any response between the participant's least and greatest."
    ]
