"""designstudio: design and simulate experiments for Bayesian actor models, before any data are collected."""

from importlib.metadata import version

from designstudio.core.configuration import enable_compilation_cache, use_all_cores

enable_compilation_cache()
use_all_cores()

__version__ = version("designstudio")
