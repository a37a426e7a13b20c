"""Put the result files into README.

python studies/real_data/tables.py
"""

from pathlib import Path

from designstudio.core.tables import fill_tables

HERE = Path(__file__).parent


def fill(text: str) -> str:
    """The text with the table of every result file that is there."""
    return fill_tables(text, HERE / "results")


if __name__ == "__main__":
    readme = HERE / "README.md"
    readme.write_text(fill(readme.read_text()))
