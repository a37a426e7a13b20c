"""Put the result files into README.

python studies/real_data/tables.py
"""

import re
from pathlib import Path

from designstudio.core.tables import as_markdown, read_csv

HERE = Path(__file__).parent


def fill(text: str) -> str:
    """The text with the table of every result file that is there."""

    def replace(match: re.Match[str]) -> str:
        path = HERE / "results" / f"{match[1]}.csv"
        table = as_markdown(read_csv(path)) if path.exists() else "none"
        return f"<!-- {match[1]}:start -->\n{table}\n<!-- {match[1]}:end -->"

    return re.sub(r"<!-- (\w+):start -->\n.*?<!-- \1:end -->", replace, text, flags=re.DOTALL)


if __name__ == "__main__":
    readme = HERE / "README.md"
    readme.write_text(fill(readme.read_text()))
