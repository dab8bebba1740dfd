"""Hostile submissions by the hundreds, drawn from a seed: links, sizes, encodings, JSON and more.

Each begins as the honest work of a student: nothing done, the cards worked through, or everything
right. Then one or two tricks are played on its folder. What a trick leaves of the work may count,
so nobody may earn more than the work that they began with; and nothing in here answers a question.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import stat
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlsys_widgets.files import LEDGER, TIMESTAMP
from mlsys_widgets.ledger.events import from_line, to_line
from mlsys_widgets.ledger.receipt import RECEIPT
from tests.grading.classroom import LAB, hand_in, record
from tests.labs.rehearsal import Workshop
from tests.ledger.making import rechained

NOTEBOOK = f"{LAB}.ipynb"
#: Whose work others try to hand in as their own.
NEIGHBOR = "aa-honest-right"
#: What the work of a submission is before anything hostile is done to it.
WORK = ("blank", "recorded", "right")

Trick = Callable[[random.Random, Path], None]


@dataclass(frozen=True)
class Hostile:
    """One hostile submission: whose, what work it begins with, and what is done to it."""

    name: str
    work: str
    tricks: tuple[str, ...]
    seed: int

    def make(self, course: Workshop) -> Path:
        """Hand it in."""
        folder = honest(course, self.name, self.work)
        rng = random.Random(self.seed)
        for each in self.tricks:
            TRICKS[each](rng, folder)
        return folder


def honest(course: Workshop, name: str, work: str) -> Path:
    """Hand in honest work."""
    if work == "right":
        return record(course, name)
    return hand_in(course, name, ledger=work == "recorded")


def hostile(number: int, seed: int) -> list[Hostile]:
    """Draw submissions: every trick in turn, a third of them together with another one."""
    rng = random.Random(seed)
    names, made = list(TRICKS), []
    rng.shuffle(names)
    for k in range(number):
        tricks = [names[k % len(names)]]
        if rng.random() < 1 / 3:
            tricks.append(rng.choice(names))
        work = rng.choice(WORK)
        made.append(Hostile(f"h{k:03}-{tricks[0]}", work, tuple(tricks), rng.getrandbits(32)))
    return made


# What tricks do. Each stands what the one before it has left of the folder.


def _book(folder: Path) -> Any:
    """The notebook; an empty one if it is none any more."""
    try:
        book = json.loads(_read(folder, NOTEBOOK))
        assert isinstance(book["metadata"], dict)
        assert all(isinstance(cell["metadata"], dict) for cell in book["cells"])
        return book
    except (ValueError, LookupError, TypeError, RecursionError, AssertionError):
        return {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _put(folder: Path, book: Any) -> None:
    _write(folder, NOTEBOOK, json.dumps(book).encode())


def _read(folder: Path, name: str) -> bytes:
    path = folder / name
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(10_000_000)


def _write(folder: Path, name: str, content: bytes) -> None:
    _clear(folder, name).write_bytes(content)


def _clear(folder: Path, name: str) -> Path:
    """Make room for a file or a link."""
    path = folder / name
    if path.is_dir() and not path.is_symlink():
        path.rename(folder / f"was-{name}-{len(list(folder.iterdir()))}")
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _course(folder: Path) -> Path:
    return folder.parents[2]


def _some_name(rng: random.Random) -> str:
    return rng.choice((NOTEBOOK, LEDGER, RECEIPT, TIMESTAMP, "data.txt", "deep/data.txt"))


# Links and special files.


def link_to_something(rng: random.Random, folder: Path) -> None:
    course = _course(folder)
    neighbor = course / "submitted" / NEIGHBOR / LAB
    target = rng.choice(
        (
            course / "assignments" / LAB / "checks.py", course / "gradebook.db",
            neighbor / LEDGER, neighbor / NOTEBOOK, neighbor, course, Path("/etc/passwd"),
            Path("/proc/self/environ"), Path("/dev/zero"), Path("nowhere"), Path(), Path(".."),
        )
    )  # fmt: skip
    _clear(folder, _some_name(rng)).symlink_to(target)


def links_in_a_row(rng: random.Random, folder: Path) -> None:
    for k in range(rng.randint(2, 40)):
        _clear(folder, f"l{k}").symlink_to(f"l{k + 1}")
    _clear(folder, "loop").symlink_to("loop")


def special_file(rng: random.Random, folder: Path) -> None:
    kind = rng.choice((stat.S_IFIFO, stat.S_IFSOCK))
    os.mknod(_clear(folder, _some_name(rng)), kind | 0o600)


def folder_for_file(rng: random.Random, folder: Path) -> None:
    path = _clear(folder, rng.choice((NOTEBOOK, LEDGER, RECEIPT, TIMESTAMP)))
    path.mkdir()
    (path / rng.choice((NOTEBOOK, LEDGER, "x"))).write_text("{}")


def hard_link(rng: random.Random, folder: Path) -> None:
    neighbor = _course(folder) / "submitted" / NEIGHBOR / LAB
    name = rng.choice((LEDGER, NOTEBOOK))
    os.link(neighbor / name, _clear(folder, name))


# Sizes.


def many_files(rng: random.Random, folder: Path) -> None:
    place = folder / rng.choice((".", "many", ".heap"))
    place.mkdir(exist_ok=True)
    for k in range(rng.choice((50, 500, 2_100))):
        (place / f"{k}.txt").touch()


def deep_folders(rng: random.Random, folder: Path) -> None:
    place = folder.joinpath(*["d"] * rng.choice((15, 25, 200)))
    place.mkdir(parents=True, exist_ok=True)
    (place / "end.txt").write_text("x")


def large_file(rng: random.Random, folder: Path) -> None:
    """Most are full of holes, and take no room on the disk."""
    with _clear(folder, _some_name(rng)).open("wb") as file:
        file.truncate(rng.choice((10_000, 3_000_000, 120_000_000, 8 << 30)))


def large_outputs(rng: random.Random, folder: Path) -> None:
    book, size = _book(folder), rng.choice((100_000, 2_000_000, 8_000_000))
    text = rng.choice(("x", "\n", "é", "\x1b[31m", "<b>")) * size
    output = {"output_type": "stream", "name": "stdout", "text": text[:size]}
    for cell in book["cells"]:
        if cell.get("cell_type") == "code":
            cell["outputs"] = [output]
            break
    _put(folder, book)


def many_cells(rng: random.Random, folder: Path) -> None:
    book, number = _book(folder), rng.choice((200, 2_000, 20_000))
    kind = rng.choice(("code", "markdown", "raw", "other"))
    more = {"outputs": [], "execution_count": None} if kind == "code" else {}
    for k in range(number):
        cell = {"cell_type": kind, "metadata": {}, "id": f"more{k}", "source": "", **more}
        book["cells"].append(cell)
    _put(folder, book)


def long_source(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    text = rng.choice(("x", " ", "(", "#", "a = 1\n", "'''", "\\")) * rng.choice((10_000, 900_000))
    if book["cells"]:
        rng.choice(book["cells"])["source"] = text
    _put(folder, book)


def ledger_of_lines(rng: random.Random, folder: Path) -> None:
    line = rng.choice((b"\n", b"{}\n", b"[]\n", b"0\n", b" \n", b'{"seq": 1}\n'))
    _write(folder, LEDGER, _read(folder, LEDGER) + line * rng.choice((100, 10_000, 300_000)))


# Encodings.


def other_encoding(rng: random.Random, folder: Path) -> None:
    name = rng.choice((NOTEBOOK, LEDGER, TIMESTAMP, RECEIPT))
    text = _read(folder, name).decode("utf-8", "replace")
    encoding = rng.choice(("utf-16", "utf-16-be", "utf-32", "utf-7", "utf-8-sig", "cp037"))
    _write(folder, name, text.encode(encoding, "replace"))


def odd_bytes(rng: random.Random, folder: Path) -> None:
    name = rng.choice((NOTEBOOK, LEDGER, TIMESTAMP, RECEIPT))
    content = bytearray(_read(folder, name))
    for _ in range(rng.randint(1, 30)):
        place = rng.randrange(len(content) + 1)
        content[place:place] = rng.choice((b"\x00", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\x1b"))
    _write(folder, name, bytes(content))


def half_characters(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    for cell in rng.sample(book["cells"], min(3, len(book["cells"]))):
        half = rng.choice(("\ud83d", "\udc4d", "\ud800\ud800"))
        rng.choice((_in_source, _in_id, _in_metadata))(cell, half)
    _put(folder, book)


def _in_source(cell: Any, text: str) -> None:
    cell["source"] = f"{''.join(cell.get('source', ''))}{text}"


def _in_id(cell: Any, text: str) -> None:
    cell["id"] = f"{cell.get('id', '')}{text}"


def _in_metadata(cell: Any, text: str) -> None:
    cell["metadata"] = {**cell.get("metadata", {}), text: text}


def cut_off(rng: random.Random, folder: Path) -> None:
    name = rng.choice((NOTEBOOK, LEDGER, RECEIPT))
    content = _read(folder, name)
    _write(folder, name, content[: rng.randrange(len(content) + 1)])


# JSON.

_NUMBERS = ("1e999", "-1e999", "NaN", "Infinity", "9" * 400, "1" * 5_000, "0.1e-400", "-0")


def odd_json(rng: random.Random, folder: Path) -> None:
    text = rng.choice(
        (
            "", "null", "[]", "{}", '"x"', "7", "[" * 100_000, '{"a":' * 100_000, "NaN",
            '{"cells": null}', '{"cells": {}}', '{"cells": [null]}', '{"cells": [[]]}',
            '{"cells": [], "cells": 1, "nbformat": 4}', '{"nbformat": 1e999, "cells": []}',
            '{"nbformat": 3, "worksheets": [{"cells": [7]}]}', "{]", "{'a': 1}", "// {}\n{}",
        )
    )  # fmt: skip
    _write(folder, rng.choice((NOTEBOOK, LEDGER, RECEIPT)), text.encode())


def odd_numbers(rng: random.Random, folder: Path) -> None:
    """In the notebook's own fields, where a program expects small ones."""
    book = _book(folder)
    for cell in rng.sample(book["cells"], min(5, len(book["cells"]))):
        cell["execution_count"] = "@"
        cell["metadata"]["nbgrader"] = {**cell["metadata"].get("nbgrader", {}), "points": "@"}
    _write(folder, NOTEBOOK, json.dumps(book).replace('"@"', rng.choice(_NUMBERS)).encode())


def other_types(rng: random.Random, folder: Path) -> None:
    """Anything in the place of anything."""
    book = _book(folder)
    for _ in range(rng.randint(1, 20)):
        place: Any = book
        for _ in range(rng.randint(1, 6)):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and rng.random() < 0.8:
                place = place[key]
                continue
            place[key] = rng.choice((None, [], {}, 0, -1.5, True, "", "x" * 99, [[]], {"a": 1}))
            break
    _put(folder, book)


def other_points(rng: random.Random, folder: Path) -> None:
    """The metadata with which nbgrader says what a cell is worth, and to whom it belongs."""
    book = _book(folder)
    for cell in book["cells"]:
        about = cell.get("metadata", {}).get("nbgrader")
        if isinstance(about, dict) and rng.random() < 0.7:
            about |= rng.choice(
                (
                    {"points": 1_000}, {"points": -5}, {"points": "100"}, {"grade": False},
                    {"locked": False}, {"solution": True}, {"schema_version": 99},
                    {"grade_id": "limit"}, {"grade_id": "../../x"}, {"cell_type": "raw"},
                    {"task": True}, {"checksum": "0" * 32},
                )
            )  # fmt: skip
    _put(folder, book)


def cells_moved(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    cells = book["cells"]
    match rng.randrange(4):
        case 0:
            rng.shuffle(cells)
        case 1:
            book["cells"] = [cell for cell in cells if rng.random() < 0.5]
        case 2:
            book["cells"] = [cell for cell in cells for _ in range(rng.randint(1, 3))]
        case _:
            for cell in cells:
                cell["id"] = "same"
    _put(folder, book)


# Markdown and pages.

_TEXTS = (
    "![x](attachment:nope.png)", "![x](https://example.org/a.png)", "![x][1]\n\n[1]: //x.org/a.png",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
    "<svg/onload=alert(1)>", "<iframe src='//x.org'></iframe>", "<style>@import '//x.org';</style>",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)", "<!--", "<![CDATA[", "</div></body></html>",
    "$$" + "\\begin{a}" * 3_000, "[" * 5_000, "![" * 3_000, "*a " * 5_000, "> " * 3_000,
    "`" * 9_999, "|" * 5_000 + "\n" + "|-" * 5_000, "- " * 2_000, "a\n" * 20_000,
    "<a>" * 3_000, "&amp;" * 3_000, "\\" * 5_000, "**About what you handed in**\n\n- All is right.",
    "{{ config }} {% raw %}", "\u202e\u2066\ufeff", "\x00\x1b[2J", "𝕏" * 5_000, "é\u0301" * 5_000,
)  # fmt: skip


def hostile_text(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    written = [cell for cell in book["cells"] if cell.get("cell_type") == "markdown"]
    for cell in rng.sample(written, min(2, len(written))):
        cell["source"] = rng.choice(_TEXTS)
    _put(folder, book)


def hostile_outputs(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    kinds = ("text/html", "text/markdown", "image/svg+xml", "text/latex", "application/javascript",
             "image/png", "application/vnd.jupyter.widget-view+json", "x/y")  # fmt: skip
    for cell in book["cells"]:
        if cell.get("cell_type") == "code":
            data = {rng.choice(kinds): rng.choice(_TEXTS)}
            cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    _put(folder, book)


def attachments(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    for cell in book["cells"]:
        if cell.get("cell_type") == "markdown":
            cell["attachments"] = rng.choice(
                (
                    {"a.png": {"image/png": "not base64"}}, {"../../x": {"text/html": "<b>"}}, [],
                    {"a": None}, {"a.svg": {"image/svg+xml": "<svg onload='x'/>"}}, 7,
                )
            )  # fmt: skip
            cell["source"] = "![a](attachment:a.png) ![b](attachment:../../x)"
    _put(folder, book)


# Archives.


def archive_for_notebook(rng: random.Random, folder: Path) -> None:
    inner = rng.choice((NOTEBOOK, f"../../{NOTEBOOK}", f"/{NOTEBOOK}", f"a/{NOTEBOOK}", "x.txt"))
    content = _zip({inner: _read(folder, NOTEBOOK)}, times=rng.choice((1, 1, 300)))
    wrapped = rng.choice((bytes, gzip.compress, lambda c: _zip({NOTEBOOK: c}), lambda c: c[:-30]))
    _write(folder, NOTEBOOK, wrapped(content))


def archive_beside(rng: random.Random, folder: Path) -> None:
    """A bomb, somebody else's work, or a ledger where it is not looked for first."""
    neighbor = _course(folder) / "submitted" / NEIGHBOR / LAB
    content = rng.choice(
        (
            _zip({"a": bytes(30_000_000)}),
            _zip({LEDGER: bytes(5_000_000), NOTEBOOK: b"{}"}),
            _zip({LEDGER: (neighbor / LEDGER).read_bytes()}),
            _zip({NOTEBOOK: (neighbor / NOTEBOOK).read_bytes()}),
            _zip({"a": b"x"}, times=3_000),
            b"PK\x03\x04" + rng.randbytes(400),
        )
    )
    name = rng.choice(("work.zip", f"{LAB}.zip", f"{NOTEBOOK}.zip", "ledger.zip"))
    _write(folder, name, content)
    if rng.random() < 0.5:
        _clear(folder, NOTEBOOK)


def _zip(files: dict[str, bytes], times: int = 1) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(times):
            for name, content in files.items():
                archive.writestr(name if k == 0 else f"{k}/{name}", content)
    return packed.getvalue()


# Dates.

_TIMES = (
    "9999-12-31 23:59:59 UTC", "0001-01-01 00:00:00 +2300", "12.11.2026", "12.11.2026 10:00",
    "11/12/2026", "yesterday", "2026-02-30 10:00:00 UTC", "2026-11-01 25:00:00 UTC", "1e9", "-1",
    "1762000000", "2026-11-01 10:00:00 XYZ", "2026-11-01 10:00:00 +9999", "", " " * 99, "\x00" * 50,
    "2026-11-01T10:00:00" + "0" * 80, "9" * 20, "NaN", "2026-11-01 10:00:00 UTC\n" * 9,
    "2026-13-45", "１２.１１.２０２６", "Sun Nov 01 10:00:00 2026", "2026-W45-1", "24:00",
)  # fmt: skip


def odd_time(rng: random.Random, folder: Path) -> None:
    _write(folder, TIMESTAMP, rng.choice(_TIMES).encode())


def odd_time_in_the_ledger(rng: random.Random, folder: Path) -> None:
    """Chained as the package itself would do it, because whoever has Python can do that."""
    times = ("9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z", "2026-02-30T10:00:00.000Z",
             "2000-01-01T00:00:00.000Z", "now", "")  # fmt: skip
    events = _events(folder)
    if events:
        k = rng.randrange(len(events))
        events[k] = events[k]._replace(time=rng.choice(times))
        _write(folder, LEDGER, b"".join(map(to_line, rechained(events))))


# Ledgers, receipts and the record in the notebook.


def _events(folder: Path) -> list[Any]:
    try:
        return [from_line(line) for line in _read(folder, LEDGER).splitlines() if line]
    except ValueError:
        return []


def neighbors_ledger(rng: random.Random, folder: Path) -> None:
    content = (_course(folder) / "submitted" / NEIGHBOR / LAB / LEDGER).read_bytes()
    own = folder.parent.name.encode()
    if rng.random() < 0.5:  # under one's own name, without the chain
        content = content.replace(NEIGHBOR.encode(), own)
    name = rng.choice((LEDGER, "ledger (1).jsonl", "a/ledger.jsonl", "ledger.json"))
    _write(folder, name, content)


def neighbors_notebook(rng: random.Random, folder: Path) -> None:
    neighbor = _course(folder) / "submitted" / NEIGHBOR / LAB
    _write(folder, NOTEBOOK, (neighbor / NOTEBOOK).read_bytes())
    if rng.random() < 0.5:
        _clear(folder, LEDGER)


def lines_moved(rng: random.Random, folder: Path) -> None:
    lines = _read(folder, LEDGER).splitlines(keepends=True)
    match rng.randrange(4):
        case 0:
            rng.shuffle(lines)
        case 1:
            lines = [line for line in lines if rng.random() < 0.7]
        case 2:
            lines = [line for line in lines for _ in range(2)]
        case _:
            lines = lines[::-1]
    _write(folder, LEDGER, b"".join(lines))


def lines_edited(rng: random.Random, folder: Path) -> None:
    lines = _read(folder, LEDGER).splitlines(keepends=True)
    for k in rng.sample(range(len(lines)), min(3, len(lines))):
        try:
            event = json.loads(lines[k])
            key = rng.choice(list(event))
        except (ValueError, IndexError, TypeError):
            continue
        event[key] = rng.choice((None, -1, 1e300, "x", [], {}, "9" * 500, True, 10**30))
        lines[k] = json.dumps(event).encode() + b"\n"
    _write(folder, LEDGER, b"".join(lines))


def odd_receipt(rng: random.Random, folder: Path) -> None:
    text = rng.choice(
        ('{"seq": 1e999, "hash": ""}', '{"seq": -1, "hash": "x"}', "[]", '{"seq": true}',
         json.dumps({"seq": 3, "hash": "0" * 64, "time": "9999"}), "[" * 9_000)
    )  # fmt: skip
    _write(folder, RECEIPT, text.encode())


def odd_record(rng: random.Random, folder: Path) -> None:
    """What the notebook carries of the ledger, in case that is not handed in."""
    neighbor = _course(folder) / "submitted" / NEIGHBOR / LAB
    lines = (neighbor / LEDGER).read_text().splitlines()
    book = _book(folder)
    book["metadata"]["mlsys"] = {
        **(book["metadata"].get("mlsys") or {}),
        "record": rng.choice(
            ({"lines": lines}, {"lines": lines * 50}, {"lines": 7}, [], {"left_out": "x" * 9_000},
             {"lines": ["[" * 5_000] * 20}, "x", {"lines": [None] * 9_000})
        ),
    }  # fmt: skip
    _put(folder, book)
    if rng.random() < 0.5:
        _clear(folder, LEDGER)


# Names.


def odd_names(rng: random.Random, folder: Path) -> None:
    for _ in range(rng.randint(1, 8)):
        name = rng.choice(
            ("a\nb", "a\x1b[31m", "\u202etxt", "-rf", "x" * 255, ".hidden", "left_out.json",
             "feedback", "LEDGER.JSONL", "ledger.jsonl ", "con", "a:b", "%00", "<b>.html",
             os.fsdecode(b"\xff\xfe"), "mlsys_widgets.py", "asks.py", "sitecustomize.py")
        )  # fmt: skip
        _write(folder, name, rng.choice((b"", b"{}", b"x" * 1_000, b"raise SystemExit")))


def several_notebooks(rng: random.Random, folder: Path) -> None:
    content = _read(folder, NOTEBOOK)
    for k in range(rng.choice((2, 5, 40))):
        _write(folder, f"{LAB} ({k}).ipynb", content + b" " * k)
    if rng.random() < 0.7:
        _clear(folder, NOTEBOOK)


# Code of one's own, for those that are run.

_CODES = (
    "raise SystemExit", "import os\nos._exit(0)", "lab = 5", "lab.answered = lambda name: 42",
    "print('x' * 3_000_000)", "import sys\nsys.setrecursionlimit(10**9)", "%%html\n<script>x",
    "open('ledger.jsonl', 'w').write('')", "import this\nthis.s = None", "def broken(:",
    "!cat ../*/ledger.jsonl", "input()", "lab.answer('limit', object())", "\x00", "1 / 0",
    "import builtins\nbuiltins.print = None", "from IPython.display import HTML\nHTML('<b>')",
)  # fmt: skip


def own_code(rng: random.Random, folder: Path) -> None:
    book = _book(folder)
    for _ in range(rng.randint(1, 3)):
        cell = {"cell_type": "code", "metadata": {}, "id": f"own{rng.randrange(10**6)}",
                "source": rng.choice(_CODES), "outputs": [], "execution_count": None}  # fmt: skip
        book["cells"].insert(rng.randrange(len(book["cells"]) + 1), cell)
    _put(folder, book)


_TRICKS: Sequence[Trick] = (
    link_to_something, links_in_a_row, special_file, folder_for_file, hard_link,
    many_files, deep_folders, large_file, large_outputs, many_cells, long_source, ledger_of_lines,
    other_encoding, odd_bytes, half_characters, cut_off,
    odd_json, odd_numbers, other_types, other_points, cells_moved,
    hostile_text, hostile_outputs, attachments,
    archive_for_notebook, archive_beside,
    odd_time, odd_time_in_the_ledger,
    neighbors_ledger, neighbors_notebook, lines_moved, lines_edited, odd_receipt, odd_record,
    odd_names, several_notebooks, own_code,
)  # fmt: skip
TRICKS = {trick.__name__.replace("_", "-"): trick for trick in _TRICKS}
