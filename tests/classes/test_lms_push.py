"""What differs between gradebook and platform, and sending that, once, whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mlsys_widgets.classes.gradebook_reader import Standing
from mlsys_widgets.classes.lms_http import LmsSilence
from mlsys_widgets.classes.lms_push import _time
from mlsys_widgets.classes.lms_services import LmsServices
from tests.classes.lms_class import LAB, QUICK, class_of, enroll, push, services_of, steps
from tests.lms_platform import LearningPlatform

POINTS = {"ann": 8.0, "ben": 6.5, "eve": 0.0}


@pytest.fixture
def platform() -> Iterator[LearningPlatform]:
    with LearningPlatform() as running:
        enroll(running, *POINTS)
        yield running


@pytest.fixture
def services(platform: LearningPlatform) -> Iterator[LmsServices]:
    with services_of(platform) as made:
        yield made


def test_a_dry_run_changes_nothing(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    seen = push(tmp_path, services, class_of(POINTS), send=False)
    assert set(steps(seen).values()) == {"send"}
    assert seen.item is None
    assert platform.items == {}
    assert {each.method for each in platform.asked if each.path != "/token"} == {"GET"}
    assert not (tmp_path / ".mlsys" / "lms" / "sent.jsonl").exists()


def test_pushing_twice_sends_once(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    done = push(tmp_path, services, class_of(POINTS))
    assert set(steps(done).values()) == {"sent"}
    assert platform.results(LAB) == {"u-ann": 8.0, "u-ben": 6.5, "u-eve": 0.0}
    again = push(tmp_path, services, class_of(POINTS))
    assert set(steps(again).values()) == {"same"}
    assert len(platform.sent()) == 3
    # Without the journal the platform's own results say the same.
    (tmp_path / ".mlsys" / "lms" / "sent.jsonl").unlink()
    assert set(steps(push(tmp_path, services, class_of(POINTS))).values()) == {"same"}
    assert len(platform.sent()) == 3


@pytest.mark.parametrize("stale", ["conflict", "bad request", "ignore"])
def test_a_changed_grade_is_sent_and_is_newer(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path, stale: str
) -> None:
    platform.stale = stale  # type: ignore[assignment]
    for points in (5.0, 7.0, 6.0, 7.0):
        done = push(tmp_path, services, class_of({**POINTS, "ann": points}))
        assert steps(done)["ann"] == "sent"
        assert platform.results(LAB)["u-ann"] == points
    assert len(platform.sent()) == 3 + 3
    times = [each["timestamp"] for each in platform.sent() if each["userId"] == "u-ann"]
    assert times == sorted(set(times))


def test_the_score_is_what_is_left_after_the_penalty(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    found = class_of(POINTS)
    late = {**found.standings, "ann": Standing({"q": 8.0}, penalty=0.75)}
    push(tmp_path, services, replace(found, standings=late))
    assert platform.results(LAB)["u-ann"] == 7.25


def test_who_handed_in_nothing_or_waits_is_left_out(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    points = {"ann": 8.0, "ben": None, "eve": 4.0}
    push(tmp_path, services, class_of({**points, "eve": 3.0}))
    done = push(tmp_path, services, class_of(points, waiting=("eve",)))
    assert steps(done) == {"ann": "same", "ben": "empty", "eve": "waiting"}
    assert "waits for a person to grade q" in done.rows[2].why
    # What was there stays: a message without points would clear it.
    assert platform.results(LAB) == {"u-ann": 8.0, "u-eve": 3.0}
    assert steps(push(tmp_path, services, class_of(points)))["eve"] == "sent"


def test_a_score_for_whom_nothing_was_handed_in_stays(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    push(tmp_path, services, class_of(POINTS))
    done = push(tmp_path, services, class_of({**POINTS, "eve": None}), overwrite=True)
    assert steps(done)["eve"] == "empty"
    assert "stays" in done.rows[2].why
    assert platform.results(LAB)["u-eve"] == 0.0


def test_what_a_teacher_changed_there_stays_unless_asked(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    push(tmp_path, services, class_of(POINTS))
    platform.change(LAB, "u-ann", 9.0)
    platform.change(LAB, "u-ben", None)
    for _ in range(2):
        done = push(tmp_path, services, class_of(POINTS))
        assert steps(done) == {"ann": "changed", "ben": "changed", "eve": "same"}
    assert platform.results(LAB)["u-ann"] == 9.0
    done = push(tmp_path, services, class_of(POINTS), overwrite=True)
    assert steps(done) == {"ann": "sent", "ben": "sent", "eve": "same"}
    assert platform.results(LAB) == {"u-ann": 8.0, "u-ben": 6.5, "u-eve": 0.0}


def test_somebody_elses_score_is_not_replaced_at_first_sight(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    platform.add_line_item(label="Lab", scoreMaximum=100, resourceId=LAB, tag="mlsys")
    platform.change(LAB, "u-ann", 30.0)
    platform.change(LAB, "u-ben", 65.0)
    done = push(tmp_path, services, class_of(POINTS))
    # 65 of 100 is 6.5 of 10.
    assert steps(done) == {"ann": "changed", "ben": "same", "eve": "sent"}
    assert done.rows[0].there == 3.0


@pytest.mark.parametrize(("most", "digits"), [(1, 2), (1, 5), (3, 2), (100, 0), (7, 3)])
def test_a_scale_that_rounds_is_no_difference(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path, most: float, digits: int
) -> None:
    platform.digits = digits
    platform.add_line_item(label="Lab", scoreMaximum=most, resourceId=LAB, tag="mlsys")
    third = {"ann": 3.33, "ben": 6.67, "eve": 9.99}
    push(tmp_path, services, class_of(third))
    assert set(steps(push(tmp_path, services, class_of(third))).values()) <= {"same", "changed"}
    assert len(platform.sent()) == 3
    if (most, digits) == (1, 2):
        # On a scale of hundredths a small change is not seen there, and sent nevertheless.
        done = push(tmp_path, services, class_of({**third, "ann": 3.31}))
        assert steps(done) == {"ann": "sent", "ben": "same", "eve": "same"}


def test_who_is_not_found_is_named_and_the_others_go_on(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    del platform.members["u-ben"]
    done = push(tmp_path, services, class_of(POINTS))
    assert steps(done) == {"ann": "sent", "ben": "unknown", "eve": "sent"}
    assert done.rows[1].why == "is not in the LMS's course under id u-ben, login ben"


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
def test_a_refusal_is_one_students_alone(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path, status: int
) -> None:
    platform.fail(
        "status", status=status, body=b"no\x1b[2J", times=9, when=lambda body: b"u-ben" in body
    )
    done = push(tmp_path, services, class_of(POINTS))
    assert steps(done) == {"ann": "sent", "ben": "failed", "eve": "sent"}
    assert f"the LMS says {status}" in done.rows[1].why
    assert done.rows[1].why.isprintable()
    platform._faults.clear()
    assert steps(push(tmp_path, services, class_of(POINTS)))["ben"] == "sent"
    assert len([each for each in platform.sent() if each["userId"] == "u-ann"]) == 1


@pytest.mark.parametrize("kind", ["drop", "drop after", "broken", "truncated", "expire"])
@pytest.mark.parametrize("stale", ["conflict", "bad request", "ignore"])
def test_an_answer_that_is_lost(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path, kind: str, stale: str
) -> None:
    platform.stale = stale  # type: ignore[assignment]
    platform.fail(kind, after=1)
    done = push(tmp_path, services, class_of(POINTS))
    assert set(steps(done).values()) == {"sent"}
    assert platform.results(LAB) == {"u-ann": 8.0, "u-ben": 6.5, "u-eve": 0.0}
    assert set(steps(push(tmp_path, services, class_of(POINTS))).values()) == {"same"}


def test_a_platform_whose_time_is_later(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    push(tmp_path, services, class_of(POINTS))
    # As if entered a moment ago, by a clock that is a second ahead.
    platform.scores[1]["u-ann"].at = datetime.now(UTC) + timedelta(seconds=1)
    done = push(tmp_path, services, class_of({**POINTS, "ann": 9.0}))
    assert steps(done)["ann"] == "sent"
    assert platform.results(LAB)["u-ann"] == 9.0
    # Another day is somebody's mistake, and is said.
    platform.scores[1]["u-ann"].at = datetime.now(UTC) + timedelta(days=1)
    done = push(tmp_path, services, class_of({**POINTS, "ann": 4.0}))
    assert steps(done)["ann"] == "failed"
    assert "409 Conflict" in done.rows[0].why


def test_times_only_grow() -> None:
    now = datetime(2026, 11, 9, 12, tzinfo=UTC)
    assert _time(now, None) == now
    assert _time(now, now - timedelta(seconds=2)) == now
    # A clock that was set back.
    assert _time(now, now + timedelta(days=1)) == now + timedelta(days=1, seconds=1)


def test_a_platform_that_falls_silent_is_left_alone(tmp_path: Path) -> None:
    names = [f"s{k}" for k in range(8)]
    points = dict.fromkeys(names, 5.0)
    with LearningPlatform() as platform:
        enroll(platform, *names)
        with services_of(platform, patience=replace(QUICK, attempts=2)) as services:
            platform.fail("status", after=2, times=99, status=503)
            done = push(tmp_path, services, class_of(points))
            assert list(steps(done).values()) == ["sent"] * 2 + ["failed"] * 6
            assert "not tried" in done.rows[-1].why
            assert len(platform.sent()) == 2 + 3 * 2
            platform._faults.clear()
            done = push(tmp_path, services, class_of(points))
            assert list(steps(done).values()) == ["same"] * 2 + ["sent"] * 6


def test_a_redirect_in_the_middle_stops_everything(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    platform.fail("redirect", after=1, times=99, status=302, Location="https://evil.example/")
    done = push(tmp_path, services, class_of(POINTS))
    assert list(steps(done).values()) == ["sent", "failed", "failed"]
    assert len(platform.sent()) == 2


def test_a_rate_limit_is_waited_for(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    platform.fail("status", after=1, times=2, status=429, Retry_After="0")
    platform.fail("status", "/results", status=429, Retry_After="1")
    assert set(steps(push(tmp_path, services, class_of(POINTS))).values()) == {"sent"}
    assert set(steps(push(tmp_path, services, class_of(POINTS))).values()) == {"same"}


def test_a_journal_tells_before_and_after(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    platform.fail("status", status=422, after=1)
    push(tmp_path, services, class_of(POINTS))
    lines = (tmp_path / ".mlsys" / "lms" / "sent.jsonl").read_text().splitlines()
    said = [(line["student"], line["state"]) for line in map(json.loads, lines)]
    assert said == [
        ("ann", "sending"), ("ann", "sent"), ("ben", "sending"), ("ben", "refused"),
        ("eve", "sending"), ("eve", "sent"),
    ]  # fmt: skip


def test_a_lab_without_points(services: LmsServices, tmp_path: Path) -> None:
    found = replace(class_of(POINTS), most={"q": 0.0})
    with pytest.raises(ValueError, match="worth no points"):
        push(tmp_path, services, found)


def test_a_platform_that_cannot_be_read(
    platform: LearningPlatform, services: LmsServices, tmp_path: Path
) -> None:
    push(tmp_path, services, class_of(POINTS))
    platform.fail("status", "/results", times=99, status=500)
    with pytest.raises(LmsSilence):
        push(tmp_path, services, class_of(POINTS))
    assert len(platform.sent()) == 3


def test_many_students_and_many_pages(tmp_path: Path) -> None:
    names = [f"s{k:04}" for k in range(60)]
    with LearningPlatform(page=10) as platform:
        enroll(platform, *names)
        with services_of(platform) as services:
            points = {name: k % 11 for k, name in enumerate(names)}
            assert push(tmp_path, services, class_of(points)).count("sent") == 60
            assert push(tmp_path, services, class_of(points)).count("same") == 60
            assert [each.path for each in platform.asked].count("/token") == 1
