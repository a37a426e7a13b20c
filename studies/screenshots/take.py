"""Pictures of every page of the studio, for README: a real server, a real browser, a real search, fit and power curve.

    python studies/screenshots/take.py

Needs Debian's chromium (`apt-get install chromium`) and the developers' extras.
"""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.helpers.studio import serve_studio

HERE = Path(__file__).parent
PATIENCE = 300_000


def shoot(page: Page, name: str) -> None:
    """One picture, as high as its page."""
    page.wait_for_timeout(1500)
    page.mouse.move(0, 0)
    page.screenshot(path=HERE / f"{name}.png")
    print(f"{name}.png", flush=True)


def go_to(page: Page, name: str) -> None:
    """Another page of the studio."""
    page.locator(".bk-tab", has_text=name).first.click()
    page.wait_for_timeout(1500)


def take_search(page: Page) -> None:
    """A search of a few designs, to its end."""
    go_to(page, "Search")
    page.get_by_text("Find the best design").wait_for()
    page.get_by_label("designs to try").first.fill("40")
    page.get_by_label("designs to try").first.press("Enter")
    page.get_by_role("button", name="Start").click()
    page.get_by_text(": finished").first.wait_for()
    shoot(page, "search")


def take_fit(page: Page) -> None:
    """The example, fitted."""
    go_to(page, "Fit")
    page.get_by_role("button", name="Load the example").click()
    page.get_by_text("Kept 12 subjects").first.wait_for()
    page.get_by_role("button", name="Fit", exact=True).click()
    page.get_by_text("Which cost predicts best?").wait_for()
    page.locator(".bk-tab", has_text="One subject").click()
    page.wait_for_timeout(6000)
    shoot(page, "fit")


def take_power(page: Page) -> None:
    """A power curve."""
    go_to(page, "Power")
    page.get_by_role("button", name="Compute power").click()
    page.get_by_text(": finished").first.wait_for()
    page.wait_for_timeout(3000)
    shoot(page, "power")


def main() -> None:
    """Take all of them."""
    path = os.environ.get("DESIGNSTUDIO_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("There is no chromium: install it with `apt-get install chromium`.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serve_studio(Path(folder)) as address:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1420})
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.get_by_text("correlation of prior and cost").first.wait_for()
        page.get_by_role("button", name="Check with simulations").click()
        page.locator("th", has_text="simulated").wait_for()
        shoot(page, "design")
        take_search(page)
        take_fit(page)
        take_power(page)
        go_to(page, "Runs")
        page.get_by_text("One run").wait_for()
        shoot(page, "runs")
        page.goto(f"{address}/?theme=dark")
        page.get_by_text("correlation of prior and cost").first.wait_for()
        shoot(page, "design-dark")
        browser.close()


if __name__ == "__main__":
    main()
