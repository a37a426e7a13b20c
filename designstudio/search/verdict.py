"""What a search has found, in sentences."""

from collections import Counter

from designstudio.metrics.failed import Failed
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import FalsePositives
from designstudio.search.finalists import Verification
from designstudio.search.job import get_plan
from designstudio.search.ranking import Contender, Ranking, format_lead, list_dominating, read_power
from designstudio.search.records import NO_VALUE
from designstudio.search.resolution import describe_resolution
from designstudio.search.search_result import SearchResult
from designstudio.study import Objective, Study
from designstudio.study.design.description import describe_design, format_design


def describe_search(result: SearchResult) -> list[str]:
    """Plain sentences about what was tried and what came out."""
    num_pruned = sum(record.state == "pruned" for record in result.finished)
    full = result.num_fits_without_racing
    fitted = f"{result.num_fits:,} data sets fitted, not {full:,}"
    # Those without a value were given up as well, but not early.
    early = f", {num_pruned} of them given up early: {fitted}" if num_pruned and result.num_fits < full else ""
    sentences = [f"{len(result.finished)} designs were tried{early}."]
    sentences += [describe_resolution(found) for found in result.resolution if not found.is_enough]
    verification = result.verification
    if verification is None:
        return sentences
    if not verification.finalists:
        sentences.append(_describe_failure(result))
    if verification.ranking is not None:
        sentences += _describe_ranking(result, verification, verification.ranking)
    elif verification.finalists:
        sentences.append(f"{len(result.front)} designs are on the front: none is better in everything.")
        sentences += [_describe_dominance(result, verification, own) for own in verification.references]
        sentences += _list_excluded(verification)
        sentences += [warning for finalist in verification.finalists for warning in finalist.warnings]
    winner = verification.winner
    for name, ratios in verification.ratios.items():
        if winner is not None:
            sentences.append(_compare(winner.name, name, ratios))
    if not verification.finalists:
        return sentences
    failed = sum(finalist.evaluation.convergence.failed for finalist in verification.finalists)
    total = sum(finalist.evaluation.num_datasets for finalist in verification.finalists)
    return [*sentences, f"{failed} of {total} fits of the finalists failed and are left out."]


def _describe_failure(result: SearchResult) -> str:
    """Which constraints no candidate kept to, and what to do about it."""
    tried = [record for record in result.finished if record.exceeds]
    broken = Counter(label for record in tried for label, over in record.exceeds.items() if 0 < over < NO_VALUE)
    counts = [f"{num} of {len(tried)} break '{label}'" for label, num in broken.most_common()]
    of_rates, of_failures = (
        {c.label for c in get_plan(result.question).all_constraints if isinstance(c.objective.metric, kind)}
        for kind in (FalsePositives, Failed)
    )
    if any(broken[label] == len(tried) for label in of_failures):
        # Without fits there is no rate either.
        advice = "too many fits fail, and designstudio evaluate says why"
    elif of_rates & set(broken):
        # Whoever loosens that limit gets power that comes from the prior.
        advice = "widen the space, search for longer or ask for another goal; power that comes from the prior is none"
    else:
        advice = "loosen them, widen the space or search for longer"
    listed = f" ({', '.join(counts)})" if counts else ""
    return f"No design kept to all constraints{listed}: {advice}."


def _list_excluded(verification: Verification) -> list[str]:
    """Designs that cannot win, and why."""
    return [f"{c.name} cannot win: {'; '.join(c.breaks)}." for c in verification.ranked if c.breaks]


def _describe_dominance(result: SearchResult, verification: Verification, own: Contender) -> str:
    """Whether one of the study's own designs is beaten in all of several objectives on fresh data."""
    better = list_dominating(result.question, result.objectives, verification.finalists, own)
    if better:
        verb = "are" if len(better) > 1 else "is"
        return f"On fresh data {' and '.join(better)} {verb} better than {own.name} in everything."
    return f"On fresh data no finalist is better than {own.name} in everything, beyond the error."


def _describe_ranking(result: SearchResult, verification: Verification, ranking: Ranking) -> list[str]:
    """The winner, how far it is ahead of what it had to beat and of the next, and what must be known about it."""
    objective, winner = result.objectives[0], verification.winner
    excluded = _list_excluded(verification)
    if winner is None:
        return ["No design can be called best on fresh data.", *excluded]
    sentences = [f"The winner, {winner.name}: {format_design(describe_design(winner.design))}."]
    if ranking.to_beat is not None:
        sentences.insert(0, _describe_contest(result, verification, ranking))
    sentences.append(_describe_value(result.question, objective, winner))
    if ranking.best_finalist == winner.name:
        sentences += _describe_next(objective, ranking, len(verification.finalists))
    return [*sentences, *excluded, *winner.warnings]


def _describe_contest(result: SearchResult, verification: Verification, ranking: Ranking) -> str:
    """Whether a finalist beats the best of the study's own designs."""
    objective = result.objectives[0]
    best, to_beat, lead = ranking.best_finalist, ranking.to_beat, ranking.lead
    own = "the best of the study's own designs" if len(verification.references) > 1 else "the study's own design"
    if best is None or lead is None:
        return f"Nothing beats {to_beat}, {own}: no finalist may win."
    difference = f"{objective.label} of {best} is {format_lead(objective, lead.score)}"
    if ranking.is_better:
        return f"{best} beats {to_beat}, {own}: {difference} on the same fresh data sets."
    is_worse = lead._replace(score=Score(-lead.score.value, lead.score.mcse)).is_clear(get_plan(result.question).num_errors)
    within = "" if is_worse else ", within the error"
    return f"Nothing beats {to_beat}, {own}{within}: {difference}, and that is the best of the finalists."


def _describe_value(question: Study, objective: Objective, winner: Contender) -> str:
    """The objective on fresh data, and how much the search flattered it."""
    fresh, num = winner.fresh[objective.label], winner.evaluation.num_datasets
    power = read_power(objective, question, winner.evaluation)
    rate = None if power is None else power.when_absent
    absent = "" if rate is None else f", and {rate.chance} without the effect,"
    text = f"Its {objective.label} is {objective.format_score(fresh)}{absent} on {num} fresh data sets"
    if winner.candidate is None:
        return f"{text}."
    seen = winner.candidate.scores[objective.label]
    is_flattered = (fresh.value < seen.value) if objective.is_larger_better else (fresh.value > seen.value)
    was = objective.format_score(seen)
    is_flattered &= was != objective.format_score(fresh)
    flattered = ": what is chosen for being best looks better than it is" if is_flattered else ""
    return f"{text}, and was {was} on those that chose it{flattered}."


def _describe_next(objective: Objective, ranking: Ranking, num_finalists: int) -> list[str]:
    """Which designs cannot be told apart from the winner, or else the runner-up."""
    others = [place for place in ranking.places if place.is_allowed and place.name != ranking.winner]
    tied = [place for place in others if place.is_tied]
    if tied:
        names = [f"{p.name} ({_describe_behind(objective, p.behind.score)})" for p in tied]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        luck = ", and being first of them may be luck"
        return [f"{ranking.winner} and {listed} cannot be told apart on fresh data{luck}."]
    if num_finalists > 1 and others:
        behind = _describe_behind(objective, others[0].behind.score)
        return [f"The runner-up is {others[0].name}: its {objective.label} is {behind}."]
    return []


def _describe_behind(objective: Objective, behind: Score) -> str:
    """About the design that is behind."""
    return format_lead(objective, Score(-behind.value, behind.mcse))


def _compare(winner: str, other: str, ratios: dict[str, Score]) -> str:
    better = {name: ratio for name, ratio in ratios.items() if ratio.value - 2 * ratio.mcse > 1}
    worse = {name: ratio for name, ratio in ratios.items() if ratio.value + 2 * ratio.mcse < 1}
    same = [name for name in ratios if name not in better and name not in worse]
    parts = [f"smaller for {name} by a factor of {ratio}" for name, ratio in better.items()]
    inverse = {name: Score(1 / ratio.value, ratio.mcse / ratio.value**2) for name, ratio in worse.items()}
    parts += [f"larger for {name} by a factor of {ratio}" for name, ratio in inverse.items()]
    parts += [f"no different, within the error, for {', '.join(same)}"] if same else []
    return f"Against {other}, errors of {winner} are {'; '.join(parts)}."
