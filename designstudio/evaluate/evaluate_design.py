"""Evaluate designs: simulate, fit, score; block by block, with everything finished kept."""

import json
import time
from collections.abc import Sequence
from typing import NamedTuple

import xarray as xr

from designstudio.core.cache import BlockCache
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.core.versions import list_versions
from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.fidelities import FIT_SETTINGS, summarize_datasets
from designstudio.evaluate.fingerprint import fingerprint_design
from designstudio.evaluate.goals import score_goals
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.evaluate.limits import check_designs
from designstudio.evaluate.results import Evaluation, score_evaluation
from designstudio.model.likelihood.observations import bucket_size
from designstudio.study import FIDELITIES, Study
from designstudio.study.design import Design
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER

# Seconds for a data set on two cores, until this machine has shown its own.
FIRST_GUESS = {"information": 0.001, "importance": 0.02, "nuts": 0.15, "paper": 1.0}
# Up to so many trials, their number matters little.
MANY_TRIALS = 1024
# Seconds for compiling, once.
COMPILING = {"information": 3.0, "importance": 8.0, "nuts": 30.0, "paper": 30.0}


def evaluate_design(
    study: Study,
    design: Design,
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    first: int = 0,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Scores of one design.

    Args:
        study: the question.
        design: need not be one of the study's own.
        fidelity: by default the study's.
        num_datasets: by default the study's.
        first: number of the first data set, a multiple of the block size; others than 0 give fresh data sets.
        cache: where finished work is kept; by default in the user's cache folder.
        progress: called with a `Progress` as work gets done.
    """
    fidelity, num_datasets = _resolve(study, fidelity, num_datasets)
    cache = BlockCache.default() if cache is None else cache
    # Information takes less time than reading it back would.
    cache = BlockCache(None, cache.block_size) if fidelity == "information" else cache
    check_designs(study, [design], fidelity=fidelity, num_datasets=num_datasets, block_size=cache.block_size)
    work = _summarize_blocks(study, design, fidelity, first, num_datasets, cache, progress)

    made = [(study, design, work.summaries)]

    def summarize(other: Study, changed: Design) -> xr.Dataset:
        # Several goals may ask for the same participants.
        for known, of_design, summaries in made:
            if (known, of_design) == (other, changed):
                return summaries
        made.append(
            (other, changed, _summarize_blocks(other, changed, fidelity, first, num_datasets, cache, None).summaries)
        )
        return made[-1][-1]

    power = score_goals(study, design, summarize)
    if any(goal.is_of_studies for goal in study.goals):
        of_studies = score_group_goals(study.replace(fidelity=fidelity), design, cache=cache, progress=progress)
        power |= of_studies[design.num_participants]
    return score_evaluation(
        study, design, fidelity, work.summaries, seconds=work.seconds, is_cached=work.is_cached, power=power
    )


def _summarize_blocks(
    study: Study,
    design: Design,
    fidelity: str,
    start: int,
    num_datasets: int,
    cache: BlockCache,
    progress: ProgressCallback | None,
) -> "_Work":
    """Summaries of all data sets, each block found or computed and kept."""
    key = "" if cache.folder is None else fingerprint_design(study, design, fidelity)
    counter, size = Counter(progress, num_datasets), cache.block_size
    blocks, seconds, is_cached = [], 0.0, cache.folder is not None
    for block, first in enumerate(range(0, num_datasets, size), start // size):
        wanted = min(size, num_datasets - first)
        summaries = cache.load(key, block)
        if summaries is None or summaries.sizes["dataset"] < wanted:
            before = time.monotonic()
            summaries = summarize_datasets(
                study,
                design,
                fidelity,
                first=start + first,
                num_datasets=wanted,
                progress=counter.of_part(first, design.name),
            )
            spent = time.monotonic() - before
            settings = FIT_SETTINGS[fidelity].as_dict() if fidelity in FIT_SETTINGS else {}
            summaries.attrs = {"seconds": spent, "versions": json.dumps(list_versions()), "settings": json.dumps(settings)}
            cache.save(key, block, summaries)
            cache.note_seconds(_kind(study, design, fidelity), spent / wanted)
            is_cached = False
        seconds += float(summaries.attrs["seconds"])
        blocks.append(summaries.isel(dataset=slice(wanted)))
        counter.report(first + wanted, design.name)
    return _Work(join_blocks(blocks), seconds, is_cached)


def join_blocks(blocks: Sequence[xr.Dataset]) -> xr.Dataset:
    """Summaries of consecutive data sets of one design as one."""
    if len(blocks) == 1:
        return blocks[0]
    # What does not vary between data sets is the same in every block.
    return xr.concat(
        blocks,
        "dataset",
        data_vars="minimal",
        coords="minimal",
        compat="override",
        join="override",
        combine_attrs="override",
    )


class _Work(NamedTuple):
    """Summaries, what they cost in seconds when they were made, and whether all were found."""

    summaries: xr.Dataset
    seconds: float
    is_cached: bool


def estimate_seconds(
    study: Study,
    designs: Sequence[Design] | None = None,
    *,
    fidelity: str | None = None,
    num_datasets: int | None = None,
    cache: BlockCache | None = None,
) -> float:
    """About how long an evaluation of designs, by default the study's, will take; nothing for what is already there."""
    fidelity, num_datasets = _resolve(study, fidelity, num_datasets)
    cache = BlockCache.default() if cache is None else cache
    seconds, seen = 0.0, set()
    # Goals are evaluated again without their effect, and those that compare groups with a second one.
    num_times = 1 + sum({EXCLUDES: 1, GROUPS_DIFFER: 2}.get(goal.kind, 0) for goal in study.goals)
    for design in study.designs if designs is None else designs:
        if fidelity != "information" and cache.folder is not None:
            key = fingerprint_design(study, design, fidelity)
            if cache.load(key, (num_datasets - 1) // cache.block_size) is not None:
                continue
        kind = _kind(study, design, fidelity)
        known = cache.recall_seconds(kind)
        guess = FIRST_GUESS[fidelity] * max(1.0, design.num_trials / MANY_TRIALS)
        seconds += num_times * num_datasets * (guess if known is None else known)
        seconds += COMPILING[fidelity] / (1 if known is None else 4) if kind not in seen else 0.0
        seen.add(kind)
        seconds += _estimate_studies(study, design, FIRST_GUESS["importance"] if known is None else known)
    return seconds


def _estimate_studies(study: Study, design: Design, each: float) -> float:
    """Seconds for the goals of whole studies: groups with their effect, and one more for each goal without."""
    goals = [goal for goal in study.goals if goal.is_of_studies]
    groups = {group.name: group for goal in goals for group in study.choose_groups(goal)}
    sizes = [group.num_participants or design.num_participants for group in groups.values()]
    sizes += [study.choose_groups(goal)[-1].num_participants or design.num_participants for goal in goals]
    # Making particles and pooling take about twice as long as the fits.
    return 3 * each * study.num_studies * sum(sizes)


def _kind(study: Study, design: Design, fidelity: str) -> str:
    """What the time of a data set depends on most."""
    size = bucket_size(design.num_trials)
    trials = f", {size} trials" if size > MANY_TRIALS else ""
    return f"{fidelity}, {study.cost}, {study.actor}, {len(design.conditions)} conditions{trials}"


def _resolve(study: Study, fidelity: str | None, num_datasets: int | None) -> tuple[str, int]:
    fidelity = study.fidelity if fidelity is None else fidelity
    if fidelity not in FIDELITIES:
        raise UnknownNameError("fidelity", fidelity, FIDELITIES)
    num_datasets = study.num_datasets if num_datasets is None else num_datasets
    if num_datasets < 10:
        raise StudioError(f"An evaluation needs at least 10 data sets, but {num_datasets} was given.")
    return fidelity, num_datasets
