"""The last sections of every page: settings, run time, versions, seed, the rerun, and what to cite."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from designstudio.core.run_record import RunRecord
from designstudio.report.blocks import Block, Heading, Passage, Section, Words, make_table
from designstudio.report.formatting import format_settings

CITATION = (
    "Straub, D., Niehues, T. F., Peters, J., & Rothkopf, C. A. (2025). Inverse decision-making using neural amortized "
    "Bayesian actors. International Conference on Learning Representations (ICLR)."
)


def describe_computing(
    settings: Mapping[str, Any], seed: int, run: RunRecord, versions: Mapping[str, str], times: Sequence[Block]
) -> Section:
    """How it was computed.

    Args:
        settings: resolved, by name.
        seed: of all random numbers.
        run: what the run has kept.
        versions: what results say themselves, for runs that have kept nothing.
        times: what the run took.
    """
    blocks: list[Block] = [
        Heading("Run time"),
        *times,
        Heading("Settings"),
        make_table(
            ("setting", "value"),
            [("seed", str(seed)), *format_settings(settings)],
            "All settings as they were used.",
            (0, 1),
        ),
        Heading("Versions"),
        make_table(("package", "version"), list((run.versions or versions).items()), _format_when(run), (0, 1)),
    ]
    return Section("Settings and versions", tuple(blocks))


def _format_when(run: RunRecord) -> str:
    return (
        f"With what the run was made. It was finished at {run.finished}." if run.finished else "With what the run was made."
    )


def describe_rerun(run: RunRecord, notes: Sequence[str] = ()) -> Section:
    """The exact command."""
    if not run.command:
        said = "The run was made by a version that kept no command: run it again to have one here."
        return Section("Run it again", (Words((said,)),))
    words = "Typed in the folder of this run, this repeats it and puts its results into the folder 'again' there:"
    return Section("Run it again", (Words((words,)), Passage(shlex.join(run.command), is_command=True), Words(tuple(notes))))


def describe_methods(paragraph: str) -> Section:
    """A paragraph for a paper, and what to cite."""
    blocks = (
        Words(("Ready to paste; made from the settings of this very run.",)),
        Passage(paragraph),
        Heading("Citation"),
        Passage(CITATION),
    )
    return Section("Methods and citation", blocks)
