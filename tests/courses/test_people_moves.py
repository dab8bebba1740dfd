"""Moving work to another name: folders, records, what was handed in."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.people_moves import (
    MERGED_INBOUND,
    exchange_of,
    labs_with_work,
    move_inbound,
    move_work,
    rename_in_records,
    set_work_aside,
)


@pytest.fixture
def course(tmp_path):
    for folder in ("assignments/lab_01", "submitted/ada/lab_01", "feedback/ada/lab_02",
                   "submitted/ben/lab_01", ".mlsys/kept"):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "submitted" / "ada" / "lab_01" / "x").write_text("ada's")
    return Course(tmp_path)


def test_work_moves_or_is_set_aside_and_never_overwrites(course):
    assert labs_with_work(course, "ada") == ["lab_01", "lab_02"]
    with pytest.raises(ValueError, match="exists already"):
        move_work(course, "ada", "ben", "lab_01")
    move_work(course, "ada", "ben", "lab_02")
    assert (course.root / "feedback" / "ben" / "lab_02").is_dir()
    assert not (course.root / "feedback" / "ada").exists()
    aside = set_work_aside(course, "ada", "lab_01")
    assert (aside / "submitted" / "x").read_text() == "ada's"
    assert labs_with_work(course, "ada") == []
    move_work(course, "ada", "ben", "lab_02")  # again, after a crash: nothing to do


def test_records_have_the_new_name_wherever_it_stands_alone(course):
    own = course.root / ".mlsys"
    (own / "grade-lab_01.jsonl").write_text('{"student": "ada"}\n{torn "ada\n{"student": "ben"}\n')
    (own / "kept" / "ada.json").write_text('{"ada": ["ada", "adam"], "says": "ada did"}')
    rename_in_records(course, "ada", "ann")
    lines = (own / "grade-lab_01.jsonl").read_text().splitlines()
    assert lines == ['{"student": "ann"}', '{torn "ada', '{"student": "ben"}']
    kept = json.loads((own / "kept" / "ann.json").read_text())
    assert kept == {"ann": ["ann", "adam"], "says": "ada did"}


def test_hand_ins_move_or_get_out_of_the_way(course, tmp_path):
    exchange = tmp_path / "exchange" / "demo"
    for name in ("ada+lab_01+t+x", "ada+lab_02+t+x", "adam+lab_01+t+x", "ada"):
        (exchange / "inbound" / name).mkdir(parents=True)
    (exchange / "inbound" / "ada+link+t").symlink_to(tmp_path)
    moved = move_inbound(exchange / "inbound", "ada", "ann", keep=lambda lab: lab == "lab_01")
    assert moved == [("ada+lab_01+t+x", "ann+lab_01+t+x"), ("ada+lab_02+t+x", "")]
    left = sorted(each.name for each in (exchange / "inbound").iterdir())
    assert left == ["ada", "ada+link+t", "adam+lab_01+t+x", "ann+lab_01+t+x"]
    assert (exchange / MERGED_INBOUND / "ada+lab_02+t+x").is_dir()
    assert exchange_of(course) is None


@pytest.mark.parametrize("name", ["inbound", MERGED_INBOUND, "."])
def test_no_link_leads_hand_ins_elsewhere(tmp_path, name):
    """On a hub root moves them, in a folder that belongs to an instructor."""
    exchange, other = tmp_path / "exchange" / "demo", tmp_path / "other"
    (exchange / "inbound" / "ada+lab_01+t+x").mkdir(parents=True)
    (exchange / MERGED_INBOUND).mkdir()
    other.mkdir()
    place = exchange / name
    place.rename(other / "was")
    place.symlink_to(other / "was")
    before = sorted(each.relative_to(tmp_path) for each in tmp_path.rglob("*"))
    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        move_inbound(exchange / "inbound", "ada", "ann", keep=lambda _: False)
    assert sorted(each.relative_to(tmp_path) for each in tmp_path.rglob("*")) == before
