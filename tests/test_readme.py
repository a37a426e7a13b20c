"""README is made of what the commands and the benchmark printed, and its code runs."""

import re
import warnings
from pathlib import Path

import pytest

from designstudio.model.costs import PAPER_COST_NAMES, available_costs, get_cost
from tests.helpers.pages import check_call, find_calls, list_blocks, list_indented, load_script

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture
def readme():
    return load_script(ROOT / "studies" / "readme.py")


def test_every_number_in_its_tables_is_the_committed_result(readme):
    assert readme.fill(README) == README, "README is out of date: run python studies/readme.py"


def test_the_committed_benchmark_keeps_the_promises(readme):
    rows = {(row["cost"], row["architecture"]): row for row in readme.read_rows("actors_training.csv")}
    for name in PAPER_COST_NAMES:
        for architecture in ("coefficients", "coefficients (in the package)"):
            ours = rows[name, architecture]
            assert float(ours["median"]) <= 1e-4
            assert float(ours["p99"]) <= 1e-3
            assert float(ours["median"]) < float(rows[name, "paper"]["median"])
            assert float(ours["p99"]) < float(rows[name, "paper"]["p99"])
        assert float(rows[name, "coefficients"]["seconds"]) <= 60
    for row in readme.read_rows("actors_throughput.csv"):
        assert float(row["seconds (best of 3)"]) <= 2
        assert float(row["peak memory of the process (GiB)"]) <= 2


def test_the_cost_table_lists_every_cost_with_its_formula():
    for name in PAPER_COST_NAMES:
        formula = get_cost(name).formula.replace("|", "\\|")
        assert f"| `{name}` | {formula} |" in README


def test_its_commands_exist_and_take_these_options():
    blocks = list_indented(README) + [block.text for block in list_blocks(README) if block.language in ("sh", "console")]
    calls = [call for text in blocks for call in find_calls(text)]
    assert len(calls) >= 10
    for call in calls:
        check_call(call)
    for name in re.findall(r"`designstudio ([a-z]+)[^`]*`", README):
        check_call([name, "--help"])


@pytest.mark.usefixtures("no_user_costs")
@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_its_python_runs(block):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = {}
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102
    if "actions" in names:
        assert names["actions"].is_inside.all()
    elif "result" in names:
        assert any("confounded" in sentence for sentence in names["result"].verdict)
        assert {"value", "mcse"} <= set(names["scores"].columns)
    elif "fits" in names:
        assert names["fits"].comparison.total["elpd"].idxmax("cost") == "quadratic_effort"
    elif "posterior" in names:
        assert names["posterior"]["diagnostics"]["is_good"].values.all()
    else:
        assert names["power_law"].name in available_costs()
