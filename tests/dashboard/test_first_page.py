"""What a visitor gets first, and what may wait."""

from collections import OrderedDict

import pytest
from bokeh.document import Document
from bokeh.models import GlyphRenderer
from panel.io.state import set_curdoc, state

from designstudio.dashboard import previews
from designstudio.dashboard.app import build_studio
from designstudio.dashboard.head_start import THEMES, _find_key
from designstudio.dashboard.previews import MOST_KEPT, preview_study
from designstudio.dashboard.state.design import DesignChoice
from designstudio.evaluate.preview import preview_design
from designstudio.jobs import JobShelf

# Panel 2 will call `name` and `button_type` otherwise.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


def list_text(document):
    return " ".join(str(getattr(model, "text", "")) + str(getattr(model, "label", "")) for model in document.models)


@pytest.fixture
def document(tmp_path):
    made = Document()
    with set_curdoc(made):
        build_studio(JobShelf(tmp_path)).server_doc(made)
        yield made


def test_numbers_verdict_and_figures_come_first_and_controls_when_they_stand(document):
    assert "correlation of prior and cost" in list_text(document)
    assert "verdict" in list_text(document)
    assert len(list(document.select({"type": GlyphRenderer}))) >= 6
    assert "Check with simulations" not in list_text(document)
    few = len(list(document.models))
    state._on_load(document)
    assert "Check with simulations" in list_text(document)
    # Half of all models can wait.
    assert len(list(document.models)) > 1.5 * few


@pytest.mark.parametrize(
    ("theme", "key"),
    [(None, "default"), (b"dark", "dark"), (b"default", "default"), (b"<b>", "default"), (b"\xff", "default")],
)
def test_pages_differ_by_their_theme_alone(theme, key):
    class Request:
        path, arguments = "/", {} if theme is None else {"theme": [theme], "more": [b"1"]}

    assert _find_key(Request()) == ("/", key)
    assert key in THEMES


def test_a_preview_is_computed_once_and_is_what_was_asked_for():
    first = preview_study(DesignChoice(trials=[50, 50]).to_study(fidelity="information"))
    assert preview_study(DesignChoice(trials=[50, 50]).to_study(fidelity="information")) is first
    study = DesignChoice(trials=[50, 45]).to_study(fidelity="information")
    other = preview_study(study)
    assert other is not first
    assert other.verdict == preview_design(study, study.designs[0]).verdict
    assert other.evaluation.design.num_trials == 95


def test_the_oldest_preview_is_forgotten(monkeypatch):
    monkeypatch.setattr(previews, "_kept", OrderedDict())
    monkeypatch.setattr(previews, "preview_design", lambda study, design: design.num_participants)
    for number in range(1, MOST_KEPT + 3):
        assert preview_study(DesignChoice(num_participants=number).to_study(fidelity="information")) == number
    assert len(previews._kept) == MOST_KEPT
