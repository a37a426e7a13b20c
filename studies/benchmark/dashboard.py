"""How fast the studio in the browser is: first paint, slider to numbers, ten visitors at once while a job runs.

    python studies/benchmark/dashboard.py [--only paint slider visitors]

Needs Debian's chromium (`apt-get install chromium`) and the developers' extras (`pip install -e .[dev]`).
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from designstudio.core.tables import read_csv, write_csv
from designstudio.runs.jobs import JobStore
from designstudio.runs.jobs.job import EVALUATE, STUDY
from tests.helpers.studio import serve_studio

RESULTS = Path(__file__).parent / "results"
QUESTION = Path(__file__).parents[1] / "quickstart" / "study.toml"
NUM_LOADS, NUM_CHANGES, NUM_VISITORS, NUM_TURNS = 10, 30, 10, 5
# Tells, in the page itself, how many milliseconds after a key was pressed the numbers had changed. Nothing is polled: ten
# pages that look all the time would leave no processor for anything else.
WATCH = """
() => {
  const find = root => {
    for (const e of root.querySelectorAll('*')) {
      if (e.classList && e.classList.contains('tiles')) return e;
      if (e.shadowRoot) { const f = find(e.shadowRoot); if (f) return f; }
    }
    return null;
  };
  const room = find(document).getRootNode(), text = () => room.querySelector('.tiles')?.textContent, before = text();
  const once = {once: true, capture: true};
  const pressed = new Promise(done => document.addEventListener('keydown', e => done(e.timeStamp), once));
  const changed = new Promise(done => new MutationObserver((_, observer) => {
    if (text() && text() !== before) { observer.disconnect(); done(performance.now()); }
  }).observe(room, {childList: true, subtree: true, characterData: true}));
  window.changed = Promise.all([pressed, changed]).then(([from, to]) => to - from);
}
"""
SLIDER = "trials at σ₁"


def open_page(browser: Browser, address: str) -> tuple[Page, float]:
    """A page of a new visitor, and the seconds until its numbers stood there."""
    page = browser.new_context(viewport={"width": 1280, "height": 1400}).new_page()
    started = time.monotonic()
    page.goto(address)
    page.get_by_text("correlation of prior and cost").first.wait_for()
    return page, time.monotonic() - started


def find_slider(page: Page, title: str = SLIDER) -> Locator:
    """What is moved by arrow keys."""
    return page.locator(".bk-input-group", has_text=title).first.locator(".noUi-handle").first


def change(page: Page) -> float:
    """Seconds from a key pressed on a slider to other numbers, of a design that nobody has seen yet."""
    find_slider(page).focus()
    page.evaluate(WATCH)
    find_slider(page).press("ArrowRight")
    return float(page.evaluate("window.changed")) / 1000


def measure_paint(browser: Browser, address: str, folder: Path) -> dict[str, Any]:
    """First paint, for visitors with an empty cache of their own."""
    seconds = []
    for _ in range(NUM_LOADS):
        page, taken = open_page(browser, address)
        seconds.append(taken)
        page.context.close()
    return describe("first paint", seconds)


def measure_slider(browser: Browser, address: str, folder: Path) -> dict[str, Any]:
    """Slider to numbers."""
    page, _ = open_page(browser, address)
    page.wait_for_timeout(1000)
    seconds = [change(page) for _ in range(NUM_CHANGES)]
    page.context.close()
    return describe("slider to numbers", seconds)


def measure_visitors(browser: Browser, address: str, folder: Path) -> dict[str, Any]:
    """Slider to numbers with ten visitors who take turns quickly, while a job runs."""
    text = (
        QUESTION.read_text()
        .replace('fidelity = "importance"', 'fidelity = "nuts"')
        .replace("datasets = 200", "datasets = 5000")
    )
    job = JobStore(folder / "runs").begin(EVALUATE, "load", {}, files={STUDY: text})
    pages = [open_page(browser, address)[0] for _ in range(NUM_VISITORS)]
    # Each has a design of their own: nothing was computed for somebody else.
    for number, page in enumerate(pages):
        for _ in range(number):
            find_slider(page, "σ₁ (log units)").press("ArrowRight")
    time.sleep(5)
    seconds = []
    for _ in range(NUM_TURNS):
        for page in pages:
            find_slider(page).focus()
            page.evaluate(WATCH)
        # All at once, as far as one keyboard goes.
        for page in pages:
            find_slider(page).press("ArrowRight")
        seconds += [float(page.evaluate("window.changed")) / 1000 for page in pages]
    is_running = job.is_active
    job.ask_to_stop()
    for page in pages:
        page.context.close()
    return describe(f"{NUM_VISITORS} visitors at once, {'a job running' if is_running else 'the job had ended'}", seconds)


def describe(what: str, seconds: list[float]) -> dict[str, Any]:
    """One row of the table."""
    ordered = sorted(seconds)
    return {
        "what": what,
        "times": len(seconds),
        "median (s)": f"{statistics.median(seconds):.2f}",
        "worst of ten (s)": f"{ordered[int(0.9 * (len(ordered) - 1))]:.2f}",
        "worst (s)": f"{ordered[-1]:.2f}",
    }


def main() -> None:
    """Run the parts that are asked for."""
    parts: dict[str, Callable[[Browser, str, Path], dict[str, Any]]] = {
        "paint": measure_paint,
        "slider": measure_slider,
        "visitors": measure_visitors,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=parts, nargs="*", default=list(parts))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    path = os.environ.get("DESIGNSTUDIO_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("There is no chromium: install it with `apt-get install chromium`.")
    path_out = arguments.out / "dashboard.csv"
    rows = {row["part"]: row for row in read_csv(path_out)} if path_out.exists() else {}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright, serve_studio(Path(name)) as address:
        # Programs for other numbers of levels are still being compiled.
        time.sleep(60)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for part in arguments.only:
            rows[part] = {"part": part, **parts[part](browser, address, Path(name))}
            print("dashboard", rows[part], flush=True)
            write_csv(path_out, [rows[name] for name in parts if name in rows])
        browser.close()


if __name__ == "__main__":
    main()
