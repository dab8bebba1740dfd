"""The autograded notebook after a regrade: other points and words under the cells, nothing else.

A notebook that `mlsys grade` wrote has a line for each cell. Only the lines of cells whose verdict
has changed are read, so a class of a thousand takes a second or two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.files import write_whole
from mlsys_widgets.grading.judging.outside_tests import verdict_text
from mlsys_widgets.grading.judging.scoring import Score

#: Bytes of a notebook that is read here, where no limit of a reader's holds.
_LARGEST: Final = 64 << 20


def rewrite_verdicts(content: bytes, changes: Mapping[str, tuple[Score, Score]]) -> bytes:
    """Return a notebook with new verdicts in place of old ones; what is not found stays as it is.

    ``changes`` has what was said about each cell and what is said now, by its name.
    """
    lines = content.split(b"\n")
    marks = {name: json.dumps(name).encode() for name in changes}
    for number, line in enumerate(lines):
        for name, mark in marks.items():
            if b'"grade_id": ' + mark in line:
                lines[number] = _rewritten(line, *changes[name])
    return b"\n".join(lines)


def _rewritten(line: bytes, old: Score, new: Score) -> bytes:
    """Return the line of a cell with the new verdict; as it was if the old one is not there."""
    try:
        cell = json.loads(line.removesuffix(b","))
        outputs = cell["outputs"]
        changed = [_output(each, old, new) for each in outputs]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return line
    if changed == outputs:
        return line
    text = json.dumps({**cell, "outputs": changed}, ensure_ascii=False, sort_keys=True)
    return text.encode("utf-8", "replace") + b"," * line.endswith(b",")


def _output(output: dict[str, Any], old: Score, new: Score) -> dict[str, Any]:
    match output:
        case {"output_type": "stream", "name": "stdout", "text": str(text)}:
            before, found, after = text.rpartition(verdict_text(old))
            return {**output, "text": f"{before}{verdict_text(new)}{after}"} if found else output
        case {"output_type": "execute_result", "data": {"text/plain": shown} as data}:
            if shown == repr(old.auto):
                return {**output, "data": {**data, "text/plain": repr(new.auto)}}
    return output


def rewrite_notebook(notebook: Path, changes: Mapping[str, tuple[Score, Score]]) -> bool:
    """Rewrite the verdicts in a notebook, all or nothing; return whether there is a notebook."""
    try:
        about = notebook.stat()
        if about.st_size > _LARGEST:
            return False
        content = notebook.read_bytes()
    except OSError:
        return False
    rewritten = rewrite_verdicts(content, changes)
    if rewritten != content:
        write_whole(notebook, rewritten, mode=about.st_mode & 0o777)
    return True
