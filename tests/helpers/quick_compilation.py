"""Compilation for tests: they run hundreds of programs once or twice each, so compiling takes most of their time.

The programs are those of users. Only how thoroughly XLA turns them into machine code for CPUs is different: LLVM optimises
less, and kernels take the shorter of XLA's two ways. The first two flags save a quarter of the CPU time of the tests of
actors and of behaviour. The third makes programs shorter, but not at any price: optimising for size leaves out vector
instructions, which saves 6 % where tests mostly compile (actors, likelihood, coordinates), and costs 20 % where they fit
(12 subjects take 2.3 s in place of 0.6). The fourth keeps a program in one piece: by default it is split into 32, for as
many threads, and each has to be set up.
"""

import mmap
import os
from pathlib import Path

import jaxlib

FLAGS = {
    "xla_backend_optimization_level": "1",
    "xla_cpu_use_fusion_emitters": "false",
    "xla_backend_extra_options": "xla_cpu_disable_loop_unrolling,xla_cpu_disable_slp_vectorizer",
    "xla_cpu_parallel_codegen_split_count": "1",
}
# For `jax.jit`, of long programs that run once on few numbers: LLVM hardly optimises at all.
ONCE = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def compile_quickly():
    """Tell XLA, before it starts; processes that tests start are told too."""
    given = os.environ.get("XLA_FLAGS", "")
    flags = [f"--{name}={value}" for name, value in FLAGS.items() if name not in given and _is_known(name)]
    os.environ["XLA_FLAGS"] = " ".join([given, *flags]).strip()


def _is_known(name):
    """XLA stops at a flag that its version does not have."""
    for path in Path(jaxlib.__file__).parent.glob("*.so"):
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as library:
            if library.find(name.encode()) >= 0:
                return True
    return False
