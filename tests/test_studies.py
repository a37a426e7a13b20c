"""The studies run, small, as they are; and their committed tables are what README shows."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reproduction_of_the_paper_runs(tmp_path):
    command = [sys.executable, "studies/paper/reproduce.py", "--smoke", "--out", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False, env={**os.environ})
    assert result.returncode == 0, result.stderr
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    for study in ("quadratic", "quadratic_effort", "asymmetric_quadratic", "sigma"):
        assert f"{study}/results/mse.csv" in names
    for name in ("quadratic/results/posterior.png", "disentangling/results/designs.csv", "costs/results/bean-bag.png"):
        assert name in names


def test_the_papers_numbers_stand_next_to_the_committed_ones():
    text = (ROOT / "studies" / "paper" / "README.md").read_text()
    assert load(ROOT / "studies" / "paper" / "side_by_side.py").fill(text) == text, (
        "run python studies/paper/side_by_side.py"
    )
