"""A class whose grades go to a learning system, and the way there."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa

from mlsys_widgets.classes.gradebook_reader import GradebookStudent, Grades, Standing
from mlsys_widgets.classes.lms_http import LmsClient, Patience
from mlsys_widgets.classes.lms_journal import PushJournal
from mlsys_widgets.classes.lms_key import ToolKey
from mlsys_widgets.classes.lms_people import match_people
from mlsys_widgets.classes.lms_push import LabPush, apply, compare
from mlsys_widgets.classes.lms_services import LmsServices
from mlsys_widgets.classes.lms_token import TokenSource
from mlsys_widgets.course.course_settings import LmsSettings
from tests.lms_platform import LearningPlatform

LAB = "lab_02_demo"
HANDED_IN = datetime(2026, 11, 1, 10)
#: Short pauses, and time enough for an honest answer of a busy machine.
QUICK = Patience(
    attempts=3, first_wait=0.01, longest_wait=2, timeout=20, deadline=20, most_pages=50
)


def settings_of(platform: LearningPlatform, *, memberships: bool = True) -> LmsSettings:
    return LmsSettings(
        client_id=platform.client_id,
        token_url=f"{platform.address}/token",
        lineitems_url=f"{platform.address}/5/lineitems?type_id=3",
        memberships_url=f"{platform.address}/5/memberships" if memberships else "",
        deployment_id=platform.deployment_id,
    )


@functools.cache
def shared_key() -> ToolKey:
    """One for all tests, because making it takes a while."""
    return ToolKey(rsa.generate_private_key(public_exponent=65537, key_size=2048))


@contextmanager
def services_of(
    platform: LearningPlatform, *, memberships: bool = True, patience: Patience = QUICK
) -> Iterator[LmsServices]:
    """The services of a platform that knows the course's key."""
    key = shared_key()
    platform.register(key.jwks())
    settings = settings_of(platform, memberships=memberships)
    with LmsClient(settings.lineitems_url, patience) as client:
        yield LmsServices(settings, client, TokenSource(settings, key, client))


def class_of(points: Mapping[str, float | None], *, waiting: tuple[str, ...] = ()) -> Grades:
    """A class with these points of 10, `None` for whoever handed in nothing."""
    people = tuple(GradebookStudent(name, lms_user_id=f"u-{name}") for name in points)
    standings = {
        name: Standing(
            {"q": score}, ("q",) if name in waiting else (), timestamp=HANDED_IN
        )
        for name, score in points.items()
        if score is not None
    }  # fmt: skip
    return Grades({"q": 10.0}, people, standings)


def enroll(platform: LearningPlatform, *names: str) -> None:
    for name in names:
        platform.enroll(f"u-{name}", email=f"{name}@uni.edu")


def push(
    root: Path, services: LmsServices, found: Grades, *, send: bool = True, overwrite: bool = False
) -> LabPush:
    """What the command does for one lab."""
    journal = PushJournal(root)
    users = match_people(found.people, services.members())
    seen = compare(LAB, found, users, services, journal, overwrite=overwrite)
    return apply(seen, services, journal) if send else seen


def steps(done: LabPush) -> dict[str, str]:
    return {each.student: each.step for each in done.rows}
