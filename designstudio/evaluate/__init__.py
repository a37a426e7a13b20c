"""One design, from simulation to scores, at the fidelity that the question needs."""
