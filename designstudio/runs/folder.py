"""What all commands share: studies and outputs are checked before the work, and a folder is left after it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from designstudio.core.run_record import RUN, STUDY, name_from, write_record
from designstudio.errors import StudioError
from designstudio.model.costs import load_cost_file
from designstudio.study import Study, StudyFileError, read_study, write_study

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
