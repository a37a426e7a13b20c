"""Whatever a test registers is forgotten after it."""

import sys

import pytest

from designstudio.core.registry import Registry


@pytest.fixture(autouse=True)
def unregister(monkeypatch):
    """Every registry of the package begins, and ends, without anything from outside."""
    for module in [module for name, module in sys.modules.items() if name.startswith("designstudio")]:
        for found in [found for found in vars(module).values() if isinstance(found, Registry)]:
            monkeypatch.setattr(found, "_users", {})
