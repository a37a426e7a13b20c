"""Prose is true: whatever module, name, file, command, option or target it names is there."""

import re
import tomllib

import pytest

from tests.helpers.prose import PACKAGE, ROOT, find_mistakes, list_pages

MAP = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGE, MODULE = ROOT / "docs" / "index.md", ROOT / PACKAGE / "errors.py"


def test_whatever_prose_names_is_there():
    mistakes = [mistake for path in list_pages() for mistake in find_mistakes(path)]
    assert not mistakes, "\n" + "\n".join(map(str, mistakes))


@pytest.mark.parametrize(
    ("false", "what"),
    [
        ("See designstudio.model.prices for more.", "there is no designstudio.model.prices"),
        ("See `designstudio.model.costs.get_price`.", "there is no designstudio.model.costs.get_price"),
        ("`designstudio/fit/run.py` does it.", "there is no designstudio/fit/run.py"),
        ("`model/prices/base.py` does it.", "there is no model/prices/base.py"),
        ("It is in `joint.py`.", "there is no joint.py"),
        ("`tests/oracles/guess.py` is slow.", "there is no tests/oracles/guess.py"),
        ("as in studies/nothing.", "there is no studies/nothing"),
        ("[a page](howto/nothing.md)", "the link howto/nothing.md leads nowhere"),
        ("`designstudio simulate` simulates.", "designstudio has no command simulate"),
        ("`designstudio evaluate study.toml --speed 3`", "designstudio evaluate has no option --speed"),
        ("    designstudio fit data.csv --speed 3", "designstudio fit has no option --speed"),
        ("With `--speed` it is faster.", "there is no option --speed"),
        ("`python studies/benchmark/fits.py --speed`", "there is no option --speed"),
        ("`make coffee` first.", "make has no target coffee"),
        ("`costs.price` is a function.", "there is no costs.price"),
        ("`measure_the_moon` is a function.", "nothing here is called measure_the_moon"),
        ("`MoonMeasure` is a class.", "nothing here is called MoonMeasure"),
        ("```python\nfrom designstudio.model.costs import get_price\n```", "designstudio.model.costs has no get_price"),
    ],
)
def test_false_prose_is_found(false, what):
    found = find_mistakes(PAGE, f"A line that is true.\n{false}\n")
    assert [mistake.what for mistake in found] == [what]
    assert found[0].line == 2 + false.startswith("```")


@pytest.mark.parametrize(
    "code",
    [
        '"""Of no\n\nuse: `joint.py`."""\n',
        "def f():\n    '''Of no\n    use: `joint.py`.'''\n",
        "class A:\n    x = 1\n    # See joint.py.\n",
        "a = 1\n\nb = 'Give it with --speed.'\n",
        '"""A command.\n\nExample: designstudio fit data.csv --speed 3\n"""\n',
    ],
)
def test_false_prose_is_found_in_docstrings_comments_and_messages(code):
    assert [mistake.line for mistake in find_mistakes(MODULE, code)] == [3]


@pytest.mark.parametrize(
    "true",
    [
        "`designstudio.model.costs.get_cost`, `costs.get_cost`, `get_cost` and designstudio.model.costs are there.",
        "`designstudio evaluate study.toml --fidelity nuts` and `make test`, `model/costs/base.py`, `base.py`, `--out`.",
        "[the tutorial](tutorial.md) and `tests/oracles/`; `python studies/benchmark/fits.py --only costs`",
        "`import designstudio as ds`; designstudio says that `jax.numpy`, `study.toml` and `mu_0` may be named.",
    ],
)
def test_true_prose_is_not(true):
    assert find_mistakes(PAGE, true) == []


def test_the_map_of_rooms_is_complete_and_has_nothing_else():
    rooms = {
        f"{PACKAGE}/{path.name}{'/' if path.is_dir() else ''}"
        for path in (ROOT / PACKAGE).iterdir()
        if (path.is_dir() and path.name != "__pycache__") or (path.suffix == ".py" and not path.name.startswith("__"))
    }
    listed = re.findall(rf"^\| `({PACKAGE}/[^/`]+/?)` \|", MAP, re.MULTILINE)
    assert sorted(listed) == sorted(rooms)


def test_a_room_of_the_map_names_its_folders_and_only_files_that_it_has():
    rows = re.findall(r"^\| `([\w/]+/)` \| (.*) \|$", MAP, re.MULTILINE)
    assert len(rows) > 10
    for room, text in rows:
        folders = [path.parent.name for path in (ROOT / room).glob("*/__init__.py") if room.startswith(PACKAGE)]
        unnamed = [folder for folder in folders if f"`{folder}/`" not in text]
        assert not unnamed, f"the map does not say what {unnamed} in {room} are for"
        named = re.findall(r"`([\w/]+(?:\.py|/))`", text)
        missing = [name for name in named if not (ROOT / room / name).exists() and not (ROOT / name).exists()]
        assert not missing, f"{room} has no {missing}"


def test_the_picture_shows_the_layers_from_top_to_bottom():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [room.strip().removeprefix(f"{PACKAGE}.") for layer in layers for room in layer.split("|")]
    picture = (ROOT / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
    shown = re.findall(r'class="name"[^>]*>([^<]+)<', picture)
    assert shown == rooms


def test_rooms_are_the_layers():
    names = {path.stem for path in (ROOT / PACKAGE).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    picture = (ROOT / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
    assert names - {"__init__", "__main__"} == set(re.findall(r'class="name"[^>]*>([^<]+)<', picture))
