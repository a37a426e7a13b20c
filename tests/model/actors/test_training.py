"""Training: both methods learn, checkpoints resume to the same bits, files refuse what does not fit."""

import dataclasses
import json
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.errors import ActorFileError, StudioError, UnknownNameError
from designstudio.model.actors import load_actor, make_recipe, read_card, save_actor, train_actor, zoo_paths
from designstudio.model.actors.gauss_newton import newton_step
from designstudio.model.actors.leaves import write_leaves
from designstudio.model.actors.monte_carlo import sampled_cost
from designstudio.model.actors.training import build_actor
from designstudio.model.costs import COSTS, PAPER_COST_NAMES, get_cost, register_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import HalfNormal, Interval

# One shape for all tests here, so that one compilation serves them.
SMALL = {"num_steps": 4, "block": 2, "batch_size": 256, "width": 8, "num_watched": 200}
PARTICIPANT = {
    name: jnp.asarray(value) for name, value in {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.15, "sigma_r": 0.1}.items()
}


@eqx.filter_jit
def act(actor):
    return actor.policy(PARTICIPANT)(jnp.asarray(0.3))


def same_weights(one, other):
    return all(
        np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True) if eqx.is_array(a)
    )


def train_small(cost="quadratic", **keywords):
    return train_actor(get_cost(cost), make_recipe(**SMALL), num_measured=500, **keywords)


def test_training_reaches_its_target_and_stops_early():
    recipe = make_recipe(batch_size=1024, width=16, block=10, target_median=1e-3, target_p99=1e-2, num_watched=500)
    result = train_actor(get_cost("asymmetric_quadratic"), recipe, num_measured=1000)
    assert result.has_reached_target
    assert result.num_steps < recipe.num_steps
    assert result.accuracy.median < 2e-3


def test_the_papers_method_lowers_the_expected_cost():
    recipe = make_recipe("paper", num_steps=300, block=100, batch_size=64, num_watched=500)
    cost = get_cost("quadratic")
    before = build_actor(cost, recipe, key=jax.random.key(0))
    seen = []
    result = train_actor(cost, recipe, progress=lambda p: seen.append(p.details["accuracy"].median), num_measured=500)
    assert [step for step in seen if math.isnan(step)] == []
    assert seen[-1] < seen[0]
    assert result.num_steps == 300
    assert not same_weights(before, result.actor)


def test_the_sampled_linex_cost_stays_finite_where_a_plain_mean_overflows(key):
    actor = load_actor("linex")
    noisy = {
        **PARTICIPANT,
        "mu_0": jnp.asarray(7.0),
        "sigma": jnp.asarray(0.5),
        "sigma_r": jnp.asarray(0.5),
        "alpha": jnp.asarray(5.0),
    }
    value = eqx.filter_jit(sampled_cost)(actor, noisy, jnp.log(9.0), key)
    assert np.isfinite(value)


def test_the_newton_step_is_the_relative_error_near_the_optimum(cost):
    values = {**PARTICIPANT, **{p.name: jnp.asarray(0.5 * (p.box.low + p.box.high)) for p in cost.parameters}}

    @eqx.filter_jit
    def step_from_nearby(actor):
        best = actor.policy(values)(jnp.log(2.0))
        return newton_step(cost, values, jnp.log(2.0), best + 0.01)

    assert abs(step_from_nearby(load_actor(cost.name)) - 0.01) < 2e-3


def test_an_interrupted_training_resumes_to_the_same_bits(tmp_path):
    whole = train_small()

    class Killed(Exception):
        pass

    def kill_after_the_first_block(progress):
        raise Killed

    checkpoint = tmp_path / "training.checkpoint"
    with pytest.raises(Killed):
        train_small(checkpoint=checkpoint, progress=kill_after_the_first_block)
    assert checkpoint.exists()
    steps = []
    resumed = train_small(checkpoint=checkpoint, progress=lambda p: steps.append((p.num_done, p.details["is_resumed"])))
    assert steps == [(4, True)]
    assert same_weights(whole.actor, resumed.actor)
    assert not checkpoint.exists()


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    checkpoint = tmp_path / "training.checkpoint"
    write_leaves(checkpoint, {"kind": "checkpoint", "cost": "absolute", "recipe": {}}, ())
    with pytest.raises(ActorFileError, match=r"belongs to another training \(cost is 'absolute', asked for 'quadratic'\)"):
        train_small(checkpoint=checkpoint)


def test_a_saved_actor_loads_with_the_same_weights_and_card(tmp_path):
    result = train_small()
    path = tmp_path / "mine.actor"
    save_actor(path, result)
    assert same_weights(load_actor(path), result.actor)
    card = read_card(path)
    assert card.cost == "quadratic"
    assert card.recipe == result.recipe
    assert card.accuracy == result.accuracy
    assert set(card.versions) == {"designstudio", "jax", "equinox"}


def test_an_actor_that_was_trained_on_another_box_is_right_where_it_was_trained(tmp_path):
    # The box of actors that were trained before it grew.
    older = {"mu_post": [0.05, 15.0], "sigma_post": [0.01 / math.sqrt(2), 0.5 / math.sqrt(2)], "sigma_r": [0.01, 0.5]}
    box = tuple((name, Interval(*ends)) for name, ends in older.items())
    result = train_small()
    actor = build_actor(result.actor.cost, result.recipe, box=box, key=jax.random.key(7))
    save_actor(tmp_path / "older.actor", dataclasses.replace(result, actor=actor))
    loaded = load_actor(tmp_path / "older.actor")
    assert loaded.box == box
    assert not loaded.is_inside({**PARTICIPANT, "sigma_r": jnp.asarray(0.6)}, jnp.asarray(0.3))
    np.testing.assert_array_equal(act(loaded), act(actor))
    assert loaded.parameter_boxes["sigma"] == loaded.parameter_boxes["sigma_0"] == Interval(0.01, 0.5)
    assert loaded.training_priors["mu_0"].support == Interval(0.05, 15.0)
    wide = analysis_priors(loaded.parameters).replace(sigma=HalfNormal(0.5))
    assert BehaviorModel(loaded, priors=wide).priors["sigma"].support == Interval(0.01, 0.5)


def test_the_zoo_has_all_seven_costs():
    assert tuple(zoo_paths()) == PAPER_COST_NAMES


def test_an_unknown_actor_names_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"Unknown actor 'cubic'\. Available: absolute, "):
        load_actor("cubic")


def edit_header(path, **changes):
    line, _, payload = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(line), **changes}).encode() + b"\n" + payload)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda p: p.write_bytes(p.read_bytes()[:-4]), "is damaged: its numbers do not match its checksum"),
        (lambda p: p.write_bytes(b"\x80\x04pickle"), "is not an actor file of this version"),
        (lambda p: p.write_bytes(b""), "is not an actor file of this version"),
        (lambda p: p.unlink(), "There is no file"),
        (lambda p: edit_header(p, kind="checkpoint"), "holds a checkpoint, not an actor"),
        (lambda p: edit_header(p, cost="cubic"), "trained for the cost 'cubic', which is not registered"),
        (lambda p: edit_header(p, cost="absolute"), "trained for another version of the cost 'absolute'"),
        (lambda p: edit_header(p, box={}), "trained on another box"),
        (lambda p: edit_header(p, recipe={}), "The header of .* is incomplete"),
        (lambda p: edit_header(p, recipe=dataclasses.asdict(make_recipe(width=9))), "does not fit"),
        (
            lambda p: edit_header(p, recipe=dataclasses.asdict(make_recipe()) | {"architecture": "x"}),
            "Unknown architecture 'x'",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, damage, sentence):
    path = tmp_path / "quadratic.actor"
    path.write_bytes(zoo_paths()["quadratic"].read_bytes())
    damage(path)
    with pytest.raises(StudioError, match=sentence):
        load_actor(path)


@pytest.mark.usefixtures("no_user_costs")
def test_an_actor_refuses_a_user_cost_that_has_changed(tmp_path, monkeypatch):
    @register_cost(name="mine")
    def mine(response, stimulus, parameters):
        return (response - stimulus) ** 2

    path = tmp_path / "mine.actor"
    save_actor(path, train_small("mine"))
    load_actor(path)
    monkeypatch.setattr(COSTS, "_users", {})

    @register_cost(name="mine")
    def changed(response, stimulus, parameters):
        return jnp.abs(response - stimulus)

    with pytest.raises(ActorFileError, match="another version of the cost 'mine'"):
        load_actor(path)


def test_a_writer_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "some.actor"
    write_leaves(path, {"kind": "first"}, jnp.ones(3))
    before = path.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_leaves(path, {"kind": "second"}, jnp.zeros(3))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"architecture": "deep"}, r"Unknown architecture 'deep'\. Available: coefficients, paper\."),
        ({"method": "adam"}, r"Unknown training method 'adam'\. Available: gauss_newton, monte_carlo\."),
        ({"num_steps": 0}, r"num_steps must be at least 1, but 0 was given\."),
        ({"target_median": -1.0}, r"target_median must be a positive number, but -1 was given\."),
        ({"target_p99": math.nan}, r"target_p99 must be a positive number, but nan was given\."),
    ],
)
def test_a_bad_recipe_gives_one_sentence(changes, sentence):
    with pytest.raises(StudioError, match=sentence):
        make_recipe(**changes)
