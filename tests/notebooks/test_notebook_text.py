"""Files that should be notebooks: read where nothing is guessed, and named for what they are."""

from __future__ import annotations

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.notebooks import notebook_text
from mlsys_widgets.notebooks.notebook_text import (
    MOST_LINES,
    UnreadableNotebook,
    is_plain,
    is_zip,
    read_json,
)
from mlsys_widgets.notebooks.remarks import RemarkKind
from tests.effort import lines_run

WORDS = "limit = 'mémoire'"
BOOK = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(WORDS, id="one")])
TEXT = json.dumps(BOOK, indent=1, ensure_ascii=False)


def sources(content: bytes) -> list[str]:
    book, _ = read_json(content)
    return ["".join(cell["source"]) for cell in book["cells"]]


@pytest.mark.parametrize(
    ("encoding", "called"),
    [
        ("utf-8", None),
        ("utf-8-sig", "UTF-8 with a byte order mark"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
        ("latin-1", "Latin-1"),
        ("cp1252", "Latin-1"),
    ],
)
def test_a_notebook_is_read_in_whatever_it_was_saved(encoding, called):
    content = TEXT.encode(encoding)
    assert sources(content) == [WORDS]
    _, remarks = read_json(content)
    assert [remark.kind for remark in remarks] == [RemarkKind.OTHER_ENCODING] * bool(called)
    assert all(called in remark.sentence for remark in remarks)
    assert is_plain(content) == (called is None)


def conflict(ours: str, theirs: str, *, before: str = "") -> bytes:
    """A notebook as Git leaves it: one line of it has two versions."""
    (line,) = (line for line in TEXT.splitlines() if WORDS in line)
    base = f"||||||| base\n{line.replace(WORDS, before)}\n" if before else ""
    marked = (
        f"<<<<<<< HEAD\n{line.replace(WORDS, ours)}\n{base}=======\n"
        f"{line.replace(WORDS, theirs)}\n>>>>>>> theirs"
    )
    return TEXT.replace(line, marked).encode()


@pytest.mark.parametrize("before", ["", "limit = None"])
def test_a_conflict_in_which_both_sides_say_the_same_is_read(before):
    content = conflict("limit = 1", "limit = 1", before=before)
    assert not is_plain(content)
    assert sources(content) == ["limit = 1"]
    _, (remark,) = read_json(content)
    assert remark.kind is RemarkKind.CONFLICT


def test_a_conflict_about_outputs_alone_is_read():
    count = TEXT.replace('"execution_count": null', "@")
    assert "@" in count
    two = '<<<<<<< HEAD\n"execution_count": 1\n=======\n"execution_count": 2\n>>>>>>> b\n'
    assert sources(count.replace("@", f"\n{two}").encode()) == [WORDS]


@pytest.mark.parametrize(
    "content",
    [
        conflict("limit = 1", "limit = 2"),
        conflict("limit = 1", 'broken "'),
        b"<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> b\n",
        b"<<<<<<< HEAD\n" + TEXT.encode(),
    ],
)
def test_a_conflict_about_answers_is_for_a_person(content):
    with pytest.raises(UnreadableNotebook, match=r"Git merge conflict.*hand it in again"):
        read_json(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b"PK\x03\x04rest", "a zip archive. Unpack it"),
        (b"%PDF-1.7", "a PDF"),
        (b"<!DOCTYPE html><html><title>Sign in &amp; go</title>", "(“Sign in & go”)"),
        (b"\n<!-- saved from url -->\n<html>", "a web page; a browser saves one"),
        ('<?xml version="1.0"?><html>'.encode("utf-16"), "a web page"),
        (TEXT[: len(TEXT) // 2].encode(), "breaks off in the middle"),
        (TEXT[: TEXT.index("mémoire") + 3].encode(), "breaks off in the middle"),
        (TEXT.replace('"metadata"', "metadata").encode(), "line 4 of the file is damaged"),
        (b"print('my answers')", "line 1 of the file is damaged"),
        (b'{"a": 1}', "not a notebook, although its name says so"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"nbformat": true}', "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_called_what_it_is(content, words):
    with pytest.raises(UnreadableNotebook) as problem:
        read_json(content)
    assert words in str(problem.value)
    assert not str(problem.value).endswith(".")
    assert len(str(problem.value)) < 300


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_file_is_read_or_refused(content):
    is_plain(content), is_zip(content)
    try:
        book, _ = read_json(content)
    except UnreadableNotebook:
        return
    assert isinstance(book, dict)


def test_a_conflict_in_a_notebook_with_megabytes_of_outputs_is_read():
    printed = [f"step {k}: loss {1 / (k + 1):.12f}\n" for k in range(MOST_LINES // 2)]
    outputs = json.dumps([{"output_type": "stream", "text": printed}], indent=1).encode()
    content = conflict("limit = 1", "limit = 1").replace(b'"outputs": []', b'"outputs": ' + outputs)
    assert len(content) > 3_000_000
    assert sources(content) == ["limit = 1"]


@pytest.mark.parametrize("line", [b"<<<<<<< a\n", b"=======\n", b"<!-- ", b"\n", b"<html", b"["])
def test_a_file_of_megabytes_is_refused_before_any_line_is_looked_at(line):
    content = b"<<<<<<< a\n" + line * (8_000_000 // len(line))

    def refuse() -> None:
        with pytest.raises(UnreadableNotebook):
            read_json(content)

    assert lines_run(notebook_text, refuse) < 500
