"""What a search has found, in sentences."""

from designstudio.metrics.monte_carlo import Score
from designstudio.search.finalists import Finalist, Verification
from designstudio.search.search_result import SearchResult
from designstudio.study.design.description import format_design


def describe_search(result: SearchResult) -> list[str]:
    """Plain sentences about what was tried and what came out."""
    num_pruned = sum(record.state == "pruned" for record in result.finished)
    full = result.as_dict()["fits_without_racing"]
    early = (
        f", {num_pruned} of them given up early: {result.num_fits:,} data sets fitted, not {full:,}" if num_pruned else ""
    )
    sentences = [f"{len(result.finished)} designs were tried{early}."]
    verification = result.verification
    if verification is None:
        return sentences
    if not verification.finalists:
        return [*sentences, "No design kept to all constraints: loosen them, widen the space or search for longer."]
    if len(result.objectives) == 1:
        sentences += _describe_winner(result, verification)
    else:
        sentences.append(f"{len(result.front)} designs are on the front: none is better in everything.")
    for name, ratios in verification.ratios.items():
        sentences.append(_compare(verification.finalists[verification.winner].design.name, name, ratios))
    failed = sum(finalist.evaluation.convergence.failed for finalist in verification.finalists)
    total = sum(finalist.evaluation.num_datasets for finalist in verification.finalists)
    return [*sentences, f"{failed} of {total} fits of the finalists failed and are left out."]


def _describe_winner(result: SearchResult, verification: Verification) -> list[str]:
    winner: Finalist = verification.finalists[verification.winner]
    objective = result.objectives[0]
    seen, fresh = winner.candidate.scores[objective.label], winner.fresh[objective.label]
    num = winner.evaluation.num_datasets
    sentences = [f"The winner, {winner.design.name}: {format_design(winner.candidate.design)}."]
    text = f"Its {objective.label} is {fresh} on {num} fresh data sets, and was {seen} on those that chose it"
    is_flattered = (fresh.value < seen.value) if objective.is_larger_better else (fresh.value > seen.value)
    return [*sentences, f"{text}{': what is chosen for being best looks better than it is' if is_flattered else ''}."]


def _compare(winner: str, other: str, ratios: dict[str, Score]) -> str:
    better = {name: ratio for name, ratio in ratios.items() if ratio.value - 2 * ratio.mcse > 1}
    worse = {name: ratio for name, ratio in ratios.items() if ratio.value + 2 * ratio.mcse < 1}
    same = [name for name in ratios if name not in better and name not in worse]
    parts = [f"smaller for {name} by a factor of {ratio}" for name, ratio in better.items()]
    parts += [f"larger for {name} by {1 / ratio.value:.2f}" for name, ratio in worse.items()]
    parts += [f"no different, within the error, for {', '.join(same)}"] if same else []
    return f"Against {other}, errors of {winner} are {'; '.join(parts)}."
