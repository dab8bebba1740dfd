"""Who grades whose work: by section, evenly, and without changing when somebody joins."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets import cli
from mlsys_widgets.course.course import Course
from mlsys_widgets.course.staff import StaffMember
from mlsys_widgets.courses.grading_split import ManualWork, split, waiting_work
from mlsys_widgets.courses.student_rows import gradebook
from tests.courses.conftest import LAB

TAS = [StaffMember("mia", "ta", ("evening",)), StaffMember("tom", "ta"), StaffMember("uma", "ta")]


def work(*names: str, waiting: int = 1) -> list[ManualWork]:
    return [ManualWork(name, f"id-{name}", waiting) for name in names]


def test_a_section_goes_to_its_own_ta_and_the_rest_evenly():
    names = [f"s{number:02}" for number in range(12)]
    sections = {"evening": names[:2], "late": names[2:4]}
    assigned = split(work(*names), TAS, sections, {})
    assert {assigned[name] for name in names[:2]} == {"mia"}
    assert set(Counter(assigned.values()).values()) == {4}


@given(st.sets(st.integers(0, 60), max_size=30), st.sets(st.integers(61, 80), max_size=8))
def test_who_joins_changes_nothing_for_others(known, new):
    first = split(work(*map(str, sorted(known))), TAS, {}, {})
    everybody = work(*map(str, sorted(known | new)))
    second = split(everybody, TAS, {}, first)
    assert all(second[name] == ta for name, ta in first.items())
    assert second == split(list(reversed(everybody)), TAS, {}, first)
    counts = [list(second.values()).count(ta.name) for ta in TAS]
    assert max(counts) - min(counts) <= 1


def test_when_a_ta_comes_only_open_work_moves_and_when_one_goes_nothing_is_left_over():
    names = [f"s{number}" for number in range(9)]
    two = split(work(*names), TAS[1:], {}, {})
    done = [ManualWork(name, name, 0) for name in names[:3]]
    three = split([*done, *work(*names[3:])], [*TAS[1:], StaffMember("zed", "ta")], {}, two)
    assert all(three[name] == two[name] for name in names[:3])
    assert Counter(three.values()) == {"tom": 3, "uma": 3, "zed": 3}
    one = split(work(*names), TAS[1:2], {}, three)
    assert set(one.values()) == {"tom"}


def test_a_real_class_is_split_with_a_page_for_each_ta(graded, capsys):
    for name in ("mia", "tom"):
        words = ["course", "staff", name, "--role", "ta", "--folder", str(graded)]
        assert cli.main(words) == 0
    capsys.readouterr()
    assert cli.main(["course", "split", LAB, "--folder", str(graded)]) == 0
    said = capsys.readouterr().out
    with gradebook(Course.at(graded)) as db:
        found = waiting_work(db, LAB)
    kept = json.loads((graded / ".mlsys" / f"split-{LAB}.json").read_text())
    assert kept.keys() == {each.student for each in found}
    for each in found:
        page = (graded / "grading" / LAB / f"{kept[each.student]}.md").read_text()
        assert f"formgrader/submissions/{each.notebook}/" in page
        assert each.student not in page
        assert each.student not in said
    assert cli.main(["course", "split", LAB, "--folder", str(graded), "--names"]) == 0
    assert json.loads((graded / ".mlsys" / f"split-{LAB}.json").read_text()) == kept
