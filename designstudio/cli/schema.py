"""`designstudio schema`: what a study file may say, as JSON Schema for editors."""

import json

import typer


def print_schema() -> None:
    """Print the JSON Schema of study files, so that editors complete and check study.toml.

    Save what it prints as study.schema.json beside the study (designstudio schema > study.schema.json), and write
    "#:schema study.schema.json" as the first line of study.toml: editors with Taplo, such as VS Code with Even Better TOML,
    then know it.

    Example: designstudio schema
    """
    from designstudio.study.schema.document import json_schema  # noqa: PLC0415  (keeps `designstudio --help` fast)

    typer.echo(json.dumps(json_schema(), indent=2))
