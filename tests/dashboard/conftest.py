"""One server and one browser for all tests of this folder that a worker runs; they end with the last of them."""

import pytest

from tests.dashboard.browser import Studio, find_chromium, open_browser, open_page
from tests.helpers.studio import serve_studio


@pytest.fixture(scope="package")
def studio(tmp_path_factory):
    find_chromium()
    folder = tmp_path_factory.mktemp("studio")
    # Nobody visits three or four levels, for which it would compile for a minute.
    with serve_studio(folder, "--no-prewarm") as address:
        server = Studio(folder, address)
        yield server
        server.stop_jobs()
    assert server.list_complaints() == []


@pytest.fixture(scope="package")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(studio, browser):
    with open_page(browser, studio.address) as opened:
        yield opened
