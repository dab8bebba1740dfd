"""Labs are released once: what students have stays, and what was withdrawn stays withdrawn."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from mlsys_widgets.authoring import Course, build, new_lab
from mlsys_widgets.courses import RosterEntry
from mlsys_widgets.courses.gradebook_registration import register_labs
from mlsys_widgets.grading.reading.hand_in_facts import release_time
from mlsys_widgets.hub.services.instructor_tasks import main, note_release

LAB = "lab_02_demo"


@pytest.fixture
def course(tmp_path, monkeypatch):
    root, exchange = tmp_path / "course", tmp_path / "exchange"
    new_lab(root, LAB)
    build(Course.at(root))
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(
            f"\nc.CourseDirectory.course_id = 'demo'\nc.Exchange.root = {str(exchange)!r}\n"
        )
        settings.write(f"c.CourseDirectory.root = {str(root)!r}\n")
    register_labs(Course.at(root), [LAB])
    monkeypatch.chdir(root)
    return root


def test_a_lab_is_released_once_and_what_was_withdrawn_stays_so(course):
    outbound = course.parent / "exchange" / "demo" / "outbound"
    class_ = [RosterEntry("ada")]
    first = main(course, class_)
    assert (first.released, first.added) == ([LAB], ["ada"])
    assert (outbound / LAB / f"{LAB}.ipynb").is_file()
    again = main(course, class_)
    assert (again.released, again.changed, again.withdrawn, again.added) == ([], [], [], [])
    notebook = course / "release" / LAB / f"{LAB}.ipynb"
    notebook.write_text(notebook.read_text() + "\n")
    assert main(course, []).changed == []  # students would get the same
    book = json.loads(notebook.read_text())
    book["cells"][0]["source"] = "Another text"
    notebook.write_text(json.dumps(book))
    # A hub of an earlier version has noted nothing; what lies in the exchange tells.
    (course / ".mlsys" / "released.json").unlink()
    assert main(course, []).changed == [LAB]
    shutil.rmtree(outbound / LAB)
    last = main(course, [])
    assert (last.released, last.withdrawn) == ([], [LAB])
    assert not (outbound / LAB).exists()


@pytest.mark.slow
def test_two_who_release_at_once_do_not_get_in_each_others_way(course):
    """As when a hub starts, and its service that follows the calendar with it."""
    command = [sys.executable, "-m", "mlsys_widgets.hub.services.instructor_tasks", str(course)]
    both = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [json.loads(each.communicate("[]", timeout=300)[0]) for each in both]
    assert sorted(each["released"] for each in said) == [[], [LAB]]


def test_the_first_release_counts(tmp_path):
    assert release_time(tmp_path, LAB) is None
    before = datetime.now(UTC) - timedelta(seconds=2)
    note_release(tmp_path, LAB)
    first = release_time(tmp_path, LAB)
    assert first is not None
    assert before < first <= datetime.now(UTC)
    note_release(tmp_path, "lab_07")
    note_release(tmp_path, LAB)
    assert release_time(tmp_path, LAB) == first
    assert release_time(tmp_path, "lab_07") is not None


def test_a_file_that_is_not_understood_is_left_alone(tmp_path):
    path = tmp_path / ".mlsys" / "released.json"
    path.parent.mkdir()
    for words in ("", "[]", "{"):
        path.write_text(words)
        note_release(tmp_path, LAB)
        assert path.read_text() == words
