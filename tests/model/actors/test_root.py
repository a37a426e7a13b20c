import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.model.actors.root import find_root


def cube(x, a):
    return x**3 - a


def test_roots_of_a_cubic_are_found_from_far_away():
    with jax.enable_x64(True):
        a = jnp.array([1e-3, 1.0, 8.0, 1e6])
        roots = jax.vmap(lambda a: find_root(cube, a, -1e3, 1e3, jnp.asarray(900.0)))(a)
        np.testing.assert_allclose(roots, np.cbrt(a), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_up_to_the_third_are_those_of_the_root(order):
    with jax.enable_x64(True):

        def found(a):
            return find_root(cube, a, jnp.asarray(0.0), jnp.asarray(10.0), jnp.asarray(3.0))

        derivative, expected = found, jnp.cbrt
        for _ in range(order):
            derivative, expected = jax.grad(derivative), jax.grad(expected)
        np.testing.assert_allclose(derivative(2.0), expected(2.0), rtol=1e-8)


def test_a_step_function_is_bisected_to_its_jump():
    root = find_root(
        lambda x, a: jnp.tanh((x - a) * 1e4), jnp.asarray(0.3), jnp.asarray(-5.0), jnp.asarray(5.0), jnp.asarray(4.0)
    )
    np.testing.assert_allclose(root, 0.3, atol=1e-5)
