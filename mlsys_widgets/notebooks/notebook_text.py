"""The text of a file that should be a notebook, however it was saved; or a sentence on what it is.

Editors save notebooks in other encodings, Git writes the markers of a conflict into them, and
browsers save a login page under their name. What can be read without guessing is read, and a remark
says so. For everything else there is a sentence that tells a student what to do.
"""

from __future__ import annotations

import codecs
import json
import re
from html import unescape
from typing import Any, Final

from mlsys_widgets.notebooks.remarks import Remark, RemarkKind

_MARKS: Final = {
    codecs.BOM_UTF8: "UTF-8 with a byte order mark",
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_ZIP: Final = b"PK\x03\x04"
_PDF: Final = b"%PDF"
_PAGE: Final = re.compile(
    # \s*+ gives no space back: megabytes of them would be tried one by one.
    r"\s*+(?:<\?xml[^>]{0,200}>\s*+)?(?:<!--.{0,2000}?-->\s*+)?<(?:!doctype html|html)",
    re.I | re.S,
)
_TITLE: Final = re.compile(r"<title[^>]*>([^<]{1,200})", re.I)
#: How Git begins a conflict; JupyterLab writes no line that begins like this.
_CONFLICT: Final = re.compile(r"^<{7}(?: |\r?$)", re.M)
_CONFLICT_BYTES: Final = re.compile(rb"^<{7}(?: |\r?$)", re.M)
#: What any conflict has in it; this is found much faster.
_MARKER: Final = "<<<<<<<"
#: Lines of a file whose conflicts are looked at; a notebook with megabytes of outputs has fewer.
MOST_LINES: Final = 200_000
_AGAIN: Final = "Save the notebook in JupyterLab and hand it in again"


class UnreadableNotebook(ValueError):
    """A submitted file that is not a notebook: what it is instead, and what to do."""


def is_zip(content: bytes) -> bool:
    """Whether a file is a zip archive, whatever its name."""
    return content.startswith(_ZIP)


def is_plain(content: bytes) -> bool:
    """Whether a file may be a notebook as JupyterLab saves it; nothing of it is parsed."""
    if content.lstrip()[:1] != b"{":
        return False
    if _MARKER.encode() in content and _CONFLICT_BYTES.search(content):
        return False
    return json.detect_encoding(content) == "utf-8" and _decoded(content, "utf-8") is not None


def read_json(content: bytes) -> tuple[dict[str, Any], tuple[Remark, ...]]:
    """Read a file as the data of a notebook, and remark on what was odd about the file.

    `UnreadableNotebook` has a sentence for the student.
    """
    text, remarks = _text(content)
    if _MARKER in text and _CONFLICT.search(text):
        return _one_side(text), (*remarks, Remark(RemarkKind.CONFLICT))
    return _notebook(text), remarks


def _text(content: bytes) -> tuple[str, tuple[Remark, ...]]:
    if not content.strip():
        raise UnreadableNotebook(f"the notebook is an empty file. {_AGAIN}")
    if is_zip(content):
        raise UnreadableNotebook(
            "the notebook is a zip archive. Unpack it and hand in the notebook that is in it"
        )
    if content.startswith(_PDF):
        raise UnreadableNotebook(
            "the notebook is a PDF, which cannot be run. Hand in the file that ends in .ipynb"
        )
    how = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "")
    found = json.detect_encoding(content)
    text = _decoded(content, found)
    if text is None:
        # Every byte is a character in Latin-1; Windows adds some where it has none.
        how = "Latin-1"
        text = _decoded(content, "cp1252") or content.decode("latin-1")
    elif not how and found != "utf-8":
        how = found.upper()[:6]
    if _PAGE.match(text):
        raise UnreadableNotebook(_page(text))
    return text, (Remark(RemarkKind.OTHER_ENCODING, detail=how),) if how else ()


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _page(text: str) -> str:
    title = _TITLE.search(text[:20_000])
    called = f" (“{' '.join(unescape(title[1]).split())[:60]}”)" if title else ""
    return (
        f"the notebook is a web page{called}; a browser saves one, often the page for signing in,"
        " when it cannot get the file. Sign in, download the notebook again and hand that in"
    )


def _notebook(text: str) -> dict[str, Any]:
    try:
        # NaN and Infinity, which JSON does not know, are no use in a notebook.
        raw = json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as problem:
        ends = text.rstrip().endswith("}") and text[problem.pos :].strip()
        if text.lstrip().startswith("{") and not ends:
            sentence = (
                "the notebook breaks off in the middle, as after an upload that was interrupted"
            )
        else:
            sentence = f"the notebook cannot be read: line {problem.lineno} of the file is damaged"
        raise UnreadableNotebook(f"{sentence}. {_AGAIN}") from None
    except (ValueError, RecursionError):
        raise UnreadableNotebook(f"the notebook cannot be read. {_AGAIN}") from None
    if not isinstance(raw, dict) or type(raw.get("nbformat")) is not int:
        raise UnreadableNotebook(
            "the file is not a notebook, although its name says so. Hand in the notebook that"
            " JupyterLab saved"
        )
    return raw


def _one_side(text: str) -> dict[str, Any]:
    """Return either side of a conflict, if it does not matter which."""
    if text.count("\n") <= MOST_LINES:
        lines = text.split("\n")
        ours, theirs = _side(lines, "ours"), _side(lines, "theirs")
        # Where only one side is a notebook, nobody can say that the other one held nothing.
        if ours and theirs and _sources(ours) == _sources(theirs):
            return ours
    raise UnreadableNotebook(
        "the notebook has the markers of a Git merge conflict, and nobody can tell which side"
        " counts. Choose one side, check that JupyterLab opens the notebook, and hand it in again"
    )


def _side(lines: list[str], wanted: str) -> dict[str, Any]:
    """Return the notebook with one side of every conflict; empty if that is not a notebook."""
    kept, now = [], "both"
    for line in lines:
        # Git may also write how it was before both changes, below |||||||.
        match line[:7]:
            case "<<<<<<<":
                now = "ours"
            case "|||||||" if now == "ours":
                now = "before"
            case "=======" if now in ("ours", "before"):
                now = "theirs"
            case ">>>>>>>" if now == "theirs":
                now = "both"
            case _ if now in (wanted, "both"):
                kept.append(line)
    try:
        return _notebook("\n".join(kept))
    except UnreadableNotebook:
        return {}


def _sources(book: dict[str, Any]) -> list[str] | None:
    """Return what is written in the cells of a notebook; `None` if it has none."""
    cells = book.get("cells")
    if not isinstance(cells, list):
        return None
    return [_joined(cell.get("source")) for cell in cells if isinstance(cell, dict)]


def _joined(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
