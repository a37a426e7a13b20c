"""How a batch of data sets is laid out on a device."""

import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.inference import batches
from designstudio.inference.batches import choose_batch_size, in_chunks
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel

NUM, SIZE = 12, 4


def run(is_wanted, values):
    return in_chunks(jax.vmap(lambda value: value**2), SIZE, is_wanted, (values,))


@pytest.fixture
def batch():
    return jnp.ones(NUM, bool), jnp.arange(NUM, dtype=float)


def test_a_cpu_works_chunk_by_chunk_and_skips_what_nobody_wants(batch):
    assert "scan" in str(jax.make_jaxpr(run)(*batch))
    wanted = np.zeros(NUM, bool)
    wanted[5] = True
    found = np.asarray(jax.jit(run)(wanted, batch[1]))
    np.testing.assert_array_equal(found[4:8], np.arange(4, 8) ** 2)
    assert not found[:4].any()
    assert not found[8:].any()


def test_an_accelerator_works_on_all_data_sets_at_once(batch, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    # Another function: traces are kept by function.
    program = str(jax.make_jaxpr(functools.partial(run))(*batch))
    assert "scan" not in program
    assert "cond" not in program


class Accelerator:
    """A device that says how much memory it has, or does not."""

    def __init__(self, num_bytes=None):
        self._stats = None if num_bytes is None else {"bytes_limit": num_bytes}

    def memory_stats(self):
        return self._stats


@pytest.mark.parametrize(
    ("num_bytes", "num_datasets", "expected"),
    [(80 * 2**30, 1000, 1600), (80 * 2**30, 30, 100), (2**20, 1000, 100), (None, 100_000, 1600)],
)
def test_an_accelerator_gets_as_many_data_sets_as_fit_into_its_memory(monkeypatch, num_bytes, num_datasets, expected):
    devices = np.array([Accelerator(num_bytes)], dtype=object)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(batches, "local_mesh", lambda: SimpleNamespace(devices=devices, size=1))
    model = BehaviorModel(ExactActor(get_cost("quadratic")))
    sampled = SimpleNamespace(weight=np.ones((num_datasets, 1, 1)))
    assert choose_batch_size(model, sampled, FitSettings()) == expected


def test_a_cpu_gets_batches_of_one_size():
    model = BehaviorModel(ExactActor(get_cost("quadratic")))
    sizes = {choose_batch_size(model, SimpleNamespace(weight=np.ones((num, 1, 1))), FitSettings()) for num in (1, 1000)}
    assert sizes == {FitSettings().batch_size}


def test_what_xla_was_told_is_left_as_it_is(monkeypatch):
    choose, all_options = batches._choose_options.__wrapped__, set(batches.QUICK_COMPILATION)
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    assert set(choose()) == all_options
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")
    assert set(choose()) == all_options - {"xla_backend_optimization_level"}
