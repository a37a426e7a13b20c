"""Lines of keys: right, or none."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designstudio.study.file import read_example
from designstudio.study.schema.locate import locate_keys

TRICKY = '''\
# title = "no"
title = "a # b [population] = \\" }"
other.deep . "quoted key" = 'C:\\path'   # comment = 1
text = """
seed = 9
[designs]
ends in two quotes"""""
raw = \'\'\'
[[goals]] "' \'\'\'
when = 1979-05-27 07:32:00
empty = {}

[population.inner]
mu_0 = 1.5
[population]
sigma = { uniform = [0.1, 0.2], low = 0.1 }

  [[designs]]
  name = "a"
  conditions = [
    # { trials = 1 },
    { trials = 45, sigma = 0.1 },

    { trials = 46, "sig\\u006da" = 0.2 }, # the last
  ]
[designs.stimuli]
low = 1
[[designs]]
name = "b"
[[designs.conditions]]
trials = 47
[[designs.conditions]]
trials = 48
stimuli.low = 2
'''


def lines_of(text):
    return locate_keys(text, tomllib.loads(text))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_every_way_to_write_a_key_is_found_on_its_line(line_end):
    lines = lines_of(TRICKY.replace("\n", line_end))
    expected = {
        ("title",): "title =",
        ("other", "deep", "quoted key"): "other.deep",
        ("text",): "text =",
        ("raw",): "raw =",
        ("when",): "when =",
        ("empty",): "empty =",
        ("population",): "[population]",
        ("population", "inner", "mu_0"): "mu_0 =",
        ("population", "sigma", "uniform", 1): "sigma = {",
        ("designs",): "[[designs]]",
        ("designs", 0, "name"): 'name = "a"',
        ("designs", 0, "conditions", 0, "trials"): "{ trials = 45",
        ("designs", 0, "conditions", 1, "sigma"): "{ trials = 46",
        ("designs", 0, "stimuli", "low"): "low = 1",
        ("designs", 1, "name"): 'name = "b"',
        ("designs", 1, "conditions", 0, "trials"): "trials = 47",
        ("designs", 1, "conditions", 1, "trials"): "trials = 48",
        ("designs", 1, "conditions", 1, "stimuli", "low"): "stimuli.low",
    }
    found = {path: TRICKY.split("\n")[lines[path] - 1].strip() for path in expected}
    assert {path: line for path, line in found.items() if not line.startswith(expected[path])} == {}


def test_the_example_is_located_completely():
    lines = lines_of(read_example())
    rows = read_example().split("\n")
    assert rows[lines["seed",] - 1] == "seed = 1"
    assert rows[lines["designs", 3, "conditions", 1, "sigma"] - 1].startswith('  { name = "high uncertainty", trials = 45')


def test_in_doubt_there_is_no_line():
    # A document that the text does not have: the walk and the parser disagree.
    assert locate_keys("a = 1", {"a": 1, "b": 2}) == {}
    assert locate_keys("a = 1\nb = 2", {"a": 1}) == {}
    assert locate_keys("a 1", {"a": 1}) == {}
    assert locate_keys("a = " + "[" * 5000, {"a": []}) == {}


TEXTS = st.text(st.sampled_from("ab=.,# []{}'\"\\\n\t[é"), max_size=12)


def write_text(text, style):
    """The same text in one of TOML's ways."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    if style == "literal" and not set(text) & {"'", "\n"}:
        return f"'{text}'"
    if style == "lines":
        return f'"""\n{escaped}"""'
    return '"' + escaped.replace("\n", "\\n") + '"'


@given(
    st.lists(st.tuples(TEXTS, st.sampled_from(["plain", "literal", "lines"]), st.sampled_from(["", "\n", "  # c = [\n"])))
)
def test_lines_are_right_whatever_the_texts_contain(rows):
    """Each value is a list whose number tells on which line of the text its key was written."""
    text, expected = "", {}
    for number, (content, style, gap) in enumerate(rows):
        text += gap
        if number % 3 == 0:
            text += f"[[part]]\n{write_text(content + str(number), 'plain')} = 1\n"
            continue
        expected[number] = text.count("\n") + 1
        text += f"key{number} = [ {write_text(content, style)}, {{ a = {write_text(content, 'plain')} }} ]\n"
    document = tomllib.loads(text)
    lines = locate_keys(text, document)
    found = {int(str(path[-1]).removeprefix("key")): line for path, line in lines.items() if str(path[-1]).startswith("key")}
    assert found == expected
