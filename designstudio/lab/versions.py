"""What a record was made with."""

import platform
from importlib.metadata import version

from designstudio.evaluate.fingerprint import hash_code

PACKAGES = ("designstudio", "jax", "equinox", "numpyro", "numpy", "scipy", "xarray")


def list_versions() -> dict[str, str]:
    """Python, the packages that compute results, and the code of this one."""
    return {
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
        "designstudio code": hash_code(),
    }
