import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.model.actors import ExactActor, root
from designstudio.model.actors.root import find_root
from designstudio.model.costs import get_cost


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
    found = find_root(
        lambda x, a: jnp.tanh((x - a) * 1e4), jnp.asarray(0.3), jnp.asarray(-5.0), jnp.asarray(5.0), jnp.asarray(4.0)
    )
    np.testing.assert_allclose(found, 0.3, atol=1e-5)


def test_a_root_that_newton_steps_hit_is_not_left_again(monkeypatch):
    cost, sigmas = get_cost("asymmetric_quadratic"), np.linspace(0.05, 0.5, 500)

    def act(max_steps):
        monkeypatch.setattr(root, "MAX_STEPS", max_steps)
        values = jnp.asarray(0.2), {"alpha": jnp.asarray(0.58)}
        return np.asarray(jax.jit(jax.vmap(lambda sigma: ExactActor(cost).strategy(sigma, *values)(0.0)))(sigmas))

    with jax.enable_x64(True):
        # Whoever leaves the root bisects dozens of times on the way back.
        np.testing.assert_allclose(act(6), act(80), atol=1e-12)
