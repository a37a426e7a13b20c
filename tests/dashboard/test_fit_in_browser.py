"""The fit page in a real browser."""

from designstudio.fitting.reading import example_path
from designstudio.runs.jobs import FINISHED, JobStore
from tests.dashboard.browser import go_to, wait_until

BROKEN = "subject,stimulus,response\n" + "".join(f"S1,{k + 1},{'x' if k == 7 else k + 1}\n" for k in range(30))


def upload(page, path):
    page.locator(".table-input input[type=file]").set_input_files(path)


def write_some(path):
    """Two subjects of the example."""
    lines = example_path().read_text().splitlines(keepends=True)
    names = list(dict.fromkeys(line.split(",")[0] for line in lines[1:]))[:2]
    path.write_text(lines[0] + "".join(line for line in lines[1:] if line.split(",")[0] in names))


def test_a_table_is_uploaded_and_fitted(studio, page, tmp_path):
    write_some(tmp_path / "pilot.csv")
    go_to(page, "Fit")
    page.get_by_text("What a table must look like").wait_for()
    upload(page, tmp_path / "pilot.csv")
    page.get_by_text("Kept 2 subjects").first.wait_for()
    page.get_by_role("button", name="Fit", exact=True).click()
    store = JobStore(studio.runs)
    wait_until(page, lambda: any(job.kind == "fit" for job in store.list()))
    job = next(job for job in store.list() if job.kind == "fit")
    wait_until(page, lambda: not job.is_active)
    assert job.state == FINISHED, job.message
    # Results are there, and lead on to the next experiment.
    page.get_by_text("Which cost predicts best?").wait_for()
    page.locator(".bk-tab", has_text="Next experiment").click()
    page.get_by_role("button", name="Plan", exact=True).wait_for()


def test_a_broken_table_shows_the_sentence_of_the_command_line(page, call, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text(BROKEN)
    code, _, errors = call("fit", "broken.csv")
    assert code == 2
    sentence = errors.strip().removeprefix("Error: ")
    go_to(page, "Fit")
    page.get_by_text("What a table must look like").wait_for()
    upload(page, path)
    page.locator(".failed").first.wait_for()
    assert page.locator(".failed").first.inner_text().strip() == sentence
