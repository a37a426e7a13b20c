"""Everything in docs/ that can be run is run as it stands there; the rest says why not, and its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from tests.helpers.pages import ADDED, check_call, find_calls, list_blocks, list_commands, load_script

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
SHELL = ("sh", "console")
NAMES = [path.relative_to(DOCS).as_posix() for path in PAGES]


def write_file(title, text):
    """A file that the page asks the reader to write, or to add to."""
    path = Path(title.removesuffix(ADDED))
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if title.endswith(ADDED) else ""
    path.write_text(before + text)


def run_commands(text):
    """Each line in this process: a new one would spend seconds on imports."""
    for program, *arguments in list_commands(text):
        assert program == "designstudio", f"{program!r} is not run here: mark the block as not run, with a reason"
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "140", "NO_COLOR": "1"})
        assert result.exit_code == 0, f"{arguments}: {result.exception!r}\n{result.output}"


# Commands write the figures of the package, which have tests of their own.
@pytest.mark.usefixtures("no_user_costs", "quick_pictures")
@pytest.mark.parametrize(
    "path", [p for p in PAGES if list_blocks(p.read_text())], ids=lambda p: p.relative_to(DOCS).as_posix()
)
def test_the_code_of_a_page_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for block in list_blocks(path.read_text()):
        if block.title:
            write_file(block.title, block.text)
        if block.reason is not None:
            continue
        if block.language == "python":
            exec(compile(block.text, str(path), "exec"), names)  # noqa: S102
        elif block.language in SHELL:
            run_commands(block.text)


@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_what_is_not_run_has_a_reason_and_commands_that_exist(path):
    for block in list_blocks(path.read_text()):
        assert block.language, f"a block of {path.name} does not say what it is"
        if block.reason is not None:
            assert len(block.reason) > 10, f"a block of {path.name} is not run without a reason"
        if block.language in (*SHELL, "bash"):
            for call in find_calls(block.text):
                check_call(call)


@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_commands_within_the_text_exist(path):
    for call in re.findall(r"`designstudio ([a-z]+)[^`]*`", path.read_text()):
        check_call([call, "--help"])


def test_the_page_of_commands_is_up_to_date():
    module = load_script(DOCS / "make_commands.py")
    assert module.PAGE.read_text() == module.write_page(), "run python docs/make_commands.py"


def test_tables_of_what_is_registered_are_up_to_date():
    module = load_script(DOCS / "make_tables.py")
    for name in {page for page, _ in module.TABLES.values()}:
        assert (DOCS / name).read_text() == module.fill_page(name), "run python docs/make_tables.py"


def test_the_pages_build_without_a_warning_and_ask_nothing_of_the_network(tmp_path):
    pytest.importorskip("mkdocs", reason="pip install 'designstudio[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, result.stderr
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=\"?(https?:[^\s\">]*)", page.read_text())
        assert not [address for address in loaded if "canonical" not in address], page.name
