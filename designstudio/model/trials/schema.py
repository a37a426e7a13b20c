"""What trials look like: one xarray.Dataset for simulated and empirical data alike.

    dimensions   dataset, trial, condition
    coordinates  dataset (whole numbers), subject (a label for each data set), condition (labels)
    variables    stimulus(dataset, trial), response(dataset, trial): positive, float64, in the same unit (attribute `units`)
                 condition_index(dataset, trial): which entry of `condition` the trial belongs to
                 is_present(dataset, trial): False where a shorter data set is padded
    attributes   schema: name and version of this layout

Padding holds NaN (and condition 0) and is never looked at. Further variables are allowed and kept. Data sets and trials are
counted from 0, in messages too.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

from designstudio.errors import StudioError
from designstudio.model.parameters import STIMULUS_UNIT

SCHEMA = "designstudio trials 1"
TRIAL_DIMS = ("dataset", "trial")
ONLY_CONDITION = "all"
NUMBER_TYPES = {"stimulus": np.float64, "response": np.float64, "condition_index": np.integer, "is_present": np.bool_}
COORDINATE_DIMS = {"dataset": "dataset", "subject": "dataset", "condition": "condition"}
# How tables write that a label is missing.
MISSING_LABELS = ("nan", "None", "<NA>", "NaT")


class TrialsError(StudioError):
    """Trials that do not follow the schema, or a file without any."""


def make_trials(
    stimulus: npt.ArrayLike,
    response: npt.ArrayLike,
    *,
    condition_index: npt.ArrayLike | None = None,
    is_present: npt.ArrayLike | None = None,
    conditions: Sequence[str] | None = None,
    subjects: Sequence[str] | None = None,
    numbers: npt.ArrayLike | None = None,
    unit: str = STIMULUS_UNIT,
) -> xr.Dataset:
    """Trials from arrays: (trial,) for one data set, (dataset, trial) for many.

    Args:
        stimulus: positive numbers.
        response: as many, in the same unit.
        condition_index: the condition of each trial, counted from 0; by default there is one condition.
        is_present: False where a shorter data set is padded; by default every trial is real.
        conditions: labels of the conditions; by default "all" if there is one, else "0", "1", ...
        subjects: a label for each data set; by default "0", "1", ...
        numbers: of the data sets; by default 0, 1, ...
        unit: what stimulus and response are measured in.

    Raises:
        TrialsError: if the trials do not follow the schema.
    """
    tables = {"stimulus": _as_numbers("stimulus", stimulus), "response": _as_numbers("response", response)}
    shape = np.atleast_2d(tables["stimulus"]).shape
    # Converted to no type: a fractional index or a presence of 2 is refused, not rounded.
    index = np.zeros(shape, np.int64) if condition_index is None else _as_numbers("condition_index", condition_index, None)
    present = np.ones(shape, bool) if is_present is None else _as_numbers("is_present", is_present, None)
    tables |= {"condition_index": index, "is_present": present}
    for name, table in tables.items():
        tables[name] = np.atleast_2d(table)
        if tables[name].shape != shape or len(shape) != 2:
            raise TrialsError(
                f"The {name} has shape {table.shape} and the stimulus {tables['stimulus'].shape}: "
                "all need the same shape, (trial,) or (dataset, trial)."
            )
        _check_number_type(name, table)
    present = tables["is_present"]
    index = np.where(present, tables["condition_index"], 0).astype(np.int64)
    labels = _name_conditions(index) if conditions is None else _as_labels("condition", conditions)
    if condition_index is None and labels.size > 1:
        raise TrialsError(f"{labels.size} conditions were named: give condition_index to say which trial is in which.")
    names = _as_labels("subject", [str(number) for number in range(shape[0])] if subjects is None else subjects)
    if names.size != shape[0]:
        raise TrialsError(f"{names.size} subjects were named for {shape[0]} data sets: name one for each.")
    measured = {
        name: (TRIAL_DIMS, np.where(present, tables[name], np.nan), {"units": unit, "long_name": name})
        for name in ("stimulus", "response")
    }
    trials = xr.Dataset(
        {
            **measured,
            "condition_index": (TRIAL_DIMS, index, {"long_name": "index of the condition"}),
            "is_present": (TRIAL_DIMS, present.copy(), {"long_name": "whether the trial is real"}),
        },
        coords={
            "dataset": np.arange(shape[0]) if numbers is None else np.asarray(numbers),
            "subject": ("dataset", names),
            "condition": labels,
        },
        attrs={"schema": SCHEMA},
    )
    check_trials(trials)
    return trials


def trials_from_rows(
    subject: npt.ArrayLike,
    stimulus: npt.ArrayLike,
    response: npt.ArrayLike,
    condition: npt.ArrayLike | None = None,
    unit: str = STIMULUS_UNIT,
) -> xr.Dataset:
    """Trials from the columns of a long table with one row for each trial.

    Subjects and conditions are numbered in the order in which they first appear; the trials of a subject keep their order.

    Args:
        subject: whose trial it is; each subject becomes a data set.
        stimulus: positive numbers.
        response: positive numbers, in the same unit.
        condition: label of the condition; by default there is one.
        unit: what stimulus and response are measured in.

    Raises:
        TrialsError: if the columns differ in length or the trials do not follow the schema.
    """
    columns = {
        "subject": _as_labels("subject", subject),
        "stimulus": _as_numbers("stimulus", stimulus),
        "response": _as_numbers("response", response),
    }
    num_rows = columns["subject"].size
    columns["condition"] = np.full(num_rows, ONLY_CONDITION) if condition is None else _as_labels("condition", condition)
    for name, column in columns.items():
        if column.shape != (num_rows,):
            raise TrialsError(f"Column {name!r} has shape {column.shape}, but subject has {num_rows} rows: give as many.")
    if num_rows == 0:
        raise TrialsError("The columns have no rows, but at least one trial is needed.")
    subjects, dataset = _number_labels(columns["subject"])
    conditions, index = _number_labels(columns["condition"])
    trial = number_within_groups(dataset)

    def lay_out(column: np.ndarray) -> np.ndarray:
        table = np.zeros((subjects.size, trial.max() + 1), column.dtype)
        table[dataset, trial] = column
        return table

    return make_trials(
        lay_out(columns["stimulus"]),
        lay_out(columns["response"]),
        condition_index=lay_out(index),
        is_present=lay_out(np.ones(num_rows, bool)),
        conditions=conditions.tolist(),
        subjects=subjects.tolist(),
        unit=unit,
    )


def check_trials(trials: xr.Dataset) -> None:
    """Refuse trials that do not follow the schema.

    Raises:
        TrialsError: with one sentence: what is wrong, where, and what is allowed.
    """
    _check_layout(trials)
    # Variables are quicker than arrays with their coordinates, and this is called often.
    variables = trials.variables
    units = {name: variables[name].attrs.get("units") for name in ("stimulus", "response")}
    for name, unit in units.items():
        if not isinstance(unit, str) or not unit:
            raise TrialsError(f"The unit of the {name} is {unit!r}, but a name is needed, such as {STIMULUS_UNIT!r}.")
    if units["stimulus"] != units["response"]:
        raise TrialsError(
            f"The stimulus is in {units['stimulus']!r} and the response in {units['response']!r}: convert them to one unit."
        )
    present, index = variables["is_present"].values, variables["condition_index"].values
    is_empty = ~present.any(axis=1)
    if is_empty.any():
        raise TrialsError(f"{_name_dataset(trials, int(np.argmax(is_empty)))} has no trials: leave it out.")
    for name in units:
        numbers = variables[name].values
        # NaN compares as False, so it is refused too.
        is_wrong = present & ~((numbers > 0) & (numbers < np.inf))
        _refuse(trials, name, is_wrong, "only positive, finite numbers are allowed")
    num_conditions = trials.sizes["condition"]
    is_wrong = present & ((index < 0) | (index >= num_conditions))
    _refuse(trials, "condition_index", is_wrong, f"only 0 to {num_conditions - 1} are conditions")


def number_within_groups(groups: np.ndarray) -> np.ndarray:
    """The place of each entry among the entries of its group, in order and counted from 0."""
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    starts = np.cumsum(counts) - counts
    places = np.empty_like(groups)
    places[order] = np.arange(groups.size) - np.repeat(starts, counts)
    return places


def _check_layout(trials: xr.Dataset) -> None:
    if not isinstance(trials, xr.Dataset):
        raise TrialsError(f"Trials are an xarray.Dataset, but a {type(trials).__name__} was given: use make_trials.")
    variables = trials.variables
    missing = [name for name in (*NUMBER_TYPES, *COORDINATE_DIMS) if name not in variables]
    if missing:
        needed = ", ".join((*NUMBER_TYPES, *COORDINATE_DIMS))
        raise TrialsError(f"The trials have no {missing[0]!r}, but all of {needed} are needed: make them with make_trials.")
    schema = trials.attrs.get("schema")
    if schema != SCHEMA:
        raise TrialsError(f"The trials follow the schema {schema!r}, but {SCHEMA!r} is needed: make them with make_trials.")
    expected = {**dict.fromkeys(NUMBER_TYPES, TRIAL_DIMS), **{name: (dim,) for name, dim in COORDINATE_DIMS.items()}}
    for name, dims in expected.items():
        if variables[name].dims != dims:
            raise TrialsError(
                f"{name!r} has dimensions {variables[name].dims}, but {dims} are needed: "
                "use transpose, and select with lists to keep a dimension."
            )
    for name in NUMBER_TYPES:
        _check_number_type(name, variables[name].values)
    if not np.issubdtype(variables["dataset"].dtype, np.integer):
        raise TrialsError(f"Data sets are numbered by integers, but their coordinate holds {variables['dataset'].dtype}.")
    for name in ("subject", "condition"):
        labels = variables[name].values.tolist()
        if not all(isinstance(label, str) for label in labels):
            dtype = variables[name].dtype
            raise TrialsError(f"Labels of {name!r} must be text, but {dtype} was given: convert them with str.")
        if name == "condition" and len(set(labels)) < len(labels):
            raise TrialsError(f"The conditions are called {', '.join(labels)}: give each a name of its own.")
    if not trials.sizes["dataset"]:
        raise TrialsError("There are no data sets, but at least one is needed.")


def _check_number_type(name: str, numbers: np.ndarray) -> None:
    needed = NUMBER_TYPES[name]
    if not np.issubdtype(numbers.dtype, needed):
        raise TrialsError(f"{name!r} holds {numbers.dtype}, but {needed.__name__} is needed: convert it with astype.")


def _refuse(trials: xr.Dataset, name: str, is_wrong: np.ndarray, allowed: str) -> None:
    if is_wrong.any():
        dataset, trial = np.unravel_index(int(np.argmax(is_wrong)), is_wrong.shape)
        raise TrialsError(
            f"{_name_dataset(trials, int(dataset))} has {name} {trials[name].values[dataset, trial]:g} in trial {trial}, "
            f"but {allowed}: correct the trial or leave it out."
        )


def _name_dataset(trials: xr.Dataset, position: int) -> str:
    return f"Data set {trials['dataset'].values[position]} (subject {str(trials['subject'].values[position])!r})"


def _as_numbers(name: str, values: npt.ArrayLike, dtype: type | None = np.float64) -> np.ndarray:
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError):
        raise TrialsError(f"The {name} must be an array of numbers, but it holds something else: convert it.") from None


def _as_labels(name: str, labels: npt.ArrayLike) -> np.ndarray:
    entries = np.asarray(labels, object)
    if entries.ndim != 1:
        raise TrialsError(f"Labels of {name!r} must be a list of text, but {labels!r} was given.")
    texts = [str(entry) for entry in entries]
    for position, (entry, text) in enumerate(zip(entries, texts, strict=True)):
        if not text or (not isinstance(entry, str) and text in MISSING_LABELS):
            raise TrialsError(f"The {name} label at position {position} is missing ({entry!r}): name it or leave it out.")
    return np.array(texts, np.str_)


def _name_conditions(index: np.ndarray) -> np.ndarray:
    num_conditions = int(index.max(initial=0)) + 1
    if num_conditions > max(index.size, 1):
        raise TrialsError(
            f"condition_index reaches {num_conditions - 1}, but there are only {index.size} trials: number them 0, 1, ..."
        )
    return np.array([ONLY_CONDITION] if num_conditions == 1 else [str(number) for number in range(num_conditions)])


def _number_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different labels in order of first appearance, and for each entry which of them it is."""
    different, first, which = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return different[order], np.argsort(order)[which]
