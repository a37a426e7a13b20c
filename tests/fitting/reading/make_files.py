"""Small tables and folders to read."""

import json


def make_rows(subjects=("anna", "ben"), num_trials=12, condition=None):
    """Rows with three stimuli and responses nearby."""
    rows = []
    for subject in subjects:
        for trial in range(num_trials):
            row = {"subject": subject, "trial": trial + 1, "stimulus": 1 + trial % 3, "response": 1.1 + trial % 3}
            rows.append(row if condition is None else {**row, "condition": condition[trial % len(condition)]})
    return rows


def as_text(rows, delimiter=",", end="\n", rename=None):
    """Rows as a delimited table."""
    names = [(rename or {}).get(name, name) for name in rows[0]]
    lines = [delimiter.join(names), *(delimiter.join(str(value) for value in row.values()) for row in rows)]
    return end.join(lines) + end


def write(path, text, encoding="utf-8"):
    """Write a file exactly so, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def write_rows(path, rows, **options):
    return write(path, as_text(rows, **options))


def write_json(path, content):
    return write(path, json.dumps(content))
