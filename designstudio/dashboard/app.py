"""The whole studio, for one visitor."""

import html as escaping

import panel as pn

from designstudio.dashboard.pages.design import DesignPage
from designstudio.dashboard.state.design import DesignChoice
from designstudio.dashboard.theme import ACCENT, CSS, is_dark
from designstudio.jobs import JobShelf
from designstudio.jobs.kinds import EVALUATE

TITLE = "designstudio"
PAGES = ("Design", "Search", "Fit", "Power", "Runs")


def build_studio(shelf: JobShelf | None = None) -> pn.template.base.BasicTemplate:
    """The template with all pages; pages other than the first are built when somebody looks at them."""
    shelf = JobShelf() if shelf is None else shelf
    choice = DesignChoice()
    design = DesignPage(choice, shelf)
    _attach_running(design, shelf)
    tabs = pn.Tabs(("Design", design), dynamic=True, sizing_mode="stretch_width")
    template = pn.template.BootstrapTemplate(
        title=TITLE,
        header_background=ACCENT,
        theme="dark" if is_dark() else "default",
        collapsed_sidebar=True,
        raw_css=[CSS],
        site_url="./",
    )
    template.header.append(_link_to_other_theme())
    template.main.append(tabs)
    return template


def _attach_running(page: DesignPage, shelf: JobShelf) -> None:
    """A check that runs is found again by every tab."""
    for job in shelf.list():
        if job.kind == EVALUATE and job.is_active:
            page.open(job)
            return


def _link_to_other_theme() -> pn.pane.HTML:
    other = "default" if is_dark() else "dark"
    label = "light" if is_dark() else "dark"
    return pn.pane.HTML(
        f'<a href="?theme={escaping.escape(other)}" style="color:white" aria-label="{label} theme">{label} theme</a>',
        margin=(10, 10),
    )
