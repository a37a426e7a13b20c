"""Partial pooling: what the subjects of a group have in common, and what that says about each of them.

The group model. Every free parameter (for each condition, if it differs between them) is brought to the whole real line by
the scale of its analysis prior's support: t = log((value - low) / (high - value)), or log(value - low) without an upper end.
Over subjects t is Normal(location, spread²), independently for each parameter. Chosen like this, the group can never leave
the support, and needs no truncation. The location's prior has the mean and standard deviation of the analysis prior, the
spread's is half-normal.

The method. NUTS samples group and subjects together, in coordinates in which they are nearly independent (`joint.py`). These
come from a pilot (`pilot.py`): where the group is by Laplace's approximation, and how much each subject's data say there.
"""

from designstudio.inference.hierarchical.pool import pool_subjects
from designstudio.inference.hierarchical.shrinkage import compute_shrinkage

__all__ = ["compute_shrinkage", "pool_subjects"]
