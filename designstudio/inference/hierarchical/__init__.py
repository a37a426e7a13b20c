"""Partial pooling: what the subjects of a group have in common, and what that says about each of them.

The group model. Every free parameter (for each condition, if it differs between them) is brought to the whole real line by
the scale of its analysis prior's support: t = log((value - low) / (high - value)), or log(value - low) without an upper end.
Over subjects t is Normal(location, spread²), independently for each parameter. Chosen like this, the group can never leave
the support, and needs no truncation. The location's prior has the mean and standard deviation of the analysis prior, the
spread's is half-normal.

The method is importance sampling in two layers. For every subject, weighted draws (particles) show where that subject might
be, whatever the group (`proposals.py`). Under a group each particle's weight is multiplied by the group's density there, and
the mean of these weights is the likelihood of the subject: the subject is integrated out. So locations and spreads alone
have a posterior that can be evaluated, and a mixture that learns from its own weighted draws samples it (`marginal.py`).
Particles made for one group serve another badly, so particles and group are improved in turn until the group no longer moves
(`group.py`), beginning where a few steps of EM put it. In the end every draw of the group chooses one particle of every
subject by its weight. The group's weights give k-hat and effective draws, the particles' weights the error that is due to
their number.
"""

from designstudio.inference.hierarchical.pool import compute_shrinkage, pool_subjects
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings

__all__ = ["PoolingSettings", "compute_shrinkage", "pool_subjects"]
