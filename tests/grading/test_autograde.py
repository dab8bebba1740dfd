"""Stock nbgrader with our two preprocessors: an isolated child, and feedback without tests."""

from __future__ import annotations

import html
import re
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.grading.classroom import LAB, classroom, grade, hand_in, joined, rows, running, shown
from tests.labs.rehearsal import ROOT, Workshop, nbgrader

pytestmark = pytest.mark.timeout(600)
HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n(.*?)\n### END HIDDEN TESTS", re.S)


def isolated(course: Workshop) -> None:
    """Uncomment the lines of nbgrader_config.py that put the child in place of a kernel."""
    config = course.root / "nbgrader_config.py"
    content = config.read_text()
    wanted = ["isolated = ", "c.Execute.enabled", "c.Autograde.autograde_preprocessors"]
    for line in wanted:
        assert f"# {line}" in content
        content = content.replace(f"# {line}", line)
    config.write_text(content)


def fill(course: Workshop) -> None:
    """A small class: right, misconceived, blank, with an error, and with outputs of every kind."""
    for student in ("right", "wrong"):
        asked = course.asked(student)
        answers = asked.right() if student == "right" else asked.believing(0)
        hand_in(course, student, answers=answers, ledger=True, essay="Buy memory.")
    hand_in(course, "blank")
    fails = "import sys\nprint('so far')\nprint('!', file=sys.stderr)\n1/0"
    hand_in(course, "broken", running(fails))
    shows = "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))\n'last'"
    hand_in(course, "shows", running(shows))


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    course = classroom(tmp_path_factory.mktemp("stock") / "course")
    fill(course)
    nbgrader(course.root, ["autograde", LAB], ["generate_feedback", LAB])
    return course


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    course = classroom(tmp_path_factory.mktemp("isolated") / "course")
    fill(course)
    isolated(course)
    nbgrader(course.root, ["autograde", LAB])
    return course


STUDENTS = ("right", "wrong", "blank", "broken", "shows")


@pytest.mark.slow
def test_the_gradebook_is_the_same(stock: Workshop, ours: Workshop):
    found = rows(ours.root)
    assert found == rows(stock.root)
    assert {row[0] for row in found["grade"]} == set(STUDENTS)


@pytest.mark.parametrize("student", STUDENTS)
def test_the_notebooks_are_the_same_but_for_ids_and_times(
    stock: Workshop, ours: Workshop, student: str
):
    theirs, mine = (course.graded_work(student) for course in (stock, ours))
    assert len(theirs.cells) == len(mine.cells)
    for one, other in zip(theirs.cells, mine.cells, strict=True):
        one.metadata.pop("execution", None)  # when it ran
        assert _comparable(joined(one)) == _comparable(joined(other)), one.id


def _comparable(cell: nbformat.NotebookNode) -> str:
    """A cell with everything that differs from run to run made equal."""
    words = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    words = re.sub(r"[0-9a-f]{32}", "id", words)
    words = re.sub(r"0x[0-9a-f]{6,}", "0x", words)
    return _at_any_time(words)


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A class with somebody curious, and somebody whose notebook ends its process."""
    course = classroom(tmp_path_factory.mktemp("disturbed") / "course")
    isolated(course)
    gradebook = course.root / "gradebook.db"
    code = f"import os, pathlib\n(os.getuid(), pathlib.Path({str(gradebook)!r}).exists())"
    hand_in(course, "curious", running(code))
    hand_in(course, "quits", running("import os; os._exit(0)"))
    hand_in(course, "stays", answers=course.asked("stays").right(), ledger=True)
    # As with a kernel that dies: nbgrader names the submission, and ends with an error.
    with pytest.raises(AssertionError, match=r"nbgrader autograde .* fails"):
        nbgrader(course.root, ["autograde", LAB])
    return course


def test_the_child_is_isolated(disturbed: Workshop):
    assert "(65534, False)" in shown(disturbed.graded_work("curious"))


def test_a_notebook_that_does_not_end_gets_no_points_and_stops_nobody(disturbed: Workshop):
    with Gradebook(f"sqlite:///{disturbed.root / 'gradebook.db'}") as book:
        assert book.find_submission(LAB, "stays").score > 0
        assert book.find_submission(LAB, "quits").score == 0
    assert not (disturbed.root / "autograded" / "quits" / LAB).exists()


# Feedback.


def _hidden_lines(course: Workshop) -> set[str]:
    found = set()
    for cell in course.notebook("source").cells:
        for test in HIDDEN.findall(cell.source):
            found |= {line.strip() for line in test.splitlines() if len(line.strip()) > 12}
    assert len(found) > 20
    return found


def _page(course: Workshop, student: str) -> str:
    """A page of feedback as text: tags out, entities read."""
    page = (course.root / "feedback" / student / LAB / f"{LAB}.html").read_text("utf-8")
    body = page[page.index("<body") :]
    return _at_any_time(html.unescape(re.sub(r"<[^>]+>", "", body)))


def _at_any_time(words: str) -> str:
    """Words without the minute in which a ledger was written."""
    return re.sub(r"\d\d:\d\d UTC", "then", words)


@pytest.mark.parametrize("student", STUDENTS)
def test_no_line_of_a_hidden_test_is_on_the_page(stock: Workshop, student: str):
    page = _page(stock, student)
    error = {
        line.strip()
        for output in _outputs(stock.graded_work(student))
        for line in output.splitlines()
    }
    assert not [line for line in _hidden_lines(stock) if line in page and line not in error]
    assert "HIDDEN TESTS" not in page


def _outputs(book: nbformat.NotebookNode) -> list[str]:
    cells = map(joined, book.cells)
    return [o.text for c in cells for o in c.get("outputs", ()) if o.output_type == "stream"]


def test_the_sentence_about_the_belief_is_on_the_page(stock: Workshop):
    asked = stock.asked("wrong")
    page = re.sub(r"\s+", " ", _page(stock, "wrong"))
    for name in asked.graded:
        belief = asked.keys[name].beliefs[0]
        assert belief.says in page
        assert belief.says not in _page(stock, "right")


@pytest.mark.slow
def test_after_mlsys_grade_the_pages_are_the_same(stock: Workshop, tmp_path: Path):
    course = classroom(tmp_path / "course")
    fill(course)
    grade(course)
    nbgrader(course.root, ["generate_feedback", LAB])
    for student in ("right", "wrong"):
        # Without spaces: a stream in two parts has other breaks between them.
        mine, theirs = ("".join(_page(each, student).split()) for each in (course, stock))
        assert mine == theirs
    assert "there is no ledger.jsonl" in _page(course, "blank").lower(), (
        "nothing is lost in silence"
    )


def test_the_settings_of_a_new_course_are_those_of_this_one():
    template = ROOT / "mlsys_widgets" / "authoring" / "template" / "nbgrader_config.py.template"
    mine = (ROOT / "nbgrader_config.py").read_text().replace('"mlsys"', '"my_course"')
    assert template.read_text() == mine
