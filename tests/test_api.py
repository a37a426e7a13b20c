"""The public API: `import designstudio as ds`."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import designstudio as ds
from designstudio.core import configuration
from designstudio.runs import fit as fitting
from designstudio.runs import report as reporting
from designstudio.viz import evaluation, fits
from tests.search.make_search import TEXT

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "studies" / "quickstart" / "study.toml"


def run_python(code, **environment):
    """What a fresh process prints."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "DESIGNSTUDIO_", "XLA_"))}
    variables |= {"PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], check=False, env=variables, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("jax", "numpy", "pandas", "xarray", "optuna", "holoviews", "panel", "importlib.metadata")
    code = f"import sys; before = set(sys.modules); import designstudio; print(set({heavy}) & (set(sys.modules) - before))"
    assert run_python(code)[0] == "set()"


def test_importing_the_package_takes_less_than_a_third_of_a_second():
    code = "import time; t = time.perf_counter(); import designstudio; print(time.perf_counter() - t)"
    # The quickest of three: another process may be busy.
    assert min(float(run_python(code)[0]) for _ in range(3)) < 0.3


def test_importing_any_room_leaves_jax_as_it_is(tmp_path):
    code = """
import jax
watched = ("jax_num_cpu_devices", "jax_compilation_cache_dir", "jax_persistent_cache_min_entry_size_bytes")
before = {name: getattr(jax.config, name) for name in watched}
import importlib, pkgutil, designstudio
for module in pkgutil.walk_packages(designstudio.__path__, "designstudio."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert {name: getattr(jax.config, name) for name in watched} == before
from jax._src import xla_bridge
assert not xla_bridge.backends_are_initialized()
"""
    run_python(code, XDG_CACHE_HOME=str(tmp_path / "cache"), XDG_DATA_HOME=str(tmp_path / "data"))
    assert not (tmp_path / "cache" / "designstudio").exists()
    assert not (tmp_path / "data").exists()


def test_every_public_name_is_there_and_typed():
    assert sorted(ds.__all__) == sorted({*ds._PLACES, "__version__"})
    for name in ds.__all__:
        assert getattr(ds, name) is not None
    assert set(ds.__all__) <= set(dir(ds))
    # Editors and mypy read the imports that only they execute.
    tree = ast.parse(Path(ds.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == ds._PLACES


def test_the_reference_lists_what_is_public_and_nothing_else():
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\bds\.(\w+)", page)) == set(ds.__all__)


@pytest.mark.parametrize("first", ["room", "command"])
def test_a_command_keeps_its_name_when_the_room_of_that_name_is_imported(first):
    lines = ["from designstudio.evaluate.evaluate_study import StudyResult", "ds.evaluate"]
    both = "; ".join(lines if first == "room" else lines[::-1])
    code = f"import designstudio as ds; {both}; from designstudio import evaluate; print(ds.evaluate is evaluate, evaluate)"
    assert run_python(code)[0].startswith("True <function evaluate")


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        _ = ds.evalute


def test_every_core_is_a_device_and_the_cache_is_on_unless_said_otherwise(tmp_path):
    code = """
import jax, designstudio as ds
ds.configure({})
print(len(jax.devices()), jax.config.jax_compilation_cache_dir)
"""
    folder = str(tmp_path / "mine")
    cores = min(configuration.count_cores(), configuration.MOST_CPU_DEVICES)
    assert run_python(code.format(""), DESIGNSTUDIO_CACHE_DIR=folder)[0] == f"{cores} {folder}"
    assert run_python(code.format("devices=3, cache=False"), DESIGNSTUDIO_CACHE_DIR=folder)[0] == "3 None"
    assert run_python(code.format(f"cache={folder!r}"), DESIGNSTUDIO_CORES="1")[0] == f"1 {folder}"
    assert run_python(code.format(""), JAX_COMPILATION_CACHE_DIR=folder, DESIGNSTUDIO_CORES="1")[0] == f"1 {folder}"


def test_what_configure_is_told_about_the_cache_holds_for_evaluations_and_other_processes(tmp_path):
    code = """
import designstudio as ds, os
ds.configure(cache={})
from designstudio.core.configuration import evaluations_folder
print(evaluations_folder(), repr(os.environ["DESIGNSTUDIO_CACHE_DIR"]))
"""
    folder = tmp_path / "mine"
    assert run_python(code.format(f"{str(folder)!r}"))[0] == f"{folder / 'evaluations'} {str(folder)!r}"
    assert run_python(code.format("False"))[0] == "None ''"


def test_the_first_computation_configures_and_a_running_jax_is_taken_as_it_is(tmp_path):
    code = """
import jax
{}
import designstudio as ds
from designstudio.model.actors import load_actor
load_actor("quadratic")
print(len(jax.devices()), jax.config.jax_compilation_cache_dir)
"""
    folder = str(tmp_path / "mine")
    fresh = run_python(code.format(""), DESIGNSTUDIO_CORES="3", DESIGNSTUDIO_CACHE_DIR=folder)
    assert fresh == (f"3 {folder}", "")
    used = run_python(
        code.format("jax.devices(); jax.numpy.zeros(3) + 1"), DESIGNSTUDIO_CORES="3", DESIGNSTUDIO_CACHE_DIR=folder
    )
    assert used == (f"1 {folder}", "")


def test_programs_note_one_line_of_each_operation_unless_jax_was_told_otherwise(monkeypatch):
    before = jax.config.jax_traceback_in_locations_limit

    def count_callers():
        jax.config.update("jax_traceback_in_locations_limit", 10)
        ds.configure()
        # A function of its own each time: what was traced is kept.
        return jax.jit(lambda x: jnp.sin(x) + 1).lower(1.0).as_text(debug_info=True).count("callsite(")

    try:
        assert count_callers() == 0
        monkeypatch.setenv("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "10")
        assert count_callers() > 0
    finally:
        jax.config.update("jax_traceback_in_locations_limit", before)


def test_devices_that_come_too_late_give_one_sentence():
    said = run_python(
        "import jax; jax.devices(); import designstudio as ds; ds.configure(devices=1); ds.configure(devices=2)"
    )[1]
    assert said.count("Warning") == 1
    assert "JAX already runs with 1 CPU device(s), so devices=2 has no effect" in said


@pytest.mark.parametrize("given", [0, -1, 2.5, True, "two"])
def test_devices_must_be_a_number_of_cores(given):
    with pytest.raises(ds.StudioError, match="devices takes a number of CPU cores such as 4"):
        ds.configure(devices=given)


def test_a_wrong_number_of_cores_in_the_environment_is_refused(monkeypatch):
    monkeypatch.setenv("DESIGNSTUDIO_CORES", "many")
    with pytest.raises(
        ds.StudioError, match="DESIGNSTUDIO_CORES takes a number of CPU cores such as 4, but 'many' was given"
    ):
        ds.configure()


def test_one_line_in_a_process_where_jax_runs_prints_one_readable_screen():
    code = "import jax; jax.devices(); import designstudio as ds; print(ds.evaluate({!r}, fidelity='information'))"
    # Compiled as the other tests' programs are, and as many devices: nothing here is about how.
    cores = str(min(configuration.count_cores(), configuration.MOST_CPU_DEVICES))
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={cores}"
    kept = {name: os.environ[name] for name in (configuration.CACHE,) if name in os.environ}
    printed, warned = run_python(code.format(str(STUDY)), XLA_FLAGS=flags, DESIGNSTUDIO_CORES=cores, **kept)
    assert warned == ""
    lines = printed.splitlines()
    assert lines[0] == "Does a second uncertainty level separate prior from cost?"
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert "wide-levels leaves least open" in printed


def test_a_run_is_loaded_as_it_was_returned(tmp_path, monkeypatch):
    # Figures are tested where they are drawn.
    monkeypatch.setattr(evaluation, "draw_evaluation", lambda *_: {})
    given = ds.evaluate(STUDY, fidelity="information", num_datasets=30, folder=tmp_path / "run")
    loaded = ds.load_run(tmp_path / "run")
    assert repr(loaded) == repr(given)
    assert loaded.to_frame().equals(given.to_frame())


def test_power_takes_the_path_of_a_study():
    result = ds.power(str(STUDY), "trials", (30, 60), design="two-levels", fidelity="information", num_datasets=20)
    assert isinstance(result, ds.PowerCurves)
    assert result.design.name == "two-levels"
    assert result.points["trials"].values.tolist() == [30, 60]
    with pytest.raises(ds.StudioError, match="Unknown design 'no-such'"):
        ds.power(ds.read_study(STUDY), design="no-such")


@pytest.mark.usefixtures("quick_pictures")
def test_a_search_leaves_a_folder_if_one_is_named_and_nothing_otherwise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "study.toml"
    study.write_text(TEXT.replace("[search]\n", '[search]\nfidelity = "information"\n'))
    kept = ds.search(study, num_candidates=2, folder="kept")
    assert {"result.json", "winner.toml", "history.png"} <= {path.name for path in (tmp_path / "kept").iterdir()}
    before = set(tmp_path.iterdir())
    nowhere = ds.search(ds.read_study(study), num_candidates=2)
    assert set(tmp_path.iterdir()) == before
    scores = [[record.scores for record in result.records] for result in (kept, nowhere)]
    assert scores[0] == scores[1]
    assert len(kept.records) == 2
    with pytest.raises(ds.StudioError, match="either a number of candidates or a number of minutes"):
        ds.search(study, num_candidates=2, minutes=1)


def test_fit_and_plan_go_by_folders(fit, folder, request_of_two, tmp_path, monkeypatch):
    # Drawing all figures takes longer than all else; they are tested where they are drawn.
    monkeypatch.setattr(fits, "draw_fit", lambda *_, **__: {})
    # What the session has fitted is found here, and not fitted again.
    mine = shutil.copytree(folder, tmp_path / "fits")
    result = ds.fit("example", request=request_of_two, folder=mine)
    assert result.to_frame().equals(fit.to_frame())
    assert {"result.json", "as-run.json"} <= {path.name for path in mine.iterdir()}
    plan = ds.plan(mine, num_datasets=0, folder=tmp_path / "plan")
    assert isinstance(plan, ds.Plan)
    assert ds.read_study(tmp_path / "plan" / "study.toml").cost == plan.study.cost


def test_a_report_is_of_the_folder_that_is_named(monkeypatch):
    asked = []
    monkeypatch.setattr(reporting, "write_report", lambda folder, out, **_: asked.append((folder, out)))
    ds.report("fits")
    ds.report(Path("fits"), out="page.html")
    assert asked == [(Path("fits"), None), (Path("fits"), Path("page.html"))]


def test_what_fit_is_told_takes_the_place_of_what_the_request_says(monkeypatch):
    asked = []
    monkeypatch.setattr(fitting, "run_fit", lambda request, **_: asked.append(request))
    ds.fit("data.csv", costs="quadratic", seed=5, request=ds.FitRequest(per_condition=("mu_0",)))
    ds.fit(Path("data.csv"), per_condition=(), pools=True)
    first, second = asked
    assert (first.fit.costs, first.fit.seed, first.fit.per_condition) == (("quadratic",), 5, ("mu_0",))
    assert (first.chooses_conditions, second.chooses_conditions) == (True, False)
    assert second.fit.pools
    assert second.data == "data.csv"
