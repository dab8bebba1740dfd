"""An exchange: broken in one way at a time, and diagnosed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.doctor import exchange
from tests.courses.conftest import Disk
from tests.courses.doctor.findings import (
    is_broken,
    is_well,
)

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def place(course: Path) -> Path:
    """The exchange of the course."""
    found = re.search(r'Exchange.root = "(.*)"', (course / "nbgrader_config.py").read_text())
    assert found
    return Path(found[1])


def exchange_is_broken(course: Path, said: str, fix: str) -> None:
    is_broken(exchange.exchange, course, "exchange", said, fix)


def test_it_works(course: Path, place: Path):
    assert is_well(exchange.exchange, course, "exchange").said == str(place)
    assert list(place.iterdir()) == []


def test_a_course_that_names_none_can_live_without(course: Path, tmp_path: Path, monkeypatch):
    from nbgrader.exchange.default import Exchange

    monkeypatch.setattr(Exchange.root, "default_value", str(tmp_path / "nowhere"))
    settings = course / "nbgrader_config.py"
    lines = settings.read_text("utf-8").splitlines()
    settings.write_text("\n".join(each for each in lines if "c.Exchange.root" not in each))
    (found,) = (each for each in exchange.exchange(Course.at(course)) if each.about == "exchange")
    assert found.level == "warning"
    assert "set c.Exchange.root in nbgrader_config.py" in found.fix


def test_it_is_not_there(course: Path, place: Path):
    place.rmdir()
    made = f"mkdir -p {place} && chmod ugo+rwx {place}"
    exchange_is_broken(course, f"there is no folder {place}", made)
    subprocess.run(made, shell=True, check=True)
    is_well(exchange.exchange, course, "exchange")


def test_students_cannot_write_there(course: Path, place: Path):
    place.chmod(0o755)
    exchange_is_broken(course, "has mode 755; nbgrader wants", f"chmod ugo+rwx {place}")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.CourseDirectory.groupshared = True\n")
    is_well(exchange.exchange, course, "exchange")


def test_this_user_cannot_write_there(course: Path, course_disk: Disk):
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.Exchange.root = "{course_disk.place}"\n')
    course_disk.close_to_writers()
    exchange_is_broken(course, "cannot be written by this user: Read-only", "chmod ugo+rwx")


def test_students_cannot_reach_it(course: Path, place: Path):
    (place / "closed").mkdir(mode=0o700)
    inner = place / "closed" / "exchange"
    inner.mkdir()
    inner.chmod(0o777)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.Exchange.root = "{inner}"\n')
    closed = place / "closed"
    exchange_is_broken(course, f"{closed} is closed to others", f"chmod o+x {closed}")
    closed.chmod(0o701)
    is_well(exchange.exchange, course, "exchange")


def test_the_settings_of_the_machine_count(made: Path, place: Path, tmp_path: Path, monkeypatch):
    """A course that sets no exchange has the one that the machine's settings name."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    (tmp_path / "nbgrader_config.py").write_text(
        f'c = get_config()\nc.Exchange.root = "{place}"\n', "utf-8"
    )
    assert is_well(exchange.exchange, made, "exchange").said == str(place)


def test_another_kind_of_exchange_is_not_judged(course: Path):
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.ExchangeFactory.exchange = 'ngshare_exchange.Exchange'\n")
    assert "not checked here" in is_well(exchange.exchange, course, "exchange").said
