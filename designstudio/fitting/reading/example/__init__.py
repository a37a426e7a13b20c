"""Example data to try everything with: SIMULATED force reproduction; `studies/example_data` in the repository made them."""

from importlib import resources
from pathlib import Path


def example_path() -> Path:
    """The table of the example, for `read_data`; `truth.csv` beside it has the parameters of the simulated subjects."""
    return Path(str(resources.files("designstudio.fitting.reading.example"))) / "force_reproduction.csv"
