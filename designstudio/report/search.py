"""The report of a search: what was looked for, what was found, and how it holds on fresh data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from designstudio.core.durations import format_duration
from designstudio.core.run_record import RunRecord
from designstudio.errors import StudioError
from designstudio.report import methods, scores
from designstudio.report.assumptions import describe_assumptions, tabulate_designs
from designstudio.report.blocks import Block, Heading, Page, Section, Words, make_table
from designstudio.report.computing import describe_computing, describe_methods, describe_rerun
from designstudio.report.formatting import MISSING, capitalize, count, format_score, join_words
from designstudio.report.pictures import embed_figure
from designstudio.search.estimates import list_objectives
from designstudio.search.feasible import find_design
from designstudio.search.search_result import Recorded, list_contenders, list_recorded
from designstudio.study import Choice, Objective, Range, SearchPlan, Study
from designstudio.study.space import Variable
from designstudio.viz.search_labels import format_direction, label_objective, name_variable

COMPLETE, PRUNED = "complete", "pruned"


def build_search(folder: Path, result: Mapping[str, Any], study: Study, run: RunRecord) -> Page:
    """The page of a search.

    Args:
        folder: of the run.
        result: as `SearchResult.as_dict` has it.
        study: as it was run.
        run: what the run has kept.

    Raises:
        StudioError: if the study is another one, or a figure is missing.
    """
    plan = study.search
    if plan is None or [m.label for m in list_objectives(study)] != [entry["label"] for entry in result["objectives"]]:
        raise StudioError(f"The study is not the one of the search in '{folder}': name the right study file with --study.")
    objectives = list_objectives(study)
    contenders = list_contenders(result)
    evaluations = {contender.title: contender.entry["evaluation"] for contender in contenders}
    levels = [plan.space.parameter] if plan.space.parameter else []
    sections = [
        Section("Summary", _describe_found(result, run, contenders)),
        Section("What was searched", tuple(_describe_plan(study, plan, objectives))),
        describe_assumptions(study, study.designs, levels),
        Section("Finalists", tuple(_describe_finalists(folder, study, plan, result, objectives, contenders))),
    ]
    if evaluations:
        table = scores.tabulate_recovery(study, evaluations)
        sections += [
            Section("Recovery", (Words(("Of finalists and of the study's own designs, on fresh data sets.",)), table)),
            Section("Identifiability", tuple(scores.describe_identifiability(study, evaluations))),
            scores.describe_power(study, evaluations),
        ]
    sections += [
        Section("History", tuple(_describe_history(folder, result, study, objectives))),
        Section("Convergence", tuple(_describe_convergence(result, evaluations))),
        describe_computing(
            _list_settings(study, plan, result),
            study.seed,
            run,
            scores.find_versions(evaluations),
            _describe_time(result, evaluations),
        ),
        describe_rerun(run, _note_workers(result)),
        describe_methods(methods.write_search(study, result, objectives, levels)),
    ]
    finished = [candidate for candidate in list_recorded(result) if candidate["state"] in (COMPLETE, PRUNED)]
    facts = (
        ("cost", study.cost),
        ("designs tried", str(len(finished))),
        ("given up early", str(sum(candidate["state"] == PRUNED for candidate in finished))),
        ("data sets fitted", f"{result['fits']:,}"),
        ("seed", str(study.seed)),
        ("run time", format_duration(_sum_seconds(result, evaluations))),
    )
    return Page("Search for a design", study.title or "Search", _ask(study, plan, objectives), facts, tuple(sections))


def _ask(study: Study, plan: SearchPlan, objectives: Sequence[Objective]) -> str:
    aims = [f"{'the largest' if m.is_larger_better else 'the smallest'} {m.label}" for m in objectives]
    within = f", with {join_words([c.label for c in plan.all_constraints])}" if plan.all_constraints else ""
    return f"Which design has {join_words(aims)}{within}?"


def _describe_found(result: Mapping[str, Any], run: RunRecord, contenders: Sequence[Recorded]) -> tuple[Block, ...]:
    sentences = list(run.sentences)
    if not sentences:
        sentences = [f"{count(len(list_recorded(result)), 'design')} were tried."]
    if not contenders:
        sentences.append("The search was stopped, or found nothing, before finalists were scored on fresh data sets.")
    return (Words(tuple(sentences), is_list=True),)


def _describe_plan(study: Study, plan: SearchPlan, objectives: Sequence[Objective]) -> list[Block]:
    """Objectives, constraints and the space of designs."""
    aims = [(label_objective(m, study).axis, format_direction(m)) for m in objectives]
    constraints = [(constraint.label,) for constraint in plan.all_constraints]
    space = plan.space
    rows = []
    if space.parameter is not None and space.level is not None:
        rows.append((f"value of each level ({space.parameter})", *_format_variable(space.level)))
    for name, variable in space.variables.items():
        rows.append((name_variable(name, study).axis, *_format_variable(variable)))
    rows.append(("seconds a trial", f"{space.seconds_per_trial:g}", "fixed"))
    blocks: list[Block] = [
        make_table(("objective", "direction"), aims, "What the search was for.", (0, 1)),
        make_table(("constraint",), constraints, "What every design had to fulfil.", (0,)),
        make_table(
            ("variable", "values", "role"), rows, "The space of designs: what was searched, and what was fixed.", (0, 1, 2)
        ),
    ]
    if study.designs:
        blocks += [Heading("Designs to beat"), tabulate_designs(study, study.designs)]
    return blocks


def _format_variable(variable: Variable) -> tuple[str, str]:
    if isinstance(variable, Range):
        step = f", in steps of {variable.step:g}" if variable.step is not None else ""
        return f"{variable.low:g} to {variable.high:g}{step}", "searched"
    if isinstance(variable, Choice):
        return join_words([str(option) for option in variable.options]).replace(" and ", " or "), "searched"
    return str(variable), "fixed"


def _describe_finalists(
    folder: Path,
    study: Study,
    plan: SearchPlan,
    result: Mapping[str, Any],
    objectives: Sequence[Objective],
    contenders: Sequence[Recorded],
) -> list[Block]:
    """What was found, from best to worst on fresh data: the score that chose it beside the one on fresh data sets."""
    if not contenders:
        return [Words(("There are none yet: the same search goes on where it was stopped.",))]
    blocks: list[Block] = []
    for objective in objectives:
        label = objective.label
        rows = [
            (
                contender.title,
                MISSING if contender.number is None else str(contender.number),
                MISSING if contender.number is None else format_score(contender.entry["search"][label]),
                format_score(contender.entry["fresh"][label]),
            )
            for contender in contenders
        ]
        caption = (
            f"{capitalize(label_objective(objective, study).axis)}; {format_direction(objective)}. "
            "The search score chose the "
            f"finalists and flatters them; the fresh score is from {plan.num_fresh} data sets that had no part in choosing, "
            f"by {plan.verify_fidelity}. {scores.ERROR}"
        )
        blocks.append(make_table(("design", "candidate", "search score", "fresh score"), rows, caption))
    blocks.append(
        embed_figure(
            folder, "designs", "The finalists, and the designs of the study: what is shown, how often, at which level."
        )
    )
    found = [contender for contender in contenders if contender.number is not None]
    designs = [find_design(plan, contender.entry["parameters"], contender.title) for contender in found]
    blocks.append(tabulate_designs(study, [design for design in designs if design is not None]))
    blocks += _warn(contenders)
    blocks += _compare(result)
    return blocks


def _warn(contenders: Sequence[Recorded]) -> list[Block]:
    """Why designs cannot win, and what must be known about those that can."""
    said = [f"{c.name} cannot win: {reason}." for c in contenders for reason in c.entry.get("breaks", [])]
    said += [warning for c in contenders for warning in c.entry.get("warnings", [])]
    return [Heading("What to know about them"), Words(tuple(said), is_list=True)] if said else []


def _compare(result: Mapping[str, Any]) -> list[Block]:
    """How many times smaller the errors of the winner are than those of the study's designs."""
    ratios = result.get("rmse_ratios") or {}
    names = list(dict.fromkeys(name for row in ratios.values() for name in row))
    rows = [(design, *(format_score(row.get(name)) for name in names)) for design, row in ratios.items()]
    caption = (
        f"How many times smaller the RMSE of the winner is than that of each design, paired by data set. {scores.ERROR}"
    )
    return [make_table(("against", *names), rows, caption)] if rows else []


def _describe_history(folder: Path, result: Mapping[str, Any], study: Study, objectives: Sequence[Objective]) -> list[Block]:
    blocks: list[Block] = [
        embed_figure(
            folder, "history", "Every design that was tried, in its order, the best so far, and the finalists on fresh data."
        )
    ]
    if len(objectives) > 1:
        blocks.append(embed_figure(folder, "front", "The front: designs that no other beats in all objectives."))
    label = label_objective(objectives[0], study).symbol
    if result["importance"]:
        rows = [(name_variable(name).symbol, f"{100 * share:.1f}") for name, share in result["importance"].items()]
        rows.sort(key=lambda row: -float(row[1]))
        caption = (
            f"What matters for {label}: share of each variable, by PED-ANOVA over all candidates. The shares describe the "
            "candidates of this search; they have no Monte Carlo error of their own."
        )
        blocks += [
            embed_figure(folder, "importance", "Share of each variable in what makes designs differ."),
            make_table(("variable", "importance (%)"), rows, caption),
        ]
    else:
        blocks.append(Words(("There are too few candidates to say which variables matter.",)))
    blocks.append(embed_figure(folder, "parallel", "Every feasible design as a line over its variables and its score."))
    return blocks


def _describe_convergence(result: Mapping[str, Any], evaluations: scores.Evaluations) -> list[Block]:
    failed = sum(candidate["num_failed"] for candidate in list_recorded(result))
    words = Words(
        (f"While searching, {failed} of {result['fits']:,} fits failed; designs of which too many fail are no candidates.",)
    )
    if not evaluations:
        return [words]
    return [words, Heading("On fresh data sets"), *scores.describe_convergence(evaluations)]


def _describe_time(result: Mapping[str, Any], evaluations: scores.Evaluations) -> list[Block]:
    num = len({candidate["worker"] for candidate in list_recorded(result) if candidate["worker"]})
    work = f"Candidates took {format_duration(result['seconds'])} of work by {count(max(num, 1), 'worker')}."
    return [Words((work,)), *([scores.tabulate_time(evaluations)] if evaluations else [])]


def _sum_seconds(result: Mapping[str, Any], evaluations: scores.Evaluations) -> float:
    return float(result["seconds"]) + sum(evaluation["seconds"] for evaluation in evaluations.values())


def _note_workers(result: Mapping[str, Any]) -> list[str]:
    workers = {candidate["worker"] for candidate in list_recorded(result) if candidate["worker"]}
    if len(workers) < 2:
        return ["With one worker, as here, the result depends on the study alone."]
    return [f"{len(workers)} workers took turns, so another run may try other designs."]


def _list_settings(study: Study, plan: SearchPlan, result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "cost": study.cost,
        "sampler": plan.sampler,
        "designs screened first": result["screened"],
        "fidelity of the search": plan.fidelity,
        "data sets of each design": plan.num_datasets,
        "gives up early": plan.races,
        "data sets between decisions": plan.block_size,
        "finalists": plan.num_finalists,
        "fidelity of finalists": plan.verify_fidelity,
        "fresh data sets": plan.num_fresh,
        "interval": study.interval,
    }
