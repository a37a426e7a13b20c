"""A studio in a process of its own, and a real browser in front of it."""

import contextlib
import os
import shutil
import time

import pytest

from designstudio.runs.jobs import JobStore

HOW = "there is no chromium: install it with `apt-get install chromium`, or name one in DESIGNSTUDIO_CHROMIUM"
# Milliseconds: machines of continuous integration are slow, and the first job compiles.
# Jobs give way to whatever else runs on the machine, other tests among them.
TIMEOUT = 600_000


def find_chromium():
    """The path of a browser, or a skip that says how to get one."""
    found = os.environ.get("DESIGNSTUDIO_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip(HOW)
    return found


class Studio:
    """A server; its log can be read at any time."""

    def __init__(self, folder, address):
        self.runs, self.log, self.address = folder / "runs", folder / "server.log", address

    def stop_jobs(self):
        for job in JobStore(self.runs).list():
            job.ask_to_stop()

    def list_complaints(self):
        """Lines of the log that are no greeting."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if line.strip() and not line.startswith(("Starting the studio", "The studio is at"))]


@contextlib.contextmanager
def open_browser():
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextlib.contextmanager
def open_page(browser, address, *, waits_for="correlation of prior and cost"):
    """A page of its own; whatever the browser complained about fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 1400}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    if waits_for:
        page.get_by_text(waits_for).first.wait_for()
        # Panel connects its widgets a moment after it has drawn them, later parts of a page included.
        page.wait_for_function("Bokeh.documents.length > 0 && Bokeh.documents.every(document => document.is_idle)")
        page.wait_for_timeout(500)
    yield page
    context.close()
    assert not complaints, complaints


def go_to(page, name):
    """Another page of the studio."""
    page.locator(".bk-tab", has_text=name).first.click()


def fill(page, label, value):
    """Type into a field, and leave it."""
    field = page.get_by_label(label).first
    field.fill(value)
    field.press("Enter")


def read_tile(page, label):
    """The number above a label."""
    return page.locator(".tile", has_text=label).locator("b").inner_text()


def move_slider(page, name, *keys):
    """Press keys on the slider whose title begins so."""
    slider = page.locator(".bk-input-group", has_text=name).first.locator(".noUi-handle").first
    slider.focus()
    for key in keys:
        slider.press(key)


def wait_until(page, condition):
    """Until something in the page is so."""
    deadline = time.monotonic() + TIMEOUT / 1000
    while not condition():
        assert time.monotonic() < deadline, "this took too long"
        page.wait_for_timeout(50)
