"""What may be written in the table [lms], and what a wrong line is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsys_widgets.classes.lms_settings import lms_settings, read_lms_settings, same_origin
from mlsys_widgets.course.course import Course

GOOD = {
    "client_id": "10000",
    "token_url": "https://lms.edu/login/oauth2/token",
    "lineitems_url": "https://lms.edu/api/lti/courses/5/line_items",
}


def course(root: Path, text: str) -> Course:
    (root / "assignments").mkdir()
    (root / "assignments" / "course.toml").write_text(text, "utf-8")
    return Course.at(root)


def test_settings_come_from_the_file_of_the_course(tmp_path: Path) -> None:
    text = 'edition = "2027"\n[lms]\n' + "".join(f'{k} = "{v}"\n' for k, v in GOOD.items())
    found = lms_settings(course(tmp_path, text))
    assert found.client_id == "10000"
    assert found.memberships_url == ""
    assert found.name == "lms.edu"


def test_a_course_without_an_lms_is_told_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no table \[lms\].*client_id, token_url, lineitems_url"):
        lms_settings(course(tmp_path, ""))


def test_lms_must_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"lms is 'x'; it must be a table"):
        course(tmp_path, 'lms = "x"')


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"client_id": 10000}, "client_id is 10000; it must be a text in quotes"),
        ({"client_id": " "}, "it must be a text in quotes"),
        ({"client_id": "a\nb"}, "on one line"),
        ({"secret": "x"}, "lms sets secret; it can set: client_id"),
        ({"token_url": "http://lms.edu/token"}, "must begin with https://"),
        ({"token_url": "ftp://127.0.0.1/token"}, "must begin with https://"),
        ({"token_url": "http://127.0.0.1.evil.org/"}, "must begin with https://"),
        ({"token_url": "lms.edu/token"}, "must be an address such as"),
        ({"token_url": "https://lms.edu:port/"}, "must be an address such as"),
        ({"token_url": "https://[lms/"}, "must be an address such as"),
        ({"lineitems_url": "https://me:pw@lms.edu/"}, "without a user name"),
        ({"lineitems_url": "https://lms.edu/#x"}, "without a user name"),
    ],
)
def test_what_is_wrong_is_named(changed: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match="lms") as problem:
        read_lms_settings({**GOOD, **changed})
    assert said in str(problem.value)
    assert "pw" not in str(problem.value)


@pytest.mark.parametrize("name", ["client_id", "token_url", "lineitems_url"])
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"lms.{name} is missing"):
        read_lms_settings({key: value for key, value in GOOD.items() if key != name})


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:9", "[::1]:9", "127.8.8.8"])
def test_this_machine_needs_no_https(host: str) -> None:
    assert read_lms_settings({**GOOD, "token_url": f"http://{host}/token"})


def test_an_origin_is_scheme_host_and_port() -> None:
    here = "https://lms.edu/a"
    assert same_origin(here, "https://lms.edu:443/b?c")
    for other in (
        "http://lms.edu/a",
        "https://lms.edu:8443/a",
        "https://x@lms.edu/a",
        "/a",
        "https://[",
    ):
        assert not same_origin(here, other)
