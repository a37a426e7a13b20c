"""How a batch of data sets is laid out on a device."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.inference.batches import _in_chunks

NUM, SIZE = 12, 4


def run(is_wanted, values):
    return _in_chunks(jax.vmap(lambda value: value**2), SIZE, is_wanted, (values,))


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
