"""NUTS for many chains at once, none of which waits for another's trajectory.

`trajectory` builds trees, one leapfrog step at a time; `turn` takes these steps, and jumps where that is asked for;
`step_size` and `scale` adapt steps and mass matrix; `chains` carries hundreds of chains through one loop; `posteriors`
starts them from importance sampling and gives parameters back.
"""

from designstudio.inference.nuts.chains import Chains
from designstudio.inference.nuts.posteriors import ChainBatch, ChainStart, sample_posteriors, start_chains

__all__ = ["ChainBatch", "ChainStart", "Chains", "sample_posteriors", "start_chains"]
