"""Batches of data sets on all local devices.

Every batch has the same number of data sets (the last one is filled up with copies), so one compiled program serves all of
them, and a data set's result does not depend on how many others there are. Devices work on their own part of the batch
without talking to each other: one GPU, several, or several host devices.
"""

import functools
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Key

from designstudio.inference.importance import Proposal, WeightedDraws, draw_weighted
from designstudio.inference.mixture import Mixture, start_mixture
from designstudio.inference.nuts import ChainBatch, ChainStart, sample_posteriors, start_chains
from designstudio.inference.settings import FitSettings, ImportanceSettings, NutsSettings
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

DATASET = "dataset"
QUICK_COMPILATION: dict[str, Any] = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}
# Of an accelerator's memory: the rest is for what its compiler adds.
LARGEST_SHARE = 0.5
# If an accelerator does not say how much it has.
LEAST_MEMORY = 4 * 2**30
# Of a number that is sampled or weighted, with copies; of a draw and a trial while the likelihood is computed.
BYTES_A_NUMBER, BYTES_A_DRAWN_TRIAL = 16, 40


class ImportanceBatch(NamedTuple):
    """Weighted draws of a batch, the proposals they came from, and where chains may start.

    Where no chains will, there is no start, and no coordinates without bounds are found.
    """

    draws: WeightedDraws
    proposal: Proposal
    start: ChainStart | None


def local_mesh() -> Mesh:
    """All devices of this process."""
    return Mesh(np.array(jax.local_devices()), (DATASET,))


def choose_batch_size(model: BehaviorModel, sampled: Observations, settings: FitSettings) -> int:
    """Data sets that all devices together work on at once.

    CPUs get batches of one size, whatever there is to do: programs of one shape, and each core is busy. Anything else gets
    as many data sets as there are, in a few sizes, as long as they fit into its memory.

    Args:
        model: the behaviour model.
        sampled: what samplers see of all data sets.
        settings: of the fit.
    """
    devices = local_mesh().devices.ravel()
    size = -(-settings.batch_size // len(devices)) * len(devices)
    if jax.default_backend() == "cpu":
        return size
    num_datasets, *shape = sampled.weight.shape
    num_draws = settings.num_chains * max(settings.num_draws, settings.min_block_size)
    needed = num_draws * (BYTES_A_NUMBER * 4 * model.num_free + BYTES_A_DRAWN_TRIAL * int(np.prod(shape)))
    limits = [(device.memory_stats() or {}).get("bytes_limit", LEAST_MEMORY) for device in devices]
    most = LARGEST_SHARE * min(limits) / needed * len(devices)
    while size < num_datasets and 2 * size <= most:
        size *= 2
    return size


def iterate_batches(num_datasets: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices of the data sets in each batch, and which of them are wanted: the last batch is filled up with copies.

    Data sets are dealt out to the devices like cards, so that all have work even if there are few.
    """
    dealt = np.arange(size).reshape(-1, local_mesh().size).T.ravel()
    for first in range(0, num_datasets, size):
        yield np.minimum(first + dealt, num_datasets - 1), first + dealt < num_datasets


def run_importance(
    model: BehaviorModel,
    observations: Observations,
    keys: Key[Array, " dataset"],
    settings: ImportanceSettings,
    state: Mixture | None = None,
    *,
    is_wanted: np.ndarray | None = None,
) -> ImportanceBatch:
    """Importance sampling of a batch, from the beginning or going on from the state of a proposal.

    Only data sets that are wanted have meaningful results.
    """
    if state is None:
        fresh = start_mixture(model.num_free, settings.num_components)
        state = jax.tree.map(lambda array: np.broadcast_to(array, (len(keys), *array.shape)), fresh)
    return run_on_devices(_importance_program(settings), model, is_wanted, observations, keys, state)


def run_nuts(
    model: BehaviorModel,
    observations: Observations,
    importance: ImportanceBatch,
    keys: Key[Array, " dataset"],
    settings: NutsSettings,
    *,
    is_wanted: np.ndarray | None = None,
    needs_jumps: np.ndarray | None = None,
) -> ChainBatch:
    """NUTS on a batch, starting from importance sampling; arrays have axes dataset, chain, draw.

    Where jumps are on ridges, data sets that need them jump, too.
    """
    needs_jumps = np.zeros(len(keys), bool) if needs_jumps is None else needs_jumps
    return run_on_devices(_nuts_program(settings), model, is_wanted, observations, *importance, keys, needs_jumps)


def compute_pointwise(
    model: BehaviorModel,
    observations: Observations,
    values: dict[str, Float[Array, "dataset chain draw ..."]],
    *,
    chunk_size: int,
    is_wanted: np.ndarray | None = None,
) -> Float[Array, "dataset chain draw condition trial"]:
    """Pointwise log likelihood of every draw of a batch."""
    return run_on_devices(_pointwise_program(chunk_size), model, is_wanted, observations, values)


def compute_correction(
    model: BehaviorModel,
    fast: Observations,
    careful: Observations,
    values: dict[str, Float[Array, "dataset chain draw ..."]],
    *,
    chunk_size: int,
    is_wanted: np.ndarray | None = None,
) -> Float[Array, "dataset chain draw"]:
    """Log likelihood of every draw of a batch by the careful rule, minus that by the fast one.

    Args:
        model: the behaviour model.
        fast: what samplers saw. careful: all trials.
        values: of the draws.
        chunk_size: data sets that a device works on at once.
        is_wanted: which data sets need a meaningful result.
    """
    return run_on_devices(_correction_program(chunk_size), model, is_wanted, fast, careful, values)


def run_on_devices(program: Any, model: Any, is_wanted: np.ndarray | None, *batch: Any) -> Any:
    """Run a program with each device holding its part of the batch; all have the whole model, or whatever they share."""
    arrays, static = eqx.partition(model, eqx.is_array)
    mesh = local_mesh()
    if is_wanted is None:
        is_wanted = np.ones(jax.tree.leaves(batch)[0].shape[0], bool)
    # Placed explicitly, so that a batch from the host and one that is already on the devices share a compiled program.
    arrays = jax.device_put(arrays, NamedSharding(mesh, PartitionSpec()))
    batch = jax.device_put((is_wanted, *batch), NamedSharding(mesh, PartitionSpec(DATASET)))
    return _compiled(program, _Static(static))(arrays, *batch)


class _Static:
    """A hashable wrapper: models with the same structure share one compiled program."""

    def __init__(self, static: Any) -> None:
        self.tree, self._leaves = static, tuple(jax.tree_util.tree_leaves(static))
        self._structure = jax.tree_util.tree_structure(static)

    def __hash__(self) -> int:
        return hash((self._structure, self._leaves))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and (self._structure, self._leaves) == (other._structure, other._leaves)


@functools.cache
def _compiled(program: Any, static: _Static) -> Any:
    mesh = local_mesh()
    spec = PartitionSpec(DATASET)

    def on_one_device(arrays: Any, *batch: Any) -> Any:
        return program(eqx.combine(arrays, static.tree), *batch)

    def everywhere(arrays: Any, *batch: Any) -> Any:
        specs = (PartitionSpec(), *(spec for _ in batch))
        mapped = jax.shard_map(on_one_device, mesh=mesh, in_specs=specs, out_specs=spec, check_vma=False)
        return mapped(arrays, *batch)

    return jax.jit(everywhere, compiler_options=_choose_options())


@functools.cache
def _choose_options() -> dict[str, Any]:
    """What the compiler is told: on CPUs, to spend less time on what gains nothing here.

    LLVM's later optimisations take half of the compilation time, and so does the newer of XLA's two ways to make kernels.
    Options that XLA does not know are left out, and what XLA_FLAGS says is left as it is.
    """
    if jax.default_backend() != "cpu":
        return {}
    options, given = {}, os.environ.get("XLA_FLAGS", "")
    for name, value in QUICK_COMPILATION.items():
        if name in given:
            continue
        try:
            jax.jit(jnp.negative, compiler_options={name: value}).lower(np.float32(0)).compile()
        except jax.errors.JaxRuntimeError:
            continue
        options[name] = value
    return options


@functools.cache
def _importance_program(settings: ImportanceSettings) -> Any:
    def one(model: BehaviorModel, observations: Observations, key: Key[Array, ""], state: Mixture) -> ImportanceBatch:
        draw_key, start_key = jax.random.split(key)
        draws, proposal = draw_weighted(model, observations, settings, state, key=draw_key)
        if settings.starts_chains:
            return ImportanceBatch(draws, proposal, start_chains(draws, key=start_key))
        # What nobody asks for is not computed: coordinates without bounds are a quarter of the work.
        return ImportanceBatch(draws._replace(found=draws.found._replace(y=None, log_density=None)), proposal, None)

    def program(model: BehaviorModel, is_wanted: Array, *batch: Any) -> ImportanceBatch:
        return in_chunks(jax.vmap(lambda *dataset: one(model, *dataset)), settings.chunk_size, is_wanted, batch)

    return program


@functools.cache
def _nuts_program(settings: NutsSettings) -> Any:
    def program(model: BehaviorModel, is_wanted: Array, *batch: Any) -> ChainBatch:
        def chunk(is_wanted: Array, *part: Any) -> ChainBatch:
            observations, draws, proposal, start, keys, needs_jumps = part
            return sample_posteriors(
                model, observations, draws, proposal, start, keys, settings, is_wanted=is_wanted, needs_jumps=needs_jumps
            )

        return in_chunks(chunk, settings.chunk_size, is_wanted, (is_wanted, *batch))

    return program


def in_chunks(run: Any, size: int, is_wanted: Array, batch: tuple[Any, ...]) -> Any:
    """Run a batch chunk by chunk and skip chunks of which nothing is wanted: few data sets take little time."""
    num = len(is_wanted)
    if size >= num or jax.default_backend() != "cpu":
        # Small chunks suit the cache of a CPU; anything else wants all at once.
        return run(*batch)
    run = jax.jit(run)  # traced once, for its shape and for its results
    size = next(divisor for divisor in range(size, 0, -1) if num % divisor == 0)
    shape = jax.eval_shape(run, *jax.tree.map(lambda array: array[:size], batch))

    def skip(_: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)

    def step(chunk: tuple[Array, tuple[Any, ...]]) -> Any:
        return jax.lax.cond(jnp.any(chunk[0]), lambda parts: run(*parts), skip, chunk[1])

    chunks = jax.tree.map(lambda array: array.reshape(num // size, size, *array.shape[1:]), (is_wanted, batch))
    return jax.tree.map(lambda array: array.reshape(num, *array.shape[2:]), jax.lax.map(step, chunks))


@functools.cache
def _pointwise_program(chunk_size: int) -> Any:
    def program(model: BehaviorModel, is_wanted: Array, observations: Observations, values: dict[str, Array]) -> Array:
        def one(observations: Observations, values: dict[str, Array]) -> Array:
            return jax.lax.map(jax.vmap(lambda draw: model.pointwise_log_likelihood(draw, observations)), values)

        return in_chunks(jax.vmap(one), chunk_size, is_wanted, (observations, values))

    return program


@functools.cache
def _correction_program(chunk_size: int) -> Any:
    def program(
        model: BehaviorModel, is_wanted: Array, fast: Observations, careful: Observations, values: dict[str, Array]
    ) -> Array:
        def one(fast: Observations, careful: Observations, draw: dict[str, Array]) -> Array:
            return model.log_likelihood(draw, careful) - model.log_likelihood(draw, fast, is_fast=True)

        def all_draws(fast: Observations, careful: Observations, draws: dict[str, Array]) -> Array:
            # One chain's draws after the other: with thousands of trials they do not fit into memory together.
            return jax.lax.map(jax.vmap(lambda draw: one(fast, careful, draw)), draws)

        return in_chunks(jax.vmap(all_draws), chunk_size, is_wanted, (fast, careful, values))

    return program
