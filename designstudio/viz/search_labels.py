"""Labels of a search in figures: its objectives, its variables, and which direction is better."""

from designstudio.metrics.base import QUANTITY
from designstudio.metrics.design.minutes import Minutes
from designstudio.model.costs import available_costs, get_cost
from designstudio.model.parameters import NO_UNIT
from designstudio.study import Objective, Study
from designstudio.viz.theme import QuantityLabel

_VARIABLES = {
    "levels": "number of levels",
    "spacing": "spacing of levels",
    "middle_1": "place of the second level",
    "middle_2": "place of the third level",
    "low_share": "share of trials at the lowest level",
    "trials": "number of trials",
    "minutes": "time of a participant",
    "participants": "number of participants",
    "stimuli.distribution": "distribution of stimuli",
    "stimuli.low": "smallest stimulus",
    "stimuli.high": "largest stimulus",
    "stimuli.num_values": "number of stimuli",
}
_STIMULI = ("stimuli.low", "stimuli.high")
_ENDS = {"_low": "lowest", "_high": "highest"}


def label_parameter(name: str, *costs: str) -> QuantityLabel:
    """Symbol and unit of a parameter, as one of the costs has it, by default any; an unknown name is its own symbol."""
    for cost in [get_cost(cost) for cost in costs] or available_costs().values():
        for parameter in cost.all_parameters:
            if parameter.name == name:
                return QuantityLabel(parameter.symbol, parameter.unit)
    return QuantityLabel(name.replace("_", " "), NO_UNIT)


def label_objective(objective: Objective, study: Study) -> QuantityLabel:
    """An objective in words and symbols, and its unit."""
    metric = objective.metric
    if metric.scope != QUANTITY:
        # What it is of, if there is a choice, else the words that an axis has room for.
        return QuantityLabel(objective.label if objective.of else metric.label, metric.unit)
    own = {quantity.name: QuantityLabel(quantity.name, quantity.unit) for quantity in study.quantities}
    labels = [own.get(name) or _label_of_study(name, study, study.cost) for name in objective.of]
    *first, last = [label.symbol for label in labels]
    names = f"{', '.join(first)} and {last}" if first else last
    mean = f"{'geometric ' if metric.is_size else ''}mean " if first else ""
    units = {label.unit for label in labels}
    return QuantityLabel(f"{mean}{metric.symbol} of {names}", metric.unit_of(units.pop() if len(units) == 1 else NO_UNIT))


def format_direction(objective: Objective) -> str:
    """Which way is better."""
    return "larger is better" if objective.is_larger_better else "smaller is better"


def name_variable(name: str, study: Study | None = None) -> QuantityLabel:
    """A parameter of a search in words, and its unit: sigma_low is the lowest σ.

    Args:
        name: of the parameter.
        study: in whose unit it is, if that is known.
    """
    if name in _VARIABLES:
        unit = study.unit if study is not None and name in _STIMULI else ""
        return QuantityLabel(_VARIABLES[name], "min" if name == Minutes.name else unit or NO_UNIT)
    for suffix, word in _ENDS.items():
        if name.endswith(suffix):
            label = _label_of_study(name.removesuffix(suffix), study)
            return label._replace(symbol=f"{word} {label.symbol}")
    return _label_of_study(name, study)


def _label_of_study(name: str, study: Study | None, *costs: str) -> QuantityLabel:
    """Symbol of a parameter, and its unit in a study."""
    label = label_parameter(name, *costs)
    if study is None:
        return label
    known = (*study.list_parameters(), *study.list_parameters(study.population.cost))
    return next((label._replace(unit=parameter.unit) for parameter in known if parameter.name == name), label)
