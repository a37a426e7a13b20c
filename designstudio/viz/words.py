"""How figures of a search write what it is for, what it chooses, and in which way is better."""

from designstudio.model.costs import available_costs, get_cost
from designstudio.model.parameters import NO_UNIT
from designstudio.search.readings import SIZES
from designstudio.study import Measure, Study
from designstudio.study.measures import FAILED, HOURS, MINUTES, PARTICIPANTS, RECOVERY, REMAINING, SMALLEST_LEVEL, TRIALS
from designstudio.viz.theme import QuantityLabel

# Recovery scores in the unit of their quantity.
_IN_UNITS = ("rmse", "bias", "width")
_MEASURES = {
    MINUTES: "time of a participant",
    HOURS: "time of all participants",
    TRIALS: "number of trials",
    PARTICIPANTS: "number of participants",
    SMALLEST_LEVEL: "smallest level",
    REMAINING: "remaining share of the prior's sd",
    FAILED: "share of failed fits",
}
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
_ENDS = {"_low": "lowest", "_high": "highest"}


def label_parameter(name: str, *costs: str) -> QuantityLabel:
    """Symbol and unit of a parameter, as one of the costs has it, by default any; an unknown name is its own symbol."""
    for cost in [get_cost(cost) for cost in costs] or available_costs().values():
        for parameter in cost.all_parameters:
            if parameter.name == name:
                return QuantityLabel(parameter.symbol, parameter.unit)
    return QuantityLabel(name.replace("_", " "), NO_UNIT)


def label_measure(measure: Measure, study: Study) -> QuantityLabel:
    """An objective in words and symbols, and its unit."""
    if measure.score in _MEASURES:
        return QuantityLabel(_MEASURES[measure.score], measure.unit or NO_UNIT)
    if measure.score not in RECOVERY:
        return QuantityLabel(measure.label, measure.unit or NO_UNIT)
    own = {quantity.name: QuantityLabel(quantity.name, quantity.unit) for quantity in study.quantities}
    labels = [own.get(name) or label_parameter(name, study.cost) for name in measure.of]
    *first, last = [label.symbol for label in labels]
    names = f"{', '.join(first)} and {last}" if first else last
    # Only the score: the names that follow it are written as symbols.
    score = Measure(measure.score, ("",)).label.removesuffix(" of ")
    if first:
        score = f"{'geometric ' if measure.score in SIZES else ''}mean {score}"
    units = {label.unit for label in labels}
    unit = units.pop() if len(units) == 1 and measure.score in (*_IN_UNITS, "mse") else NO_UNIT
    return QuantityLabel(f"{score} of {names}", f"{unit}²" if measure.score == "mse" and unit != NO_UNIT else unit)


def say_better(measure: Measure) -> str:
    """Which way is better."""
    return "larger is better" if measure.is_larger_better else "smaller is better"


def name_variable(name: str) -> QuantityLabel:
    """A parameter of a search in words, and its unit: sigma_low is the lowest σ."""
    if name in _VARIABLES:
        return QuantityLabel(_VARIABLES[name], "min" if name == MINUTES else NO_UNIT)
    for suffix, word in _ENDS.items():
        if name.endswith(suffix):
            label = label_parameter(name.removesuffix(suffix))
            return label._replace(symbol=f"{word} {label.symbol}")
    return label_parameter(name)
