"""Make the example data that come with the package: SIMULATED force reproduction, in newtons.

    python studies/example_data/make.py [--out FOLDER]

Twelve simulated subjects press to reproduce a force that was shown clearly or blurred, and effort costs them something
(`quadratic_effort`). Numbers are rounded as a force sensor rounds them, so that every computer makes the same file.
"""

import argparse
from pathlib import Path

import jax
import numpy as np

from designstudio.core.tables import write_csv
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import Parameter
from designstudio.model.priors import AbstractPrior, Uniform
from designstudio.model.simulate import Participants, draw_participants, draw_stimuli, draw_uniform, simulate_trials

FOLDER = Path(__file__).parents[2] / "designstudio" / "fitting" / "reading" / "example"
SEED = 7
NUM_SUBJECTS, NUM_TRIALS = 12, 60
CONDITIONS = ("clear", "blurred")
LOW, HIGH = 8.0, 32.0
# Of the sensor; coarse against what 32-bit arithmetic differs by between computers.
DECIMALS = 1
# The actor's unit in newtons.
UNIT = 10.0
POPULATION: dict[str, AbstractPrior | list[AbstractPrior]] = {
    "mu_0": Uniform(1.4, 2.4),
    "sigma_0": Uniform(0.15, 0.3),
    "sigma": [Uniform(0.06, 0.12), Uniform(0.2, 0.35)],
    "sigma_r": Uniform(0.06, 0.14),
    "beta": Uniform(0.7, 0.98),
}


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER)
    make_example(parser.parse_args().out)


def make_example(folder: Path) -> None:
    """Simulate, and write trials and truth into a folder."""
    key_participants, key_stimuli, key_trials, key_order = jax.random.split(jax.random.key(SEED), 4)
    actor = ExactActor(get_cost("quadratic_effort"))
    model = BehaviorModel(actor, num_conditions=len(CONDITIONS), per_condition=["sigma"])
    participants = draw_participants(model, NUM_SUBJECTS, key=key_participants, population=POPULATION)
    participants = _round(participants)
    shape = (NUM_SUBJECTS, len(CONDITIONS), NUM_TRIALS)
    stimuli = np.round(draw_stimuli(*shape, low=LOW, high=HIGH, key=key_stimuli), DECIMALS)
    trials = simulate_trials(model, participants, stimuli / UNIT, key=key_trials, conditions=CONDITIONS)
    # Conditions take turns at random, as in an experiment.
    order = np.argsort(draw_uniform(np.arange(NUM_SUBJECTS), 1, len(CONDITIONS) * NUM_TRIALS, key=key_order)[:, 0])
    rows = [
        {
            "subject": _name(subject),
            "condition": CONDITIONS[int(trials["condition_index"].values[subject, place])],
            "trial": trial + 1,
            "stimulus": f"{trials['stimulus'].values[subject, place] * UNIT:.{DECIMALS}f}",
            "response": f"{trials['response'].values[subject, place] * UNIT:.{DECIMALS}f}",
        }
        for subject in range(NUM_SUBJECTS)
        for trial, place in enumerate(order[subject])
    ]
    write_csv(folder / "force_reproduction.csv", rows)
    _write_truth(folder / "truth.csv", model.parameters, participants)


def _round(participants: Participants) -> Participants:
    """The participants with so few decimals that a file can hold them exactly."""
    return participants.map(lambda values: values.round(3), keep_attrs=True)


def _write_truth(path: Path, parameters: tuple[Parameter, ...], participants: Participants) -> None:
    columns: dict[str, np.ndarray] = {}
    for parameter in parameters:
        values = parameter.rescale(participants[parameter.name].values, UNIT)
        if values.ndim == 2:
            columns |= {f"{parameter.name}_{label}": values[:, k] for k, label in enumerate(CONDITIONS)}
        else:
            columns[parameter.name] = values
    write_csv(
        path,
        [
            {"subject": _name(k), **{name: f"{values[k]:.6g}" for name, values in columns.items()}}
            for k in range(NUM_SUBJECTS)
        ],
    )


def _name(subject: int) -> str:
    return f"S{subject + 1:02d}"


if __name__ == "__main__":
    main()
