"""Who is who in the learning system: found for certain, or named as not found."""

from __future__ import annotations

import pytest

from mlsys_widgets.classes.gradebook_reader import GradebookStudent
from mlsys_widgets.classes.lms_people import match_people
from mlsys_widgets.classes.lms_services import LmsMember

ANN = GradebookStudent("ann", "Ann", "Lee", "Ann@uni.edu", "4711")


@pytest.mark.parametrize(
    "member",
    [
        LmsMember("4711"),
        LmsMember("x", sourcedid="4711"),
        LmsMember("x", login="ANN"),
        LmsMember("x", email="ann@UNI.edu"),
        LmsMember("x", login="ann", email="ann@uni.edu", sourcedid="4711"),
    ],
)
def test_one_match_is_enough(member: LmsMember) -> None:
    others = [LmsMember("y", login="ben", email="ben@uni.edu", sourcedid="4712")]
    assert match_people([ANN], [*others, member])["ann"].id == member.user_id


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (
            [LmsMember("x", email="ann@else.edu")],
            "not in the LMS's course under id 4711, login ann",
        ),
        ([LmsMember("x", login="ann"), LmsMember("y", email="ann@uni.edu")], "could be 2 people"),
        (
            [LmsMember("x", email="ann@uni.edu"), LmsMember("y", email="ann@uni.edu")],
            "could be 2 people",
        ),
        ([LmsMember("x", login="ann", active=False)], "no longer active"),
        ([LmsMember("x", login="ann", learner=False)], "not as a student"),
        ([LmsMember("", login="ann")], "not in the LMS's course"),
        ([], "not in the LMS's course"),
    ],
)
def test_nothing_is_guessed(members: list[LmsMember], said: str) -> None:
    user = match_people([ANN], members)["ann"]
    assert user.id == ""
    assert said in user.problem


def test_a_name_alone_identifies_nobody() -> None:
    nobody = GradebookStudent("s-1", "Ann", "Lee")
    assert (
        match_people([nobody], [LmsMember("x", login="ann", email="lee@uni.edu")])["s-1"].id == ""
    )


def test_two_students_cannot_be_one_person() -> None:
    twin = GradebookStudent("ann2", email="ann@uni.edu")
    found = match_people([ANN, twin], [LmsMember("x", login="ann", email="ann@uni.edu")])
    assert {name: user.id for name, user in found.items()} == {"ann": "", "ann2": ""}
    assert found["ann"].problem == "is the same person in the LMS as ann2"


def test_without_a_list_the_gradebook_decides() -> None:
    found = match_people([ANN, GradebookStudent("ben")], None)
    assert found["ann"].id == "4711"
    assert "no id of the LMS" in found["ben"].problem
