"""Versions of Python and of the packages that compute results."""

import functools
import platform
from importlib.metadata import version

# Results are computed with these ...
COMPUTING = ("jax", "numpy", "numpyro", "scipy")
# ... and searched, stored and summarised with all of these.
PACKAGES = ("designstudio", "jax", "jaxlib", "numpyro", "equinox", "optuna", "arviz-stats", "xarray", "scipy", "numpy")


@functools.cache
def _find_version(package: str) -> str:
    return version(package)


def list_versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Versions of packages, by name."""
    return {package: _find_version(package) for package in packages}


def list_all_versions() -> dict[str, str]:
    """Versions of Python and of all packages, for the record of a run."""
    return {"python": platform.python_version(), **list_versions()}
