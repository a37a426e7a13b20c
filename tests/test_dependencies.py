"""What is imported is declared, and what is declared is used."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Folders of one's own, and scripts beside each other.
OWN = {"designstudio", "tests", "apps"} | {path.stem for path in (ROOT / "studies").rglob("*.py")}
# Used, but by no import: engines that are named in calls, drivers that are named in an address, and tools.
WITHOUT_IMPORT = {
    "h5netcdf": "the engine of netCDF files",
    "h5py": "what h5netcdf stands on",
    "zarr": "the engine of .zarr folders",
    "psycopg": "the driver of addresses such as postgresql+psycopg://",
    "import-linter": "a command",
    "mkdocs-material": "the theme of the documentation",
    "mkdocstrings": "a plugin of the documentation",
    "mypy": "a command",
    "pre-commit": "a command",
    "pytest-xdist": "a plugin of the tests",
    "ruff": "a command",
}


def normalize(name):
    """How package indices compare names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;@]", name, maxsplit=1)[0]).lower()


def list_imports(*folders):
    """Top-level modules that are imported anywhere, and a file that does."""
    found = {}
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level and node.module else []
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("import_module", "importorskip"):
                names += [a.value for a in node.args[:1] if isinstance(a, ast.Constant)]
            for name in names:
                found.setdefault(name.partition(".")[0], path.relative_to(ROOT))
    return {name: path for name, path in found.items() if name not in OWN | set(sys.stdlib_module_names)}


def list_undeclared(imports, declared):
    """Imports of which no distribution is declared."""
    known = packages_distributions()
    return {
        f"{path} imports {name} of {' or '.join(known.get(name, ['nobody']))}"
        for name, path in imports.items()
        if not {normalize(distribution) for distribution in known.get(name, [])} & declared
    }


RUNTIME = {normalize(name) for name in PROJECT["dependencies"]}
DEV = {normalize(name) for name in PROJECT["optional-dependencies"]["dev"]}


def test_whatever_the_package_imports_is_a_dependency():
    assert list_undeclared(list_imports("designstudio", "apps"), RUNTIME) == set()


def test_whatever_studies_and_tests_import_is_a_dependency_of_developers():
    assert list_undeclared(list_imports("studies", "tests", "docs"), RUNTIME | DEV) == set()


@pytest.mark.parametrize(
    ("declared", "folders"), [(RUNTIME, ("designstudio", "apps")), (DEV, ("studies", "tests", "docs"))], ids=["run", "dev"]
)
def test_every_dependency_is_used(declared, folders):
    known = packages_distributions()
    used = {normalize(name) for module in list_imports(*folders) for name in known.get(module, [])}
    assert declared - used - set(WITHOUT_IMPORT) == set()


def test_what_is_used_without_import_is_declared():
    assert set(WITHOUT_IMPORT) <= RUNTIME | DEV


def test_an_import_that_is_not_declared_is_found():
    known = {"numpy": Path("somewhere.py"), "no_such_module": Path("elsewhere.py")}
    assert list_undeclared(known, {"numpy"}) == {"elsewhere.py imports no_such_module of nobody"}
