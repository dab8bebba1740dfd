"""The report on a class: numbers that agree with the gradebook, at every edge, and no names."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import ClassReport
from mlsys_widgets.classes import ClassSummary, class_summary, sheets, statistics
from mlsys_widgets.classes.gathering import on_task, studied
from mlsys_widgets.classes.page import page
from mlsys_widgets.classes.simulation import simulate
from mlsys_widgets.classes.summary import Calibration, Held, Question, Row
from mlsys_widgets.cli import main
from mlsys_widgets.drawing import markup
from mlsys_widgets.grading.checks_file import load_checks
from mlsys_widgets.grading.keys import Given
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Event, Ledger
from tests.grading.classroom import LAB, classroom
from tests.grading.simulated import (
    STUDENTS,
    copy_of_class,
    graded_class,
    made,
    of_kind,
    sql,
    work_of,
)

pytestmark = pytest.mark.timeout(600)
START = datetime(2026, 2, 3, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def summary() -> ClassSummary:
    return class_summary(LAB, graded_class())


def question(summary: ClassSummary, name: str) -> Question:
    return next(each for each in summary.questions if each.name == name)


class Page(HTMLParser):
    """What a page holds: it must be well formed, and fetch nothing."""

    VOID = frozenset({"meta", "rect", "path", "link", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "title"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


# Statistics.


@given(st.lists(st.floats(-1e6, 1e6), max_size=30), st.data())
def test_a_correlation_is_one_or_nothing(x: list[float], data: st.DataObject) -> None:
    y = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(x), max_size=len(x)))
    found = statistics.correlation(x, y)
    assert found is None or -1 <= found <= 1


def test_no_correlation_of_what_is_all_the_same() -> None:
    same = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3]
    assert statistics.correlation(same, [1, 2, 3, 4, 5]) is None
    assert statistics.correlation([1, 2], [1, 2]) is None


@given(st.lists(st.floats(0, 120)))
def test_a_histogram_leaves_nobody_out(values: list[float]) -> None:
    assert sum(statistics.histogram(values, [10.0 * k for k in range(11)])) == len(values)


def test_calibration_counts_every_confidence() -> None:
    found = Calibration.of([(5, True), (5, False), (1, False)])
    assert found.counts[5] == (2, 1)
    assert found.counts[3] == (0, 0)
    assert found.among(4, 5) == (2, 1)


# A class.


def test_totals_are_those_of_nbgraders_gradebook(summary: ClassSummary) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded_class() / 'gradebook.db'}") as book:
        expected = sorted((s.score for s in book.assignment_submissions(LAB)), reverse=True)
        most = book.find_assignment(LAB).max_score
    assert len(summary.rows) == STUDENTS
    assert list(summary.scores) == pytest.approx(expected)
    assert summary.most == most == 100


def test_questions_count_everybody_once(summary: ClassSummary) -> None:
    assert [each.name for each in summary.questions] == [
        "intensity_flop_per_byte", "limit", "advice", "commitments",
    ]  # fmt: skip
    for each in summary.questions:
        assert each.count == STUDENTS
        assert each.mean is None or 0 <= each.mean <= 1
    number = question(summary, "intensity_flop_per_byte")
    points = [row.points["intensity_flop_per_byte"] for row in summary.rows]
    assert number.mean == pytest.approx(sum(points) / 40 / STUDENTS)
    assert number.right == sum(score == 40 for score in points)
    assert number.discrimination is not None
    assert number.discrimination > 0.2


def test_an_essay_that_waits_says_nothing_yet(summary: ClassSummary) -> None:
    essay = question(summary, "advice")
    assert essay.waiting == summary.waiting > 0
    assert essay.mean is None
    assert essay.discrimination is None


def test_beliefs_are_those_that_were_typed(summary: ClassSummary) -> None:
    root = graded_class()
    whole = {"right", "mostly-right", "misconceived", "late", "restarted", "partly-done"}
    typed = [
        answer["belief"]
        for each in made(root).values()
        if each["kind"] in whole
        for answer in each["answers"].values()
        if answer["belief"]
    ]
    held = {h.belief: h for each in summary.questions for h in each.held}
    assert set(typed) <= set(held)
    for belief in set(typed):
        assert held[belief].count >= typed.count(belief)
        assert held[belief].says.endswith(".")


def test_predictions_beside_what_is_true(summary: ClassSummary) -> None:
    (guess,) = summary.guesses
    assert guess.judged
    wrong, right = guess.said
    assert wrong.words.startswith("A: ")
    assert (wrong.right, right.right) == (0, right.count)
    assert guess.count == summary.predictions.count
    assert guess.right == sum(row.foreseen for row in summary.rows)


def test_who_handed_in_late(summary: ClassSummary) -> None:
    assert summary.late == len(of_kind(graded_class(), "late")) > 0


def test_a_copied_ledger_is_nobodys_time(summary: ClassSummary) -> None:
    root = graded_class()
    without = len(of_kind(root, "copied")) + len(of_kind(root, "blank"))
    assert len(summary.minutes) == STUDENTS - without
    flags = dict(summary.flags)
    assert flags["the ledger is somebody else's"] == len(of_kind(root, "copied"))


def test_points_that_a_person_gave_count(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    before = class_summary(LAB, root, names=True)
    (student, *_) = [row.student for row in before.rows if row.waiting]
    sql(
        root,
        "update grade set manual_score = 15, needs_manual_grade = 0 where cell_id in"
        " (select id from base_cell where name = 'advice') and notebook_id in"
        " (select n.id from submitted_notebook n join submitted_assignment a"
        " on n.assignment_id = a.id where a.student_id = ?)",
        student,
    )
    sql(
        root,
        "update submitted_notebook set late_submission_penalty = 5 where assignment_id in"
        " (select id from submitted_assignment where student_id = ?)",
        student,
    )
    old, new = (
        next(row for row in each.rows if row.student == student)
        for each in (before, class_summary(LAB, root, names=True))
    )
    assert new.total == pytest.approx(old.total + 15 - 5)
    assert not new.waiting


# Names.


def test_no_name_anywhere_unless_asked_for(summary: ClassSummary) -> None:
    names = re.compile(r"student-\d")
    for shown in (
        repr([getattr(summary, each.name) for each in fields(summary)]),
        page(summary),
        sheets.submissions(summary),
        sheets.questions(summary),
        repr(summary.pictures),
    ):
        assert not names.search(shown)
    named = class_summary(LAB, graded_class(), names=True)
    shown = Page(page(named)).text
    for student in made(graded_class()):
        assert student in shown
    assert not names.search(repr(named.pictures))


# Edges.


def test_a_class_of_nobody(tmp_path: Path) -> None:
    course = classroom(tmp_path / "course")
    summary = class_summary(LAB, course.root)
    assert summary.rows == ()
    assert "Nobody has handed in" in Page(page(summary)).text
    assert summary.pictures == ()
    assert len(list(csv.reader(io.StringIO(sheets.submissions(summary))))) == 1
    widget = ClassReport(summary)
    assert "Nobody has handed in" in widget.text()
    with pytest.raises(ValueError, match="no picture yet"):
        widget.figure()


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_class_of_very_few(tmp_path: Path, keep: int) -> None:
    root = copy_of_class(tmp_path / "course")
    sql(
        root,
        "delete from submitted_assignment where student_id not in"
        f" (select student_id from submitted_assignment order by student_id limit {keep})",
    )
    summary = class_summary(LAB, root)
    assert len(summary.rows) == keep
    assert all(each.discrimination is None for each in summary.questions)
    assert not re.search(r"\bnan\b", page(summary).lower())


def test_everybody_has_the_same(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    sql(root, "update grade set auto_score = 0.1, manual_score = null, needs_manual_grade = 0")
    summary = class_summary(LAB, root)
    assert {each.discrimination for each in summary.questions} == {None}
    assert len(set(summary.scores)) == 1
    Page(page(summary))


def test_without_ledgers_and_without_a_journal(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    for student in made(root):
        (work_of(root, student) / "ledger.jsonl").unlink(missing_ok=True)
    (root / ".mlsys" / f"grade-{LAB}.jsonl").unlink()
    summary = class_summary(LAB, root)
    assert summary.unjudged == STUDENTS
    assert summary.minutes == ()
    assert summary.predictions.count == 0
    shown = Page(page(summary)).text
    assert f"{STUDENTS} students were not graded by" in shown
    assert [group.key for group in summary.pictures] == ["scores", "questions", "question"]
    for chart in ClassReport(summary).pictures:
        ClassReport(summary).look(chart)


def test_ledgers_that_are_no_ledgers(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert studied(tmp_path, "ann") is None
    path.write_bytes(b"\x00\xff not a ledger\n")
    assert studied(tmp_path, "ann") is None
    path.unlink()
    Ledger.open(path, lab=LAB, student="bob").record_answer("x", 1)
    assert studied(tmp_path, "ann") is None
    found = studied(tmp_path, "bob")
    assert found is not None
    assert found.minutes == 0
    path.rename(tmp_path / "elsewhere.jsonl")
    path.symlink_to(tmp_path / "elsewhere.jsonl")
    assert studied(tmp_path, "bob") is None


@given(st.lists(st.floats(0, 40), min_size=1, max_size=12))
def test_pauses_are_not_work(gaps: list[float]) -> None:
    moments = [START]
    for gap in gaps:
        moments.append(moments[-1] + timedelta(minutes=round(gap, 3)))
    events = [
        _event(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        for moment in moments
    ]
    work = [(b - a).total_seconds() / 60 for a, b in pairwise(moments)]
    expected = sum(gap for gap in work if gap <= 10)
    assert on_task(events) == pytest.approx(expected, abs=0.01)


def _event(time: str) -> Event:
    return Event(0, time, LAB, "answer", "x", {}, "0" * 64, "0" * 64)


def test_the_report_of_what_is_not_there(tmp_path: Path) -> None:
    course = classroom(tmp_path / "course")
    with pytest.raises(ValueError, match="there is no assignments/lab_99"):
        class_summary("lab_99", course.root)
    (course.root / "gradebook.db").unlink()
    with pytest.raises(ValueError, match="grade the class first: mlsys grade"):
        class_summary(LAB, course.root)
    assert not (course.root / "gradebook.db").exists()


# The page.


def test_the_page_needs_nothing_else(summary: ClassSummary) -> None:
    text = page(summary)
    found = Page(text)
    assert not [tag for tag, _ in found.tags if tag in ("script", "link", "img", "iframe")]
    assert not re.search(r"https?://|@import|url\(", text)
    assert "prefers-color-scheme: dark" in text
    assert all("aria-label" in attrs for tag, attrs in found.tags if tag == "svg")
    assert "NaN" not in text
    headings = (
        "How many points", "Question by question", "What the class believes", "Predictions",
        "How sure, and how right", "Time on task", "To look at",
    )  # fmt: skip
    for words in headings:
        assert words in found.text


def test_what_students_wrote_is_only_text(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    journal = root / ".mlsys" / f"grade-{LAB}.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    lines[0]["flags"] = ["<script>alert(1)</script>"]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = page(class_summary(LAB, root, names=True))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_words_of_a_lab_keep_their_marks_and_nothing_else() -> None:
    asked = Question("q", "Why `x < 1` and **not** <b>2</b>?", "number", 1.0, right=1)
    text = page(ClassSummary("lab", "A lab", 1.0, rows=(_row(),), questions=(asked,)))
    assert "Why <code>x &lt; 1</code> and <strong>not</strong> &lt;b&gt;2&lt;/b&gt;?" in text


def _row() -> Row:
    return Row("", 1.0, 0.0, None, 0, 0, False, (), {"q": 1.0}, {})


def test_the_command_writes_page_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "class.html"
    arguments = ["report", LAB, "--csv", "--output", str(target), "--course", str(graded_class())]
    assert main(arguments) == 0
    assert f"{STUDENTS} submissions" in capsys.readouterr().out
    Page(target.read_text("utf-8"))
    table = (tmp_path / "class-submissions.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == STUDENTS
    assert [row["student"] for row in rows[:2]] == ["1", "2"]
    assert float(rows[0]["points"]) >= float(rows[-1]["points"])
    table = (tmp_path / "class-questions.csv").read_text("utf-8-sig")
    questions = list(csv.DictReader(io.StringIO(table)))
    assert {row["question"] for row in questions} >= {"limit", "commitments"}
    assert main(["report", "lab_99", "--course", str(graded_class())]) == 1
    assert "there is no assignments/lab_99" in capsys.readouterr().err


# The widget.


def test_every_picture_can_be_looked_at(summary: ClassSummary) -> None:
    widget = ClassReport(summary)
    assert widget.pictures[0] == "scores"
    for key in widget.pictures:
        widget.look(key)
        assert widget.chart is not None
        assert widget.chart.key == key
        assert len(widget.children) == 2
        assert widget.figure().startswith("<svg")
        assert "NaN" not in widget.figure()
        assert markup.plain(widget.chart.says) in widget.text()
    with pytest.raises(ValueError, match="picture"):
        widget.look("grades of Ann")


def test_the_widget_by_mouse(summary: ClassSummary) -> None:
    widget = ClassReport(summary)
    ask = widget._card._handle_custom_msg
    ask({"action": "choose", "values": {"group": "question"}, "stamp": 1}, [])
    assert widget.chart is not None
    assert widget.chart.key == "question:intensity_flop_per_byte"
    ask({"action": "look", "values": {"chart": "question:limit"}, "stamp": 2}, [])
    assert widget.chart.key == "question:limit"
    ask({"action": "choose", "values": {"group": "scores"}, "stamp": 3}, [])
    ask({"action": "choose", "values": {"group": "question"}, "stamp": 4}, [])
    assert widget.chart.key == "question:limit"
    ask({"action": "choose", "values": {"group": "nothing"}, "stamp": 5}, [])
    assert "picture" in widget._card.view["trouble"]["words"]


def test_pictures_of_many_questions_and_long_words() -> None:
    many = tuple(
        Question(f"q{k}", "A title " * 20, "number", 5.0, mean=0.5, right=3, wrong=2,
                 held=(Held("a belief " * 20, "A sentence. " * 20, 2),))
        for k in range(40)
    )  # fmt: skip
    summary = ClassSummary("lab_00", "A lab", 200.0, questions=many)
    widget = ClassReport(summary)
    for key in widget.pictures:
        widget.look(key)
        assert widget.figure()


def test_unexplained_answers_that_several_typed(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    journal = root / ".mlsys" / f"grade-{LAB}.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    home = root / "assignments" / LAB
    lab, check = load(home), load_checks(home)["intensity_flop_per_byte"]
    for line in lines[:4]:
        key = check(Given(lab.draw(line["student"]), home)).value
        for score in line["scores"]:
            if score["name"] == "intensity_flop_per_byte":
                score.update(auto=0.0, belief=None, answer=repr(float(key) * 7))
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = question(class_summary(LAB, root), "intensity_flop_per_byte")
    assert found.unexplained == (("7 times", 4),)


def test_a_simulated_class_without_a_gradebook(tmp_path: Path) -> None:
    course = classroom(tmp_path / "course")
    (course.root / "gradebook.db").unlink()
    assert len(simulate(course.root, LAB, 3)) == 3
    assert not (course.root / "gradebook.db").exists()
