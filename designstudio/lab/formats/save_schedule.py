"""All files of a schedule."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from designstudio.core.fingerprint import hash_json, hash_text
from designstudio.evaluate.fingerprint import list_software
from designstudio.lab.formats.known_values import write_known
from designstudio.lab.formats.psych_ds import name_table, write_description, write_sidecar, write_table
from designstudio.lab.formats.readme import write_readme
from designstudio.lab.formats.registry import FORMATS
from designstudio.lab.schedule import Schedule
from designstudio.lab.text_folder import write_folder, write_pretty
from designstudio.study.design.description import record_design

FORMAT = "designstudio schedule 1"
SCHEDULE = "schedule.json"


def save_schedule(schedule: Schedule, folder: Path, formats: Sequence[str] | None = None) -> dict[str, Any]:
    """Write a schedule to a folder.

    Args:
        schedule: lists of all participants.
        folder: must not hold anything else.
        formats: names of formats; by default all that are registered.

    Returns:
        What schedule.json says.

    Raises:
        StudioError: if the folder holds something else, or cannot be written.
    """
    files = format_schedule(schedule, formats)
    record = describe_schedule(schedule, files)
    # Last: where it stands, all other files do.
    write_folder(folder, {**files, SCHEDULE: write_pretty(record)})
    return record


def format_schedule(schedule: Schedule, formats: Sequence[str] | None = None) -> dict[str, str]:
    """The text of every file but schedule.json, by its path; the Psych-DS tables for the responses are always there."""
    chosen = [FORMATS.find(name) for name in dict.fromkeys(FORMATS if formats is None else formats)]
    files = {"README.txt": write_readme(schedule, chosen), "dataset_description.json": write_description(schedule)}
    # The validator of Psych-DS should not ask about what is not its own.
    known = write_known(schedule)
    files[".psychdsignore"] = "".join(
        [*(f"{of.name}/\n" for of in chosen), *(f"{name}\n" for name in known), f"{SCHEDULE}\n"]
    )
    files |= known
    sidecar = write_sidecar(schedule)
    for trials in schedule.lists:
        table = name_table(schedule, trials)
        files |= {of.name_file(trials.subject): of.write_list(schedule, trials) for of in chosen}
        files[table] = write_table(schedule, trials)
        files[table.removesuffix(".csv") + ".json"] = sidecar
    return files


def describe_schedule(schedule: Schedule, files: dict[str, str]) -> dict[str, Any]:
    """What a schedule was made from, and the SHA-256 of what was made."""
    options = schedule.options
    design = record_design(schedule.design)
    return {
        "format": FORMAT,
        "study": schedule.study.title,
        "design": design,
        "design_fingerprint": hash_json(design),
        "participants": len(schedule.lists),
        **({"groups": {name: list(subjects) for name, subjects in schedule.groups.items()}} if schedule.groups else {}),
        "seed": schedule.study.seed,
        "order": options.order,
        "max_repeats": options.max_repeats,
        "unit": schedule.unit,
        "is_simulated": options.simulates,
        "block_orders": {trials.subject: list(trials.block_order) for trials in schedule.lists},
        "files": {name: hash_text(text) for name, text in files.items()},
        "versions": list_software(),
    }
