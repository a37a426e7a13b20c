"""What a visitor gets first, and what may wait."""

import html
from collections import OrderedDict

import pytest
from bokeh.document import Document
from bokeh.models import GlyphRenderer
from panel.io.application import Application
from panel.io.session import generate_session
from panel.io.state import set_curdoc, state

from designstudio.dashboard import previews
from designstudio.dashboard.app import Studio
from designstudio.dashboard.previews import MOST_KEPT, preview_study
from designstudio.dashboard.prewarm import THEMES, _find_key
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.evaluate.preview import preview_design
from designstudio.runs.jobs import JobStore

# Panel 2 will call `name` and `button_type` otherwise.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


def draw(studio):
    """All models that a browser would get now, and the words in them."""
    models = studio.tabs.get_root(Document()).references()
    return models, " ".join(f"{getattr(model, 'text', '')} {getattr(model, 'label', '')}" for model in models)


def test_numbers_verdict_and_figures_come_first_and_controls_when_they_stand(tmp_path):
    session = generate_session(Application())
    document = session.document
    with set_curdoc(document):
        studio = Studio(JobStore(tmp_path))
        first, words = draw(studio)
        assert "correlation of prior and cost" in words
        assert "verdict" in words
        assert sum(isinstance(model, GlyphRenderer) for model in first) >= 6
        assert "Check with simulations" not in words
        state._on_load(document)
        models, words = draw(studio)
        assert "Check with simulations" in words
        # Much can wait.
        assert len(models) > 1.5 * len(first)


def test_a_tile_and_the_sentence_below_it_change_in_one_piece(tmp_path):
    studio, texts = Studio(JobStore(tmp_path)), []
    for model in studio.tabs.get_root(Document()).references():
        if "text" in model.properties():
            model.on_change("text", lambda _, old, new: texts.append((html.unescape(old), html.unescape(new))))
    studio.choice.param.update(sigmas=[0.1], trials=[90])
    ((before, after),) = [(old, new) for old, new in texts if "correlation of prior and cost" in new]
    assert "told apart" in before
    assert "are confounded" not in before
    # The tile's word, and the sentence.
    assert ">confounded<" in after
    assert "are confounded" in after


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


def test_a_page_that_no_browser_waits_for_is_whole_at_once(tmp_path):
    assert "Check with simulations" in draw(Studio(JobStore(tmp_path)))[1]
