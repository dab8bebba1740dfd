"""The table ``[lms]`` of ``course.toml``: which learning system grades are sent to, and as whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.course_settings import LmsSettings
from mlsys_widgets.course.loopback import is_loopback
from mlsys_widgets.course.settings_tables import read_table, settings_of

_REQUIRED: Final = [name for name, each in settings_of(LmsSettings).items() if each.required]
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


def lms_settings(course: Course) -> LmsSettings:
    """Read and check the table ``[lms]`` of a course; `ValueError` says what is wrong."""
    if not course.lms:
        raise ValueError(
            f"{course.root / 'assignments' / 'course.toml'} has no table [lms], so there is no LMS"
            f" to send grades to; write there: {', '.join(_REQUIRED)}"
            " (docs/instructors/lti.md says how)"
        )
    return read_lms_settings(course.lms)


def read_lms_settings(table: Mapping[str, Any]) -> LmsSettings:
    """Check the settings, as they are in the file."""
    settings = LmsSettings(**read_table(LmsSettings, "lms", table))
    for name, value in table.items():
        if name.endswith("_url"):
            _check_address(f"lms.{name}", value)
    return settings


def _check_address(where: str, address: str) -> None:
    parts = _split(address)
    if parts is None or not parts.hostname or " " in address:
        raise ValueError(
            f"{where} is {address!r}; it must be an address such as https://lms.example.edu/path"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise ValueError(
            f"{where} is {address!r}; it must begin with https:// because grades travel there"
        )
    if parts.username is not None or parts.fragment:
        raise ValueError(f"{where} must be an address without a user name, password or #")


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        return None
    return parts


def same_origin(one: str, other: str) -> bool:
    """Whether two addresses have the same scheme, host and port."""
    return (found := _origin(one)) is not None and found == _origin(other)


def _origin(address: str) -> tuple[str, str, int | None] | None:
    parts = _split(address)
    if parts is None or parts.hostname is None or parts.username is not None:
        return None
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
