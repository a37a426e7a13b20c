"""Rows that are there twice: a file read twice, or a table pasted below itself, makes every estimate look surer than it is.

Where trials are numbered, a row that repeats another in every column is the same trial, and is left out. Where they are not,
two trials may be alike by chance, so that rows are only counted: half of somebody's is no chance.
"""

import pandas as pd

from designstudio.fitting.reading.load_report import count, shorten

IS_COPY = "the row repeats an earlier one in every column, the number of the trial among them"
TRIAL = "trial"
MUCH = 0.5
# A column with fewer different entries of a subject does not number trials, whatever it is called.
FEWEST_NUMBERS = 5


def find_copies(table: pd.DataFrame) -> list[tuple[str, int, str]]:
    """File, line and reason of every row that is a copy of an earlier one."""
    if TRIAL not in table:
        return []
    is_numbered = table.groupby("subject")[TRIAL].transform("nunique") >= FEWEST_NUMBERS
    is_copy = table.duplicated() & table[TRIAL].notna() & is_numbered
    return [(str(file), int(line), IS_COPY) for file, line in table.index[is_copy]]


def describe_repeats(table: pd.DataFrame) -> list[str]:
    """A note about subjects half of whose rows are there more than once."""
    share = table.duplicated(keep=False).groupby(table["subject"], sort=False).mean()
    subjects = [str(name) for name in share.index[share >= MUCH]]
    if not subjects:
        return []
    num = int(table[table["subject"].isin(subjects)].duplicated().sum())
    return [
        f"{count(num, 'row')} of {count(len(subjects), 'subject')} ({shorten(subjects)}) repeat others in every column: if "
        "they are copies, take them out, because each counts as another trial."
    ]
