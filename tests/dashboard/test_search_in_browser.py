"""The search page in a real browser."""

from designstudio.runs.jobs import FINISHED, STOPPED, JobStore
from tests.dashboard.browser import fill, go_to, wait_until


def keep_two_levels(page):
    """One number of levels is compiled for; four would take their time."""
    handles = page.locator(".bk-input-group", has_text="number of uncertainty levels").first.locator(".noUi-handle")
    handles.nth(0).focus()
    handles.nth(0).press("ArrowRight")
    for _ in range(2):
        handles.nth(1).focus()
        handles.nth(1).press("ArrowLeft")
    page.get_by_text("2 .. 2").first.wait_for()


def test_a_search_is_started_stopped_resumed_and_its_winner_opened(studio, page):
    go_to(page, "Search")
    page.get_by_text("Find the best design").wait_for()
    keep_two_levels(page)
    fill(page, "designs to try", "4")
    fill(page, "designs to screen first", "8")
    fill(page, "data sets a design", "32")
    fill(page, "fresh data sets", "20")
    page.get_by_label("check finalists by").first.select_option("importance")
    page.get_by_role("button", name="Start").click()
    store = JobStore(studio.runs)
    wait_until(page, lambda: any(job.kind == "search" for job in store.list()))
    job = next(job for job in store.list() if job.kind == "search")
    wait_until(page, lambda: job.progress.stage != "starting")
    page.get_by_role("button", name="Stop").click()
    wait_until(page, lambda: not job.is_active)
    assert job.state == STOPPED, job.read_log()
    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: job.state == FINISHED)
    page.get_by_role("button", name="Open in Design").first.click()
    page.get_by_text("Behaviour of one simulated participant").wait_for()
