"""What all commands share: studies and outputs are checked before the work, and a folder is left after it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from designstudio.core.run_record import RUN, STUDY, name_from, read_record, write_record
from designstudio.errors import StudioError
from designstudio.model.costs import load_cost_file
from designstudio.study import Study, StudyFileError, format_study, read_study, write_study
from designstudio.study.file import parse_study

# Takes a sentence that people should read before a long piece of work.
Notify = Callable[[str], None]


def ignore(_: str) -> None:
    """Nobody is told."""


def use_cost_file(path: Path | None) -> None:
    """Make the costs of a user's file available."""
    if path is not None:
        load_cost_file(path)


def resolve_study(study: Study | Path | str) -> Study:
    """A study, or the one in a file."""
    return study if isinstance(study, Study) else read_study(Path(study))


def check_folder(folder: Path | None) -> None:
    """Refuse an output folder before the work starts, not after it.

    Raises:
        StudioError: if it is a file.
    """
    if folder is not None and folder.exists() and not folder.is_dir():
        raise StudioError(f"--out takes a folder, but {str(folder)!r} is a file.")


def check_kind(folder: Path | None, kind: str) -> None:
    """Refuse a folder that holds the results of another command.

    Raises:
        StudioError: naming the command.
    """
    command = () if folder is None else read_record(folder).command
    if len(command) > 1 and command[1] != kind:
        raise StudioError(f"'{folder}' holds the results of designstudio {command[1]}: choose another folder with --out.")


def check_same_study(folder: Path | None, kind: str, study: Study) -> None:
    """Refuse a folder that holds another command's results, or those of another study.

    Another seed, fidelity or number of data sets asks the same question: its results take the place of those that are there.

    Raises:
        StudioError: naming the folder.
    """
    check_kind(folder, kind)
    if folder is None or not (folder / STUDY).is_file():
        return
    try:
        kept = read_study(folder / STUDY)
    except StudioError:
        kept = None
    same = {"seed": study.seed, "fidelity": study.fidelity, "num_datasets": study.num_datasets}
    if kept is None or format_study(kept.replace(**same), folder=folder) != _format_as_read(study, folder):
        raise StudioError(f"'{folder}' holds the results of another study: choose another folder with --out.")


def _format_as_read(study: Study, folder: Path) -> str:
    """A study as a file in the folder says it after it was read from there; empty if files have no words for it."""
    try:
        return format_study(parse_study(format_study(study, folder=folder), STUDY, folder=folder), folder=folder)
    except StudioError:
        return ""


def keep_run(
    folder: Path,
    command: Sequence[str],
    *,
    study: Study | None = None,
    cost_file: Path | None = None,
    sentences: Sequence[str] = (),
    files: Sequence[str] = (),
) -> list[str]:
    """Write what a run leaves besides its results, see `designstudio.core.run_record`; returns the names of all its files.

    Args:
        folder: of the run.
        command: that repeats it, typed in the folder.
        study: as it was run. One that files have no words for, which only Python can ask, is not written.
        cost_file: the user's file of costs, which a rerun needs.
        sentences: what it has found.
        files: names of what it has written.
    """
    names = list(files)
    if study is not None:
        try:
            write_study(study, folder / STUDY, notes=["The study as it was run, every option in its place."], overwrite=True)
            names.append(STUDY)
        except StudyFileError:
            (folder / STUDY).unlink(missing_ok=True)
    costs = [] if cost_file is None else ["--cost-file", name_from(cost_file, folder)]
    names.append(RUN)
    write_record(folder, [*command, *costs], sentences=sentences, files=names)
    return names
