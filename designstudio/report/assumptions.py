"""What a study assumes: its designs, who is simulated, and what the fit takes for granted."""

from collections.abc import Sequence

from designstudio.model.costs import get_cost
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.model.parameters import NO_UNIT, analysis_priors
from designstudio.report.blocks import Block, Section, Table, Words, make_table
from designstudio.report.formatting import MISSING, split
from designstudio.report.pictures import render_figure
from designstudio.study import Known, Study
from designstudio.study.design import Condition, Design
from designstudio.viz.designs import draw_designs
from designstudio.viz.families import name_cost

MODEL = f"The model is a Bayesian actor. {DEFAULT_FAMILY.description} {DEFAULT_FAMILY.units}"
NUM_SIDE_BY_SIDE = 4


def describe_designs(study: Study, designs: Sequence[Design]) -> list[Block]:
    """The designs, as a picture and as a table."""
    figures = [
        render_figure(
            draw_designs({design.name: design for design in part}, unit=study.conversion.unit),
            "What is shown, how often and at which level: stimuli across, levels up, each band as thick as it has trials.",
        )
        for part in split(designs, NUM_SIDE_BY_SIDE)
    ]
    return [*figures, tabulate_designs(study, designs)]


def tabulate_designs(study: Study, designs: Sequence[Design]) -> Table:
    """A row for each condition, under the name of its design."""
    groups = []
    for design in designs:
        people = "1 participant" if design.num_participants == 1 else f"{design.num_participants} participants"
        heading = f"{design.name}: {design.num_trials} trials, {design.minutes:.3g} min a participant, {people}"
        groups.append((heading, tuple(_list_condition(design, condition) for condition in design.conditions)))
    unit = f", in {study.unit}" if study.unit else ""
    caption = f"The conditions of each design: what the experimenter sets, what people have there, and what is shown{unit}."
    return Table(("condition", "trials", "sets", "people have", "stimuli"), tuple(groups), caption, (0, 2, 3, 4))


def _list_condition(design: Design, condition: Condition) -> list[str]:
    levels = ", ".join(f"{name} = {value:g}" for name, value in condition.levels.items())
    own = ", ".join(f"{name}: {prior}" for name, prior in condition.population.items())
    cells = [condition.name, str(condition.num_trials), levels or MISSING, own or MISSING]
    return [*cells, str(design.stimuli_of(condition))]


def describe_assumptions(study: Study, designs: Sequence[Design], levels: Sequence[str] = ()) -> Section:
    """Model, population and analysis.

    Args:
        study: the question.
        designs: those that the report is about.
        levels: parameters that designs of a search set.
    """
    cost, simulated = get_cost(study.cost), get_cost(study.population.cost or study.cost)
    words = [
        MODEL,
        *_describe_unit(study),
        f"The fit assumes the {name_cost(cost.name)} cost, {cost.formula}. {cost.note}".strip(),
    ]
    if simulated.name != cost.name:
        words.append(
            f"Simulated participants minimise another one, the {name_cost(simulated.name)} cost, {simulated.formula}."
        )
    set_by_design = {name for design in designs for name in design.levels} | set(levels)
    drawn_anew = {name for design in designs for name in design.drawn_parameters}
    multiplied = {name for design in designs for name in design.own_parameters}
    population = describe_population(study, set_by_design, drawn_anew)
    analysis = describe_analysis(study, set_by_design | multiplied)
    parameters = {p.name: p for p in (*study.list_parameters(), *study.list_parameters(simulated.name))}
    rows = [
        (
            parameter.symbol,
            name,
            parameter.explanation,
            MISSING if parameter.unit == NO_UNIT else parameter.unit,
            population.get(name, MISSING),
            analysis.get(name, MISSING),
        )
        for name, parameter in parameters.items()
    ]
    columns = ("", "parameter", "what it is", "unit", "simulated participants", "the fit assumes")
    caption = "Every parameter: where simulated participants have it from, and what the fit assumes before it sees data."
    blocks: list[Block] = [Words(tuple(words)), make_table(columns, rows, caption, range(6))]
    off = _describe_slips(study)
    blocks += [Words((off,))] if off else []
    if study.quantities:
        formulas = [(quantity.name, quantity.text) for quantity in study.quantities]
        blocks.append(
            make_table(("quantity", "formula"), formulas, "Functions of the parameters that are scored, too.", (0, 1))
        )
    return Section("Population and priors", tuple(blocks))


def _describe_unit(study: Study) -> list[str]:
    """In what the study is, if it says so."""
    if not study.unit:
        return []
    size = study.conversion.actor_unit
    return [f"Stimuli and responses are in {study.unit}; simulations and fits run in units of {size}, and are brought back."]


def describe_population(study: Study, levels: set[str], own: set[str]) -> dict[str, str]:
    """Where each parameter of a simulated participant comes from."""
    population = study.population
    known = study.analysis.known
    said = {}
    for name, prior in population.resolve(get_cost(population.cost or study.cost), study.conversion).items():
        if name in levels:
            said[name] = "set by the design"
        elif name in own:
            said[name] = "drawn anew in each condition"
        elif population.follows_analysis and name not in population.priors and name not in known:
            said[name] = "as the fit assumes"
        else:
            said[name] = str(prior)
    return said


def describe_analysis(study: Study, changed: set[str]) -> dict[str, str]:
    """What the fit takes each parameter to be, or its prior."""
    analysis = study.analysis
    said = {}
    for name, prior in analysis_priors(study.list_parameters()).replace(**analysis.priors).items():
        if name in analysis.known:
            said[name] = _format_known(analysis.known[name])
        else:
            is_own = (name in changed or name in analysis.per_condition) and name not in analysis.shared
            said[name] = f"{prior}{', in each condition' if is_own else ''}"
    return said


def _format_known(known: Known) -> str:
    if known.value is not None:
        return f"known to be {known.value:g}"
    return "known" if known.factor == 1 else f"taken to be {known.factor:g} times what it is"


def _describe_slips(study: Study) -> str:
    """Lapses and outliers, if there are any."""
    population, parts = study.population, []
    if population.lapse_rate:
        parts.append(f"In {population.lapse_rate:.1%} of the trials the response has nothing to do with the stimulus.")
    if population.outlier_rate:
        scale = f"{population.outlier_scale:g}"
        parts.append(f"In {population.outlier_rate:.1%} of the trials the response is off by a factor (log sd {scale}).")
    return " ".join(parts)
