"""One server and one browser for all tests of this folder that a worker runs."""

import pytest

from tests.dashboard.browser import Studio, find_chromium, open_browser, open_page


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    find_chromium()
    server = Studio(tmp_path_factory.mktemp("studio"))
    yield server
    server.close()
    assert server.list_complaints() == []


@pytest.fixture(scope="session")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(studio, browser):
    with open_page(browser, studio.address) as opened:
        yield opened
