"""Paragraphs for the methods section of a paper, made from the settings of a run. Each is one block of whole sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.inference.hierarchical import PoolingSettings
from designstudio.model.costs import get_cost
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.likelihood.lapses import FREE_LAPSES, NO_LAPSES, Lapses
from designstudio.report.assumptions import describe_analysis, describe_population
from designstudio.report.formatting import count, format_score, join_words, spell
from designstudio.report.scores import Evaluations, find_versions
from designstudio.search.search_result import Recorded, list_contenders, list_recorded
from designstudio.study import Objective, Study
from designstudio.study.design import Design
from designstudio.study.design.description import describe_design, format_cells
from designstudio.viz.families import name_cost
from designstudio.viz.search_labels import label_objective, label_parameter

MODEL = f"In this model {DEFAULT_FAMILY.description[:1].lower()}{DEFAULT_FAMILY.description[1:]}"
ERRORS = "Standard errors of all scores were computed over data sets, by the jackknife where there is no closed form."

# Of runs of older versions, whose fidelity information had no settings.
OLD_INFORMATION = (
    "Posteriors were predicted from the expected Fisher information and the prior, without simulating responses."
)


def write_evaluation(study: Study, evaluations: Evaluations) -> str:
    """How designs were evaluated."""
    first = next(iter(evaluations.values()))
    num, num_datasets = len(study.designs), first["num_datasets"]
    sentences = [
        f"{spell(num)} experimental {'design was' if num == 1 else 'designs were'} evaluated by simulation with "
        f"designstudio {_find_version(evaluations)}, which implements the Bayesian actor model of Straub et al. "
        f"(2025). {MODEL}{_name_unit(study)}",
        f"{'It was' if num == 1 else 'They were'} {_join_designs(study, study.designs)}.",
        f"For {'the design' if num == 1 else 'each design'}, {num_datasets} participants were simulated; "
        f"{_describe_population(study, study.designs)}.",
        _describe_fit(study, study.designs, first["settings"]),
        _describe_scores(study, evaluations),
        _describe_failures(evaluations),
        f"The seed of all random numbers was {study.seed}.",
    ]
    return " ".join(sentences)


def write_search(study: Study, result: Mapping[str, Any], objectives: Sequence[Objective], levels: Sequence[str]) -> str:
    """How the best design was looked for, and what was found.

    Args:
        study: the question.
        result: as `SearchResult.as_dict` has it.
        objectives: what the search was for.
        levels: parameters that designs set.
    """
    plan = study.search
    assert plan is not None  # noqa: S101  (a search has one)
    num_tried = sum(candidate["state"] in ("complete", "pruned") for candidate in list_recorded(result))
    goals = [
        f"{'maximise' if m.is_larger_better else 'minimise'} the {label_objective(m, study).symbol}" for m in objectives
    ]
    constraints = [f"'{text}'" for text in result["constraints"]]
    screened = (
        f" after {result['screened']} designs had been screened by quick fits of summarised data"
        if result["screened"]
        else ""
    )
    raced = (
        f"; designs that could hardly overtake the best were given up early, so that {result['fits']:,} data sets were "
        f"fitted instead of {result['fits_without_racing']:,}"
        if result["racing"]
        else ""
    )
    contenders = list_contenders(result)
    evaluations = {contender.name: contender.entry["evaluation"] for contender in contenders}
    sentences = [
        f"The design of the experiment was searched for with designstudio {_find_version(evaluations)}, which "
        f"implements the Bayesian actor model of Straub et al. (2025). {MODEL}{_name_unit(study)}",
        f"Optuna's sampler '{result['sampler']}' proposed {count(num_tried, 'design')}{screened}, each scored on up to "
        f"{result['datasets']} simulated participants by the fidelity '{result['fidelity']}'{raced}.",
        f"The aim was to {join_words(goals)}, subject to {join_words(constraints)}.",
        f"As for the simulated participants, {_describe_population(study, study.designs, levels)}.",
    ]
    if evaluations:
        sentences += _describe_finalists(study, result, objectives, contenders, levels)
        sentences.append(_describe_failures(evaluations))
    return " ".join([*sentences, f"The seed of all random numbers was {study.seed}."])


def _describe_finalists(
    study: Study,
    result: Mapping[str, Any],
    objectives: Sequence[Objective],
    contenders: Sequence[Recorded],
    levels: Sequence[str],
) -> list[str]:
    first, unit = contenders[0].entry["evaluation"], f" {study.unit}" if study.unit else ""
    num = len(result["finalists"])
    names = f"The {num} best designs were" if num > 1 else "The best design was"
    references = ", together with the designs of the study," if result["references"] else ""
    sentences = [
        f"{names} scored again{references} on {first['num_datasets']} fresh simulated participants each, which had no "
        "part in choosing them.",
        _describe_fit(study, study.designs, first["settings"], levels),
    ]
    for winner in (contender for contender in contenders if contender.is_winner):
        own = winner.number is None
        design = describe_design(study.design(winner.name)) if own else winner.entry["design"]
        trials, score = format_cells(design).trials, format_score(winner.entry["fresh"][objectives[0].label])
        said = f"Nothing beat {winner.name}, which has" if own else "The winner has"
        sentences.append(
            f"{said} {trials} trials per participant{_describe_levels(design['levels'])}, "
            f"stimuli {design['stimuli']}{unit}; its {label_objective(objectives[0], study).symbol} on the fresh "
            f"participants is {score} (± Monte Carlo standard error)."
        )
    return sentences


def write_sweep(study: Study, design: Design, result: Mapping[str, Any], evaluations: Evaluations) -> str:
    """How a design was varied."""
    first = next(iter(evaluations.values()))
    along = [f"{name} ({', '.join(f'{value:g}' for value in values)})" for name, values in result["along"].items()]
    sentences = [
        f"The design {design.name} was varied along {join_words(along)} and evaluated by simulation with designstudio "
        f"{_find_version(evaluations)}, which implements the Bayesian actor model of Straub et al. (2025). {MODEL}"
        f"{_name_unit(study)}",
        f"As it stands, it is {_join_designs(study, [design])}.",
        f"At each of {count(len(evaluations), 'point')}, {first['num_datasets']} participants were simulated; "
        f"{_describe_population(study, [design])}.",
        _describe_fit(study, [design], first["settings"]),
        _describe_scores(study, evaluations),
        _describe_failures(evaluations),
        f"The seed of all random numbers was {study.seed}.",
    ]
    return " ".join(sentences)


def write_fit(fit: EmpiricalFit, version: str) -> str:
    """How real participants were fitted."""
    request, report = fit.request, fit.report
    costs = [f"{name_cost(cost)} ({get_cost(cost).formula})" for cost in request.costs]
    num_left_out = len(report.excluded_subjects)
    left_out = f"; {count(num_left_out, 'participant')} had been left out" if num_left_out else ""
    conditions = f" in {report.num_conditions} conditions" if report.num_conditions > 1 else ""
    sentences = [
        f"The Bayesian actor model of Straub et al. (2025) was fitted to {count(report.num_trials, 'trial')} of "
        f"{count(report.num_subjects, 'participant')}{conditions} with designstudio {version}{left_out}. {MODEL}",
        f"Each participant was fitted separately under {count(len(costs), 'cost')}: {join_words(costs)}.",
    ]
    if fit.scale.factor != 1:
        sentences.append(f"Stimuli and responses were divided by {fit.scale.factor:g} {fit.scale.unit} for the fit.")
    if request.fixed:
        verb = "was" if len(request.fixed) == 1 else "were"
        sentences.append(f"{join_words([label_parameter(name).symbol for name in request.fixed])} {verb} taken as known.")
    if request.per_condition:
        own = join_words([label_parameter(name).symbol for name in request.per_condition])
        sentences.append(f"Conditions had their own {own}; all else was shared by them.")
    sentences += describe_lapses(request.lapses)
    # Costs may call different things alike: each prior once, and as often as it is another.
    priors = [
        f"{p.symbol} ~ {model.priors[p.name]}"
        for model in fit.models.values()
        for p in model.parameters
        if p.name in model.free
    ]
    said = list(dict.fromkeys(priors))
    num_failed, num_fits = len(fit.failures), len(fit.subjects) * len(fit.posteriors)
    sentences += [
        f"The priors, with μ₀ in units of {fit.scale.actor_unit}, were {join_words(said)}.",
        _describe_sampler(request.settings.as_dict(), "participant"),
        f"Estimates are posterior means with {request.interval:.0%} equal-tailed intervals.",
    ]
    if fit.comparison is not None:
        num_decided = len(fit.subjects) - fit.comparison.num_undecided
        sentences.append(
            "Costs were compared by leave-one-out prediction (PSIS-LOO; trials with a k-hat above 0.7 were left out for "
            "real), summed over the "
            f"{count(num_decided, 'participant')} to whom every cost could be fitted."
        )
    sentences += _describe_plan(fit)
    if request.pools:
        sentences.append(f"Participants were also pooled partially: {describe_spread(request.pooling)}.")
    verb = "was" if num_failed == 1 else "were"
    none = "all converged"
    failed = f"Of {num_fits} fits, {f'{num_failed} did not converge and {verb} not used' if num_failed else none}"
    return " ".join([*sentences, f"{failed}.", f"The seed of all random numbers was {request.seed}."])


def _describe_plan(fit: EmpiricalFit) -> list[str]:
    """That the analysis was planned, what deviated, and what became of each goal."""
    plan = fit.plan
    if plan is None:
        return []
    how = "recorded before the data were fitted (SHA-256" if plan.source == "record" else "that of a study file (SHA-256"
    deviated = "; ".join(sentence.rstrip(".") for sentence in plan.deviations)
    sentences = [f"The analysis was {how} of the plan {plan.fingerprint})."]
    sentences.append(f"Deviations from the plan: {deviated}." if deviated else "The data did not deviate from the plan.")
    return [*sentences, *(outcome.sentence for outcome in fit.goals)]


def describe_spread(pooling: PoolingSettings) -> str:
    """What was assumed about differences between the people of a group."""
    others = "".join(f", {share:g} times for {name}" for name, share in pooling.spread_shares.items())
    return (
        "the standard deviation of each parameter over participants had a half-normal prior with a scale of "
        f"{pooling.spread_share:g} times the standard deviation of that parameter's analysis prior{others}"
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


def _find_version(evaluations: Evaluations) -> str:
    return find_versions(evaluations).get("designstudio", "")


def _join_designs(study: Study, designs: Sequence[Design]) -> str:
    symbols = {p.name: p.symbol for p in get_cost(study.population.cost or study.cost).all_parameters}
    return "; ".join(_describe_design(design, symbols, f" {study.unit}" if study.unit else "") for design in designs)


def _name_unit(study: Study) -> str:
    """A sentence about the unit of a study, if it has one, after a space."""
    if not study.unit:
        return ""
    return (
        f" Stimuli, responses and parameters that share their unit are given in {study.unit}; simulations and fits ran in "
        f"units of {study.conversion.actor_unit}."
    )


def _describe_design(design: Design, symbols: Mapping[str, str], unit: str) -> str:
    """A design with its trials, levels and stimuli."""
    parts = []
    for condition in design.conditions:
        levels = [f"{symbols.get(name, name)} = {value:g}" for name, value in condition.levels.items()]
        at = f" at {join_words(levels)}" if levels else ""
        own = f" with stimuli {condition.stimuli}{unit}" if condition.stimuli is not None else ""
        parts.append(f"{condition.num_trials}{at}{own}")
    only = parts[0].partition(" ")[2]
    detail = f" ({join_words(parts)})" if len(parts) > 1 else f" {only}" if only else ""
    people = f", {design.num_participants} participants" if design.num_participants > 1 else ""
    shared = f", stimuli {design.stimuli}{unit}" if any(c.stimuli is None for c in design.conditions) else ""
    return f"{design.name}, with {count(design.num_trials, 'trial')} per participant{detail}{people}{shared}"


def _describe_levels(levels: Sequence[Mapping[str, float]]) -> str:
    said = [f"{label_parameter(name).symbol} = {value:g}" for level in levels for name, value in level.items()]
    return f" at {join_words(said)}" if said else ""


def _describe_population(study: Study, designs: Sequence[Design], levels: Sequence[str] = ()) -> str:
    cost = get_cost(study.population.cost or study.cost)
    set_by_design = {name for design in designs for name in design.levels} | set(levels)
    own = {name for design in designs for name in design.own_parameters}
    symbols = {parameter.name: parameter.symbol for parameter in cost.all_parameters}
    values = describe_population(study, set_by_design, own)
    said = [f"{symbols[name]} {_describe_source(value)}" for name, value in values.items()]
    slips = [
        f"{rate:.1%} of the trials were {kind}"
        for rate, kind in ((study.population.lapse_rate, "lapses"), (study.population.outlier_rate, "outliers"))
        if rate
    ]
    tail = f"; {join_words(slips)}" if slips else ""
    return (
        f"they minimised the {name_cost(cost.name)} cost, {cost.formula}, and their parameters were {join_words(said)}{tail}"
    )


def _describe_source(value: str) -> str:
    if value.startswith("always "):
        return f"= {value.removeprefix('always ')}"
    return f"~ {value}" if "(" in value else value


def _describe_fit(study: Study, designs: Sequence[Design], settings: Mapping[str, Any], levels: Sequence[str] = ()) -> str:
    changed = {name for design in designs for name in (*design.levels, *design.own_parameters)} | set(levels)
    cost = get_cost(study.cost)
    symbols = {parameter.name: parameter.symbol for parameter in cost.all_parameters}
    said = describe_analysis(study, changed)
    priors = [f"{symbols[name]} ~ {text}" for name, text in said.items() if name not in study.analysis.known]
    known = [f"{symbols[name]} was {said[name]}" for name in study.analysis.known]
    how = _describe_sampler(settings, "data set")
    assumed = f"The analysis assumed the {name_cost(cost.name)} cost and the priors {join_words(priors)}"
    lapses = "".join(f" {sentence}" for sentence in describe_lapses(study.analysis.lapses))
    return f"{how} {assumed}{f'; {join_words(known)}' if known else ''}.{lapses}"


def _describe_sampler(settings: Mapping[str, Any], what: str) -> str:
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
        "ridges": "followed by jumps, accepted or rejected proposals of importance sampling, where a direction stayed open",
        "always": "each followed by a jump, an accepted or rejected proposal of importance sampling",
    }[settings["jumps"]]
    return (
        f"NUTS ({draws} after {settings['num_warmup']} of warm-up, in which step sizes and dense mass matrices were "
        f"adapted; trees of up to {2 ** settings['max_tree_depth'] - 1:,} steps, {jumps})"
    )


def _describe_scores(study: Study, evaluations: Evaluations) -> str:
    goals = f" Power is the chance that {join_words([str(goal) for goal in study.goals])}." if study.goals else ""
    taken = {
        f"{goal} ({score['absent']})": None
        for evaluation in evaluations.values()
        for goal, score in evaluation["power"].items()
        if score.get("when_absent") is not None
    }
    if taken:
        goals += (
            " Each was computed again for the same participants and noise with its effect absent, to know its "
            f"false-positive rate: {join_words(list(taken))}."
        )
    return (
        f"Recovery was scored by bias and root mean squared error of the posterior mean and by the coverage of "
        f"{study.interval:.0%} equal-tailed intervals, identifiability by posterior correlations and by how much less "
        f"certain a parameter is because the others are unknown.{goals} {ERRORS}"
    )


def _describe_failures(evaluations: Evaluations) -> str:
    failed = sum(evaluation["convergence"]["failed"] for evaluation in evaluations.values())
    total = sum(evaluation["num_datasets"] for evaluation in evaluations.values())
    if all(e["fidelity"] == "information" and not e["settings"] for e in evaluations.values()):
        return "No fit was needed, so none could fail."
    return f"Of {total:,} fits, {f'{failed} failed and are in no score' if failed else 'none failed'}."
