"""`search`: find the best design that a study allows, and check the finalists on fresh data."""

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path

from designstudio.core.files import name_file, replace_file, write_json
from designstudio.core.progress import ProgressCallback
from designstudio.core.run_record import AGAIN, STUDY
from designstudio.core.tables import write_csv
from designstudio.runs.evaluate import announce_edges
from designstudio.runs.folder import Notify, check_folder, ignore, keep_run, resolve_study, use_cost_file
from designstudio.search import run_search as searching
from designstudio.search.run_search import Budget
from designstudio.search.search_result import SearchResult
from designstudio.search.storage import HEARTBEAT
from designstudio.search.verdict import describe_search
from designstudio.search.worker_pool import Source
from designstudio.study import Study, StudyFileError, write_study
from designstudio.study.design import Design

DEFAULT_BUDGET = Budget(100)
WINNER, FINALISTS = "winner", "finalists"
# A study that is given as an object, for the processes of other workers.
ASKED = "asked.toml"


@dataclasses.dataclass(frozen=True)
class SearchRequest:
    """What is to be searched.

    Attributes:
        study: the question, or its file.
        folder: where the search keeps what it has finished, and finds it again; nowhere if None.
        budget: how long; what earlier runs have done counts.
        seed: of everything random, in place of the study's.
        num_workers: processes that work at the same time. With one, the result depends on nothing but the study.
        storage: address of a database to share; by default a journal in the folder.
        heartbeat: seconds between signs of life, in a shared database.
        must_exist: whether to refuse to begin a new search.
        cost_file: a user's file of costs, which is executed.
    """

    study: Study | Path | str
    folder: Path | None
    budget: Budget = DEFAULT_BUDGET
    seed: int | None = None
    num_workers: int = 1
    storage: str | None = None
    heartbeat: int = HEARTBEAT
    must_exist: bool = False
    cost_file: Path | None = None


def run_search(
    request: SearchRequest,
    *,
    progress: ProgressCallback | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    notify: Notify = ignore,
) -> SearchResult:
    """Search, or go on with a search, and write the folder of the run.

    Args:
        request: what is to be searched.
        progress: called as work gets done.
        should_stop: asked again and again; if true, the search ends after what has begun, without finalists.
        notify: told who lies outside of analysis prior or actor in the study's own designs.
    """
    use_cost_file(request.cost_file)
    check_folder(request.folder)
    study = resolve_study(request.study)
    announce_edges(study, study.designs, notify)
    if request.folder is None:
        with tempfile.TemporaryDirectory(prefix="designstudio-") as folder:
            return _search(request, Path(folder), progress, should_stop)
    result = _search(request, request.folder, progress, should_stop)
    write_search(result, request.folder, cost_file=request.cost_file)
    return result


def _search(
    request: SearchRequest, folder: Path, progress: ProgressCallback | None, should_stop: Callable[[], bool]
) -> SearchResult:
    return searching.run_search(
        resolve_study(request.study).replace(seed=request.seed),
        folder,
        request.budget,
        storage=request.storage,
        num_workers=request.num_workers,
        source=find_source(request.study, folder, request.num_workers, request.seed, request.cost_file),
        must_exist=request.must_exist,
        heartbeat=request.heartbeat,
        progress=progress,
        should_stop=should_stop,
    )


def find_source(
    study: Study | Path | str, folder: Path, num_workers: int, seed: int | None, cost_file: Path | None
) -> Source:
    """Where other workers read the study: its file, or one that is written for them."""
    if not isinstance(study, Study):
        return Source(Path(study).resolve(), seed, cost_file)
    path = folder / ASKED
    if num_workers > 1:
        folder.mkdir(parents=True, exist_ok=True)
        write_study(study, path, notes=["The study of this search, for its workers."], overwrite=True)
    return Source(path.resolve(), seed, cost_file)


def write_search(result: SearchResult, folder: Path, *, cost_file: Path | None = None) -> list[str]:
    """Write the folder of a search; returns the names of its files.

    Its candidates are JSON and CSV, the winner is a study file, figures are PNG and SVG, of which the PNG files are named.
    """
    from designstudio.viz.figures import write_figures  # noqa: PLC0415  (imports the plotting stack)
    from designstudio.viz.search import draw_search, list_candidates  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    sentences = describe_search(result)
    write_json(folder / "result.json", {**result.as_dict(), "verdict": sentences})
    names = ["result.json"]
    if result.records:
        write_csv(folder / "candidates.csv", list_candidates(result))
        names.append("candidates.csv")
    names += _write_best(result, folder)
    names += _write_fresh(result, folder)
    names += write_figures(draw_search(result), folder)
    command = ["designstudio", "search", STUDY, "--candidates", str(max(1, len(result.finished))), "--out", AGAIN]
    return keep_run(folder, command, study=result.question, cost_file=cost_file, sentences=sentences, files=names)


def name_fresh(design: str) -> str:
    """The file with what was kept of every fit of a finalist, or of one of the study's own designs, on fresh data."""
    return f"fresh_{name_file(design)}.nc"


def _write_fresh(result: SearchResult, folder: Path) -> list[str]:
    if result.verification is None:
        return []
    names = []
    for contender in (*result.verification.finalists, *result.verification.references):
        names.append(name_fresh(contender.name))
        with replace_file(folder / names[-1]) as part:
            contender.evaluation.summaries.to_netcdf(part, engine="h5netcdf")
    return names


def add_best(result: SearchResult) -> Study | None:
    """The study of a search with what was found as further designs; None if nothing was.

    One objective has one design, `winner`: the best finalist, or once more the study's own design that nothing beats.
    Several have all finalists. The section [search] stays: whoever searches on has to beat them.
    """
    verification, question = result.verification, result.question
    if verification is None:
        return None
    if len(result.objectives) > 1:
        # What cannot win is not recommended either.
        found = [finalist.design for finalist in verification.finalists if not finalist.breaks]
    elif verification.winner is None:
        return None
    else:
        found = [dataclasses.replace(verification.winner.design, name=WINNER)]
    if not found:
        return None
    designs = list(question.designs)
    for design in found:
        designs.append(dataclasses.replace(design, name=_find_name(design.name, designs)))
    return dataclasses.replace(question, designs=tuple(designs))


def _find_name(name: str, designs: list[Design]) -> str:
    """A name that no other design has: a search may have begun from the winner of another."""
    taken, number, free = {design.name for design in designs}, 2, name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


def _write_best(result: SearchResult, folder: Path) -> list[str]:
    """A study file with what was found, where there is something and files have words for the study."""
    study = add_best(result)
    name = f"{WINNER if len(result.objectives) == 1 else FINALISTS}.toml"
    if study is None:
        # Nobody should find what an earlier run of the same search recommended.
        (folder / name).unlink(missing_ok=True)
        return []
    num = len(study.designs) - len(result.question.designs)
    last = "design" if num == 1 else f"{num} designs"
    note = f"The study of the search '{result.name}' with what it found as its last {last}."
    try:
        # What must be known about the winner stays with it.
        write_study(study, folder / name, notes=[note, *describe_search(result)[1:]], overwrite=True)
    except StudyFileError:
        # A question asked from Python may hold more than a file can; its results must not be lost for that.
        return []
    return [name]
