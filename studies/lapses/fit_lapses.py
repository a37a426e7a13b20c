"""What lapses do to fits, and what an analysis that knows them costs.

    python studies/lapses/fit_lapses.py            about five minutes on two cores
    python studies/lapses/fit_lapses.py --num 20   a few participants, to see that it runs

200 simulated participants with 120 trials in two levels of uncertainty, both known, lapse in 0, 1 and 5 % of their trials.
Each is fitted with and without room for lapses: how often do 94 % intervals hold the truth, how wide are they, and does the
cost that was simulated win against one without its parameter?
"""

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr

from designstudio.core.configuration import configure
from designstudio.core.tables import as_markdown, fill_blocks, fill_tables, read_csv, write_csv
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.metrics.comparison import DEFAULT_RULE, LeaveOneOut, find_winners, leave_one_out
from designstudio.metrics.monte_carlo import score_share
from designstudio.model.actors import load_actor
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import Uniform
from designstudio.model.simulate import Contamination, draw_participants, draw_stimuli, simulate_trials

HERE = Path(__file__).parent
RATES = (0.0, 0.01, 0.05)
# Each with a rival that lacks its parameter.
COSTS = {"quadratic_effort": "quadratic", "asymmetric_quadratic": "quadratic"}
NUM_PARTICIPANTS, NUM_TRIALS = 200, 60
SETTINGS = FitSettings(method="importance", num_draws=500)
LOW, HIGH = 0.03, 0.97


def main() -> None:
    """Fit everybody and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num", type=int, default=NUM_PARTICIPANTS, help="how many participants")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the tables")
    options = parser.parse_args()
    configure()
    coverage, winners = [], []
    for cost, rival in COSTS.items():
        for rate in RATES:
            rows, wins = measure(cost, rival, rate, options.num)
            coverage += rows
            winners += wins
            print(*(f"{row['parameter']} {row['lapses']}: {row['coverage']}" for row in rows), sep=", ", flush=True)
            print(*(f"{row['lapses']}: the simulated cost wins {row['wins']}" for row in wins), sep=", ", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "coverage.csv", coverage)
    write_csv(options.out / "winners.csv", winners)
    if options.out == HERE / "results":
        write_readme()


def write_readme() -> None:
    """Put the committed tables into README."""
    readme = HERE / "README.md"
    readme.write_text(fill(readme.read_text(encoding="utf-8")), encoding="utf-8")


def fill(text: str) -> str:
    """README with the committed tables."""
    return fill_blocks(fill_tables(text, HERE / "results"), {"coverage": as_markdown(_compare_widths())})


def _compare_widths() -> list[dict[str, str]]:
    """One row for each parameter and rate: coverage of both analyses, and the ratio of their widths."""
    rows = read_csv(HERE / "results" / "coverage.csv")
    table = []
    for free in (row for row in rows if row["lapses"] == "free"):
        key = ("cost", "lapse rate", "parameter")
        off = next(row for row in rows if row["lapses"] == "off" and all(row[name] == free[name] for name in key))
        table.append(
            {
                **{name: free[name] for name in key},
                "free": f"{free['coverage']} ± {free['error']}",
                "off": f"{off['coverage']} ± {off['error']}",
                "width, free / off": f"{float(free['mean width']) / float(off['mean width']):.3f}",
                "failed": f"{free['failed']} / {off['failed']}",
            }
        )
    return table


def measure(cost: str, rival: str, rate: float, num: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Coverage of every parameter, and how often the simulated cost wins, with and without room for lapses."""
    people, trials = simulate(cost, rate, num)
    rows, wins = [], []
    for lapses in ("free", "off"):
        fits = {name: fit(name, trials, people["sigma"], lapses == "free") for name in (cost, rival)}
        posterior, is_good = fits[cost]["posterior"].to_dataset(), fits[cost]["diagnostics"].to_dataset()["is_good"].values
        for name in people.data_vars:
            if name == "sigma":
                continue
            draws = posterior[name].values.reshape(num, -1)
            low, high = np.quantile(draws, [LOW, HIGH], axis=1)
            holds = (low <= people[name].values) & (people[name].values <= high)
            share = score_share(holds[is_good])
            rows.append(
                {
                    "cost": cost,
                    "lapse rate": f"{rate:g}",
                    "lapses": lapses,
                    "parameter": str(name),
                    "coverage": f"{share.value:.3f}",
                    "error": f"{share.mcse:.3f}",
                    "mean width": f"{(high - low)[is_good].mean():.4g}",
                    "failed": str(int((~is_good).sum())),
                }
            )
        loo = [_leave_out(tree) for tree in fits.values()]
        elpd, mcse = (np.stack([getattr(one, field) for one in loo]) for field in ("elpd", "mcse"))
        best, is_ahead = find_winners(elpd, mcse, DEFAULT_RULE)
        is_sure = is_ahead & (np.stack([one.khat for one in loo]) <= DEFAULT_RULE.max_khat).all(axis=0)
        won, lost = (score_share(is_sure & (best == place)) for place in (0, 1))
        wins.append(
            {
                "cost": cost,
                "rival": rival,
                "lapse rate": f"{rate:g}",
                "lapses": lapses,
                "wins": f"{won.value:.3f}",
                "error": f"{won.mcse:.3f}",
                "loses": f"{lost.value:.3f}",
                "total lead": f"{(elpd[0] - elpd[1]).sum():.0f}",
                "its error": f"{np.sqrt(num) * (elpd[0] - elpd[1]).std(ddof=1):.0f}",
            }
        )
    return rows, wins


def _leave_out(tree: xr.DataTree) -> LeaveOneOut:
    likelihood, diagnostics = tree["log_likelihood"].to_dataset(), tree["diagnostics"].to_dataset()
    return leave_one_out(likelihood["response"].values, diagnostics["ess"].values)


def simulate(cost: str, rate: float, num: int) -> tuple[xr.Dataset, xr.Dataset]:
    """Participants and their trials; lapses are spread evenly, in logarithms, over the range of the stimuli."""
    actor = load_actor(cost)
    model = BehaviorModel(actor, num_conditions=2, per_condition=["sigma"])
    population: dict[str, Any] = {
        "mu_0": Uniform(1.0, 2.5),
        "sigma_0": Uniform(0.15, 0.25),
        "sigma": (Uniform(0.05, 0.1), Uniform(0.25, 0.3)),
        "sigma_r": Uniform(0.1, 0.2),
        **{parameter.name: parameter.population for parameter in actor.cost.parameters},
    }
    people = draw_participants(model, num, key=jax.random.key(1), population=population)
    stimuli = draw_stimuli(num, 2, NUM_TRIALS, low=0.25, high=5.0, key=jax.random.key(2))
    contamination = Contamination(lapse_rate=rate)
    return people, simulate_trials(model, people, stimuli, key=jax.random.key(3), contamination=contamination)


def fit(cost: str, trials: xr.Dataset, sigma: xr.DataArray, has_lapses: bool) -> xr.DataTree:
    """Posteriors of all participants."""
    model = BehaviorModel(load_actor(cost), num_conditions=2, fixed=["sigma"], has_lapses=has_lapses)
    return fit_datasets(model, trials, fixed={"sigma": sigma}, settings=SETTINGS, seed=1)


if __name__ == "__main__":
    main()
