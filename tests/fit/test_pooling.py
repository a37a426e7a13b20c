"""Partial pooling against closed forms, against one sampler for everything, and on groups whose truth is known."""

import json

import jax
import numpy as np
import pytest
import xarray as xr
from scipy import stats

from designstudio.actors import ExactActor
from designstudio.behavior.model import BehaviorModel
from designstudio.behavior.packing import pack_trials
from designstudio.costs import get_cost
from designstudio.errors import StudioError
from designstudio.fit.convergence import compute_ess
from designstudio.fit.pooling import compute_shrinkage, fit_group, focus, focus_model, pool, pool_subjects
from designstudio.fit.pooling.entries import choose_hyperprior, list_entries
from designstudio.fit.pooling.gibbs import Hyperprior, Subjects, run_sweeps, start_group
from designstudio.fit.pooling.scales import Scale
from designstudio.fit.posterior import load_posterior, save_posterior
from designstudio.fit.run import fit_datasets
from designstudio.fit.settings import FitSettings
from designstudio.priors import HalfNormal, Interval, LogNormal, Uniform
from designstudio.simulate import draw_stimuli, label_participants, simulate_trials
from tests.oracles.hierarchy import integrate_normal_group, sample_group

NUM_GROUPS, NUM_SUBJECTS, NUM_TRIALS = 10, 12, 40
LEVELS = [0.1, 0.25]
SETTINGS = FitSettings(method="importance", num_draws=1000, batch_size=40, keeps_log_likelihood=False)
DRAWS = ("chain", "draw")


@pytest.fixture(scope="module")
def model():
    """Two uncertainty levels, both known."""
    return BehaviorModel(ExactActor(get_cost("quadratic_effort")), num_conditions=2, fixed=("sigma",))


@pytest.fixture(scope="module")
def truth(model):
    """Locations, spreads and subjects of all groups, by parameter."""
    rng = np.random.default_rng(5)
    result = {}
    for name, prior in model.priors.items():
        location = rng.uniform(-1.0, 1.0, NUM_GROUPS)
        spread = rng.uniform(0.2, 0.6, NUM_GROUPS)
        points = location[:, None] + spread[:, None] * rng.normal(size=(NUM_GROUPS, NUM_SUBJECTS))
        scale = Scale(prior.support)
        result[name] = {"median": scale.backward(location), "spread": spread, "subjects": scale.backward(points)}
    return result


@pytest.fixture(scope="module")
def trials(model, truth):
    """All subjects of all groups, one after the other; the first half of each group's subjects has few trials."""
    num = NUM_GROUPS * NUM_SUBJECTS
    values = {name: true["subjects"].ravel() for name, true in truth.items()} | {"sigma": np.tile(LEVELS, (num, 1))}
    people = label_participants(model.parameters, values)
    stimuli = draw_stimuli(num, 2, NUM_TRIALS, low=0.25, high=5.0, key=jax.random.key(2))
    trials = simulate_trials(model, people, stimuli, key=jax.random.key(3))
    has_few = np.arange(num) % NUM_SUBJECTS < NUM_SUBJECTS // 2
    is_early = np.arange(trials.sizes["trial"]) % NUM_TRIALS < NUM_TRIALS // 2
    is_kept = ~has_few[:, None] | is_early[None]
    for name in ("stimulus", "response"):
        trials[name] = trials[name].where(is_kept)
    return trials.assign(is_present=trials["is_present"] & is_kept)


@pytest.fixture(scope="module")
def posterior(model, trials):
    return fit_datasets(model, trials, fixed={"sigma": LEVELS}, settings=SETTINGS, seed=4)


def pick_group(tree, number):
    return tree.isel(dataset=slice(number * NUM_SUBJECTS, (number + 1) * NUM_SUBJECTS))


@pytest.fixture(scope="module")
def group(posterior):
    return pick_group(posterior, 0)


@pytest.fixture(scope="module")
def pooled(group, model):
    return pool_subjects(group, model, seed=4)


def pool_briefly(tree, model, seed=1):
    """Pooling with chains that are too short to converge, for what does not depend on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "MOST_REPEATS", 1)
        return pool_subjects(tree, model, num_draws=200, seed=seed)


@pytest.fixture(scope="module")
def brief(group, model):
    return pool_briefly(group, model)


@pytest.fixture(scope="module")
def separate_and_nearer(model, trials, group, pooled):
    """The first fits and the first pooling are those of the other tests."""

    def fit(chosen, *arguments, **options):
        return group.copy(deep=True) if chosen is model else fit_datasets(chosen, *arguments, **options)

    def pool_once(posterior, chosen, **options):
        return pooled if chosen is model else pool_subjects(posterior, chosen, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(focus, "fit_datasets", fit)
        patch.setattr(focus, "pool_subjects", pool_once)
        mine = trials.isel(dataset=slice(0, NUM_SUBJECTS))
        return fit_group(model, mine, fixed={"sigma": LEVELS}, settings=SETTINGS, seed=4)


@pytest.mark.parametrize("prior", [Uniform(0.1, 5.0), HalfNormal(0.25), LogNormal(2.0, 0.5).within(Interval(0.5, 12.0))])
def test_a_scale_goes_there_and_back_and_keeps_the_prior(prior):
    scale = Scale(prior.support)
    values = prior.quantile(np.linspace(0.01, 0.99, 99))
    points = scale.forward(values)
    np.testing.assert_allclose(scale.backward(points), values, rtol=1e-9)
    fine = np.linspace(-15, 15, 6001)
    density = np.exp(scale.log_density(fine, prior))
    assert np.trapezoid(density, fine) == pytest.approx(1, abs=2e-3)
    mean, sd = scale.moments(prior)
    assert np.trapezoid(density * fine, fine) == pytest.approx(mean, abs=0.01)
    assert np.sqrt(np.trapezoid(density * (fine - mean) ** 2, fine)) == pytest.approx(sd, abs=0.02)


def test_normal_subjects_are_pooled_as_integration_says():
    rng = np.random.default_rng(0)
    num, prior_sd = 12, 1.5
    sds = rng.uniform(0.2, 0.8, num)
    means = 0.5 + 0.4 * rng.normal(size=num) + sds * rng.normal(size=num)
    # Separate posteriors under a Normal(0, 1.5²) prior; quantiles stand for their draws, which leaves luck out.
    separate_sds = 1 / np.sqrt(sds**-2 + prior_sd**-2)
    separate_means = separate_sds**2 * means / sds**2
    quantiles = stats.norm.ppf((np.arange(4032) + 0.5) / 4032)
    points = (separate_means[:, None] + separate_sds[:, None] * quantiles)[None]
    subjects = Subjects(
        *(a.astype(np.float32) for a in (points, points[0] ** 2 / 2 / prior_sd**2, np.ones(points[0].shape)))
    )
    hyperprior = Hyperprior(*(np.full(1, value, np.float32) for value in (0.0, 2.0, 1.0)))
    keys = jax.random.split(jax.random.key(0), 4)
    sweeps = run_sweeps(subjects, hyperprior, start_group(subjects, hyperprior, 4), keys, num_sweeps=3000)
    location, spread, expected = integrate_normal_group(means, sds, 0.0, 2.0, 1.0)
    chosen = np.moveaxis(np.asarray(sweeps.chosen)[:, 300:], -1, 0)
    pooled = np.take_along_axis(points[0][:, None], chosen.reshape(num, 1, -1), axis=2).reshape(chosen.shape)
    group = [np.asarray(draws)[:, 300:, 0] for draws in sweeps.group]
    for draws, (mean, sd) in zip([*group, *pooled], [location, spread, *expected], strict=True):
        num_effective = compute_ess(draws.astype(float))
        assert num_effective > 400
        assert abs(draws.mean() - mean) < 4 * sd / np.sqrt(num_effective)
        assert draws.std() == pytest.approx(sd, rel=0.08)


def test_known_groups_are_recovered_and_their_subjects_better_than_one_by_one(posterior, model, truth, monkeypatch):
    # Short chains over some of the draws are long enough for intervals.
    monkeypatch.setattr(pool, "MOST_REPEATS", 4)
    is_covered = {"median": [], "spread": []}
    errors = {name: ([], []) for name in truth}
    for number in range(NUM_GROUPS):
        separate = pick_group(posterior, number)
        pooled = pool_subjects(separate.isel(draw=slice(None, None, 3)), model, num_draws=300)
        numbers = pooled["posterior"]["dataset"].values
        for name, true in truth.items():
            for quantity, hits in is_covered.items():
                low, high = np.quantile(pooled["group"][f"{name}_{quantity}"].values, [0.03, 0.97])
                hits.append(low <= true[quantity][number] <= high)
            for tree, collected in zip((separate, pooled), errors[name], strict=True):
                estimate = tree["posterior"][name].sel(dataset=numbers).mean(DRAWS).values
                collected.append(estimate - true["subjects"].ravel()[numbers])
    for hits in is_covered.values():
        low, high = stats.binom.ppf([1e-3, 1 - 1e-3], len(hits), 0.94)
        assert low <= sum(hits) <= high
    for one_by_one, together in errors.values():
        rmse, pooled_rmse = (np.sqrt(np.mean(np.concatenate(error) ** 2)) for error in (one_by_one, together))
        assert pooled_rmse < 0.97 * rmse


def test_two_stages_agree_with_one_sampler_for_everything(separate_and_nearer, model, trials):
    pooled = separate_and_nearer[1]
    entries = list_entries(model, model.priors)
    rows = np.transpose(choose_hyperprior(entries)).tolist()
    hyperprior = {entry.name: row for entry, row in zip(entries, rows, strict=True)}
    supports = {name: (prior.support.low, prior.support.high) for name, prior in model.priors.items()}
    observations = pack_trials(trials.isel(dataset=slice(0, NUM_SUBJECTS)), model, {"sigma": LEVELS})
    together = sample_group(model, observations, supports, hyperprior)
    assert pooled["diagnostics"]["is_good"].values.all()
    for name, prior in model.priors.items():
        location = Scale(prior.support).forward(pooled["group"][f"{name}_median"].values)
        pairs = [
            (location, together[f"{name}_location"]),
            (pooled["group"][f"{name}_spread"].values, together[f"{name}_spread"]),
        ]
        pairs += [(pooled["posterior"][name].values[i], together[name][..., i]) for i in range(NUM_SUBJECTS)]
        for pair in pairs:
            ours, theirs = (draws.astype(float) for draws in pair)
            num_effective = 1 / (1 / compute_ess(ours) + 1 / compute_ess(theirs))
            # The separate draws themselves add a little noise.
            tolerance = theirs.std() * (4 / np.sqrt(num_effective) + 0.1)
            assert abs(ours.mean() - theirs.mean()) < tolerance
            assert ours.std() == pytest.approx(theirs.std(), rel=0.2)


def test_a_subject_with_few_trials_shrinks_more_than_one_with_many(group, pooled):
    table = compute_shrinkage(group, pooled)
    assert list(table["quantity"].values) == ["mu_0", "sigma_0", "sigma_r", "beta"]
    half = NUM_SUBJECTS // 2
    few, many = (table["shrinkage"].isel(dataset=part).mean("dataset") for part in (slice(0, half), slice(half, None)))
    assert (few > many + 0.05).all()
    np.testing.assert_allclose(
        table["separate_mean"].sel(quantity="beta"), group["posterior"]["beta"].mean(DRAWS), rtol=1e-5
    )


def test_the_order_of_subjects_does_not_matter(group, model, brief):
    order = np.random.default_rng(0).permutation(NUM_SUBJECTS)
    shuffled = pool_briefly(group.isel(dataset=order), model)
    np.testing.assert_array_equal(shuffled["posterior"]["dataset"], group["posterior"]["dataset"][order])
    xr.testing.assert_identical(shuffled["group"].to_dataset(), brief["group"].to_dataset())
    for part in ("posterior", "diagnostics"):
        xr.testing.assert_identical(shuffled[part].to_dataset(), brief[part].to_dataset().isel(dataset=order))


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(group, model, brief):
    one = brief["group"].to_dataset()
    same, other = (pool_briefly(group, model, seed)["group"].to_dataset() for seed in (1, 2))
    xr.testing.assert_identical(one, same)
    assert (other["beta_median"].values != one["beta_median"].values).any()


def test_failed_fits_are_left_out_and_named(group, model):
    broken = group.copy(deep=True)
    broken["diagnostics"]["is_good"][3] = False
    broken["diagnostics"]["reason"][3] = "k-hat 0.90"
    pooled = pool_briefly(broken, model)
    assert pooled["posterior"]["dataset"].values.tolist() == [0, 1, 2, *range(4, NUM_SUBJECTS)]
    assert pooled["excluded"]["subject"].values.tolist() == ["3"]
    assert pooled["excluded"]["reason"].values.tolist() == ["k-hat 0.90"]
    broken["diagnostics"]["is_good"][1:] = False
    with pytest.raises(StudioError, match="at least 2 subjects"):
        pool_briefly(broken, model)


def test_copies_of_a_draw_do_not_count_as_support(group, model, brief):
    few = group.copy(deep=True)
    for name in model.free:
        few["posterior"][name].values[0] = few["posterior"][name].values[0, :1, :40].repeat(100, axis=1).reshape(4, -1)
    before, after = (tree["diagnostics"].isel(dataset=0) for tree in (brief, pool_briefly(few, model)))
    assert before["is_good"].item()
    assert after["num_supporting"].item() < 40
    assert not after["is_good"].item()
    assert "separate draws can show" in after["reason"].item()


def test_each_condition_has_a_group_of_its_own(group):
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), num_conditions=2, per_condition=("sigma",))
    posterior = group.copy(deep=True)
    draws = posterior["posterior"].to_dataset()
    # Subjects know little about their own sigma, but all of them are near the levels.
    noise = np.random.default_rng(0).normal(size=(*draws["beta"].shape, 2))
    draws["sigma"] = (("dataset", "chain", "draw", "condition"), LEVELS * np.exp(0.2 * noise), {})
    posterior["posterior"] = xr.DataTree(draws[list(model.free)])
    posterior.attrs["priors"] = json.dumps({name: str(prior) for name, prior in model.priors.items()})
    pooled = pool_briefly(posterior, model)
    low, high = pooled["group"]["sigma_median"].mean(DRAWS).values
    np.testing.assert_allclose([low, high], LEVELS, rtol=0.1)
    assert "sigma_spread[1]" in pooled["convergence"]["quantity"].values
    assert pooled["posterior"]["sigma"].dims == posterior["posterior"]["sigma"].dims
    assert "sigma[1]" in compute_shrinkage(posterior, pooled)["quantity"].values


def test_a_group_has_converged_and_can_be_kept(pooled, tmp_path):
    assert float(pooled["convergence"]["rhat"].max()) < 1.02
    assert float(pooled["convergence"]["ess"].min()) > 300
    save_posterior(pooled, tmp_path / "group.nc")
    loaded = load_posterior(tmp_path / "group.nc")
    xr.testing.assert_equal(loaded["group"].to_dataset(), pooled["group"].to_dataset())


def test_draws_of_another_prior_are_refused(group, model, pooled):
    with pytest.raises(StudioError, match="other priors"):
        pool_subjects(group, focus_model(model, pooled))


def test_fits_nearer_to_the_group_say_the_same_with_more_support(group, pooled, model, separate_and_nearer):
    separate, nearer = separate_and_nearer
    xr.testing.assert_identical(separate["posterior"].to_dataset(), group["posterior"].to_dataset())
    support = [tree["diagnostics"]["num_supporting"].values.min() for tree in (pooled, nearer)]
    assert support[1] > 1.5 * support[0]
    for name in model.free:
        for quantity in ("median", "spread"):
            a, b = (tree["group"][f"{name}_{quantity}"].values for tree in (pooled, nearer))
            assert abs(a.mean() - b.mean()) < 0.3 * b.std()
