"""What a page is made of: sections of words, tables, figures and commands.

Plain data without a letter of HTML: the template says how they look, and escapes whatever a user wrote.
"""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

# Cells of a table: a line break parts what is said from what is said below it in smaller letters.
Cells = Sequence[str]


@dataclasses.dataclass(frozen=True)
class Words:
    """Paragraphs, or points of a list."""

    kind: ClassVar[str] = "words"
    sentences: tuple[str, ...]
    is_list: bool = False


@dataclasses.dataclass(frozen=True)
class Heading:
    """A heading within a section, above the blocks that follow."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclasses.dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        columns: their titles.
        groups: rows, under a heading that may be empty.
        caption: what it shows, and what its numbers mean.
        texts: places of the columns that hold words; all others hold numbers.
    """

    kind: ClassVar[str] = "table"
    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[Cells, ...]], ...]
    caption: str
    texts: tuple[int, ...] = (0,)

    @property
    def num_rows(self) -> int:
        """Rows of all groups, headings included: long tables may go over pages."""
        return sum(len(rows) + bool(heading) for heading, rows in self.groups)


@dataclasses.dataclass(frozen=True)
class Figure:
    """A picture.

    Attributes:
        source: the whole picture, as a data URI.
        caption: what it shows.
        is_small: whether two of them fit side by side.
    """

    kind: ClassVar[str] = "figure"
    source: str
    caption: str
    is_small: bool = False


@dataclasses.dataclass(frozen=True)
class Passage:
    """Text that is meant to be copied: a command, or a paragraph of a paper."""

    kind: ClassVar[str] = "passage"
    text: str
    is_command: bool = False


Block = Words | Heading | Table | Figure | Passage


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a page that the table of contents names."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        """How links call it."""
        return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in self.title.lower())


@dataclasses.dataclass(frozen=True)
class Page:
    """A whole report.

    Attributes:
        kind: of run, in a few words.
        title: of the study, or the name of the data.
        question: what the run should answer, in a sentence or two.
        facts: a few things at a glance.
        sections: in their order.
    """

    kind: str
    title: str
    question: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def make_table(columns: Sequence[str], rows: Sequence[Cells], caption: str, texts: Sequence[int] = (0,)) -> Table:
    """A table without groups."""
    return Table(tuple(columns), (("", tuple(rows)),), caption, tuple(texts))
