"""The report of fits to real participants: what was read, what was estimated, and which cost predicts best."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from designstudio.core.durations import format_duration
from designstudio.core.run_record import RunRecord
from designstudio.fitting.comparison import Comparison
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_folder import load_fit
from designstudio.fitting.fit_verdict import find_best, list_lapses
from designstudio.fitting.pilot import describe_pilot
from designstudio.metrics.intervals import KIND
from designstudio.metrics.monte_carlo import Score
from designstudio.model.costs import find_family, get_cost
from designstudio.model.parameter_entries import split_label
from designstudio.model.parameters import NO_UNIT, Parameter
from designstudio.model.scale import name_unit, suffix_unit
from designstudio.report import methods
from designstudio.report.assumptions import MODEL
from designstudio.report.blocks import Block, Heading, Page, Section, Words, make_table
from designstudio.report.computing import describe_computing, describe_methods, describe_rerun
from designstudio.report.formatting import (
    MISSING,
    capitalize,
    count,
    format_number,
    format_score,
    format_share,
    join_words,
    split,
)
from designstudio.report.pictures import render_figure
from designstudio.viz.designs import draw_designs
from designstudio.viz.families import name_cost
from designstudio.viz.fits import draw_fit_shrinkage, draw_fit_subjects
from designstudio.viz.model_comparison import draw_model_comparison, draw_subject_winners

# More columns than this are too many for a page.
MOST_COLUMNS = 6
MOST_LAPSES = 20
STANDARD_ERROR = "± is the standard error over subjects."


def build_fit(folder: Path, run: RunRecord) -> Page:
    """The page of a fit.

    Args:
        folder: of the run.
        run: what the run has kept.

    Raises:
        StudioError: if the folder holds no whole fit.
    """
    fit = load_fit(folder)
    record = fit.as_dict()
    versions = run.versions or record["versions"]
    settings = {
        "costs": fit.request.costs,
        "parameters of each condition": fit.request.per_condition,
        "known parameters": sorted(fit.request.fixed),
        "pools subjects": fit.request.pools,
        "lapses": fit.request.lapses,
        **{f"fit: {name}": value for name, value in fit.request.settings.as_dict().items()},
    }
    times = [Words((f"All fits took {format_duration(fit.seconds)}.",))]
    sections = [
        Section("Summary", (Words(tuple(_summarize(fit)), is_list=True),)),
        *([] if fit.plan is None else [_describe_plan(fit)]),
        _describe_data(fit),
        _describe_priors(fit),
        *([] if fit.comparison is None else [_describe_comparison(fit, fit.comparison)]),
        _describe_checks(fit),
        _describe_estimates(fit, record),
        *([_describe_group(fit)] if fit.pooled else []),
        _describe_convergence(fit),
        describe_computing(settings, fit.request.seed, run, record["versions"], times),
        describe_rerun(run),
        describe_methods(methods.write_fit(fit, str(versions.get("designstudio", "")))),
    ]
    facts = (
        ("participants", str(len(fit.subjects))),
        ("conditions", str(len(fit.conditions))),
        ("trials", f"{fit.report.num_trials:,}"),
        ("costs", str(len(fit.posteriors))),
        ("failed fits", f"{len(fit.failures)} of {len(fit.subjects) * len(fit.posteriors)}"),
        ("seed", str(fit.request.seed)),
        ("run time", format_duration(fit.seconds)),
    )
    question = "Which cost explains these participants best, and what are their priors, noise and costs?"
    return Page("Fit of participants", fit.name or "Fit", question, facts, tuple(sections))


def _summarize(fit: EmpiricalFit) -> list[str]:
    num_fits, num_failed = len(fit.subjects) * len(fit.posteriors), len(fit.failures)
    converged = f"{num_fits - num_failed} of {num_fits} fits converged; those that did not are named below and not used."
    return [*fit.verdict, converged, *fit.notes]


def _describe_plan(fit: EmpiricalFit) -> Section:
    """The analysis that was planned: what deviates from it, and every goal beside its power."""
    rows = []
    for outcome in fit.goals:
        planned = outcome.power or {"power": None, "when_absent": None}
        chance, rate = (Score.from_dict(planned[name]) for name in ("power", "when_absent"))
        met = MISSING if outcome.num_reached is None else f"{outcome.num_reached} of {outcome.num_judged}"
        share = MISSING if outcome.share is None else format_share(outcome.share)
        if outcome.low is not None and outcome.high is not None:
            share += f"\n{format_share(outcome.low)} to {format_share(outcome.high)}"
        p_value = MISSING if outcome.p_value is None else f"{outcome.p_value:.2g}"
        rows.append((outcome.goal, outcome.status, met, share, p_value, *map(_format_chance, (chance, rate))))
    columns = ("goal", "status", "participants", "share", "p", "planned power", "without the effect")
    caption = (
        f"Every goal of the plan. Shares have their {fit.request.interval:.0%} {KIND} intervals; power and the rate without "
        "the effect were computed before the data, ± is their Monte Carlo error."
    )
    blocks: list[Block] = [Words(tuple(fit.describe_plan()), is_list=True)]
    blocks += [make_table(columns, rows, caption, (0, 1))] if rows else []
    return Section("As planned", tuple(blocks))


def _format_chance(score: Score) -> str:
    return score.chance if math.isfinite(score.value) else MISSING


def _describe_data(fit: EmpiricalFit) -> Section:
    """What was read and left out, and a picture of the experiment."""
    report, unit = fit.report, fit.scale.unit
    blocks: list[Block] = [Words(tuple(report.sentences()), is_list=True)]
    rows = [("filter", entry.text, str(entry.num_removed)) for entry in report.filters]
    rows += [("rows", f"{entry.reason}: {', '.join(entry.places)}", str(entry.count)) for entry in report.excluded_rows]
    rows += [("subject", f"{entry.subject}: {entry.reason}", str(entry.num_trials)) for entry in report.excluded_subjects]
    if rows:
        blocks.append(make_table(("kind", "why", "rows"), rows, "Everything that was left out.", (0, 1)))
    else:
        blocks.append(Words(("Nothing was left out.",)))
    design = describe_pilot(fit.trials, {}, {})
    caption = "The experiment: which stimuli were shown how often to the median subject in each condition."
    blocks.append(render_figure(draw_designs({fit.name or "data": design}, unit=unit, shows_minutes=False), caption))
    if fit.scale.factor != 1:
        blocks.append(Words((f"For the actor, stimuli and responses were divided by {fit.scale.factor:g} {unit}.",)))
    return Section("Data", tuple(blocks))


def _describe_priors(fit: EmpiricalFit) -> Section:
    """The costs, and what the fits assume about each parameter."""
    costs = [(name_cost(cost), get_cost(cost).formula, find_family(cost)) for cost in fit.posteriors]
    # Costs may call different things alike: equal rows once.
    rows: dict[tuple[str, ...], None] = {}
    for model in fit.models.values():
        for parameter in model.parameters:
            unit = fit.scale.name_unit(parameter)
            if parameter.name in fit.request.fixed:
                assumed = _format_fixed(fit.request.fixed[parameter.name], fit.scale.unit)
            else:
                own = ", in each condition" if parameter.name in model.per_condition else ""
                assumed = f"{fit.scale.stretch(model.priors[parameter.name], parameter)}{own}"
            said = (parameter.symbol, parameter.name, parameter.explanation)
            rows[(*said, MISSING if unit == NO_UNIT else unit, assumed)] = None
    columns = ("", "parameter", "what it is", "unit", "the fit assumes")
    blocks: tuple[Block, ...] = (
        Words((MODEL,)),
        make_table(("cost", "formula", "family"), costs, "The costs that were compared.", (0, 1, 2)),
        make_table(columns, list(rows), f"Priors of the analysis, in the unit of the data ({fit.scale.unit}).", range(5)),
    )
    return Section("Costs and priors", blocks)


def _format_fixed(value: Any, unit: str) -> str:
    if isinstance(value, float | int):
        return f"known to be {value:g}"
    return f"known, for each {join_words([str(dim) for dim in value.dims])}, from a table in the unit of the data ({unit})"


def _describe_comparison(fit: EmpiricalFit, comparison: Comparison) -> Section:
    """Which cost predicts left-out trials best: in total, by family, and for each subject."""
    total = comparison.total
    order = total["cost"].values[np.argsort(-np.nan_to_num(total["elpd"].values, nan=-np.inf), kind="stable")]
    rows = []
    for cost in order:
        row = {str(name): float(total[name].sel(cost=cost)) for name in total.data_vars}
        pairs = (("elpd", "elpd_se"), ("difference", "difference_se"), ("share_won", "share_won_se"))
        elpd, behind, won = (format_score(Score(row[value], row[error])) for value, error in pairs)
        draws = f" (draws: {row['difference_mcse']:.1f})" if row.get("difference_mcse") else ""
        behind = f"{behind}{draws}" if row["difference"] else "best"
        weight = f"{format_share(row['weight'])} ({format_share(row['weight_low'])} to {format_share(row['weight_high'])})"
        rows.append((name_cost(str(cost)), elpd, behind, won, weight))
    num = len(fit.subjects) - comparison.num_undecided
    caption = (
        f"Sums over the {num} of {len(fit.subjects)} subjects that every cost could be fitted to. elpd is the log "
        f"predictive density of left-out trials (PSIS-LOO; trials of much influence are left out for real); behind, how far "
        f"below the best cost, with the Monte Carlo error of the draws; won, the share of subjects in whom a cost is "
        f"ahead beyond that error, {comparison.num_close} being too close to call. {STANDARD_ERROR} Weights are by "
        "stacking, with their 94 % interval over subjects."
    )
    families = [
        (
            str(family),
            format_score(
                Score(*(float(comparison.families[name].sel(family=family)) for name in ("share_won", "share_won_se")))
            ),
            format_share(float(comparison.families["weight"].sel(family=family))),
        )
        for family in comparison.families["family"].values
    ]
    blocks: list[Block] = [
        make_table(("cost", "elpd", "behind", "won", "weight"), rows, caption),
        render_figure(draw_model_comparison(comparison), "The same as a picture, by family of costs."),
        make_table(("family", "won", "weight"), families, f"Families of costs. {STANDARD_ERROR}"),
    ]
    blocks += _tabulate_subjects(comparison)
    blocks.append(
        render_figure(draw_subject_winners(comparison), "How far each cost is behind the best one of each subject.")
    )
    return Section("Model comparison", tuple(blocks))


def _describe_checks(fit: EmpiricalFit) -> Section:
    """Whether fits reproduce what is seen, and which trials are probably lapses."""
    checks = [str(check) for check in fit.predictive["check"].values]
    rows = []
    for cost in fit.posteriors:
        p = [float(fit.predictive["p"].sel(cost=cost, check=check)) for check in checks]
        rows.append((name_cost(cost), *(MISSING if math.isnan(number) else f"{number:.2g}" for number in p)))
    caption = (
        "Posterior predictive p-values, two-sided: how often data simulated from the fits are as far out as the real ones "
        "in how responses bend and scatter with the stimulus, and follow the trial before. What is small is not reproduced."
    )
    blocks: list[Block] = [make_table(("cost", *checks), rows, caption)]
    best = find_best(fit)
    lapses = [] if best is None else list_lapses(fit, best)
    if best is not None and lapses:
        named = [
            (lapse.subject, str(lapse.trial), f"{lapse.stimulus:.4g}", f"{lapse.response:.4g}", f"{lapse.probability:.2f}")
            for lapse in lapses[:MOST_LAPSES]
        ]
        caption = (
            f"Trials that are probably lapses under the {name_cost(best)} cost, the most probable {len(named)} of "
            f"{len(lapses)}; numbers of trials are those of a subject's rows that were kept."
        )
        unit = fit.scale.unit
        heads = ("subject", "trial", f"stimulus ({unit})", f"response ({unit})", "probability of a lapse")
        blocks.append(make_table(heads, named, caption))
    return Section("Checks", tuple(blocks))


def _tabulate_subjects(comparison: Comparison) -> list[Block]:
    table = comparison.table
    costs = [str(cost) for cost in table["cost"].values]
    blocks: list[Block] = []
    for part in split(costs, MOST_COLUMNS):
        rows = []
        for subject in table["subject"].values:
            cells = [table.sel(subject=subject, cost=cost) for cost in part]
            rows.append((str(subject), *(_format_behind(cell) for cell in cells)))
        caption = (
            "How far each cost is behind the best one of each subject, in elpd; ± is its standard error over trials. A dash "
            "is a fit that failed."
        )
        blocks.append(make_table(("subject", *map(name_cost, part)), rows, caption))
    return blocks


def _format_behind(cell: Any) -> str:
    difference, error = float(cell["difference"]), float(cell["difference_se"])
    return "best" if difference == 0 else format_score(Score(difference, error))


def _describe_estimates(fit: EmpiricalFit, record: dict[str, Any]) -> Section:
    """Means and intervals of all subjects under each cost."""
    blocks: list[Block] = [
        Words(
            (
                f"Posterior means, and below them the {fit.request.interval:.0%} {KIND} interval, in the unit of the data "
                f"({fit.scale.unit}). The Monte Carlo error of the means is at most the given share of each posterior sd.",
            )
        )
    ]
    for cost, model in fit.models.items():
        symbols = {parameter.name: _name_head(parameter, fit.scale.unit) for parameter in model.parameters}
        labels = list(
            dict.fromkeys(label for subject in fit.subjects for label in record["subjects"][subject][cost]["parameters"])
        )
        blocks.append(Heading(f"{capitalize(name_cost(cost))} cost"))
        for part in split(labels, MOST_COLUMNS):
            rows = [(subject, *_list_estimates(record["subjects"][subject][cost], part)) for subject in fit.subjects]
            columns = ("subject", *(_name_label(symbols, label) for label in part), "Monte Carlo error", "fit")
            caption = f"Separate fits under the {name_cost(cost)} cost."
            blocks.append(make_table(columns, rows, caption, (0, len(columns) - 1)))
        kind = "pooled" if cost in fit.pooled else "separate"
        blocks.append(
            render_figure(draw_fit_subjects(fit, cost), f"All subjects under the {name_cost(cost)} cost, {kind} fits.")
        )
    return Section("Estimates", tuple(blocks))


def _list_estimates(one: dict[str, Any], labels: Sequence[str]) -> list[str]:
    cells = []
    for label in labels:
        numbers = one["parameters"].get(label)
        if numbers is None:
            cells.append(MISSING)
            continue
        mean, low, high = (format_number(numbers[name]) for name in ("mean", "low", "high"))
        cells.append(f"{mean}\n{low} to {high}")
    ess = one["ess_min"]
    error = MISSING if not ess or not math.isfinite(ess) else f"{100 / math.sqrt(ess):.1f}% of sd"
    return [*cells, error, "good" if one["is_good"] else "failed"]


def _name_head(parameter: Parameter, unit: str) -> str:
    """A symbol with its unit in the data, if it has one."""
    suffix = suffix_unit(name_unit(parameter, unit)).strip()
    return f"{parameter.symbol}\n({suffix})" if suffix else parameter.symbol


def _name_label(heads: dict[str, str], label: str) -> str:
    name, condition = split_label(label)
    symbol, _, unit = heads.get(name, name).partition("\n")
    head = f"{symbol} {condition}".strip()
    return f"{head} {unit}" if unit else head


def _describe_group(fit: EmpiricalFit) -> Section:
    """The median subject and the spread, where subjects were pooled."""
    blocks: list[Block] = []
    for cost in fit.pooled:
        rows = []
        for label, entry in fit.summarize_group(cost).items():
            median, spread = entry["median"], entry["spread"]
            interval = f"{format_number(median['low'])} to {format_number(median['high'])}"
            rows.append((label, format_number(median["mean"]), interval, format_score(Score(spread["mean"], spread["sd"]))))
        caption = (
            f"The group under the {name_cost(cost)} cost: median subject in the unit of the data ({fit.scale.unit}) "
            f"with its {fit.request.interval:.0%} interval, and the spread of subjects on the scale of the group ± its "
            "posterior sd."
        )
        blocks.append(make_table(("parameter", "median subject", "interval", "spread"), rows, caption))
        blocks.append(
            render_figure(draw_fit_shrinkage(fit, cost), f"What pooling does to each subject, {name_cost(cost)} cost.")
        )
    return Section("Group", tuple(blocks))


def _describe_convergence(fit: EmpiricalFit) -> Section:
    failures = fit.failures
    rows = [
        (name_cost(cost), str(len(fit.subjects)), str(sum(failure.cost == cost for failure in failures)))
        for cost in fit.posteriors
    ]
    blocks: list[Block] = [
        Words((f"{count(len(failures), 'fit')} of {len(fit.subjects) * len(fit.posteriors)} failed.",)),
        make_table(("cost", "subjects", "failed"), rows, "Fits of every cost."),
    ]
    if failures:
        named = [(failure.subject, name_cost(failure.cost), failure.reason) for failure in failures]
        blocks.append(make_table(("subject", "cost", "reason"), named, "Every fit that must not be used.", (0, 1, 2)))
    return Section("Convergence", tuple(blocks))
