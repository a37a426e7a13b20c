import json
import shutil

import holoviews as hv
import pytest

from designstudio.core.files import write_json
from designstudio.dashboard.figures.live_search import find_clicked, list_points
from designstudio.dashboard.pages.search import SearchPage
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.search_choice import FRONT, MINUTES_BUDGET, RMSE, SearchChoice
from designstudio.errors import StudioError
from designstudio.runs.jobs import JobStore
from designstudio.runs.jobs.job import FINISHED, OUTCOME, SEARCH, STUDY
from designstudio.runs.search import write_search
from designstudio.search.run_search import Budget, run_search
from designstudio.search.watching import SearchWatch
from designstudio.study import Objective, format_study, parse_study
from tests.search.make_search import make_question

# Panel 2 will call `name` and `button_type` otherwise.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
ELSEWHERE = "what somebody else has written"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def question():
    aims = (Objective("rmse", ("mu_0", "beta")), Objective("minutes"))
    quick = {"fidelity": "information", "verify_fidelity": "information", "num_datasets": 16, "num_fresh": 16}
    return make_question(objectives=aims, **quick).replace(title=HOSTILE)


@pytest.fixture(scope="module")
def finished(question, tmp_path_factory):
    """A finished search of six trials, with all its files."""
    at = tmp_path_factory.mktemp("search") / "run"
    result = run_search(question, at, Budget(6))
    write_search(result, at)
    (at / STUDY).write_text(format_study(question))
    return at


@pytest.fixture
def folder(finished, tmp_path):
    """The same among the runs of the page."""
    return shutil.copytree(finished, tmp_path / "runs" / "run")


@pytest.fixture
def page(tmp_path):
    opened = []
    page = SearchPage(DesignChoice(), JobStore(tmp_path / "runs"), on_open=lambda *given: opened.append(given))
    page.opened = opened
    return page


def watch(page, file, place):
    page.file.value, page.place.value = str(file), str(place)
    page._try(page._watch_elsewhere)


def read_all(page):
    """All HTML of the page."""
    return "".join(pane.object for pane in page.__panel__().select(lambda o: type(o).__name__ == "HTML") if pane.object)


@pytest.mark.parametrize("changes", [
    {},
    {"objective": RMSE, "quantities": ["beta"], "levels": (2, 2)},
    {"objective": FRONT, "trials": (30, 120), "most_minutes": None},
    {"low": (0.25, 1.0), "high": (3.0, 5.0), "distributions": ["uniform"]},
    {"levels": (1, 1), "sigma": (0.1, 0.1)},
])  # fmt: skip
def test_every_choice_is_a_study_that_files_can_hold(changes):
    study = SearchChoice(DesignChoice(), **changes).to_study()
    assert parse_study(format_study(study), "the file") == study


def test_the_first_search_is_for_information_at_the_length_of_the_design():
    design = DesignChoice(trials=[30, 30])
    study = SearchChoice(design).to_study()
    assert study.search.space.variables["trials"] == 60
    assert study.search.objectives == ()
    assert study.designs[0] == design.to_design()


def test_another_cost_has_other_parameters():
    design = DesignChoice()
    choice = SearchChoice(design, objective=RMSE)
    design.cost = "quadratic"
    choice.follow_cost()
    assert choice.to_study().search.objectives == (Objective("rmse", ("mu_0",)),)


@pytest.mark.parametrize(("changes", "words"), [
    ({"objective": FRONT}, "give the number of trials a range"),
    ({"objective": RMSE, "quantities": []}, "Choose parameters"),
    ({"distributions": []}, "at least one spacing"),
    ({"sigma": (0.1, 0.1)}, "one level"),
    ({"low": (3.0, 3.0), "high": (2.0, 2.0)}, "Stimuli cannot begin at 3"),
    ({"most_minutes": 1.0}, "90 trials take 7.5 minutes"),
])  # fmt: skip
def test_an_impossible_search_is_refused_in_a_sentence(changes, words):
    with pytest.raises(StudioError, match=words):
        SearchChoice(DesignChoice(), **changes).to_study()


def test_the_budget_is_designs_or_minutes():
    choice = SearchChoice(DesignChoice(), num_designs=7)
    assert choice.to_settings() == {"candidates": 7, "minutes": None, "workers": 1}
    choice.budget = MINUTES_BUDGET
    assert choice.to_settings() == {"candidates": None, "minutes": 10.0, "workers": 1}


def test_time_as_an_aim_frees_the_number_of_trials(page):
    page.state.objective = FRONT
    assert page.state.trials[0] < page.state.trials[1]
    page.state.to_study()


def test_start_writes_down_a_job_and_watches_it(page, monkeypatch):
    monkeypatch.setattr(JobStore, "start", lambda self, job: write_json(job.folder / OUTCOME, {"state": FINISHED}))
    page._try(page._begin)
    (job,) = page._store.list()
    assert job.kind == SEARCH
    assert job.settings == page.state.to_settings()
    assert parse_study((job.folder / STUDY).read_text(), STUDY) == page.state.to_study()
    assert page.job_card.job.folder == job.folder


def test_a_finished_search_shows_its_verdict_and_both_scores_of_finalists(page, folder):
    watch(page, folder / STUDY, folder)
    record = json.loads((folder / "result.json").read_text())
    shown = read_all(page)
    assert "on the front: none is better in everything" in shown
    assert "in the search" in shown
    assert "on fresh data" in shown
    assert f"candidate {record['finalists'][0]['number']}" in shown
    assert [entry.number for entry in page.results.shown.fresh if entry.number is not None] == [
        entry["number"] for entry in record["finalists"]
    ]
    assert page.results._front_card.visible


def test_what_users_have_written_is_escaped(page, folder):
    watch(page, folder / STUDY, folder)
    assert HOSTILE not in read_all(page)
    assert "&lt;img src=x" in read_all(page)


def test_a_click_on_a_point_opens_its_design(page, folder):
    watch(page, folder / STUDY, folder)
    up, across = page.results.shown.result.objectives
    number, x, y = list_points(page.results.shown, None, up)[3]
    page.results.click(x, y)
    study, design = page.opened[-1]
    assert study == page.watch.question
    assert design.name == f"candidate {int(number)}"
    number, x, y = list_points(page.results.shown, across, up)[0]
    page.results.click(x, y, is_front=True)
    assert len(page.opened) == 2
    page.results.click(x, y + 100.0, is_front=True)
    assert len(page.opened) == 2


def test_the_button_opens_the_chosen_candidate(page, folder):
    watch(page, folder / STUDY, folder)
    page.results.candidate.value = page.results.candidate.options[-1]
    page.results.open_design.clicks += 1
    assert page.opened[0][1].name == f"candidate {page.results.candidate.options[-1]}"
    assert page.results.shown.chosen == page.results.candidate.options[-1]


def test_a_click_beside_all_points_finds_none(folder, question):
    points = list_points(None, None, question.search.objectives[0])
    assert find_clicked(points, 1.0, 1.0) is None


@pytest.mark.parametrize(("file", "place", "words"), [
    ("", "", "give its study file"),
    ("run/study.toml", "nowhere", "There is no &#x27;nowhere&#x27; in the folder of the runs"),
    ("run/missing.toml", "run", "There is no &#x27;run/missing.toml&#x27; in the folder of the runs"),
    ("run/study.toml", "run/empty", "holds no search"),
    ("run/other.toml", "run", "holds no search for this study file"),
    ("run/plain.toml", "run", "no search"),
    ("run/study.toml", "sqlite:///made.db", "An address starts with postgresql://"),
    ("run/study.toml", "postgresql+psycopg2:///run", "An address starts with postgresql://"),
    ("../secret.toml", "run", "in the folder of the runs"),
    ("/etc/hostname", "run", "in the folder of the runs"),
    ("run/link.toml", "run", "in the folder of the runs"),
    ("run/study.toml", "..", "in the folder of the runs"),
    ("run/study.toml\0", "run", "in the folder of the runs"),
    ("x" * 5000, "run", "in the folder of the runs"),
])  # fmt: skip
def test_what_cannot_be_watched_is_one_sentence(page, folder, question, file, place, words, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    (tmp_path / "secret.toml").write_text(ELSEWHERE)
    (folder / "link.toml").symlink_to(tmp_path / "secret.toml")
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "other.toml").write_text(format_study(question.replace(seed=5)))
    (folder / "plain.toml").write_text(format_study(DesignChoice().to_study()))
    watch(page, file, place)
    assert page._message.visible
    assert words in page._message.object
    assert ELSEWHERE not in page._message.object
    assert page.watch is None
    assert not list(tmp_path.rglob("made.db"))


def test_watching_reads_only_what_has_changed_and_writes_nothing(folder, question):
    journal = folder / "search.journal"
    before = journal.read_bytes()
    watcher = SearchWatch(question, str(folder))
    assert len(watcher.look().finished) == 6
    assert watcher.look() is None
    # Half a line: somebody is just writing.
    journal.write_bytes(before + b'{"op_code":')
    assert len(watcher.look().finished) == 6
    assert journal.read_bytes() == before + b'{"op_code":'
    journal.write_bytes(before)


def test_a_job_of_the_store_is_opened_with_its_result(page, folder):
    job = page._store.prepare(SEARCH, HOSTILE, {}, files={})
    for path in folder.iterdir():
        if path.is_file():
            (job.folder / path.name).write_bytes(path.read_bytes())
    write_json(job.folder / OUTCOME, {"state": FINISHED, "seconds": 1.0})
    page.open(job)
    assert page.results.record["finalists"]
    assert HOSTILE not in read_all(page)
    assert not page._empty.visible


def test_figures_and_tables_can_be_taken_along(page, folder):
    watch(page, folder / STUDY, folder)
    assert len(page.results._tabulate_candidates()) == 6
    for draw in (page.results._print_history, page.results._print_front, page.results._print_designs):
        assert len(draw()) >= 1


def test_axes_follow_the_trials_of_a_search_that_begins_with_none(page, folder):
    ranges = []
    for figure in (page.results.history, page.results.front):
        state = hv.renderer("bokeh").get_plot(figure).state
        ranges += [state.x_range, state.y_range]
    watch(page, folder / STUDY, folder)
    result = page.results.shown.result
    up, across = result.objectives
    for axis, values in zip(
        ranges,
        [
            [record.number for record in result.finished],
            [record.value(up) for record in result.best],
            [record.value(across) for record in result.best],
            [record.value(up) for record in result.best],
        ],
        strict=True,
    ):
        assert axis.start < min(values)
        assert axis.end > max(values)
    # Not those of an empty figure, which end at 1.
    assert ranges[1].end < 1.0
    assert ranges[3].end < 1.0
