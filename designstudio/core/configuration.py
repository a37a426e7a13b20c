"""How JAX is set up for this process: every core a device, and what was compiled kept for the next process.

Importing designstudio changes nothing. `configure` does, once: the doors call it when they start, and whatever computes
first calls `configure_once`, which does nothing if that has happened. If JAX already runs, as in most notebooks, its devices
stay as they are.

Three variables of the environment say what nobody says in Python. `DESIGNSTUDIO_CORES` is the number of cores that a process
may use, where several share a machine. `DESIGNSTUDIO_CACHE_DIR` is the folder of compiled programs and finished evaluations;
if it is empty, none are kept. A folder that JAX itself was told about (`JAX_COMPILATION_CACHE_DIR`) is left alone.
"""

import functools
import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import jax
import platformdirs
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from designstudio.errors import StudioError

CORES = "DESIGNSTUDIO_CORES"
CACHE = "DESIGNSTUDIO_CACHE_DIR"
LOCATIONS = "JAX_TRACEBACK_IN_LOCATIONS_LIMIT"
# More would leave each with too little to do.
MOST_CPU_DEVICES = 16

_state = {"is_configured": False}


def configure(*, devices: int | None = None, cache: str | os.PathLike[str] | bool | None = None) -> None:
    """Set JAX up for this process, and for processes that it starts.

    Call it before anything is computed to say how; otherwise the first computation does so with the defaults. JAX fixes its
    devices when it is first used: from then on it keeps those, and a warning says so if `devices` asks for others.

    Args:
        devices: CPU cores to use, each as a device of its own; by default as many as `DESIGNSTUDIO_CORES` says, or all that
            the process may use, up to 16. Accelerators are used as JAX finds them.
        cache: folder in which compiled programs and finished evaluations are kept; False keeps none. By default the folder
            that `DESIGNSTUDIO_CACHE_DIR` names, or else the user's cache folder.

    Raises:
        StudioError: if `devices`, or the number in `DESIGNSTUDIO_CORES`, is no positive whole number.
    """
    _use_devices(devices)
    if cache is not None and cache is not True:
        # Said to the processes of searches and jobs, too.
        os.environ[CACHE] = "" if cache is False else os.fspath(Path(cache).expanduser().resolve())
        jax.config.update("jax_compilation_cache_dir", None)
        reset_cache()
    _enable_compilation_cache()
    _shorten_locations()
    _state["is_configured"] = True


def configure_once() -> None:
    """Set JAX up with the defaults, unless `configure` has been called."""
    if not _state["is_configured"]:
        configure()


def cache_folder() -> Path | None:
    """Where compiled code is kept, or None if it is not."""
    configured = os.environ.get(CACHE)
    if configured is not None:
        return Path(configured) if configured else None
    return Path(platformdirs.user_cache_dir("designstudio")) / "compiled"


def evaluations_folder() -> Path | None:
    """Where finished evaluations are kept, or None if they are not."""
    configured = os.environ.get(CACHE)
    if configured is not None:
        return Path(configured) / "evaluations" if configured else None
    return Path(platformdirs.user_cache_dir("designstudio")) / "evaluations"


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _use_devices(asked: int | None) -> None:
    """Show cores to JAX as devices: it runs the small operations of a sampler on one core of a device."""
    wanted = _read_cores() if asked is None else _check_devices(asked, "devices")
    if wanted is None:
        if getattr(jax.config, "jax_num_cpu_devices", 0) > 0 or "xla_force_host_platform_device_count" in os.environ.get(
            "XLA_FLAGS", ""
        ):
            return
        wanted = min(count_cores(), MOST_CPU_DEVICES)
    try:
        jax.config.update("jax_num_cpu_devices", wanted)
    except RuntimeError:
        # JAX already runs, and would have to start again.
        running = len(jax.local_devices(backend="cpu"))
        if asked is not None and asked != running:
            warnings.warn(
                f"JAX already runs with {running} CPU device(s), so devices={asked} has no effect: call "
                "designstudio.configure before anything is computed.",
                stacklevel=3,
            )


def _read_cores() -> int | None:
    text = os.environ.get(CORES)
    if not text:
        return None
    return _check_devices(int(text) if text.isdecimal() else text, CORES)


def _check_devices(given: object, name: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise StudioError(f"{name} takes a number of CPU cores such as 4, but {given!r} was given.")
    return given


def _shorten_locations() -> None:
    """Note in programs which line an operation is from, but not all who called it, unless JAX was told to.

    Nobody sees these notes but who looks into XLA, and a first fit takes a tenth longer with all callers.
    """
    if LOCATIONS not in os.environ:
        jax.config.update(LOCATIONS.lower(), 1)


def _enable_compilation_cache() -> None:
    """Keep what is compiled, unless JAX was told already where."""
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
