"""Tables of a study file: which keys they have, what stands under each, and what a study makes of them."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import Field, JsonSchema, Kind


@dataclasses.dataclass(frozen=True)
class Record(Kind):
    """A table with known keys.

    Attributes:
        of: the class that it describes, whose defaults are the file's.
        fields: the keys, in the order of messages and files.
        build: makes the object of the attributes that were given; by default the class itself.
        words: what to write, for messages.
        definition: the name that a JSON Schema has for it, if it stands in many places.
    """

    of: type
    fields: tuple[Field, ...]
    build: Callable[..., Any] | None = None
    words: str = "a table"
    definition: str = ""

    def read(self, entry: Entry) -> Any:
        fields = {field.key: field for field in self.fields}
        required = [field.key for field in self.fields if field.is_required]
        table = entry.table(fields, required=required, like=self.words)
        given = {fields[key].name: fields[key].kind.read(item) for key, item in table.items()}
        # What the object itself refuses is said of the table.
        with entry.explain():
            return (self.build or self.of)(**given)

    def write(self, value: Any) -> dict[str, Any]:
        found = [(field, field.take(value)) for field in self.fields]
        return {field.key: field.kind.write(inside) for field, inside in found if self._is_written(field, inside)}

    def schema(self) -> JsonSchema:
        return {"$ref": f"#/definitions/{self.definition}"} if self.definition else self.define()

    def define(self) -> JsonSchema:
        """The table in full."""
        table: JsonSchema = {"type": "object", "additionalProperties": False}
        table["properties"] = {field.key: describe_field(field, self.default(field)) for field in self.fields}
        required = [field.key for field in self.fields if field.is_required]
        return table | ({"required": required} if required else {})

    def table(self) -> "Record":
        return self

    def default(self, field: Field) -> Any:
        """What holds if a key is left out; None if nothing does, or nothing that can be written."""
        if field.default is not None:
            return field.default
        for own in dataclasses.fields(self.of) if dataclasses.is_dataclass(self.of) else ():
            if own.name == field.name and own.default is not dataclasses.MISSING and not is_empty(own.default):
                return field.kind.write(own.default)
        return None

    def _is_written(self, field: Field, value: Any) -> bool:
        return not (is_empty(value) or (field.hides_default and value == self.default(field)))


def describe_field(field: Field, default: Any) -> JsonSchema:
    """A key for a JSON Schema."""
    inside = field.kind.schema()
    # Draft 7 ignores what stands beside a reference.
    inside = {"allOf": [inside]} if "$ref" in inside else inside
    sentence = f"{field.doc} Unit: {field.unit}." if field.unit else field.doc
    return inside | {"description": sentence} | ({} if default is None else {"default": default})


def is_empty(value: Any) -> bool:
    """Whether there is nothing to write."""
    return value is None or (isinstance(value, str | tuple | list | Mapping) and not value)
