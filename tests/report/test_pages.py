"""Every report, whatever the run: self-contained, escaped, complete."""

import re

from designstudio.report import pictures
from designstudio.report.computing import CITATION
from designstudio.study.design import get_preset
from designstudio.viz.designs import draw_designs
from designstudio.viz.figures import save_figure as SAVE_FIGURE
from tests.report.conftest import HOSTILE

COMMON = ("Summary", "Convergence", "Settings and versions", "Run it again", "Methods and citation")


def find_table(report, column, *, words=""):
    """The first table with this column, and these words in its caption."""
    return next(table for table in report.read.tables if column in table.columns and words in table.caption)


def test_a_page_refers_to_nothing_outside_itself(report):
    assert report.read.references
    for reference in report.read.references:
        assert reference.startswith(("data:image/", "#")), reference[:80]
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(report.read.tags)
    style = report.text[report.text.index("<style>") : report.text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_the_table_of_contents_leads_to_every_section(report):
    inner = [reference.removeprefix("#") for reference in report.read.references if reference.startswith("#")]
    assert inner == report.read.anchors
    assert len(set(inner)) == len(report.read.titles)


def test_every_page_has_what_a_reader_and_a_rerun_need(report):
    assert set(COMMON) <= set(report.read.titles)
    assert report.read.passages[-1] == CITATION
    assert "±" in report.text
    seeds = [row for table in report.read.tables if table.columns == ["setting", "value"] for row in table.rows]
    assert ["seed", "1" if report.folder.name == "fit" else "7"] in seeds
    versions = next(table for table in report.read.tables if table.columns == ["package", "version"])
    assert {"python", "designstudio", "jax", "numpyro"} <= {row[0] for row in versions.rows}
    assert re.search(r"took \d|Run time of each design", report.text)


def test_every_figure_says_what_it_shows(report):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", report.text, re.DOTALL)
    assert len(captions) == report.text.count("<figure")
    assert all(len(caption) > 15 for caption in captions)


def test_the_design_is_drawn(report):
    titles = {"search": "Finalists", "fit": "Data", "sweep": "Design"}
    title = titles.get(report.folder.name, "Designs")
    section = report.text[report.text.index(f"<h2>{title}</h2>") :]
    assert "<img" in section[: section.index("</section>")]


def test_what_a_user_wrote_is_escaped(report):
    assert "<script" not in report.text
    assert "<b>" not in report.text
    if report.folder.name != "fit":
        assert report.read.heading == HOSTILE.replace("\\", "")
        assert "two & more" in report.text.replace("&amp;", "&")
    else:
        assert any("S<99>" in point for point in report.read.points)


def test_every_scored_number_has_its_error(report):
    with_errors = [table for table in report.read.tables if "±" in table.caption]
    assert with_errors
    for table in with_errors:
        for row in table.rows:
            numbers = [
                cell
                for cell, column in zip(row[1:], table.columns[1:], strict=True)
                if column not in ("status", "candidate", "weight", "median subject", "interval")
            ]
            for cell in numbers:
                assert "±" in cell or cell in ("–", "best"), (table.caption, row)


def test_tables_have_as_many_cells_as_columns(report):
    for table in report.read.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}, table.caption


def test_paper_has_rules_of_its_own(report):
    assert "@page { size: A4;" in report.text
    assert "break-inside: avoid" in report.text


def test_figures_are_drawn_into_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "save_figure", SAVE_FIGURE)
    figure = draw_designs({"two": get_preset("paper-two-levels")})
    assert pictures.render_figure(figure, "A design.").source.startswith("data:image/svg+xml;base64,")
    assert pictures.render_figure(figure, "A design.", largest_svg=1000).source.startswith("data:image/png;base64,iVBOR")
