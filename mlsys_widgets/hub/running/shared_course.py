"""The course's folder for several people: instructors change it, TAs grade, others see nothing.

The folder itself is open to the group of all who teach, and closed to everybody else. Below it, the
labs, their keys and the settings belong to the group of instructors; TAs read them. Everything else
belongs to all who teach. In the folder itself the sticky bit keeps TAs from putting another
``assignments`` in the place of the real one.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from mlsys_widgets.courses.hub_link import SOCKET
from mlsys_widgets.files import (
    LMS_FOLDER,
    NBGRADER_CONFIG,
    OWN_FOLDER,
    open_folder,
    open_regular,
)
from mlsys_widgets.hub.hub_state import HubState
from mlsys_widgets.hub.places import READ_BY_GROUP, Places

#: What only instructors may change.
INSTRUCTORS_ONLY: Final = ("assignments", "source", "release", NBGRADER_CONFIG)
#: The key with which one instructor sends grades to a learning system.
_PRIVATE: Final = (OWN_FOLDER, LMS_FOLDER)
#: The course: for its owner and group, whose files stay the group's, and nobody moves another's.
_COURSE_MODE: Final = 0o3770
_FOLDER_MODE: Final = 0o2775
#: Bytes of settings.
_LARGEST: Final = 1_000_000


def share_course(places: Places, state: HubState) -> None:
    """Give everything in the course to its group, and open the exchange to those who teach."""
    staff, teaching = state.groups[state.staff_group], state.groups[state.teaching_group]
    with open_folder(places.course) as course:
        for name in os.listdir(course):  # noqa: PTH208
            _share(course, name, teaching if name in INSTRUCTORS_ONLY else staff)
        os.fchown(course, state.accounts[state.instructor].uid, staff)
        os.fchmod(course, _COURSE_MODE)
    os.chown(places.notes, 0, staff)  # to be read while grading, and by no student
    places.people.mkdir(exist_ok=True)
    os.chown(places.people, 0, teaching)
    places.people.chmod(READ_BY_GROUP)
    # Whoever asks the hub for something now waits until it runs.
    (places.people / SOCKET).unlink(missing_ok=True)
    _share_exchange(places, state, staff, teaching)


def _share_exchange(places: Places, state: HubState, staff: int, teaching: int) -> None:
    """Create nbgrader's folders in the exchange and ours, with the right groups."""
    owner = state.accounts[state.instructor].uid
    with open_folder(places.exchange) as exchange:
        _make(exchange, state.course_id, owner, teaching, 0o2775)
        with open_folder(state.course_id, dir_fd=exchange) as course:
            # Students go in and list nothing; TAs collect and answer; instructors release.
            for name, group, mode in (
                ("outbound", teaching, 0o2775), ("inbound", staff, 0o2773),
                ("feedback", staff, 0o2771), (BOX, staff, 0o2773), (ANSWERS, staff, 0o2771),
            ):  # fmt: skip
                _make(course, name, owner, group, mode)
            with open_folder("outbound", dir_fd=course) as outbound:
                for name in os.listdir(outbound):  # noqa: PTH208
                    _share(outbound, name, teaching)


def _make(above: int, name: str, uid: int, gid: int, mode: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=above)
    with open_folder(name, dir_fd=above) as folder:
        if os.fstat(folder).st_uid in (0, uid):
            os.fchown(folder, uid, gid)
            os.fchmod(folder, mode)


def _share(above: int, name: str, gid: int) -> None:
    """Give a file, or a folder with all that is in it, to a group; links are not followed."""
    about = os.stat(name, dir_fd=above, follow_symlinks=False)
    if stat.S_ISDIR(about.st_mode):
        with open_folder(name, dir_fd=above) as folder:
            for each in os.listdir(folder):  # noqa: PTH208
                if (name, each) != _PRIVATE:
                    _share(folder, each, gid)
            if about.st_gid != gid or about.st_mode & 0o7777 != _FOLDER_MODE:
                os.fchown(folder, -1, gid)
                os.fchmod(folder, _FOLDER_MODE)
    elif stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
        with open_regular(name, dir_fd=above) as file:
            found = os.fstat(file.fileno())
            mode = found.st_mode & 0o777
            # What its owner may not write, as a graded notebook, nobody else may, either.
            wanted = mode | 0o044 | (0o020 if mode & 0o200 else 0)
            if (found.st_gid, mode) != (gid, wanted) and found.st_nlink == 1:
                os.fchown(file.fileno(), -1, gid)
                os.fchmod(file.fileno(), wanted)


def course_settings(course: Path, trusted: set[int]) -> bytes:
    """Read ``assignments/course.toml``; `ValueError` if others could have written it."""
    try:
        with (
            open_folder(course) as above,
            suppress(FileNotFoundError),
            open_folder("assignments", dir_fd=above) as folder,
            open_regular("course.toml", dir_fd=folder) as file,
        ):
            for handle, what in ((folder, ""), (file.fileno(), "course.toml")):
                about = os.fstat(handle)
                if about.st_uid not in {0, *trusted} or about.st_mode & stat.S_IWOTH:
                    raise ValueError(
                        f"assignments/{what} does not belong to an instructor, so it is not"
                        " followed"
                    )
            content = file.read(_LARGEST + 1)
            if len(content) > _LARGEST:
                raise ValueError("assignments/course.toml is not a file of settings")
            return content
    except OSError as problem:
        raise ValueError(f"the settings cannot be read: {problem.strerror}") from None
    return b""
