"""Partial pooling: what the subjects of a group have in common, and what that says about each of them.

The group model. Every free parameter (for each condition, if it differs between them) is brought to the whole real line by
the scale of its analysis prior's support: t = log((value - low) / (high - value)), or log(value - low) without an upper end.
Over subjects t is Normal(location, spread²), independently for each parameter. Chosen like this, the group can never leave
the support, and needs no truncation.

The method has two stages (Lunn, Barrett, Sweeting & Thompson, 2013). The draws of the separate fits stand for the
likelihoods of the subjects, after the analysis prior has been divided out; a Gibbs sampler chooses one of the draws of each
subject, given the group, and then draws the group, given the choices. It never evaluates the likelihood again, and it is
exact up to one thing: a subject can only be where its separate fit has draws. `num_supporting` says how many of them count;
`fit_group` fits once more, nearer to the group, where they are few.
"""

from designstudio.fit.pooling.focus import fit_group, focus_model, pool_closely
from designstudio.fit.pooling.pool import pool_subjects
from designstudio.fit.pooling.shrinkage import compute_shrinkage

__all__ = ["compute_shrinkage", "fit_group", "focus_model", "pool_closely", "pool_subjects"]
