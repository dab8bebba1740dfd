"""Labs open by the calendar while a hub runs, and everybody learns their own dates alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import nbformat
import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.course.calendar import LabDates
from mlsys_widgets.course.own_dates import OwnDates, read_dates
from mlsys_widgets.hub.hub_state import Account, HubState
from mlsys_widgets.hub.services.calendar_tasks import CalendarReport
from mlsys_widgets.hub.services.lab_release_watch import LabReleaseWatch, read_report
from tests.waiting import wait_for

LAB = "lab_02_demo"
DUE = datetime(2026, 11, 9, 23, 59, tzinfo=UTC)
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def dates(day: int = 9) -> str:
    return OwnDates({LAB: LabDates(due=DUE.replace(day=day))}, own=True).as_text()


@pytest.fixture
def state(places):
    made = HubState.new("hub", "teacher", "student")
    made.course_id = "demo"
    for number, name in enumerate(("teacher", "student", "ada", "ben")):
        role = "instructor" if name == "teacher" else "student"
        made.accounts[name] = Account(name, os.getuid(), os.getgid() + number, role)
    made.write(places.state)
    (places.course / "assignments").mkdir(parents=True)
    (places.course / "release").mkdir()
    return made


class Teacher:
    """Stands where the instructor's process does."""

    def __init__(self, *reports: CalendarReport) -> None:
        self.reports, self.asked = list(reports), 0

    def __call__(self, _state: HubState) -> CalendarReport:
        self.asked += 1
        return self.reports.pop(0) if len(self.reports) > 1 else self.reports[0]


def test_it_works_when_something_changed_or_a_time_has_come(places, state):
    clock = [NOON]
    work = Teacher(CalendarReport(next=(NOON + timedelta(hours=1)).isoformat()), CalendarReport())
    watch = LabReleaseWatch(places, work, lambda: clock[0])
    assert watch.look() is not None
    assert watch.look() is None
    clock[0] += timedelta(minutes=59)
    assert watch.look() is None
    clock[0] += timedelta(minutes=2)
    assert watch.look() is not None
    clock[0] += timedelta(days=100)
    assert watch.look() is None  # no further lab opens
    settings = places.course / "assignments" / "course.toml"
    settings.write_text('edition = "2"\n')
    assert watch.look() is None  # perhaps it is still being written
    assert watch.look() is not None
    (places.course / "release" / LAB).mkdir()
    assert [watch.look() is None, watch.look() is None] == [True, False]
    assert work.asked == 4


def test_what_failed_is_tried_again(places, state):
    clock = [NOON]
    work = Teacher(CalendarReport(problem="a lab is due before it opens"), CalendarReport())
    watch = LabReleaseWatch(places, work, lambda: clock[0])
    assert watch.look().problem
    assert watch.look() is None
    clock[0] += timedelta(minutes=2)
    assert not watch.look().problem
    clock[0] += timedelta(minutes=2)
    assert watch.look() is None


def test_a_problem_lasts_until_some_work_succeeds(places, state, capsys):
    clock = [NOON]
    work = Teacher(
        CalendarReport(problem="a lab is due before it opens"),
        CalendarReport(dates={"ada": dates()}),
        CalendarReport(["lab_02"]),
    )  # fmt: skip
    watch = LabReleaseWatch(places, work, lambda: clock[0])
    for _ in range(2):
        with pytest.raises(ValueError, match="before it opens"):
            watch.run()
    clock[0] += timedelta(minutes=2)
    places.dates.rmdir()  # nothing can be written, as on a full disk
    for _ in range(2):
        with pytest.raises(ValueError, match="No such file"):
            watch.run()
    places.dates.mkdir()
    clock[0] += timedelta(minutes=2)
    watch.run()
    assert capsys.readouterr().out == "released lab_02\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_everybody_gets_a_file_that_nobody_else_can_read(places, state):
    given = {"ada": dates(9), "ben": dates(11), "root": dates(), "../ada": dates(), "student": "{"}
    watch = LabReleaseWatch(places, Teacher(CalendarReport(dates=given)), lambda: NOON)
    (places.dates / "gone.json").write_text("{}")
    watch.look()
    assert sorted(path.name for path in places.dates.iterdir()) == ["ada.json", "ben.json"]
    assert not (places.root / "ada.json").exists()
    for name, day in (("ada", 9), ("ben", 11)):
        path = places.dates_of(name)
        about = path.stat()
        assert stat.S_IMODE(about.st_mode) == 0o640
        assert (about.st_uid, about.st_gid) == (0, state.accounts[name].gid)
        assert read_dates(path).labs[LAB].due.day == day
    assert stat.S_IMODE(places.dates.stat().st_mode) == 0o711


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_after_a_problem_the_dates_from_before_stay(places, state):
    work = Teacher(CalendarReport(dates={"ada": dates()}), CalendarReport(problem="no"))
    watch = LabReleaseWatch(places, work, lambda: NOON)
    watch.look()
    before = places.dates_of("ada").read_bytes()
    (places.course / "assignments" / "course.toml").write_text("timezone = 7\n")
    watch.look()
    assert watch.look().problem == "no"
    assert places.dates_of("ada").read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", '{"dates": 7}', "[" * 9999,
     '{"dates": {"ada": 7}, "released": [], "next": "", "problem": ""}',
     '{"dates": {}, "released": [], "next": "soon", "problem": ""}'],
)  # fmt: skip
def test_an_answer_that_is_none_is_not_believed(text):
    assert read_report(text) is None


def test_an_answer_is_the_last_line():
    line = json.dumps({"dates": {"ada": "x"}, "released": [LAB], "next": "", "problem": ""})
    assert read_report(f"printed by somebody's settings\n{line}\n").released == [LAB]


def minutes_from_now(minutes: float) -> str:
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S}Z"


def follow(course, students=("ada", "ben")) -> CalendarReport:
    """Follow the calendar as the hub has it done: in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "mlsys_widgets.hub.services.calendar_tasks", str(course)],
        input=json.dumps({"students": list(students), "trial": ["teacher"]}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = read_report(done.stdout)
    assert found is not None, done.stderr
    return found


def test_a_lab_is_released_when_its_time_has_come_and_not_before(tmp_path):
    root, exchange = tmp_path / "course", tmp_path / "exchange"
    new_lab(root, LAB)
    (root / "release" / LAB).mkdir(parents=True)
    book = nbformat.v4.new_notebook(metadata={"mlsys": {"title": "A demo"}})
    nbformat.write(book, root / "release" / LAB / f"{LAB}.ipynb")
    exchange.mkdir()
    exchange.chmod(0o777)
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\nc.CourseDirectory.course_id = 'demo'\nc.Exchange.root = '{exchange}'\n")
        settings.write(f"c.CourseDirectory.root = '{root}'\n")
    calendar, released = root / "assignments" / "course.toml", exchange / "demo" / "outbound" / LAB

    def write(opens: str, more: str = "") -> None:
        due = minutes_from_now(600)
        calendar.write_text(f"[labs.{LAB}]\nrelease = {opens}\ndue = {due}\n{more}", "utf-8")

    write(minutes_from_now(60), '[[extensions]]\nstudent = "ben"\ndays = 1\nreason = "ill"\n')
    first = follow(root)
    assert (first.released, first.problem) == ([], "")
    assert datetime.fromisoformat(first.next) > datetime.now(UTC) + timedelta(minutes=58)
    assert not released.exists()
    ada, ben = (OwnDates.from_text(first.dates[name]).labs[LAB].due for name in ("ada", "ben"))
    assert ben - ada == timedelta(days=1)
    assert "ill" not in "".join(first.dates.values())
    assert OwnDates.from_text(first.dates["ada"]).titles == {LAB: "A demo"}
    write(minutes_from_now(-1))
    assert follow(root).released == [LAB]
    assert json.loads((released / "dates.json").read_text())["labs"][LAB]["due"]
    # Withdrawn by hand, it stays so; a calendar that is broken releases nothing, and says why.
    subprocess.run(["rm", "-r", str(released)], check=True)
    last = follow(root)
    assert last.released == []
    assert OwnDates.from_text(last.dates["ada"]).withdrawn == {LAB}
    calendar.write_text("[labs.lab_99]\n")
    assert "lab_99" in follow(root).problem
    assert not released.exists()


def test_on_a_hub_a_lab_appears_at_its_time_and_dates_reach_the_panel(hub, ada, ben, teacher):
    """Like an instructor: another lab, a calendar, and nobody restarts anything."""
    course, later = hub.places.course, "lab_99_later"
    owner = course.stat()
    settings = course / "assignments" / "course.toml"
    before = settings.read_text("utf-8")
    outbound = hub.places.exchange / "mlsys" / "outbound"
    known = "lab_07_kernel_fusion"
    script = (
        f"cp -r assignments/{known} assignments/{later}; cp -r release/{known} release/{later};"
        f" mv release/{later}/{known}.ipynb release/{later}/{later}.ipynb; echo do''ne"
    )
    try:
        teacher.terminal(f"cd {course}; {script}")
        opens = datetime.now(UTC) + timedelta(seconds=25)
        text = (
            f"{before}\n[labs.{later}]\nrelease = {opens:%Y-%m-%dT%H:%M:%S}Z\n"
            f"[labs.{known}]\ndue = {minutes_from_now(120)}\n"
            f'[[extensions]]\nstudent = "{ben.name}"\ndays = 3\nreason = "a private matter"\n'
        )
        settings.write_text(text, "utf-8")
        os.chown(settings, owner.st_uid, owner.st_gid)

        def log():
            return hub.places.log.read_text()[-3000:]

        def own():
            return read_dates(hub.places.dates_of(ada.name)).labs

        wait_for(lambda: later in own(), log)
        assert not (outbound / later).exists() or datetime.now(UTC) >= opens
        wait_for((outbound / later).is_dir, log)
        assert datetime.now(UTC) >= opens - timedelta(seconds=1)
        listed = ada.ask("GET", "assignments?course_id=mlsys").json()["value"]
        assert later in {each["assignment_id"] for each in listed}
        # What ada sees is hers; ben has longer, and ada can read neither that nor why.
        for person, more in ((ada, 1), (ben, 3)):
            if not (person.home / known).is_dir():
                person.assignment("fetch", known)
            due = person.ask("GET", f"mlsys/lab?path={known}/{known}.ipynb").json()["due"]
            assert ("your extension" in " ".join(due["more"])) == (more == 3)
            assert due["state"] == ("soon" if more == 1 else "open")
        peek = ada.terminal(f"cat {hub.places.dates_of(ben.name)}; ls {hub.places.dates}; echo x")
        assert peek.count("Permission denied") == 2
        assert "private" not in hub.places.dates_of(ben.name).read_text()
        # Closed for ada: the list and the hand-in say so; her files stay.
        settings.write_text(text.replace(
            f"[labs.{known}]\n", f"[labs.{known}]\nclose = {minutes_from_now(-1)}\n"
        ).replace(f"due = {minutes_from_now(120)[:4]}", "due = 2020"), "utf-8")  # fmt: skip
        os.chown(settings, owner.st_uid, owner.st_gid)
        wait_for(lambda: own()[known].close, log)
        answered = ada.ask("POST", "mlsys/hand-in", json={"path": f"{known}/{known}.ipynb"})
        assert answered.status_code == 409
        assert "Closed since" in answered.json()["message"]
        assert (ada.home / known / f"{known}.ipynb").is_file()
    finally:
        settings.write_text(before, "utf-8")
        os.chown(settings, owner.st_uid, owner.st_gid)
        teacher.terminal(f"cd {course}; rm -rf */{later}; echo do''ne")
        subprocess.run(["rm", "-rf", str(outbound / later)], check=True)
