"""Labs are released once: what students have stays, and what was withdrawn stays withdrawn."""

from __future__ import annotations

import shutil

import pytest

from mlsys_widgets.authoring import Course, build, new_lab
from mlsys_widgets.courses.gradebook_registration import register_labs
from mlsys_widgets.hub.instructor_tasks import TaskList, main

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
    first = main(course, TaskList([{"id": "ada"}], []))
    assert (first.released, first.ever_released, first.added) == ([LAB], [LAB], ["ada"])
    assert (outbound / LAB / f"{LAB}.ipynb").is_file()
    again = main(course, TaskList([{"id": "ada"}], first.ever_released))
    assert (again.released, again.changed, again.withdrawn, again.added) == ([], [], [], [])
    # A hub of an earlier version remembers nothing; what lies in the exchange tells.
    assert main(course, TaskList([], [])).ever_released == [LAB]
    notebook = course / "release" / LAB / f"{LAB}.ipynb"
    notebook.write_text(notebook.read_text() + "\n")
    assert main(course, TaskList([], [LAB])).changed == [LAB]
    shutil.rmtree(outbound / LAB)
    last = main(course, TaskList([], [LAB]))
    assert (last.released, last.withdrawn, last.ever_released) == ([], [LAB], [LAB])
    assert not (outbound / LAB).exists()
