"""Scores of evaluations as tables: recovery, identifiability, power and how the fits went. Every number has its error."""

from collections.abc import Mapping
from typing import Any

from designstudio.core.durations import format_duration
from designstudio.evaluate.status import RULES
from designstudio.metrics.comparison import DEFAULT_RULE
from designstudio.metrics.failed import MANY_FAILED
from designstudio.metrics.identifiability import SMALL_LOADING
from designstudio.metrics.registry import list_posterior_metrics, list_quantity_metrics
from designstudio.report.blocks import Block, Section, Table, Words, make_table
from designstudio.report.formatting import MISSING, format_number, format_score, format_share, name_quantity, name_symbol
from designstudio.study import Study

# By the names of designs, as `Evaluation.as_dict` has them.
Evaluations = Mapping[str, Mapping[str, Any]]

ABSENT = "Effect absent is the same chance for the same participants and noise without the effect: the false-positive rate."
ERROR = "± is the Monte Carlo standard error over the simulated data sets."
# Columns of the table of identifiability that have a place of their own in the results.
SHOWN_BY_NAME = ("correlation", "confounding", "information_gain", "remaining")
# More columns of numbers than this are too many for a page.
MOST_COLUMNS = 5


def tabulate_recovery(study: Study, evaluations: Evaluations) -> Table:
    """How well each quantity is estimated, design by design."""
    names = list(dict.fromkeys(name for evaluation in evaluations.values() for name in evaluation["recovery"]))
    # Where all participants are the same, nothing can be correlated.
    labels = {
        name: metric.label
        for name, metric in list_quantity_metrics().items()
        if metric.in_report and _has_value(evaluations, name)
    }
    groups = []
    for name in names:
        rows = [
            (design, *(format_score(evaluation["recovery"][name].get(score)) for score in labels))
            for design, evaluation in evaluations.items()
            if name in evaluation["recovery"]
        ]
        groups.append((name_quantity(study, name), tuple(rows)))
    interval = next(iter(evaluations.values()))["interval"]
    lin = "; concordance is Lin's" if "concordance" in labels else ""
    caption = (
        f"{ERROR} Bias and RMSE are those of the posterior mean; coverage is the share of {interval:.0%} intervals that "
        f"hold the truth; contraction is the share of the prior's variance that the data remove{lin}."
    )
    return Table(("design", *labels.values()), tuple(groups), caption)


def _has_value(evaluations: Evaluations, score: str) -> bool:
    return any(
        quantity.get(score, {}).get("value") is not None
        for evaluation in evaluations.values()
        for quantity in evaluation["recovery"].values()
    )


def describe_identifiability(study: Study, evaluations: Evaluations) -> list[Block]:
    """What can be told apart: prior from cost, and each parameter from all others."""
    found = {design: evaluation["identifiability"] for design, evaluation in evaluations.items()}
    # Metrics that users have registered stand in the results by their own names.
    added = [
        (name, part, label)
        for name, metric in list_posterior_metrics().items()
        if name not in SHOWN_BY_NAME and any(name in one for one in found.values())
        for part, label in metric.row_names().items()
    ]
    rows = [
        (
            design,
            evaluations[design].get("status", MISSING),
            format_score(one["prior_cost"].get("correlation")),
            format_score(one["prior_cost"].get("confounding")),
            format_score(one["information_gain"].get("prior_cost")),
            format_score(one["information_gain"].get("all")),
            format_score(one["weakest_direction"]["remaining"]),
            *(format_score(one.get(name, {}).get(part)) for name, part, _ in added),
        )
        for design, one in found.items()
    ]
    columns = (
        "design",
        "status",
        "prior-cost correlation",
        "confounding factor",
        "gain on prior and cost (nats)",
        "gain on all (nats)",
        "remaining share",
        *(label for _, _, label in added),
    )
    caption = (
        f"Can prior and cost be told apart? The status says what is learned about them; its limits are {_list_limits()}. "
        f"{ERROR} The correlation is the strongest in the posterior between a "
        "parameter of the prior and one of the cost. The confounding factor says how many times less certain the cost "
        "is because the prior is unknown. The remaining share is that of the prior's sd in the direction that the "
        "data know worst."
    )
    blocks: list[Block] = [make_table(columns, rows, caption, (0, 1))]
    names = list(dict.fromkeys(name for one in found.values() for name in one["confounding"]))
    for start in range(0, len(names), MOST_COLUMNS):
        part = names[start : start + MOST_COLUMNS]
        cells = [(design, *(format_score(one["confounding"].get(name)) for name in part)) for design, one in found.items()]
        caption = f"Confounding factor of each parameter: its posterior sd over the sd if all others were known. {ERROR}"
        blocks.append(make_table(("design", *(name_symbol(study, name) for name in part)), cells, caption))
    directions = [f"{design}: {_format_direction(study, one)}." for design, one in found.items()]
    return [
        *blocks,
        Words(("The combination of parameters that the data know worst, in logarithms:",)),
        Words(tuple(directions), True),
    ]


def _list_limits() -> str:
    return (
        f"a contraction of {RULES.min_contraction:g} (learned) and {RULES.well_learned:g} (learned well), and a correlation "
        f"of {RULES.strong_correlation:g} with {RULES.much_remains:.0%} of the prior's sd left (confounded)"
    )


def _format_direction(study: Study, found: Mapping[str, Any]) -> str:
    """Which parameters make up the weakest direction; those that move the same way have the same sign."""
    loadings = found["weakest_direction"]["loadings"]
    parts = [
        f"{name_symbol(study, name)} {'up' if value > 0 else 'down'}"
        for name, value in loadings.items()
        if abs(value) >= SMALL_LOADING
    ]
    return " with ".join(parts) if parts else "none stands out"


def describe_power(study: Study, evaluations: Evaluations) -> Section:
    """Chance to reach each goal, with its effect and without."""
    goals = list(dict.fromkeys(goal for evaluation in evaluations.values() for goal in evaluation["power"]))
    if not goals:
        return Section("Power", (Words(("The study has no goals, so there is no power to report.",)),))
    groups = tuple(
        (goal, tuple((design, *format_power(evaluation["power"].get(goal))) for design, evaluation in evaluations.items()))
        for goal in goals
    )
    caption = f"Chance to reach each goal, design by design. {ABSENT} {ERROR}"
    columns = ("design", "chance", "effect absent")
    return Section("Power", (Table(columns, groups, caption), Words(tuple(list_rules(study, evaluations)), True)))


def format_power(score: Mapping[str, Any] | None) -> tuple[str, str]:
    """The chance to reach a goal with its effect, and without."""
    return format_score(score), format_score((score or {}).get("when_absent"))


def list_rules(study: Study, evaluations: Evaluations) -> list[str]:
    """What each goal asks, and how its effect was taken away; results of older versions have only the first."""
    found = {goal: score for evaluation in evaluations.values() for goal, score in evaluation["power"].items()}
    told = [
        f"{goal}: {score['rule']}; effect absent: {score['absent']}." for goal, score in found.items() if "rule" in score
    ]
    return told or [f"{goal.label}: {goal}." for goal in study.goals]


def describe_convergence(evaluations: Evaluations) -> list[Block]:
    """How the fits went: counts of good, refitted and failed ones, and why they failed."""
    if all(e["fidelity"] == "information" and not e["settings"] for e in evaluations.values()):
        # A run of an older version, at fidelity information.
        return [
            Words(("Posteriors were predicted from the expected information: nothing was fitted, so no fit could fail.",))
        ]
    rows, reasons = [], []
    shown = [
        (name, head)
        for name, head in (
            ("max_rhat", "largest R-hat"),
            ("max_khat", "largest k-hat"),
            ("min_ess", "fewest effective draws"),
        )
        if any(evaluation["convergence"].get(name) is not None for evaluation in evaluations.values())
    ]
    for design, evaluation in evaluations.items():
        went = evaluation["convergence"]
        counts = (evaluation["num_datasets"], went["converged"], went["refitted"], went["failed"])
        rows.append((design, *map(str, counts), *(format_number(went.get(name), 4) for name, _ in shown)))
        reasons += [f"{design}, {count} of {counts[0]}: {reason}." for reason, count in went["reasons"].items()]
    caption = (
        "Fits of all simulated data sets. Those that failed are in no score; refitted ones needed more than the fast stage."
    )
    heads = ("design", "data sets", "good", "refitted", "failed", *(head for _, head in shown))
    total, failed = (sum(int(row[place]) for row in rows) for place in (1, 4))
    return [
        Words((f"{failed} of {total:,} fits failed.",)),
        make_table(heads, rows, caption),
        *([Words(tuple(reasons), True)] if reasons else []),
        *_tabulate_chains(evaluations),
        *_tabulate_bounds(evaluations),
    ]


def _tabulate_chains(evaluations: Evaluations) -> list[Block]:
    """What chains did, where there are some."""
    rows = []
    for design, evaluation in evaluations.items():
        chains = evaluation["convergence"].get("chains")
        if chains:
            numbers = [format_number(chains[name], 3) for name in ("mean_steps", "mean_step_size", "min_ebfmi")]
            counts = [str(chains[name]) for name in ("divergent", "saturated", "with_jumps")]
            rows.append((design, *numbers, *counts, f"{chains['jump_rate']:.0%}"))
    heads = ("design", "steps", "step size", "least E-BFMI", "divergent", "saturated", "with jumps", "jumped")
    caption = (
        "Chains of usable fits: mean number of steps of a trajectory and mean step size, in units of the posterior; "
        "smallest E-BFMI; trajectories that diverged, and that were as long as allowed; data sets whose chains may jump to "
        "draws of importance sampling, and the share of their draws that did."
    )
    return [make_table(heads, rows, caption)] if rows else []


def _tabulate_bounds(evaluations: Evaluations) -> list[Block]:
    """What shares may be with the failed fits, where those are many."""
    rows = [
        (design, _name_share(kind, name), format_share(low), format_share(high))
        for design, evaluation in evaluations.items()
        for kind, found in evaluation.get("bounds", {}).items()
        for name, (low, high) in found.items()
    ]
    caption = (
        f"Shares that leave out failed fits, with all of these counted as misses (lowest) and as hits (highest); of designs "
        f"with more than {MANY_FAILED:.0%} failed fits. All other scores leave them out."
    )
    return [make_table(("design", "share", "lowest", "highest"), rows, caption, (0, 1))] if rows else []


def _name_share(kind: str, name: str) -> str:
    """What is bounded: a chance to reach a goal, with its effect or without, or the coverage of a quantity."""
    return {"power": f"P({name})", "when_absent": f"P({name}), effect absent"}.get(kind, f"{kind} of {name}")


def tabulate_time(evaluations: Evaluations) -> Table:
    """What each design took."""
    rows = [
        (design, str(evaluation["num_datasets"]), evaluation["fidelity"], format_duration(evaluation["seconds"]))
        for design, evaluation in evaluations.items()
    ]
    caption = (
        "Run time of each design, as it was when its data sets were computed; what is found in the cache costs nothing."
    )
    return make_table(("design", "data sets", "fidelity", "time"), rows, caption, (0, 2))


def describe_calibration(evaluations: Evaluations) -> list[Block]:
    """Whether posteriors mean what they say, where that was checked."""
    groups = []
    for design, evaluation in evaluations.items():
        found = evaluation.get("calibration")
        if found:
            rows = [
                (
                    name,
                    format_number(one["max_deviation"]),
                    format_number(one["band_used"]),
                    "yes" if one["is_inside"] else "no",
                )
                for name, one in found.items()
            ]
            groups.append((design, tuple(rows)))
    if not groups:
        return []
    caption = (
        "Calibration: largest distance of the ranks' distribution from the uniform one, the share of its 95% simultaneous "
        "band that it uses, and whether it stays inside. The band is the Monte Carlo error."
    )
    return [Table(("quantity", "largest deviation", "share of the band", "inside"), tuple(groups), caption)]


def describe_model_recovery(evaluations: Evaluations) -> list[Block]:
    """Which cost wins when which one made the data."""
    blocks: list[Block] = []
    for design, evaluation in evaluations.items():
        recovery = evaluation.get("model_recovery")
        if recovery:
            costs = list(next(iter(recovery["confusion"].values())))
            # Earlier versions had a winner of every data set.
            undecided = recovery.get("undecided", {})
            rows = [
                (made, *(format_score(row.get(cost)) for cost in costs), format_score(undecided.get(made)))
                for made, row in recovery["confusion"].items()
            ]
            caption = (
                f"{design}: share of data sets of the cost on the left that each cost wins by leave-one-out. Undecided: no "
                f"cost is ahead of every other by more than {DEFAULT_RULE.num_errors:g} Monte Carlo errors of the fits, or "
                f"a Pareto k-hat is above {DEFAULT_RULE.max_khat:g}. {ERROR}"
            )
            blocks.append(make_table(("simulated", *costs, "undecided"), rows, caption))
    return blocks


def find_versions(evaluations: Evaluations) -> dict[str, str]:
    """Versions that results carry themselves."""
    return dict(next(iter(evaluations.values()), {}).get("versions", {}))
