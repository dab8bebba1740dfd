"""Second looks, from a box that students write into to an answer that one of them can read."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from nbgrader.preprocessors import ClearHiddenTests

from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from mlsys_widgets.grading.feedback import second_looks
from mlsys_widgets.grading.feedback.second_looks import SecondLook, SecondLooks
from mlsys_widgets.grading.feedback.second_looks_page import as_html, second_looks_of
from mlsys_widgets.handin.second_look import (
    SecondLookRequest,
    answer_file,
    new_ticket,
    put_into_box,
    read_answer,
)
from tests.grading.classroom import LAB
from tests.grading.regrading import CHOICE, NUMBER, graded_course


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "none"))
    made = graded_course(tmp_path / "course")
    exchange = tmp_path / "exchange"
    (exchange / "demo").mkdir(parents=True)
    with (made.root / "nbgrader_config.py").open("a") as config:
        config.write(
            f"\nc.CourseDirectory.course_id = 'demo'\nc.Exchange.root = {str(exchange)!r}\n"
        )
    monkeypatch.chdir(made.root)
    SecondLooks(Course.at(made.root)).open_box()
    return made


@pytest.fixture
def exchange(course, tmp_path):
    return tmp_path / "exchange" / "demo"


@pytest.fixture
def looks(course):
    return SecondLooks(Course.at(course.root))


def ask(exchange, student="ann", question=NUMBER, words="Why?", lab=LAB) -> str:
    request = SecondLookRequest(new_ticket(), student, lab, question, words, "now")
    put_into_box(exchange, request)
    return request.ticket


def test_everybody_may_put_something_in_and_nobody_may_look(exchange):
    assert (exchange / BOX).stat().st_mode & 0o7777 == 0o1733
    assert (exchange / ANSWERS).stat().st_mode & 0o7777 == 0o711


def test_from_a_request_to_its_answer(looks, exchange, capsys):
    ticket = ask(exchange, words="Is\x1b[2J it [bold]not[/] right?")
    assert main(["second-looks"]) == 0
    text = capsys.readouterr().out
    assert f"1  ann  {LAB}: {NUMBER}" in text
    assert "Is[2J it [bold]not[/] right?" in text
    assert list((exchange / BOX).iterdir()) == []
    assert main(["second-looks", "close", "1", "It", "is", "right: +5."]) == 0
    assert read_answer(exchange, ticket)["answer"] == "It is right: +5."
    capsys.readouterr()
    assert main(["second-looks", LAB, "--all", "--json"]) == 0
    (line,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["student"], line["answer"], "ticket" in line) == ("ann", "It is right: +5.", False)
    ask(exchange)  # about the same question again: the first one is closed
    assert [each.number for each in looks.take_in().new] == [2]


def test_where_a_group_shares_the_course_all_of_it_empty_the_box(course, exchange):
    for name in (BOX, ANSWERS):
        (exchange / name).rmdir()
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("c.CourseDirectory.groupshared = True\n")
    SecondLooks(Course.at(course.root)).open_box()
    assert (exchange / BOX).stat().st_mode & 0o1777 == 0o773
    assert (exchange / ANSWERS).stat().st_mode & 0o1777 == 0o771


def test_whoever_cannot_reach_the_box_is_told_and_closes_nothing(
    looks, exchange, monkeypatch, capsys
):
    ticket = ask(exchange)
    looks.take_in()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != ANSWERS)
    for words in ([], ["close", "1", "Yes."]):
        assert main(["second-looks", *words]) == 1
        assert "second looks are closed to you" in capsys.readouterr().err
    assert read_answer(exchange, ticket) is None
    assert [each.is_open for each in looks.read()] == [True]


def test_an_answer_that_cannot_be_read_closes_nothing(looks, exchange):
    ticket = ask(exchange)
    looks.take_in()
    answer_file(exchange, ticket).mkdir()  # in the way
    with pytest.raises(IsADirectoryError):
        looks.close(1, "Yes.")
    assert [each.is_open for each in looks.read()] == [True]


def test_whoever_was_renamed_asks_as_before(looks, exchange, course):
    settings = course.root / "assignments" / "course.toml"
    with settings.open("a") as file:
        file.write('\n[names.ann]\nnumbers = "anna"\n')
    ask(exchange, student="anna")
    (look,) = SecondLooks(Course.at(course.root)).take_in().new
    assert look.student == "ann"


def test_one_open_request_for_a_question_and_the_student_is_told(looks, exchange):
    first, second = ask(exchange), ask(exchange, words="Again!")
    other = ask(exchange, question=CHOICE)
    taken = looks.take_in()
    assert len(taken.new) == 2
    kept = {each.ticket for each in taken.new}
    assert other in kept
    (refused,) = {first, second} - kept
    assert "already" in read_answer(exchange, refused)["answer"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"student": "zoe"}, "no grade to look at"),
        ({"question": "no_such_cell"}, "no such question"),
        ({"lab": "../../etc"}, "no grade to look at"),
    ],
)
def test_what_nobody_could_ask_is_not_taken_in(looks, exchange, changes, why):
    ask(exchange, **changes)
    taken = looks.take_in()
    assert taken.new == ()
    assert why in next(iter(taken.refused))
    assert list((exchange / BOX).iterdir()) == []


def test_links_pipes_and_floods_harm_nobody(looks, exchange, course):
    box, key = exchange / BOX, course.root / "assignments" / LAB / "checks.py"
    (box / "link.json").symlink_to(key)
    os.link(key, box / "hard.json")
    os.mkfifo(box / "pipe.json")
    (box / "folder.json").mkdir()
    (box / "large.json").write_bytes(b"x" * 1_000_000)
    for number in range(70):
        (box / f"{number}.json").write_text("{}")
    ask(exchange)
    taken = looks.take_in()
    assert len(taken.new) + taken.refused["there are too many from one user"] > 1
    assert key.exists()
    assert list(box.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of somebody else's")
def test_hidden_files_of_one_user_starve_nobody(looks, exchange, monkeypatch):
    """The listing may name them first; what counts is that little is opened, and nothing stays."""
    box = exchange / BOX
    for number in range(12_000):
        handle = os.open(box / f".{number}", os.O_CREAT | os.O_WRONLY)
        os.fchown(handle, 1002, -1)
        os.close(handle)
    ticket = ask(exchange)
    opened = []
    content, scandir = second_looks._content, os.scandir
    monkeypatch.setattr(
        second_looks, "_content", lambda box, name: opened.append(name) or content(box, name)
    )

    @contextmanager
    def hidden_first(folder):
        with scandir(folder) as entries:
            yield sorted(entries, key=lambda entry: entry.name)

    monkeypatch.setattr(os, "scandir", hidden_first)
    assert [each.ticket for each in looks.take_in().new] == [ticket]
    assert opened == [f"{ticket}.json"]
    monkeypatch.undo()
    left = list(box.iterdir())
    assert len(left) == 50  # which may be half written
    for each in left:
        os.utime(each, (0, 0))
    looks.take_in()
    assert list(box.iterdir()) == []


def test_other_names_of_somebodys_file_take_none_of_their_room(looks, exchange, monkeypatch):
    """Where the system allows it, anybody can link to a file that they can read."""
    theirs = exchange.parent / "readable"
    theirs.write_text("{}")
    for number in range(60):
        os.link(theirs, exchange / BOX / f"{number}.json")
    ticket = ask(exchange)
    scandir = os.scandir

    @contextmanager
    def links_first(folder):
        with scandir(folder) as entries:
            yield sorted(entries, key=lambda entry: len(entry.name))

    monkeypatch.setattr(os, "scandir", links_first)
    taken = looks.take_in()
    assert [each.ticket for each in taken.new] == [ticket]
    assert taken.refused == {"it is no file": 60}
    assert list((exchange / BOX).iterdir()) == []
    assert theirs.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of somebody else's")
def test_requests_of_one_user_take_no_room_from_another(looks, exchange):
    """Also where there are more than anybody reads: the fiftieth of one is read, and the first."""
    for number in range(200):
        path = exchange / BOX / f"{number}.json"
        path.write_text("{}")
        os.chown(path, 1002, -1)
    ticket = ask(exchange)
    taken = looks.take_in()
    assert [each.ticket for each in taken.new] == [ticket]
    assert taken.refused == {"there are too many from one user": 150, "the file is no request": 50}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of somebody else's")
def test_nobody_asks_in_the_name_of_another(looks, exchange):
    ticket = ask(exchange)
    os.chown(exchange / BOX / f"{ticket}.json", 65534, -1)
    assert looks.take_in().refused == {"the file belongs to somebody else than it says": 1}


def test_a_kill_between_two_steps_is_finished_by_the_next(looks, exchange):
    ticket = ask(exchange)
    file = exchange / BOX / f"{ticket}.json"
    content = file.read_bytes()
    (look,) = looks.take_in().new
    file.write_bytes(content)  # it was not removed any more
    assert looks.take_in().new == ()
    assert not file.exists()
    looks.close(look.number, "Yes.")
    for answer in (exchange / ANSWERS).iterdir():
        answer.unlink()  # it was not published any more
    looks.take_in()
    assert read_answer(exchange, ticket)["answer"] == "Yes."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["close"], "write it like"),
        (["close", "one", "yes"], "write it like"),
        (["close", "7", "yes"], "there is no second look 7"),
        (["lab_99"], "there is no lab lab_99"),
        ([LAB, "x"], "name one lab"),
        (["--section", "evening"], "there is no section 'evening'"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(course, capsys, words, sentence):
    assert main(["second-looks", *words]) == 1
    assert sentence in capsys.readouterr().err


def test_a_student_is_forgotten(looks, exchange):
    ask(exchange)
    ask(exchange, student="bob")
    looks.take_in()
    looks._path.chmod(0o660)  # as where others teach, too
    assert looks.forget("ann") == 1
    assert looks._path.stat().st_mode & 0o777 == 0o660
    assert [each.student for each in looks.read()] == ["bob"]
    assert "ann" not in looks._path.read_text()


def test_the_feedback_page_says_how_to_ask_and_what_was_answered(looks, exchange, course):
    config = ClearHiddenTests().config
    assert "Ask for a second look" in second_looks_of(config, LAB, "ann")
    ask(exchange, words="<script>$x$</script>\n\n**why**")
    looks.take_in()
    looks.close(1, "Look at [the](javascript:ridge).")
    page = second_looks_of(config, LAB, "ann")
    assert "You asked" not in second_looks_of(config, LAB, "bob")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "[the](javascript:ridge)" in page  # as it was typed: nobody reads Markdown there


def test_nothing_is_said_where_nothing_can_be_asked():
    assert as_html([], offered=False) == ""
    look = SecondLook(1, "", "ann", LAB, NUMBER, "Why?", "2026-11-16T10:00:00+00:00")
    assert "not answered yet" in as_html([look], offered=False)
