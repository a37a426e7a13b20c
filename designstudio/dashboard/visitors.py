"""What visitors may bring: folders and files within the runs of the server, databases, designs that a page can hold, and
records whose fits a server can make.

Who types into a page need not be who owns the files of the server.
"""

from pathlib import Path

from designstudio.errors import StudioError
from designstudio.lab.record import Record
from designstudio.lab.record_text import write_text
from designstudio.study import Study
from designstudio.study.study import AMORTIZED, EXACT

DATABASES = ("postgresql://", "postgres://")
# Of a participant: pages compute with 100 simulated ones while somebody waits, in the process that serves everybody.
MOST_TRIALS = 20_000
MOST_DESIGNS = 100
# Of a subject, in all chains: as many as the paper's.
MOST_DRAWS = 20_000
# Conditions of a record, each with parameters of its own.
MOST_CONDITIONS = 100


def find_within(folder: Path, given: str) -> Path:
    """The file or folder that a visitor means, in the folder of the runs.

    Args:
        folder: of the runs.
        given: a path in it, or an absolute one that leads into it.

    Raises:
        StudioError: if it leads elsewhere, by links too, or there is nothing.
    """
    home = folder.resolve()
    try:
        path = (home / given).resolve()
        is_there = path.is_relative_to(home) and path.exists()
    except (OSError, ValueError, RuntimeError):
        is_there = False
    if not is_there:
        raise StudioError(
            f"There is no {given[:200]!r} in the folder of the runs: only what lies there can be shown. Start the studio "
            "with --runs FOLDER to show another folder."
        )
    return path


def check_place(folder: Path, given: str) -> str:
    """Where a search is that a visitor wants to watch: the address of a database, or a path in the folder of the runs.

    Raises:
        StudioError: if it is an address of something else, or a path that leads elsewhere.
    """
    if "://" not in given:
        return str(find_within(folder, given))
    if not given.startswith(DATABASES):
        # An address of SQLite is the path of a file, which it may also make.
        raise StudioError(
            "An address starts with postgresql://: give that of the search's database, or the folder of the search."
        )
    return given


def check_study(study: Study) -> Study:
    """A study that a visitor has brought.

    Raises:
        StudioError: if a page cannot hold it, or it names files of the server.
    """
    if study.actor not in (AMORTIZED, EXACT):
        raise StudioError("This study has an actor of its own: evaluate it with the command line.")
    if len(study.designs) > MOST_DESIGNS:
        raise StudioError(
            f"This study has {len(study.designs)} designs, but a page holds at most {MOST_DESIGNS}: evaluate it with the "
            "command line."
        )
    for design in study.designs:
        if design.num_trials > MOST_TRIALS:
            raise StudioError(
                f"{design.name!r} has {design.num_trials:,} trials, but a page computes with at most {MOST_TRIALS:,} of a "
                "participant while you wait: evaluate it with the command line."
            )
    return study


def check_plan(record: Record) -> None:
    """A record that a visitor has brought: anybody can write one, with a fingerprint that is right.

    Raises:
        StudioError: if it is no plan of a fit, or of one that would keep the server from everybody else.
    """
    content = record.content
    try:
        # All that a text says has to be there.
        write_text(record)
        chains, draws = (int(content["fits"][name]) for name in ("chains", "draws_of_each_chain"))
        num_conditions, costs = len(content["design"]["conditions"]), list(map(str, content["analysis"]["costs_compared"]))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise StudioError(
            "The record lacks what a fit needs: give one as designstudio preregister has written it."
        ) from None
    if max(chains, 1) * max(draws, 1) > MOST_DRAWS:
        raise StudioError(
            f"The record asks for {chains:,} chains of {draws:,} draws, but a page fits with at most {MOST_DRAWS:,} in all: "
            "fit with the command line."
        )
    if num_conditions > MOST_CONDITIONS or len(costs) != len(set(costs)):
        raise StudioError(
            f"The record has {num_conditions} conditions and compares {len(costs)} costs, but a page fits at most "
            f"{MOST_CONDITIONS} conditions and each cost once: fit with the command line."
        )
