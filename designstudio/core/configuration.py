"""How JAX is set up: its persistent compilation cache is on, and all cores are used.

What was compiled once is read back by the next process. The cache lies in the user's cache folder, next to that of finished
evaluations; `DESIGNSTUDIO_CACHE_DIR` moves both, an empty value turns them off, and a cache that JAX itself was told about
(`JAX_COMPILATION_CACHE_DIR`) is left alone. `DESIGNSTUDIO_CORES` says how many cores a process may use, where several share
a machine.
"""

import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

import jax
import platformdirs

# More would leave each with too little to do.
MOST_CPU_DEVICES = 16


def cache_folder() -> Path | None:
    """Where compiled code is kept, or None if it is not."""
    configured = os.environ.get("DESIGNSTUDIO_CACHE_DIR")
    if configured is not None:
        return Path(configured) if configured else None
    return Path(platformdirs.user_cache_dir("designstudio")) / "compiled"


def evaluations_folder() -> Path | None:
    """Where finished evaluations are kept, or None if they are not."""
    configured = os.environ.get("DESIGNSTUDIO_CACHE_DIR")
    if configured is not None:
        return Path(configured) / "evaluations" if configured else None
    return Path(platformdirs.user_cache_dir("designstudio")) / "evaluations"


def use_all_cores() -> None:
    """Show every core to JAX as a device of its own, unless the devices are configured already.

    JAX runs the small operations of a sampler on one core of a device; several devices work on several parts of a batch.
    """
    configured = os.environ.get("DESIGNSTUDIO_CORES")
    if configured:
        jax.config.update("jax_num_cpu_devices", int(configured))
        return
    if getattr(jax.config, "jax_num_cpu_devices", 0) > 0 or "xla_force_host_platform_device_count" in os.environ.get(
        "XLA_FLAGS", ""
    ):
        return
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jax.config.update("jax_num_cpu_devices", min(num_cores, MOST_CPU_DEVICES))


def enable_compilation_cache() -> None:
    """Turn the cache on, unless it is configured already."""
    folder = cache_folder()
    if folder is None or getattr(jax.config, "jax_compilation_cache_dir", None) is not None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # Small programs are worth keeping too: a study compiles dozens of them.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


class Programs(NamedTuple):
    """Programs that were made ready to run.

    Attributes:
        compiled: those that were compiled.
        found: those that were found in the cache.
    """

    compiled: int
    found: int

    def __sub__(self, earlier: "Programs") -> "Programs":
        return Programs(self.compiled - earlier.compiled, self.found - earlier.found)


_events = {"ready": 0, "found": 0}


@functools.cache
def _listen() -> None:
    def on_duration(event: str, duration_secs: float, **_: Any) -> None:
        _events["ready"] += event == "/jax/core/compile/backend_compile_duration"

    def on_event(event: str, **_: Any) -> None:
        _events["found"] += event == "/jax/compilation_cache/cache_hits"

    jax.monitoring.register_event_duration_secs_listener(on_duration)
    jax.monitoring.register_event_listener(on_event)


def count_programs() -> Programs:
    """How many programs this process has made ready since the first call."""
    _listen()
    return Programs(_events["ready"] - _events["found"], _events["found"])
