"""Numbers about a course: right, and about nobody, whatever students call things."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from mlsys_widgets.hub.services.health import HubPart, Surroundings
from mlsys_widgets.hub.services.metrics import exposition

EARLY, LATE = "2026-11-01 10:00:00.000000 UTC", "2026-11-02 10:00:00.000000 UTC"


@pytest.fixture
def around(places):
    exchange = places.exchange / "mlsys"
    (exchange / "outbound" / "lab_07").mkdir(parents=True)
    (exchange / "inbound").mkdir()
    return Surroundings(places, "mlsys", "", "", {"watch": ["nothing"]}, os.getpid())


def samples(around, users=()):
    text = exposition(around, [HubPart("hub", True, "")], users).decode()
    return text, {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def hand_in(around, name):
    (around.places.exchange / "mlsys" / "inbound" / name).mkdir()


def test_hand_ins_and_who_waits_for_a_grade(around):
    hand_in(around, f"ada+lab_07+{EARLY}+x")
    hand_in(around, f"ada+lab_07+{LATE}+y")
    hand_in(around, f"ben+lab_07+{EARLY}+z")
    _, found = samples(around)
    assert found["mlsys_hand_ins", "lab_07"] == 3
    assert found["mlsys_grading_queue", "lab_07"] == 2
    for student, when in (("ada", EARLY), ("ben", EARLY)):
        graded = around.places.course / "autograded" / student / "lab_07"
        graded.mkdir(parents=True)
        (graded / "timestamp.txt").write_text(when)
    _, found = samples(around)
    assert found["mlsys_grading_queue", "lab_07"] == 1, "ada has handed in again since"
    (around.places.course / "autograded" / "ada" / "lab_07" / "timestamp.txt").write_text(LATE)
    _, found = samples(around)
    assert found["mlsys_grading_queue", "lab_07"] == 0


def test_names_that_students_choose_do_not_appear(around):
    for name in ("ada+mallory+x", "mallory", '"} 1\nmlsys_fake{x="', f"a+lab_07+{'9' * 90}+x"):
        hand_in(around, name)
    (around.places.exchange / "mlsys" / "inbound" / "link").symlink_to("/")
    text, found = samples(around)
    assert "mallory" not in text
    assert "fake" not in text
    assert found["mlsys_hand_ins", "other"] == 3
    assert found["mlsys_grading_queue", "lab_07"] == 0


def test_a_pipe_or_a_link_in_the_course_stops_nothing(around, tmp_path):
    hand_in(around, f"ada+lab_07+{EARLY}+x")
    graded = around.places.course / "autograded" / "ada" / "lab_07"
    graded.mkdir(parents=True)
    os.mkfifo(graded / "timestamp.txt")
    _, found = samples(around)
    assert found["mlsys_grading_queue", "lab_07"] == 1
    (graded / "timestamp.txt").unlink()
    (tmp_path / "other").write_text(LATE)
    (graded / "timestamp.txt").symlink_to(tmp_path / "other")
    _, found = samples(around)
    assert found["mlsys_grading_queue", "lab_07"] == 1


def test_who_works_and_what_runs(around):
    now = datetime.now(UTC)
    users = [
        {"servers": {"": {"ready": True, "last_activity": now.isoformat()}}},
        {"servers": {"": {"last_activity": (now - timedelta(hours=1)).isoformat()}}},
        {"servers": {"": {"last_activity": None}}},
        {"servers": None},
    ]
    _, found = samples(around, users)
    assert (found["mlsys_students",], found["mlsys_students_working",]) == (4, 1)
    assert found["mlsys_part_up", "hub"] == 1
    assert found["mlsys_service_up", "watch"] == 0
    _, found = samples(around, None)
    assert ("mlsys_students",) not in found, "the hub did not answer: no number is not zero"
