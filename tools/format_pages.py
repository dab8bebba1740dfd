"""Fills in the tables of fields in docs/reference/ledger.md and docs/reference/measurement.md.

The fields come from the JSON Schemas that ship with the package. The rest of these pages is written
by hand. A test fails when a table is not what this script writes; run it after you change a schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets import ledger, measured

ROOT: Final = Path(__file__).resolve().parents[1]
REFERENCE: Final = ROOT / "docs" / "reference"
Node = Mapping[str, Any]


def fields(schema: Node, node: Node, path: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Yield every field below a node: its path, what it must be, its unit and its meaning."""
    node = {**_followed(schema, node), **{k: v for k, v in node.items() if k != "$ref"}}
    for branch in node.get("anyOf", ()):
        yield from fields(schema, branch, path)
    if "items" in node:
        yield from fields(schema, node["items"], f"{path}[]")
    for name, below in node.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        optional = "" if name in node.get("required", ()) else ", may be missing"
        yield here, _kind(schema, below) + optional, _unit(below), _about(here, below)
        yield from fields(schema, below, here)


def _followed(schema: Node, node: Node) -> Node:
    found: Any = schema
    for part in str(node.get("$ref", "#")).split("/")[1:]:
        found = found[part]
    return {} if "$ref" not in node else found


def _kind(schema: Node, node: Node) -> str:
    """Describe what a value must be, in words."""
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(_kind(schema, each) for each in node["anyOf"]))
    if "$ref" in node:
        return _kind(schema, _followed(schema, node))
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return ", ".join("null" if each is None else f"`{each}`" for each in node["enum"])
    types = node.get("type", "any value")
    words = {
        "string": "text",
        "array": "list",
        "integer": "whole number",
        "boolean": "true or false",
    }
    return " or ".join(
        words.get(each, each) for each in ([types] if isinstance(types, str) else types)
    )


def _unit(node: Node) -> str:
    return str(node.get("unit", ""))


def _about(path: str, node: Node) -> str:
    if "description" not in node:
        raise ValueError(f"{path} has no description in its schema; say what it is")
    return str(node["description"])


def measurement_table() -> str:
    """Return every field of a measurement."""
    schema = measured.schema()
    rows = ["| field | must be | unit | what it is |", "|---|---|---|---|"]
    rows += [f"| `{a}` | {b} | {c} | {d} |" for a, b, c, d in fields(schema, schema)]
    return "\n".join(rows)


def event_table() -> str:
    """Return every field that all events have."""
    schema = ledger.schema()
    rows = ["| field | must be | what it is |", "|---|---|---|"]
    rows += [f"| `{a}` | {b} | {d} |" for a, b, _, d in fields(schema, schema["$defs"]["event"])]
    return "\n".join(rows)


def kind_table() -> str:
    """Tabulate the fields of ``value`` for each kind of event."""
    schema = ledger.schema()
    rows = [
        "| kind | what happened | field of `value` | must be | what it is |",
        "|---|---|---|---|---|",
    ]
    for kind in schema["$defs"]["event"]["properties"]["kind"]["enum"]:
        if kind not in schema["$defs"]:  # the form of a design is the lab's
            rows.append(
                f"| `{kind}` | The lab's design entry; the last one stands. | those of the lab |"
                " what its `asks.py` declares | The decisions that later labs build on. |"
            )
            continue
        node = schema["$defs"][kind]
        value = node["then"]["properties"]["value"]
        about = node["description"]
        for name, must, _, words in fields(schema, value):
            rows.append(f"| `{kind}` | {about} | `{name}` | {must} | {words} |")
            about = ""
    return "\n".join(rows)


#: The tables of each page, by the name that its markers have.
TABLES: Final = {
    "ledger.md": {"event": event_table, "kinds": kind_table},
    "measurement.md": {"fields": measurement_table},
}


def filled(page: str, name: str) -> str:
    """Return a page with its tables as they are now."""
    for table, make in TABLES[name].items():
        found = re.search(rf"<!-- begin {table} -->\n(.*?)<!-- end {table} -->\n", page, re.S)
        if not found:
            raise ValueError(f"{name} has no place for the table {table}")
        page = f"{page[: found.start(1)]}\n{make()}\n\n{page[found.end(1) :]}"
    return page


def main() -> None:
    """Write the tables into both pages."""
    for name in TABLES:
        path = REFERENCE / name
        path.write_text(filled(path.read_text("utf-8"), name), "utf-8")
        print(f"Wrote the tables of {path.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
