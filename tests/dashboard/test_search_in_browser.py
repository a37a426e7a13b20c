"""The search page in a real browser."""

from designstudio.jobs import FINISHED, STOPPED, JobShelf
from tests.dashboard.browser import fill, go_to, wait_until


def test_a_search_is_started_stopped_resumed_and_its_winner_opened(studio, page):
    go_to(page, "Search")
    page.get_by_text("Find the best design").wait_for()
    fill(page, "designs to try", "8")
    fill(page, "fresh data sets", "20")
    page.get_by_label("check finalists by").first.select_option("importance")
    page.get_by_role("button", name="Start").click()
    shelf = JobShelf(studio.runs)
    wait_until(page, lambda: any(job.kind == "search" for job in shelf.list()))
    job = next(job for job in shelf.list() if job.kind == "search")
    # Stopped while it searches, and has something to keep.
    wait_until(page, lambda: job.progress.stage == "searching" and job.progress.num_done >= 1 or not job.is_active)
    page.get_by_role("button", name="Stop").click()
    wait_until(page, lambda: not job.is_active)
    assert job.state == STOPPED, job.read_log()
    num_before = job.progress.num_done
    assert num_before < 8
    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: job.state == FINISHED)
    page.get_by_text("finished").first.wait_for()
    assert job.progress.num_done >= num_before
    page.get_by_role("button", name="Open in Design").first.click()
    page.get_by_text("Behaviour of one simulated participant").wait_for()
