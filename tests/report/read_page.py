"""A page as a browser sees it: its elements, its references and its tables."""

from html.parser import HTMLParser
from types import SimpleNamespace

VOID = {"meta", "img", "br", "link", "input", "hr"}
REFERENCES = {"src", "href", "srcset", "action", "data", "poster", "background"}


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.references, self.anchors, self.open = [], [], [], []
        self.tables, self.texts = [], []
        self.is_balanced = True

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.references += [value for name, value in given.items() if name in REFERENCES]
        self.anchors += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append(SimpleNamespace(columns=[], rows=[], caption=""))
        elif tag == "tr" and "tbody" in self.open:
            self.tables[-1].rows.append([])
        elif tag == "td":
            self.tables[-1].rows[-1].append("")
        elif tag == "th" and "thead" in self.open:
            self.tables[-1].columns.append("")
        elif tag in ("blockquote", "pre", "h1", "h2", "p", "li"):
            self.texts.append((tag, ""))

    def handle_endtag(self, tag):
        self.is_balanced &= bool(self.open) and self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.tables[-1].rows[-1][-1] += data
        elif "th" in self.open and "thead" in self.open:
            self.tables[-1].columns[-1] += data
        elif "figcaption" in self.open and self.tables:
            self.tables[-1].caption += data
        elif self.open and self.open[-1] in ("blockquote", "code", "pre", "h1", "h2", "p", "li") and self.texts:
            tag, text = self.texts[-1]
            self.texts[-1] = (tag, text + data)


def read_page(text):
    """Everything that tests ask about a page."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    assert reader.is_balanced
    for table in reader.tables:
        table.rows = [row for row in table.rows if row]

    def list_texts(tag):
        return [said.strip() for name, said in reader.texts if name == tag]

    return SimpleNamespace(
        tags=reader.tags,
        references=reader.references,
        anchors=reader.anchors,
        tables=reader.tables,
        passages=list_texts("blockquote"),
        commands=list_texts("pre"),
        titles=list_texts("h2"),
        heading=list_texts("h1")[0],
        points=list_texts("li"),
        paragraphs=list_texts("p"),
    )
