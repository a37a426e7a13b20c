"""Studies that are written to a file are read back as they were."""

import dataclasses
import itertools
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designstudio.core.fingerprint import as_plain
from designstudio.evaluate.fingerprint import describe_question
from designstudio.model.priors import Constant
from designstudio.study import Quantity, StudyFileError, format_study, parse_study, read_study, write_study
from designstudio.study.design import Condition
from designstudio.study.file import read_example
from designstudio.study.schema.toml_text import write_comment, write_pair
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.search.make_search import make_question
from tests.study.random_studies import make_random_study
from tests.study.texts import FULL, MINIMAL

SEEDS = range(80)


def describe_all(study):
    """Everything that a study says, as plain data; objectives say what they are of."""
    search = None if study.search is None else as_plain(study.search.complete())
    rest = {name: as_plain(getattr(study, name)) for name in ("designs", "goals", "candidates", "title", "num_datasets")}
    return {**describe_question(study), **rest, "fidelity": study.fidelity, "search": search}


@pytest.fixture(scope="module")
def written():
    """Random studies and their files, by seed."""
    studies = {seed: make_random_study(seed) for seed in SEEDS}
    return {seed: (study, format_study(study)) for seed, study in studies.items()}


def test_random_studies_are_read_back_as_they_were(written):
    for seed, (study, text) in written.items():
        assert describe_all(parse_study(text, "text")) == describe_all(study), seed


def test_random_studies_are_as_different_as_studies_can_be(written):
    texts = [text for _, text in written.values()]
    wanted = ("uniform", "half_normal", "log_normal", "factor", '"truth"', "group", "[quantities]", "follows_analysis",
              "lapse_rate", "per_condition", "shared", "range", "step", "choice", "at_least", "values", "num_values",
              "candidates", "minutes", "spacing", "constraints", "margin", '"power"')  # fmt: skip
    for word in wanted:
        num = sum(word in text for text in texts)
        assert num >= 8, f"{word} in {num}"


@pytest.mark.parametrize("text", [FULL, MINIMAL, read_example()], ids=["full", "minimal", "example"])
def test_study_files_are_read_back_as_they_were(text):
    study = parse_study(text, "text")
    assert parse_study(format_study(study), "text") == study


@given(st.text(), st.text())
def test_any_text_is_escaped(key, value):
    assert tomllib.loads(write_pair(key, value)) == {key: value}


@given(st.floats(allow_nan=False), st.integers(-(2**62), 2**62))
def test_any_number_is_read_back_exactly(real, whole):
    read = tomllib.loads(write_pair("a", [real, np.float64(real), whole, np.int64(whole), True]))["a"]
    assert read == [real, real, whole, whole, True]
    assert [type(number) for number in read] == [float, float, int, int, bool]


@given(st.text())
def test_no_comment_is_ever_read(text):
    assert tomllib.loads("\n".join(["a = 1", *write_comment(text)])) == {"a": 1}


def test_notes_stand_above_everything(tmp_path):
    path = tmp_path / "study.toml"
    write_study(make_study(), path, notes=["Made of a pilot.\nseed = 5", "word " * 50])
    text = path.read_text()
    assert text.startswith("# Made of a pilot. seed = 5\n# word word")
    assert max(map(len, text.splitlines())) <= 125
    assert read_study(path) == make_study()


def test_an_existing_file_is_only_replaced_when_told(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("mine")
    with pytest.raises(StudyFileError, match="already"):
        write_study(make_study(), path)
    assert path.read_text() == "mine"
    write_study(make_study(), path, overwrite=True)
    assert read_study(path) == make_study()
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    for overwrite in (False, True):
        with pytest.raises(StudyFileError, match="No space left"):
            write_study(make_study(), tmp_path / "study.toml", overwrite=overwrite)
    assert not list(tmp_path.iterdir())


def test_an_actor_file_is_found_again_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "studies").mkdir()
    actor = tmp_path / "studies" / "mine.json"
    actor.write_text("{}")
    monkeypatch.chdir(tmp_path)
    for given_name, folder in itertools.product((str(actor), "studies/mine.json"), ("studies", ".", str(tmp_path))):
        study = make_study(actor=given_name)
        path = tmp_path / folder / "study.toml"
        write_study(study, path, overwrite=True)
        assert read_study(path).actor == str(actor)
    assert '"mine.json"' in (tmp_path / "studies" / "study.toml").read_text()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quantities": (Quantity("ratio", lambda values: values["mu_0"], "ratio of mine, 2"),)}, "cannot be read"),
        ({"title": "two\nlines"}, "one line of plain text"),
        ({"search": dataclasses.replace(make_question().search, block_size=8)}, "search.block_size would be 16, not 8"),
        (
            {
                "designs": (
                    dataclasses.replace(
                        TWO_LEVELS, conditions=(Condition("a", 9, {"sigma": 0.1}, {"mu_0": Constant(1.0)}),)
                    ),
                )
            },
            r"designs\[0\].conditions\[0\].levels would be",
        ),
    ],
)
def test_what_files_have_no_words_for_is_refused(changes, words):
    with pytest.raises(StudyFileError, match=f"cannot be written to a file.*{words}"):
        format_study(make_study(**changes))


def test_the_unit_of_a_quantity_does_not_stop_anyone():
    study = make_study(quantities=(Quantity.from_formula("ratio", "sigma_0 / sigma_r", "log units"),))
    assert parse_study(format_study(study), "text").quantities[0].text == "sigma_0 / sigma_r"
