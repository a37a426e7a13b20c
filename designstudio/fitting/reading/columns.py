"""What the columns of a table mean: the roles that a fit needs, and the names that people give them."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from designstudio.errors import DataError, UnknownNameError

GROUP = "group"
REQUIRED = ("subject", "stimulus", "response")
OPTIONAL = ("condition", "trial", GROUP)
ROLES = ("subject", "condition", "trial", "stimulus", "response", GROUP)

# In small letters, without spaces, underscores, hyphens and points.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "subject": (
            "participant participantid participantnumber participantno subj subjid subjidx subjnr subjectid subjectnumber "
            "subjectno subjectnr sub subid id pp ppid ppt pid observer observerid obs person personid vp vpn"
        ),
        "condition": (
            "cond conditions conditionid level noiselevel noise coherence coherencelevel uncertainty uncertaintylevel "
            "contrast blocktype trialtype"
        ),
        GROUP: "groupid groupname cohort arm studyarm",
        "trial": "trialnumber trialnum trialno trialnr trialindex trialidx trialid trialn trials",
        "stimulus": (
            "stim stimuli stimulusvalue stimvalue target targetvalue targetduration targetforce targetdistance "
            "targetlength duration stimulusduration stimdur true truevalue trueduration sample sampleduration "
            "sampleinterval standard magnitude presented presentedduration physical"
        ),
        "response": (
            "resp responses responsevalue respvalue reproduction reproduced reproducedduration reproducedtime "
            "reproductionduration estimate estimated estimation produced producedduration production answer adjustment "
            "judgment judgement perceived"
        ),
    }
)


def find_columns(names: Sequence[str], chosen: Mapping[str, str], file: str) -> dict[str, str]:
    """The column of each role, as far as there is one.

    Args:
        names: of the table's columns.
        chosen: the column of some roles; "" for an optional role means none.
        file: how messages call the table.

    Raises:
        DataError: if a needed role has no column, or it is not clear which.
    """
    check_chosen(chosen)
    found: dict[str, str] = {}
    for role in ROLES:
        column = find_column(role, names, chosen, file)
        if column is not None:
            found[role] = column
        elif role in REQUIRED:
            raise DataError(
                f"{file} has no column for the {role}, but {list_names(names)}: say which it is with --column {role}=NAME."
            )
    return found


def find_column(role: str, names: Collection[str], chosen: Mapping[str, str], file: str) -> str | None:
    """The column of one role, if there is one.

    Raises:
        DataError: if it is not clear which, or the chosen one does not exist.
    """
    if role in chosen:
        column = chosen[role]
        if column and column not in names:
            raise DataError(
                f"{file} has no column {column!r}, which was chosen for the {role}, but {list_names(names)}: choose another."
            )
        return column or None
    free = [name for name in names if name not in chosen.values()]
    if role in free:
        return role
    exact = [name for name in free if _simplify(name) == role]
    matches = exact or [name for name in free if _simplify(name) in ALIASES[role].split()]
    if len(matches) > 1:
        none = f", or none with --column {role}=" if role in OPTIONAL else ""
        raise DataError(
            f"{file} has the columns {' and '.join(map(repr, matches))}, which could all be the {role}: "
            f"choose one with --column {shlex.quote(f'{role}={matches[0]}')}{none}."
        )
    return matches[0] if matches else None


def check_chosen(chosen: Mapping[str, str]) -> None:
    """Refuse choices that could fit no table."""
    for role, column in chosen.items():
        if role not in ROLES:
            raise UnknownNameError("role of a column", role, ROLES)
        if not isinstance(column, str):
            raise DataError(f"The column of the {role} must be the name of one, but {column!r} was given.")
        if not column and role in REQUIRED:
            raise DataError(f"The {role} needs a column, but '' was given: name one.")
        others = [other for other in chosen if other != role and column and chosen[other] == column]
        if others:
            raise DataError(f"The column {column!r} was chosen for {role} and {others[0]}: choose one column for each.")


def match_name(wanted: str, names: Iterable[str]) -> str | None:
    """The column that is called so, or else the only one called so in other letters."""
    names = list(names)
    if wanted in names:
        return wanted
    similar = [name for name in names if _simplify(name) == _simplify(wanted)]
    return similar[0] if len(similar) == 1 else None


def list_names(names: Iterable[str]) -> str:
    """The columns that a table has, for a message."""
    return f"it has {', '.join(map(repr, names))}"


def _simplify(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in " _-.")
