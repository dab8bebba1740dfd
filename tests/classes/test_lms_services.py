"""Columns, results, scores and people of a platform, page by page, and when it misbehaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from mlsys_widgets.classes.lms_http import LmsError, LmsRefusal, LmsSilence
from mlsys_widgets.classes.lms_services import LmsResult, LmsScore, LmsServices
from tests.classes.lms_class import LAB, enroll, services_of
from tests.lms_platform import INSTRUCTOR, LearningPlatform

AT = datetime(2026, 11, 9, 12, tzinfo=UTC)


@pytest.fixture
def platform() -> Iterator[LearningPlatform]:
    with LearningPlatform(page=2) as running:
        yield running


@pytest.fixture
def services(platform: LearningPlatform) -> Iterator[LmsServices]:
    with services_of(platform) as made:
        yield made


def test_a_column_is_made_and_found_again(
    platform: LearningPlatform, services: LmsServices
) -> None:
    for label in ("Quiz", "Essay", "Exam"):
        platform.add_line_item(label=label, scoreMaximum=5, resourceId=label)
    # A teacher's column for the same lab is not ours.
    platform.add_line_item(label=LAB, scoreMaximum=5, resourceId=LAB, tag="essay")
    assert services.line_item_of(LAB) is None
    made = services.create_line_item(LAB, 10)
    assert services.line_item_of(LAB) == made
    # Whatever it is called there.
    platform.items[5]["label"] = "Lab 2: rooflines"
    assert services.line_item_of(LAB) is not None
    assert platform.sent("/5/lineitems") == [
        {"label": LAB, "scoreMaximum": 10, "resourceId": LAB, "tag": "mlsys"}
    ]


@pytest.mark.parametrize("kind", ["drop after", "broken", "truncated"])
def test_a_column_whose_answer_is_lost_is_not_made_twice(
    platform: LearningPlatform, services: LmsServices, kind: str
) -> None:
    platform.fail(kind, "/5/lineitems", method="POST")
    made = services.create_line_item(LAB, 10)
    assert len(platform.items) == 1
    assert services.line_item_of(LAB) == made


def test_a_column_is_made_when_the_platform_has_time(
    platform: LearningPlatform, services: LmsServices
) -> None:
    platform.fail("status", "/5/lineitems", method="POST", times=2, status=503)
    assert services.create_line_item(LAB, 10)
    assert len(platform.items) == 1
    platform.fail("status", "/5/lineitems", method="POST", times=99, status=503)
    with pytest.raises(LmsSilence):
        services.create_line_item("lab_03", 10)


def test_two_columns_of_one_lab_are_refused(
    platform: LearningPlatform, services: LmsServices
) -> None:
    for _ in range(2):
        platform.add_line_item(label=LAB, scoreMaximum=5, resourceId=LAB, tag="mlsys")
    with pytest.raises(LmsError, match=f"2 columns for {LAB}; delete all but one"):
        services.line_item_of(LAB)


def test_a_column_elsewhere_gets_no_token(
    platform: LearningPlatform, services: LmsServices
) -> None:
    item = platform.add_line_item(label=LAB, scoreMaximum=5, resourceId=LAB, tag="mlsys")
    item["id"] = "https://evil.example/lineitem"
    with pytest.raises(LmsError, match=r"another host than lms\.lineitems_url"):
        services.line_item_of(LAB)


def test_scores_arrive_and_are_shown(platform: LearningPlatform, services: LmsServices) -> None:
    names = ("ann", "ben", "eve", "zoe", "kim")
    enroll(platform, *names)
    item = services.create_line_item(LAB, 10)
    for points, name in enumerate(names):
        services.send(item, LmsScore(f"u-{name}", points, 10, AT, handed_in=AT))
    found = services.results(item)
    assert found == {f"u-{name}": LmsResult(float(k), 10.0) for k, name in enumerate(names)}
    assert services.results(item, "u-eve") == {"u-eve": LmsResult(2.0, 10.0)}
    assert platform.sent()[0] == {
        "userId": "u-ann", "scoreGiven": 0, "scoreMaximum": 10, "activityProgress": "Completed",
        "gradingProgress": "FullyGraded", "timestamp": "2026-11-09T12:00:00.000+00:00",
        "submission": {"submittedAt": "2026-11-09T12:00:00.000+00:00"},
    }  # fmt: skip


def test_more_than_full_marks_and_nobody_there(
    platform: LearningPlatform, services: LmsServices
) -> None:
    enroll(platform, "ann")
    item = services.create_line_item(LAB, 10)
    services.send(item, LmsScore("u-ann", 11.5, 10, AT))
    assert services.results(item)["u-ann"].score == 11.5
    with pytest.raises(LmsRefusal, match=r"422 .*User not found in course"):
        services.send(item, LmsScore("u-nobody", 1, 10, AT))


def test_a_token_is_renewed_once(platform: LearningPlatform, services: LmsServices) -> None:
    item = services.create_line_item(LAB, 10)
    platform.expire()
    assert services.results(item) == {}
    assert [each.path for each in platform.asked].count("/token") == 2
    platform.fail("status", "/results", times=99, status=401, body=b'{"error": "no"}')
    with pytest.raises(LmsError, match=r"does not accept the access token that it gave \(401"):
        services.results(item)


def test_people_on_several_pages(platform: LearningPlatform, services: LmsServices) -> None:
    custom = {"https://purl.imsglobal.org/spec/lti/claim/custom": {"login": "ann"}}
    platform.enroll("1", email="ann@uni.edu", lis_person_sourcedid="s-1", message=[custom])
    platform.enroll("2", ext_user_username="ben", status="Inactive")
    platform.enroll("3", role=INSTRUCTOR)
    platform.enroll("4", message=[{next(iter(custom)): {"login": "$Canvas.user.loginId"}}, 7])
    platform.members["5"] = {"user_id": 5, "roles": ["Learner"]}
    people = {each.user_id: each for each in services.members() or []}
    assert (people["1"].login, people["1"].email, people["1"].sourcedid) == (
        "ann", "ann@uni.edu", "s-1",
    )  # fmt: skip
    assert (people["2"].login, people["2"].active, people["3"].learner) == ("ben", False, False)
    assert people["4"].login == ""
    assert people["5"].learner


def test_a_list_that_goes_astray(platform: LearningPlatform, services: LmsServices) -> None:
    for target, said in (
        ("https://evil.example/5/memberships", "on another host; it was not asked"),
        (f"{platform.address}/5/memberships", "a list without an end"),
    ):
        platform.fail(
            "body", "/5/memberships", body=b'{"members": []}', Link=f"<{target}>; rel=next"
        )
        with pytest.raises(LmsError, match=said):
            services.members()


def test_a_list_without_an_end(platform: LearningPlatform, services: LmsServices) -> None:
    for page in range(60):
        link = f"<{platform.address}/5/memberships?from={page + 1}>; rel=next"
        platform.fail("body", "/5/memberships", body=b'{"members": []}', Link=link)
    with pytest.raises(LmsError, match="a list without an end"):
        services.members()
    assert len(platform.asked) < 55


@pytest.mark.parametrize("body", [b"{}", b"[1]", b'"x"', b"null"])
def test_an_answer_of_another_shape(
    platform: LearningPlatform, services: LmsServices, body: bytes
) -> None:
    platform.fail("body", "/5/lineitems", body=body)
    with pytest.raises(LmsError, match="no list of line items"):
        services.line_items()
    platform.fail("body", "/5/memberships", body=body)
    with pytest.raises(LmsError, match="no list of members"):
        services.members()


def test_results_that_make_no_sense(platform: LearningPlatform, services: LmsServices) -> None:
    item = services.create_line_item(LAB, 10)
    said = [
        {"userId": "a", "resultScore": "7"},
        {"userId": "b", "resultScore": 10**400},
        {"userId": "c", "resultScore": 0.5},
        {"userId": "d", "resultScore": 5, "resultMaximum": 10},
        {"userId": "d", "resultScore": 6, "resultMaximum": 10},
        {"userId": 7, "resultScore": 1, "resultMaximum": 0},
    ]
    platform.fail("body", "/results", body=json.dumps(said).encode())
    found = services.results(item)
    assert found["a"].score is None
    assert found["b"].score is None
    assert (found["c"].score, found["c"].most) == (0.5, 1.0)
    assert found["d"].twice
    assert found["7"].most == 1.0
