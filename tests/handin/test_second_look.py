"""A request for a second look is read as what a stranger wrote."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from mlsys_widgets.handin.second_look import (
    LONGEST_WORDS,
    MOST_LINES,
    SecondLookRequest,
    answer_file,
    clean_words,
    new_ticket,
    put_into_box,
    read_answer,
    read_request,
    write_answer,
)


def request(**changes: object) -> dict[str, object]:
    said = {
        "ticket": new_ticket(), "student": "ann", "lab": "lab_01", "question": "limit",
        "words": "Is it not memory?", "time": "2026-11-16T10:00:00+00:00",
    }  # fmt: skip
    return {**said, **changes}


def test_a_request_travels_whole(tmp_path):
    (tmp_path / BOX).mkdir()
    asked = SecondLookRequest(**request())
    put_into_box(tmp_path, asked)
    put_into_box(tmp_path, asked)  # as after a crash
    (file,) = (tmp_path / BOX).iterdir()
    assert read_request(file.read_bytes()) == asked
    assert "ann" not in file.name


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"{", b"[" * 100_000, b"\xff\xfe", b'{"ticket": 1}',
        *(json.dumps(request(**{name: bad})).encode() for name, bad in (
            ("ticket", "../../etc/passwd"), ("ticket", "A" * 32), ("ticket", 7), ("student", ""),
            ("student", "x" * 129), ("student", "a\nb"), ("lab", "a\x1b"), ("question", None),
            ("words", ""), ("words", "\x00\x07 "), ("more", "of it"),
        )),
    ],
)  # fmt: skip
def test_whatever_else_it_may_be_is_refused(content):
    with pytest.raises(ValueError, match=r"^the (file|request) "):
        read_request(content)


def test_words_are_cleaned():
    assert clean_words("a\x1b]0;title\x07b\u202ec\r\nd\te") == "a]0;titlebc\nd e"
    assert len(clean_words("long " * 10_000)) <= LONGEST_WORDS
    assert clean_words("line\n" * 500).count("\n") < MOST_LINES
    assert clean_words("<script>alert(1)</script>") == "<script>alert(1)</script>"  # as text


def test_an_answer_is_found_with_the_ticket_alone(tmp_path):
    (tmp_path / ANSWERS).mkdir()
    ticket = new_ticket()
    assert read_answer(tmp_path, ticket) is None
    write_answer(tmp_path, ticket, "You are right.", "2026-11-16T11:00:00+00:00")
    assert read_answer(tmp_path, ticket)["answer"] == "You are right."
    assert ticket not in answer_file(tmp_path, ticket).name
    answer_file(tmp_path, ticket).write_text('{"answer": ')
    assert read_answer(tmp_path, ticket) is None
