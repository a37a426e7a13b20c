"""Partial pooling against closed forms, against one sampler for everything, and on groups whose truth is known."""

import json

import jax
import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

from designstudio.errors import StudioError
from designstudio.inference.convergence import compute_ess
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.hierarchical import PoolingSettings, compute_shrinkage, pool_subjects
from designstudio.inference.hierarchical.group_model import Group, Hyperprior, choose_hyperprior, list_entries
from designstudio.inference.hierarchical.many_groups import sample_many_groups
from designstudio.inference.hierarchical.marginal import Affine, Particles, choose_particles, draw_groups, improve
from designstudio.inference.hierarchical.pool import check_group, check_subjects
from designstudio.inference.hierarchical.pool_many import focus_particles, make_kernels
from designstudio.inference.mixture import start_mixture
from designstudio.inference.posterior import load_posterior, save_posterior
from designstudio.inference.scales import Scale
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import pack_trials
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import HalfNormal, Interval, LogNormal, Uniform
from designstudio.model.simulate import draw_stimuli, label_participants, simulate_trials
from tests.oracles.hierarchy import integrate_normal_group, sample_group

NUM_GROUPS, NUM_SUBJECTS, NUM_TRIALS = 6, 12, 40
LEVELS = [0.1, 0.25]
# As many particles and draws in every turn: one program for all of them.
HASTY = PoolingSettings(num_draws=500, max_turns=2, num_particles=2000, num_learning_draws=1000, reduction=1, surplus=1)
# Half of the usual particles: enough, as the support of every subject says. The last turn has most of them.
CAREFUL = PoolingSettings(num_particles=12_000)
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


def pool(posterior, model, trials, **options):
    """Pooling of these data sets of the trials."""
    mine = trials.sel(dataset=posterior["posterior"]["dataset"].values)
    return pool_subjects(posterior, model, mine, fixed={"sigma": LEVELS}, **options)


@pytest.fixture(scope="module")
def pooled(group, model, trials):
    return pool(group, model, trials, seed=4, settings=CAREFUL)


@pytest.fixture
def hastily():
    """Pooling with few particles, for what does not depend on how good it is."""

    def pool_hastily(posterior, model, trials, seed=1):
        return pool(posterior, model, trials, seed=seed, settings=HASTY)

    return pool_hastily


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
    stretched, log_slope = scale.stretch(np.asarray(values, np.float32))
    np.testing.assert_allclose(stretched, points, atol=2e-3)
    np.testing.assert_allclose(np.exp(log_slope), (scale.forward(values + 1e-6) - points) / 1e-6, rtol=1e-3)


def test_a_normal_group_is_what_integration_says():
    rng = np.random.default_rng(0)
    num, num_places = 12, 2600
    sds = rng.uniform(0.2, 0.8, num)
    means = 0.5 + 0.4 * rng.normal(size=num) + sds * rng.normal(size=num)
    # Particles from twice as wide a normal as the likelihood, weighted; quantiles leave luck out.
    quantiles = 2 * stats.norm.ppf((np.arange(num_places) + 0.5) / num_places)
    points = (means[:, None] + sds[:, None] * quantiles)[..., None]
    log_weight = np.tile(-(quantiles**2) / 2 + (quantiles / 2) ** 2 / 2, (num, 1))
    particles = Particles(
        points.astype(np.float32), log_weight.astype(np.float32), np.ones((num, 1), bool), np.ones((num, 1), np.float32)
    )
    hyperprior = Hyperprior(*(np.full(1, value, np.float32) for value in (0.0, 2.0, 1.0)))
    affine = Affine(*(np.full(1, value, np.float32) for value in (0.5, np.log(0.4), 0.3, 0.5)))
    mixture = start_mixture(2, 3)
    for key in jax.random.split(jax.random.key(0), 4):
        mixture = improve(particles, hyperprior, affine, mixture, 2000, key)
    draws = draw_groups(particles, hyperprior, affine, mixture, 20_000, jax.random.key(1))
    weights = special.softmax(np.asarray(draws.log_weight, float))
    num_effective = 1 / np.sum(weights**2)
    assert num_effective > 5000
    location, spread, expected = integrate_normal_group(means, sds, 0.0, 2.0, 1.0)
    chosen = rng.choice(len(weights), 4000, p=weights)
    groups = Group(*(np.asarray(array)[chosen] for array in draws.group))
    place, support = choose_particles(particles, groups, jax.random.key(2))
    assert (np.asarray(support) > 500).all()
    pooled = particles.points[np.arange(num), np.asarray(place), 0].T
    for sample, (mean, sd) in zip([*(array[:, 0] for array in groups), *pooled], [location, spread, *expected], strict=True):
        assert abs(sample.mean() - mean) < 4 * sd * np.sqrt(1 / 4000 + 1 / num_effective)
        assert sample.std() == pytest.approx(sd, rel=0.08)


def test_known_groups_are_recovered_and_subjects_with_few_trials_gain_most(posterior, model, trials, truth, hastily):
    is_covered = {"median": [], "spread": []}
    shrinkage = []
    errors = {name: ([], []) for name in truth}
    for number in range(NUM_GROUPS):
        separate = pick_group(posterior, number)
        pooled = hastily(separate, model, trials)
        shrinkage.append(compute_shrinkage(separate, pooled)["shrinkage"].values)
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
    has_few = np.arange(NUM_SUBJECTS) < NUM_SUBJECTS // 2
    few, many = (np.stack(shrinkage)[:, chosen].mean() for chosen in (has_few, ~has_few))
    assert few > many + 0.05


def test_pooling_agrees_with_one_sampler_for_everything(pooled, model, trials):
    entries = list_entries(model)
    rows = np.transpose(choose_hyperprior(entries, PoolingSettings())).tolist()
    hyperprior = {entry.name: row for entry, row in zip(entries, rows, strict=True)}
    supports = {name: (prior.support.low, prior.support.high) for name, prior in model.priors.items()}
    observations = pack_trials(trials.isel(dataset=slice(0, NUM_SUBJECTS)), model, {"sigma": LEVELS})
    together = sample_group(model, observations, supports, hyperprior)
    num_ours = pooled["convergence"]["ess"].item()
    for name, prior in model.priors.items():
        location = Scale(prior.support).forward(pooled["group"][f"{name}_median"].values)
        pairs = [
            (location, together[f"{name}_location"]),
            (pooled["group"][f"{name}_spread"].values, together[f"{name}_spread"]),
        ]
        pairs += [(pooled["posterior"][name].values[i], together[name][..., i]) for i in range(NUM_SUBJECTS)]
        for pair in pairs:
            ours, theirs = (draws.astype(float) for draws in pair)
            num_effective = 1 / (1 / num_ours + 1 / compute_ess(theirs))
            # The particles's own noise adds a little.
            tolerance = theirs.std() * (4 / np.sqrt(num_effective) + 0.1)
            assert abs(ours.mean() - theirs.mean()) < tolerance
            assert ours.std() == pytest.approx(theirs.std(), rel=0.2)


def test_many_groups_at_once_are_what_pooling_makes_of_one_and_cover_the_truth(posterior, pooled, model, trials, truth):
    groups = np.arange(NUM_GROUPS * NUM_SUBJECTS).reshape(NUM_GROUPS, NUM_SUBJECTS)
    hyperprior = choose_hyperprior(list_entries(model), PoolingSettings())

    def sample(seed):
        focused = focus_particles(model, trials, {"sigma": LEVELS}, posterior, groups, hyperprior, seed=seed)
        return sample_many_groups(make_kernels(focused, hyperprior, seed=seed), hyperprior, np.arange(NUM_GROUPS), seed=seed)

    # The particles of one seed move a standard deviation by a tenth.
    samples = [sample(seed) for seed in range(4)]
    assert all(found.is_good.all() and (found.support > 20).all() for found in samples)
    location, spread = (np.concatenate(arrays, axis=1) for arrays in zip(*(found.group for found in samples), strict=True))
    is_covered = []
    for k, (name, prior) in enumerate(model.priors.items()):
        scale = Scale(prior.support)
        pairs = [
            (location[0, :, k], scale.forward(pooled["group"][f"{name}_median"].values)),
            (spread[0, :, k], pooled["group"][f"{name}_spread"].values),
        ]
        for ours, theirs in pairs:
            # Both with errors of their own, most of it from some hundred effective draws.
            assert abs(ours.mean() - theirs.mean()) < 0.3 * theirs.std()
            assert ours.std() == pytest.approx(theirs.std(), rel=0.2)
        for true, draws in (
            (scale.forward(truth[name]["median"]), location),
            (truth[name]["spread"], spread),
        ):
            low, high = np.quantile(draws[..., k], [0.03, 0.97], axis=1)
            is_covered += list((low <= true) & (true <= high))
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], len(is_covered), 0.94)
    assert low <= sum(is_covered) <= high


def test_shrinkage_is_the_share_of_the_variance_that_the_group_removes(group, pooled):
    table = compute_shrinkage(group, pooled)
    assert list(table["quantity"].values) == ["mu_0", "sigma_0", "sigma_r", "beta"]
    before, after = (tree["posterior"]["beta"] for tree in (group, pooled))
    beta = table.sel(quantity="beta")
    np.testing.assert_allclose(beta["separate_mean"], before.mean(DRAWS), rtol=1e-5)
    np.testing.assert_allclose(beta["shrinkage"], 1 - after.var(DRAWS) / before.var(DRAWS), rtol=1e-3, atol=1e-5)


def test_the_order_of_subjects_does_not_matter_and_a_seed_gives_the_same_bits(group, model, trials, hastily):
    order = np.random.default_rng(0).permutation(NUM_SUBJECTS)
    one, shuffled = hastily(group, model, trials), hastily(group.isel(dataset=order), model, trials)
    np.testing.assert_array_equal(shuffled["posterior"]["dataset"], group["posterior"]["dataset"][order])
    xr.testing.assert_identical(shuffled["group"].to_dataset(), one["group"].to_dataset())
    for part in ("posterior", "diagnostics"):
        xr.testing.assert_identical(shuffled[part].to_dataset(), one[part].to_dataset().isel(dataset=order))
    other = hastily(group, model, trials, seed=2)
    assert (other["group"]["beta_median"].values != one["group"]["beta_median"].values).any()


def test_failed_fits_are_left_out_and_named(posterior, model, trials, hastily):
    # One more than in a group, so that as many are left.
    broken = posterior.isel(dataset=slice(0, NUM_SUBJECTS + 1)).copy(deep=True)
    broken["diagnostics"]["is_good"][3] = False
    broken["diagnostics"]["reason"][3] = "k-hat 0.90"
    pooled = hastily(broken, model, trials)
    assert pooled["posterior"]["dataset"].values.tolist() == [0, 1, 2, *range(4, NUM_SUBJECTS + 1)]
    assert pooled["excluded"]["subject"].values.tolist() == ["3"]
    assert pooled["excluded"]["reason"].values.tolist() == ["k-hat 0.90"]
    broken["diagnostics"]["is_good"][1:] = False
    with pytest.raises(StudioError, match="at least 2 subjects"):
        hastily(broken, model, trials)


def test_each_condition_has_a_group_of_its_own_even_if_some_subjects_lack_it(group, trials):
    model = BehaviorModel(ExactActor(get_cost("quadratic_effort")), num_conditions=2, per_condition=("sigma",))
    mine = trials.isel(dataset=slice(0, NUM_SUBJECTS)).copy(deep=True)
    lacks = (mine["dataset"] < 2) & (mine["condition_index"] == 1)
    mine = mine.assign(is_present=mine["is_present"] & ~lacks)
    for name in ("stimulus", "response"):
        mine[name] = mine[name].where(~lacks)
    posterior = group.copy(deep=True)
    draws = posterior["posterior"].to_dataset()
    noise = np.random.default_rng(0).normal(size=(*draws["beta"].shape, 2))
    draws["sigma"] = (("dataset", "chain", "draw", "condition"), LEVELS * np.exp(0.2 * noise), {})
    posterior["posterior"] = xr.DataTree(draws[list(model.free)])
    posterior.attrs["priors"] = json.dumps({name: str(prior) for name, prior in model.priors.items()})
    pooled = pool_subjects(posterior, model, mine, seed=1, settings=HASTY)
    low, high = pooled["group"]["sigma_median"].transpose(..., "condition").values.reshape(-1, 2).T
    # Far apart, and each within what the data leave open.
    assert np.mean(low < high) > 0.97
    for draws, level in ((low, LEVELS[0]), (high, LEVELS[1])):
        assert np.quantile(draws, 0.01) < level < np.quantile(draws, 0.99)
    assert pooled["posterior"]["sigma"].dims == posterior["posterior"]["sigma"].dims
    sd = np.log(pooled["posterior"]["sigma"].isel(condition=1)).std(DRAWS)
    assert float(sd[:2].min()) > float(sd[2:].median())
    assert "sigma[1]" in compute_shrinkage(posterior, pooled)["quantity"].values


def test_the_prior_of_differences_between_people_is_what_was_asked_for(model):
    entries = list_entries(model)
    usual = choose_hyperprior(entries, PoolingSettings())
    chosen = choose_hyperprior(entries, PoolingSettings(spread_share=1.0, spread_shares={"sigma_r": 0.1}))
    factor = np.array([0.2 if entry.name == "sigma_r" else 2.0 for entry in entries])
    np.testing.assert_allclose(chosen.spread, factor * usual.spread, rtol=1e-6)
    np.testing.assert_array_equal(chosen.scale, usual.scale)
    for wrong in ({"spread_share": 0.0}, {"spread_shares": {"sigma_r": np.inf}}):
        with pytest.raises(StudioError, match="must be a number above 0"):
            PoolingSettings(**wrong)


def test_a_group_can_be_trusted_and_kept(pooled, tmp_path):
    convergence = pooled["convergence"].to_dataset()
    assert convergence["is_good"]
    assert convergence["khat"] < 0.7
    assert convergence["ess"] > 500
    assert convergence["particle_error"] < 0.3
    assert pooled["diagnostics"]["is_good"].values.all()
    save_posterior(pooled, tmp_path / "group.nc")
    loaded = load_posterior(tmp_path / "group.nc")
    xr.testing.assert_equal(loaded["group"].to_dataset(), pooled["group"].to_dataset())


def test_too_few_particles_are_named():
    support = np.array([4000.0, 20.0])
    group = check_group(0.9, 40.0, np.array([1.5, 2.0]), PoolingSettings())
    assert not group["is_good"]
    assert all(words in group["reason"].item() for words in ("k-hat 0.90", "40 effective draws", "nats"))
    given = xr.Dataset(coords={"dataset": [0, 1], "subject": ("dataset", ["a", "b"])})
    subjects = check_subjects(support, given, PoolingSettings())
    assert subjects["is_good"].values.tolist() == [True, False]
    assert "than 20 particles" in subjects["reason"].values[1]


def test_posteriors_of_another_prior_or_of_other_trials_are_refused(group, model, trials):
    other = BehaviorModel(
        ExactActor(get_cost("quadratic_effort")),
        num_conditions=2,
        fixed=("sigma",),
        priors=analysis_priors(model.parameters).replace(beta=Uniform(0.6, 1.0)),
    )
    with pytest.raises(StudioError, match="other priors"):
        pool(group, other, trials)
    with pytest.raises(StudioError, match="other data sets"):
        pool_subjects(group, model, trials.isel(dataset=slice(1, NUM_SUBJECTS + 1)), fixed={"sigma": LEVELS})
