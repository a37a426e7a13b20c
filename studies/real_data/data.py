"""The four data sets, and how each is fitted. They are read where they lie and never copied into the project."""

import os
from pathlib import Path
from typing import NamedTuple

from designstudio.core.progress import ProgressCallback
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_folder import save_fit
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.reading import LoadedData, read_data
from designstudio.fitting.request import FitRequest
from designstudio.model.costs import PAPER_COST_NAMES

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent.parent / "runs" / "real_data"


class DataSet(NamedTuple):
    """One data set.

    Attributes:
        file: its name.
        unit: of stimulus and response.
        per_condition: what the conditions change.
    """

    file: str
    unit: str
    per_condition: tuple[str, ...]


DATA_SETS = {
    # Two coherences of a moving pattern: two levels of perceptual uncertainty.
    "qu_shi": DataSet("qu_shi_2026_duration_coherence_s.csv", "s", ("sigma",)),
    # Blocks with other distributions of durations: other priors.
    "acerbi": DataSet("acerbi_2012_duration_prior_cost_s.csv", "s", ("mu_0", "sigma_0")),
    # Fins that make a stick look longer or shorter: the model has no parameter for an illusion, its prior mean takes it up.
    "keane": DataSet("keane_2016_length_grip_cm.csv", "cm", ("mu_0",)),
    "garrido": DataSet("garrido_2025_duration_cwir_s.csv", "s", ()),
}


def find_folder() -> Path:
    """Where the data are: beside the project, or where DESIGNSTUDIO_SHARED_DATA says."""
    given = os.environ.get("DESIGNSTUDIO_SHARED_DATA")
    folder = Path(given) if given else HERE.parent.parent.parent / "shared" / "data"
    if not folder.is_dir():
        raise SystemExit(f"The data are not at '{folder}': set DESIGNSTUDIO_SHARED_DATA to their folder.")
    return folder


def load(name: str, *, is_filtered: bool = True) -> LoadedData:
    """One data set, without what its authors or a robust criterion mark as gross outliers, or with all of it."""
    data_set = DATA_SETS[name]
    where = ["keep == 1"] if is_filtered else []
    return read_data(find_folder() / data_set.file, where=where, unit=data_set.unit)


def fit(
    name: str,
    progress: ProgressCallback | None = None,
    *,
    costs: tuple[str, ...] | None = None,
    pools: bool = False,
    is_filtered: bool = True,
) -> EmpiricalFit:
    """All subjects under all costs, or some; found again if it was done before."""
    data_set = DATA_SETS[name]
    request = FitRequest(costs=costs or PAPER_COST_NAMES, per_condition=data_set.per_condition, pools=pools)
    folder = RUNS / (name if is_filtered else f"{name}_unfiltered")
    loaded = load(name, is_filtered=is_filtered)
    result = fit_subjects(loaded, request, name=name, folder=folder, progress=progress)
    if costs is None:
        save_fit(result, folder)
    return result
