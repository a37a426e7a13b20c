"""A record as a text for people: Markdown that says everything that the plain data say."""

from collections.abc import Mapping, Sequence
from typing import Any

from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.lab.record import GROUPS, POWER, Record
from designstudio.lab.record_power import HEADS, introduce_power, list_power
from designstudio.model.parameters import NO_UNIT
from designstudio.model.scale import suffix_unit
from designstudio.study.factor import Factor
from designstudio.study.goals import EXCLUDES, NARROWER
from designstudio.study.schema.sections import TRUTH


def write_text(record: Record) -> str:
    """The text of a record, with its fingerprint."""
    content = record.content
    title = content["title"] or "A study"
    parts = [
        f"# Record of a plan: {_escape(title)}",
        f"Fingerprint (SHA-256 of record.json's content): `{record.fingerprint}`",
        "Deposit this record, or its fingerprint, where the date is certified. `designstudio verify` checks it, and a study "
        "file and data against it.",
        "## What is run",
        _describe_design(content),
        _table_of_conditions(content["design"]["conditions"]),
        "## What is fitted",
        _describe_model(content),
        _table_of_parameters(content),
        "## Who is expected",
        _describe_population(content),
        "## What counts as success",
        _list(list_goals(content)),
        "## Power",
        *_describe_power(content.get(POWER)),
        "## Fits",
        _describe_fits(content["fits"]),
        "## What is left out",
        _list([*content["exclusions"]["rows"], *content["exclusions"]["participants"]]),
        *_own_rules(content["exclusions"]["further_rules"]),
        "## Made with",
        _list([f"{name} {version}" for name, version in content["versions"].items()]),
    ]
    return "\n\n".join(parts) + "\n"


def list_goals(content: Mapping[str, Any]) -> list[str]:
    """What counts as success, in sentences."""
    decision = content["decision"]
    interval = f"{decision['interval']['kind']} interval of probability {decision['interval']['probability']!r}"
    alpha = 1 - decision["interval"]["probability"]
    sentences = [_describe_goal(goal, interval, alpha, _name_unit(content, goal)) for goal in decision["goals"]]
    # Records of before do not say it.
    sentences += [decision[name] for name in ("goals_on_data", "study_goals_on_data") if name in decision]
    limits = decision["status_limits"]
    sentences += [
        f"A parameter of prior or cost counts as learned if its contraction is at least {limits['min_contraction']!r}, and "
        f"as learned well from {limits['well_learned']!r} on.",
        "Prior and cost count as confounded if the posterior correlation of a parameter of each is at least "
        f"{limits['strong_correlation']!r} in size and at least {limits['much_remains']!r} of the prior's uncertainty is "
        "left in the pair's weakest direction.",
    ]
    return sentences if decision["goals"] else ["The study names no goals: success is estimation.", *sentences]


def count_participants(content: Mapping[str, Any]) -> str:
    """How many take part by a record, in words that agree."""
    named = content.get(GROUPS)
    if named:
        return ", ".join(f"{group['participants']} {name}" for name, group in named.items())
    people = content["participants"]
    groups = f" in each of {people['groups']} groups" if people["groups"] > 1 else ""
    return f"{people['each_group']} participant{'' if people['each_group'] == 1 else 's'}{groups}"


def _describe_design(content: Mapping[str, Any]) -> str:
    design = content["design"]
    num_trials = sum(condition["trials"] for condition in design["conditions"])
    minutes = num_trials * design["seconds_per_trial"] / 60
    return (
        f"Design {_escape(design['name'])}: {count_participants(content)}, {num_trials} trials each, "
        f"{design['seconds_per_trial']:g} s a trial, about {minutes:.1f} minutes. Stimuli and responses are in "
        f"{_escape(content['options']['unit'])}."
    )


def _table_of_conditions(conditions: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for condition in conditions:
        levels = [f"{name} = {value!r}" for name, value in condition["levels"].items()]
        drawn = [f"{name} drawn anew from {prior}" for name, prior in condition["drawn_anew"].items()]
        drawn += [f"{name}: {Factor(**factor)}" for name, factor in condition.get("factors", {}).items()]
        stimuli = ", ".join(f"{name} {value}" for name, value in condition["stimuli"].items())
        rows.append([condition["name"], str(condition["trials"]), "; ".join([*levels, *drawn]) or "-", stimuli])
    return _table(["condition", "trials", "set by the experimenter", "stimuli"], rows)


def _describe_model(content: Mapping[str, Any]) -> str:
    model, compared = content["model"], content["analysis"]["costs_compared"]
    said = (
        f"The cost {model['cost']}, {_escape(model['formula'])}, with the actor {_escape(model['actor'])} "
        f"({model['actor_fingerprint']})."
    )
    if len(compared) > 1:
        said += f" Costs that are compared: {', '.join(compared)}. {content['decision']['comparison_of_costs']}"
    pooling = content["analysis"].get("pooling")
    if pooling is not None:
        settings = PoolingSettings(spread_share=pooling["group_spread"], spread_shares=pooling["group_spreads"])
        said += f" Participants are also pooled partially: {settings.sentence}."
    if "scale" in model:
        said += f" Fits and simulations run in units of {model['scale']:g} {_escape(content['options']['unit'])}."
    quantities = [f"{name} = {formula}" for name, formula in content["quantities"].items()]
    return said + (f" Quantities: {_escape('; '.join(quantities))}." if quantities else "")


def _table_of_parameters(content: Mapping[str, Any]) -> str:
    priors, known = content["analysis"]["priors"], content["analysis"]["known"]
    rows = []
    for parameter in content["model"]["parameters"]:
        name = parameter["name"]
        assumed = f"prior {priors[name]}" if name in priors else _describe_known(known[name])
        rows.append([name, parameter["meaning"], parameter["unit"], parameter["treatment"], assumed])
    return _table(["parameter", "meaning", "unit", "between conditions", "assumed"], rows)


def _describe_known(value: float | str) -> str:
    if not isinstance(value, str):
        return f"taken to be {value!r}"
    return "measured beforehand" if value == TRUTH else f"measured beforehand ({value} in the evaluation)"


def _describe_population(content: Mapping[str, Any]) -> str:
    population = content["population"]
    lines = [f"{name}: {prior}" for name, prior in population["parameters"].items()]
    rates = ("lapse_rate", "outlier_rate", "outlier_scale")
    contamination = ", ".join(f"{name} {population[name]!r}" for name in rates)
    head = f"Participants are expected to minimise {population['cost']}; {contamination}. A number is everyone's."
    return "\n\n".join([head, _list(lines), *_describe_groups(content.get(GROUPS, {}))])


def _describe_groups(groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Each group of a study, and in what it differs; nothing in a study without groups."""
    rows = [
        [
            name,
            str(group["participants"]),
            f"{group['dropout']:.0%}",
            "; ".join(f"{parameter}: {text}" for parameter, text in group["differs"].items()) or "-",
        ]
        for name, group in groups.items()
    ]
    return [_table(["group", "participants", "expected to drop out", "differs from the others in"], rows)] if rows else []


def _describe_power(power: Mapping[str, Any] | None) -> list[str]:
    """The chances to reach the goals, and what must be known about them; or that there are none."""
    parts, rows = [introduce_power(power)], list_power(power)
    parts += [_table(HEADS, rows)] if rows else []
    notes = [] if power is None else [_escape(note) for note in power.get("notes", ())]
    return [*parts, *([_list(notes)] if notes else [])]


def _name_unit(content: Mapping[str, Any], goal: Mapping[str, Any]) -> str:
    """The unit of a goal's numbers, as it follows them; nothing where it has no name."""
    units = {parameter["name"]: parameter["unit"] for parameter in content["model"]["parameters"]}
    return suffix_unit(units.get(goal["quantity"], NO_UNIT))


def _describe_goal(goal: Mapping[str, Any], interval: str, alpha: float, unit: str) -> str:
    quantity = goal["quantity"]
    if "rule" in goal:
        return f"{_capitalize(goal['rule'])}."
    if goal["kind"] == EXCLUDES:
        margin = f" by more than {goal['margin']!r}{unit}" if goal["margin"] else ""
        return (
            f"A participant's {interval} of {quantity} stays away from {goal['value']!r}{unit}{margin}. Without an effect "
            f"at most {alpha:.0%} of the participants should meet this."
        )
    if goal["kind"] == NARROWER:
        return f"A participant's {interval} of {quantity} is narrower than {goal['width']!r}{unit}."
    other = "; ".join(f"{name}: {prior}" for name, prior in goal["second_group"].items())
    return (
        f"A {goal['test']} of {quantity} tells the groups apart at alpha {goal['alpha']!r}; the second group is expected to "
        f"differ in {other}."
    )


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _describe_fits(fits: Mapping[str, Any]) -> str:
    criteria = fits["criteria"]
    return (
        f"Method {fits['method']}, {fits['chains']} chains of {fits['draws_of_each_chain']} draws. A fit counts if R-hat is "
        f"at most {criteria['max_rhat']:g}, there are at least {criteria['min_ess']:g} effective draws"
        f"{_describe_tails(criteria)}, k-hat of importance weights is below {criteria['max_khat']:g} and at most "
        f"{criteria['max_divergent']:.0%} of trajectories diverge{_describe_energy(criteria)}. "
        f"{fits['failed_fits']}"
    )


def _describe_tails(criteria: Mapping[str, Any]) -> str:
    # Records of older versions have neither this nor the next.
    return f" (of the tails, too, {criteria['min_ess_tail']:g})" if "min_ess_tail" in criteria else ""


def _describe_energy(criteria: Mapping[str, Any]) -> str:
    least = criteria.get("min_ebfmi")
    return "" if least is None else f" with an E-BFMI of at least {least:g}, where chains do not jump"


def _own_rules(rules: Sequence[str]) -> list[str]:
    return ["## Further rules", _list([_escape(rule) for rule in rules])] if rules else []


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_escape(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape(text: str) -> str:
    """Text on one line that does not end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
