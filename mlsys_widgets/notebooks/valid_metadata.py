"""What the format of notebooks allows in metadata; whatever else was submitted is left out.

Formgrader and feedback validate a notebook before they show it, and would stop at one that a
student's editor, or a student, has made invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_Rule = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_times(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _is_kernel(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) for name in ("name", "display_name")
    )


def _is_language(value: Any) -> bool:
    texts = ("file_extension", "mimetype", "pygments_lexer")
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and all(isinstance(value.get(name, ""), str) for name in texts)
        and isinstance(value.get("codemirror_mode", ""), str | dict)
    )


_OF_NOTEBOOK: Final[Mapping[str, _Rule]] = {
    "kernelspec": _is_kernel,
    "language_info": _is_language,
    "orig_nbformat": lambda value: type(value) is int and value >= 1,
    "title": _is_text,
    "authors": lambda value: isinstance(value, list),
}
_OF_CELL: Final[Mapping[str, _Rule]] = {
    "nbgrader": _is_mapping,
    "jupyter": _is_mapping,
    "execution": _is_times,
    "collapsed": lambda value: isinstance(value, bool),
    "scrolled": lambda value: isinstance(value, bool) or value == "auto",
    "name": _is_name,
    "format": _is_text,
    "tags": lambda value: isinstance(value, list),
}


def valid_notebook_metadata(metadata: Any) -> dict[str, Any]:
    """Return what is valid of a notebook's metadata.

    Examples
    --------
    >>> valid_notebook_metadata({"title": 3, "mlsys": {"lab": "lab_07"}})
    {'mlsys': {'lab': 'lab_07'}}
    """
    return _valid(metadata, _OF_NOTEBOOK)


def valid_cell_metadata(metadata: Any) -> dict[str, Any]:
    """Return what is valid of a cell's metadata; tags are kept one by one.

    Examples
    --------
    >>> valid_cell_metadata({"tags": ["a", "b,c", 3, "a"], "name": "", "collapsed": "yes"})
    {'tags': ['a']}
    """
    kept = _valid(metadata, _OF_CELL)
    if "tags" in kept:
        tags = [tag for tag in kept["tags"] if _is_name(tag) and "," not in tag]
        kept["tags"] = list(dict.fromkeys(tags))
    return kept


def _valid(metadata: Any, rules: Mapping[str, _Rule]) -> dict[str, Any]:
    if not isinstance(metadata, dict):
        return {}
    return {
        name: value for name, value in metadata.items() if name not in rules or rules[name](value)
    }
