"""Names of files: whatever a design is called, its files stay in the folder of the run."""

import pytest

from designstudio.core.files import name_file
from designstudio.runs.search import name_fresh


@pytest.mark.parametrize("name", ["../../up", "a/b", "c:\\d", "100 %", "..", "tab\there"])
def test_a_file_of_any_name_stays_in_its_folder(tmp_path, name):
    for path in (tmp_path / f"{name_file(name)}.nc", tmp_path / name_fresh(name)):
        path.touch()
        assert path.resolve().parent == tmp_path.resolve()
    assert len(list(tmp_path.iterdir())) == 2


def test_different_names_have_different_files_and_plain_names_stay():
    assert len({name_file(name) for name in ("a/b", "a%2Fb", "a_b", "a\\b")}) == 4
    assert name_file("two levels, μ₀ [1]") == "two levels, μ₀ [1]"
