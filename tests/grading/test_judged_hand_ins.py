"""The file of what was told: read as it grows, whatever was broken off, replaced or added twice."""

from __future__ import annotations

from dataclasses import replace

from mlsys_widgets.files import OWN_FOLDER
from mlsys_widgets.grading.judging.told_answers import JudgedAnswer, SecondAnswer
from mlsys_widgets.grading.telling.judged_hand_ins import JudgedHandIn, JudgedHandIns

FIRST = JudgedAnswer(("float", "1.0"), "1.0", 0.5, "Too low.", time="2026-11-01T10:00:00")
SECOND = SecondAnswer(("float", "2.0"), "2.0", 1.0, "Right.", share=0.9, parameters={"side": 8})
LINE = JudgedHandIn("ann", "ann+lab_02+x", "now", "then", (3, "ab"), {"busy": FIRST}, {}, {"a": 1})


def test_what_was_told_first_stands(tmp_path):
    kept = JudgedHandIns(tmp_path, "lab_02")
    assert kept.of_student("ann").last is None
    kept.add([LINE])
    assert kept.of_student("ann").answers["busy"].first.says == "Too low."
    better = replace(FIRST, credit=1.0)
    kept.add([replace(LINE, folder="y", answers={"busy": better}, seconds={"busy": SECOND})])
    kept.add([replace(LINE, folder="z", seconds={"busy": replace(SECOND, credit=0.0)})])
    for each in (kept, JudgedHandIns(tmp_path, "lab_02")):
        found = each.of_student("ann")
        busy = found.answers["busy"]
        assert (busy.first.credit, busy.second.worth) == (0.5, 0.9)
        assert found.folders == {"ann+lab_02+x", "y", "z"}
        assert list(each.moments("ann")) == ["busy"]
        assert each.of_student("ben").answers == {}


def test_a_line_that_broke_off_was_never_told(tmp_path):
    kept = JudgedHandIns(tmp_path, "lab_02")
    kept.add([LINE])
    path = tmp_path / OWN_FOLDER / "told-lab_02.jsonl"
    with path.open("ab") as file:
        file.write(replace(LINE, student="ben").to_line()[:50])
    assert kept.of_student("ben").last is None
    kept.add([replace(LINE, student="cat")])
    assert kept.of_student("cat").last is not None
    assert kept.of_student("ben").last is None


def test_a_file_that_was_replaced_is_read_again(tmp_path):
    kept = JudgedHandIns(tmp_path, "lab_02")
    kept.add([LINE])
    assert kept.of_student("ann").last
    path = tmp_path / OWN_FOLDER / "told-lab_02.jsonl"
    aside = path.with_suffix(".new")
    aside.write_bytes(path.read_bytes().replace(b'"ann"', b'"amy"'))
    aside.replace(path)
    assert kept.of_student("ann").last is None
    assert kept.of_student("amy").last
