"""Collecting what strangers put into the exchange: only files, only theirs, and nobody stops it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest
from traitlets.config import Config

from mlsys_widgets.course.course import Course
from mlsys_widgets.grading.plugins.collect import CollectByDescriptor
from mlsys_widgets.grading.reading.submissions import LEFT_OUT, collect
from mlsys_widgets.notebooks.remarks import RemarkKind

LAB = "lab"
EARLY, LATE = "2026-11-01 10:00:00.000000 UTC", "2026-11-02 10:00:00.000000 UTC"
KEY = "the key of the course"


class Exchange:
    """A course with an exchange, in folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.course, self.root = folder / "course", folder / "exchange"
        self.inbound = self.root / "mlsys" / "inbound"
        for each in (self.course, self.inbound):
            each.mkdir(parents=True)
        self.key = self.course / "assignments" / LAB / "checks.py"
        self.key.parent.mkdir(parents=True)
        self.key.write_text(KEY)

    def hand_in(self, student: str, time: str = EARLY, **files: str) -> Path:
        """Put work where nbgrader puts it for a student."""
        folder = self.inbound / f"{student}+{LAB}+{time}+x9z"
        folder.mkdir()
        work = {f"{LAB}.ipynb": "{}", "timestamp.txt": time, **files}
        for name, text in work.items():
            (folder / name).write_text(text)
        return folder

    def collect(self, **options: bool) -> None:
        from nbgrader.coursedir import CourseDirectory

        config = Config()
        config.CourseDirectory.root = str(self.course)
        config.CourseDirectory.course_id = "mlsys"
        config.CourseDirectory.assignment_id = LAB
        config.Exchange.root = str(self.root)
        for name, value in options.items():
            config.ExchangeCollect[name] = value
        CollectByDescriptor(coursedir=CourseDirectory(config=config), config=config).start()

    def found(self, student: str) -> dict[str, str]:
        folder = self.course / "submitted" / student / LAB
        return {
            path.relative_to(folder).as_posix(): path.read_text()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


@pytest.fixture(scope="module")
def empty_gradebook(tmp_path_factory) -> Path:
    """nbgrader makes one when it finds none, which takes seconds."""
    from nbgrader.api import Base
    from sqlalchemy import create_engine

    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)
    engine.dispose()
    return path


@pytest.fixture
def exchange(tmp_path, empty_gradebook) -> Exchange:
    made = Exchange(tmp_path)
    shutil.copy(empty_gradebook, made.course)
    return made


def traps(folder: Path, key: Path) -> None:
    """Put everything into a folder that is no file of the student's."""
    (folder / "data.txt").symlink_to(key)
    (folder / "assets").symlink_to(key.parent)
    (folder / "nowhere").symlink_to("/does/not/exist")
    (folder / "loop").symlink_to("loop")
    for name, kind in (("pipe", stat.S_IFIFO), ("socket", stat.S_IFSOCK)):
        os.mknod(folder / name, kind | 0o600)


def test_no_link_and_no_special_file_is_collected(exchange):
    traps(exchange.hand_in("eve", **{"mine.txt": "mine"}), exchange.key)
    exchange.hand_in("zoe")
    exchange.collect()
    assert KEY not in "".join(exchange.found("eve").values())
    assert exchange.found("eve").keys() == {f"{LAB}.ipynb", "timestamp.txt", "mine.txt", LEFT_OUT}
    # One student's trouble: the others are collected, and only this one gets remarks.
    assert exchange.found("zoe").keys() == {f"{LAB}.ipynb", "timestamp.txt"}
    left_out = {each.about for each in collect(Course(exchange.course), LAB, "eve").remarks
                if each.kind is RemarkKind.LEFT_OUT}  # fmt: skip
    assert left_out == {"data.txt", "assets", "nowhere", "loop", "pipe", "socket"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_of_somebody_else_is_left_out(exchange):
    """A hard link to a neighbor's ledger, where the system allows one."""
    folder = exchange.hand_in("eve", **{"ledger.jsonl": "Zoe's"})
    os.chown(folder / "ledger.jsonl", 65534, 65534)
    exchange.collect()
    assert "ledger.jsonl" not in exchange.found("eve")
    (remark,) = collect(Course(exchange.course), LAB, "eve").remarks[:1]
    assert remark.sentence == (
        "“ledger.jsonl” was left out: it belongs to somebody else; hand in your own file"
    )


@pytest.mark.parametrize(
    "name", [f"eve+{LAB}+whenever+x", f"eve+{LAB}+99999999999999999999+x", f"..+{LAB}+{LATE}+x"]
)
def test_a_name_that_cannot_be_read_stops_nobody(exchange, name):
    (exchange.inbound / name).mkdir()
    (exchange.inbound / name / f"{LAB}.ipynb").write_text("{}")
    exchange.hand_in("zoe")
    exchange.collect()
    assert exchange.found("zoe")
    assert [path.name for path in (exchange.course / "submitted").iterdir()] == ["zoe"]
    assert not (exchange.course / LAB).exists()


def test_a_link_as_folder_is_nobodys(exchange):
    (exchange.inbound / f"eve+{LAB}+{LATE}+x").symlink_to(exchange.key.parent)
    exchange.hand_in("eve")
    exchange.collect()
    assert exchange.found("eve")["timestamp.txt"] == EARLY


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_in_anothers_name_hides_nothing(exchange):
    """User 65534 makes a later folder in Zoe's name; hers is what counts."""
    forged = exchange.hand_in("zoe", LATE, **{f"{LAB}.ipynb": "forged"})
    os.chown(forged, 65534, 65534)
    exchange.hand_in("zoe", EARLY)
    exchange.collect()
    assert exchange.found("zoe")[f"{LAB}.ipynb"] == "{}"


def test_later_work_replaces_earlier_work_when_asked(exchange):
    exchange.hand_in("ann", EARLY, **{"old.txt": "old"})
    exchange.collect()
    folder = exchange.hand_in("ann", LATE, **{"new.txt": "new"})
    exchange.collect()
    assert "old.txt" in exchange.found("ann")
    exchange.collect(update=True)
    assert exchange.found("ann").keys() == {f"{LAB}.ipynb", "timestamp.txt", "new.txt"}
    # What was collected stays when its source cannot be read any more.
    for path in folder.iterdir():
        path.unlink()
    exchange.hand_in("ann", "2026-11-03 10:00:00.000000 UTC").rename(exchange.inbound / "gone")
    (exchange.inbound / f"ann+{LAB}+2026-11-04 10:00:00.000000 UTC+y").mkdir()
    exchange.collect(update=True)
    assert "new.txt" in exchange.found("ann")


def test_a_forged_list_of_what_was_left_out_harms_nobody(exchange):
    exchange.hand_in("eve", **{LEFT_OUT: json.dumps([{"kind": "left out"}, 7])})
    exchange.collect()
    assert LEFT_OUT not in exchange.found("eve")
    (exchange.course / "submitted" / "eve" / LAB / LEFT_OUT).write_text("[[[")
    assert collect(Course(exchange.course), LAB, "eve").files
