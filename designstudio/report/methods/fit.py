"""The methods paragraph of a fit of real participants."""

from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.model.costs import get_cost
from designstudio.report.formatting import count, join_words
from designstudio.report.methods.sampling import describe_lapses, describe_sampler
from designstudio.report.methods.scores import MODEL
from designstudio.viz.families import name_cost
from designstudio.viz.search_labels import label_parameter


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
        f"{p.symbol} ~ {fit.scale.stretch(model.priors[p.name], p)}"
        for model in fit.models.values()
        for p in model.parameters
        if p.name in model.free
    ]
    said = list(dict.fromkeys(priors))
    num_failed, num_fits = len(fit.failures), len(fit.subjects) * len(fit.posteriors)
    sentences += [
        f"The priors, with μ₀ in {fit.scale.unit}, were {join_words(said)}.",
        describe_sampler(request.settings.as_dict(), "participant"),
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
        sentences.append(f"Participants were also pooled partially: {request.pooling.sentence}.")
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
