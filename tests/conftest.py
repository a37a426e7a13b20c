"""Shared by all tests. The compilation cache is on, as it is for users."""

import jax
import pytest

import designstudio  # noqa: F401  (turns the compilation cache on)
from designstudio.costs import PAPER_COST_NAMES, get_cost, registry


@pytest.fixture(params=PAPER_COST_NAMES)
def cost(request):
    """Each of the paper's seven costs."""
    return get_cost(request.param)


@pytest.fixture
def key():
    return jax.random.key(0)


@pytest.fixture
def no_user_costs(monkeypatch):
    """Costs registered in a test are forgotten after it."""
    monkeypatch.setattr(registry, "_USER_COSTS", {})
