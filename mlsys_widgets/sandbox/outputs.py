"""What a child reports about its cells, read with suspicion.

All of it was in a student's hands. Lines that are not what they should be are left out, and what is
kept is valid in a notebook.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

import nbformat

from mlsys_widgets.notebooks.remarks import Remark, RemarkKind

#: As nbgrader limits what a cell puts out.
_MOST_LINES, _MOST_FRAMES = 1000, 100
_JSON_KIND: Final = re.compile(r"application/(.*\+)?json")


def take_reports(
    book: Any,
    cells: Set[int],
    lines: Sequence[str],
    remarks: list[Remark],
    *,
    started: bool = False,
) -> dict[str, list[str]]:
    """Put the reported outputs of some cells into a notebook; returns the reported answers.

    Only ``cells`` of these numbers may be reported about; ``remarks`` gets what was left out.
    ``started`` says whether a student's code may have written the first of these lines.
    """
    answers: dict[str, list[str]] = {}
    for position, line in enumerate(lines):
        try:
            match json.loads(line):
                case {"answer": str() as name, "value": [*value]} if _are_short(value):
                    answers.setdefault(name, value)
                case {"cell": number, "outputs": [*outputs], "count": count}:
                    if number not in cells or type(number) is not int or not _counts(count):
                        raise ValueError(number)
                    shown = shortened([read_output(each) for each in outputs])
                    book.cells[number].outputs = [nbformat.from_dict(each) for each in shown]
                    book.cells[number].execution_count = count
                case {"started": True} if position == 0 and not started:
                    pass
                case {"failed": str() as reason} if position == 0 and not started:
                    remarks.append(Remark(RemarkKind.NOT_STARTED, detail=_text(reason)[:200]))
                case {"done": True}:
                    pass
                case _:
                    raise ValueError(line[:20])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            remarks.append(Remark(RemarkKind.NOT_BELIEVED))
    return answers


def _are_short(value: Sequence[Any]) -> bool:
    return len(value) <= 2 and all(isinstance(w, str) and len(w) < 20_000 for w in value)


def _counts(number: Any) -> bool:
    return type(number) is int and 0 <= number < 1_000_000_000


def read_output(told: Any) -> dict[str, Any]:
    """Read an output as a notebook may have it, whatever was reported."""
    match told:
        case {"output_type": "stream", "name": name, "text": str() as words}:
            which = "stderr" if name == "stderr" else "stdout"
            return {"output_type": "stream", "name": which, "text": _text(words)}
        case {
            "output_type": "error",
            "ename": str() as name,
            "evalue": str() as value,
            "traceback": [*frames],
        }:
            shown = [_text(str(frame)) for frame in frames]
            error = {"ename": _text(name), "evalue": _text(value), "traceback": shown}
            return {"output_type": "error", **error}
        case {
            "output_type": "display_data" | "execute_result" as kind,
            "data": {**data},
            "metadata": {**metadata},
        }:
            output = {"output_type": kind, "data": _bundle(data), "metadata": _data(metadata)}
            if kind == "execute_result":
                count = told["execution_count"]
                output["execution_count"] = count if _counts(count) else None
            return output
    raise ValueError("not an output of a notebook")


def _bundle(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Read what is shown, by its kind: JSON where the kind is JSON, and text everywhere else."""
    shown: dict[str, Any] = {}
    for kind, value in data.items():
        if _JSON_KIND.fullmatch(kind):
            shown[_text(kind)] = _data(value)
        elif isinstance(value, str):
            shown[_text(kind)] = _text(value)
        elif isinstance(value, list) and all(isinstance(line, str) for line in value):
            shown[_text(kind)] = _text("".join(value))
    return shown


def _data(value: Any, depth: int = 0) -> Any:
    """Read JSON as every browser can: no NaN, no halves of characters, not too deep."""
    if depth > 50:
        raise ValueError("nested too deeply")
    match value:
        case str():
            return _text(value)
        case dict():
            return {_text(key): _data(each, depth + 1) for key, each in value.items()}
        case list():
            return [_data(each, depth + 1) for each in value]
        case float() if not math.isfinite(value):
            return None
    return value


def _text(words: str) -> str:
    return words.encode("utf-8", "replace").decode()


def shortened(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the first of too many lines and both ends of too long a traceback, as nbgrader does."""
    shown, count = [], 0
    for output in outputs:
        if output["output_type"] == "stream":
            if count == _MOST_LINES:
                continue
            lines = output["text"].split("\n")
            if len(lines) + count > _MOST_LINES:
                lines = [*lines[: _MOST_LINES - count - 1], "... Output truncated ..."]
            count += len(lines)
            output["text"] = "\n".join(lines)
        elif output["output_type"] == "error" and len(output["traceback"]) > _MOST_FRAMES:
            frames, half = output["traceback"], _MOST_FRAMES // 2
            cut = [*frames[:half], "... Traceback truncated ...", *frames[1 - half :]]
            output["traceback"] = cut
        shown.append(output)
    return shown
