"""The design page in a real browser."""

import json

import pytest

from designstudio.runs.jobs import FINISHED, JobStore
from tests.dashboard.browser import move_slider, open_page, read_tile, wait_until

# Number of participants of a check: few, but enough to be scored.
FEW = "20"


def begin_check(page):
    page.get_by_label("simulated participants").fill(FEW)
    page.get_by_label("simulated participants").press("Enter")
    page.get_by_role("button", name="Check with simulations").click()


def read_simulated(page):
    """Numbers of the column `simulated`, by the symbol of the parameter."""
    page.locator("th", has_text="simulated").wait_for()
    rows = page.locator("table.ds tbody tr").all()
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    return {row[0].split(" ")[0]: row[3] for row in cells}


def test_a_slider_changes_the_numbers(page):
    assert read_tile(page, "trials a participant") == "90"
    before = read_tile(page, "correlation of prior and cost")
    move_slider(page, "trials at σ₁", "ArrowRight", "ArrowRight")
    page.locator(".tile b", has_text="100").wait_for()
    move_slider(page, "σ₂ (log units)", *["ArrowRight"] * 8)
    # Levels further apart tell prior and cost apart.
    wait_until(page, lambda: float(read_tile(page, "correlation of prior and cost")) > float(before))


def test_one_level_confounds_and_the_page_says_so(page):
    page.get_by_role("button", name="1", exact=True).click()
    page.locator(".tile", has_text="confounded").wait_for()
    assert "are confounded" in page.locator("ul.verdict").inner_text()


def test_designs_are_pinned_and_compared(page):
    page.get_by_role("button", name="Pin this design").click()
    page.locator("th", has_text="pin 1").wait_for()
    move_slider(page, "trials at σ₂", "ArrowRight")
    page.locator(".tile b", has_text="95").wait_for()
    assert page.locator("th", has_text="pin 1").count() == 1
    page.get_by_role("button", name="Remove pins").click()
    page.locator("th", has_text="pin 1").wait_for(state="detached")


def test_a_check_runs_to_its_end_survives_a_reload_and_repeats_on_the_command_line(studio, browser, call, tmp_path):
    with open_page(browser, studio.address) as page:
        begin_check(page)
        page.get_by_role("button", name="Stop").wait_for()
        page.reload()
        # Nobody pressed anything: the page has found the job that runs.
        shown = read_simulated(page)
        with page.expect_download() as download:
            page.get_by_text("Download study.toml").click()
        download.value.save_as(tmp_path / "downloaded.toml")
    job = JobStore(studio.runs).list()[0]
    assert job.state == FINISHED
    code, _, errors = call("evaluate", str(job.folder / "study.toml"), "--json", "result.json")
    assert code == 0, errors
    recovery = json.loads((tmp_path / "result.json").read_text())["designs"][0]["recovery"]
    for name, symbol in (("mu_0", "μ₀"), ("beta", "β"), ("sigma_0", "σ₀"), ("sigma_r", "σᵣ")):
        assert float(shown[symbol].split(" ")[0]) == pytest.approx(recovery[name]["rmse"]["value"], rel=0.05)
    text = (tmp_path / "downloaded.toml").read_text()
    assert "quadratic_effort" in text
    assert "[[designs]]" in text


def test_a_study_file_that_is_none_is_one_sentence(page, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('cost = "<b>quadratc</b>"\n')
    page.locator("input[type=file]").first.set_input_files(path)
    page.locator(".failed").wait_for()
    message = page.locator(".failed").inner_text()
    assert message.count("\n") == 0
    assert "bad.toml" in message


def test_it_can_be_dark(studio, browser):
    with open_page(browser, f"{studio.address}/?theme=dark") as page:
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert max(int(part) for part in color.strip("rgba()").split(",")[:3]) < 90
        assert page.get_by_text("light theme").count() == 1
        # What nobody has chosen is no white box in the dark.
        color = page.get_by_role("button", name="1", exact=True).evaluate("e => getComputedStyle(e).backgroundColor")
        assert max(int(part) for part in color.strip("rgba()").split(",")[:3]) < 90


def test_pages_open_by_keyboard(page):
    tab = page.locator(".bk-tab", has_text="Power").first
    tab.focus()
    tab.press("Enter")
    page.get_by_role("button", name="Compute power").wait_for()
