"""The page of staff in a real Jupyter server, over HTTP, with the forms that it shows."""

from __future__ import annotations

import html
import json
import os
import re
import secrets
import shutil
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser as Screen

from mlsys_widgets.classes.lms_key import make_key
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.change_history import ChangeHistory
from mlsys_widgets.courses.lab_releases import lab_titles
from mlsys_widgets.courses.staff_page.views import PAGES
from mlsys_widgets.grading.feedback.second_looks import SecondLooks
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.grading.gradebook.private_lines import append_lines
from tests.courses.conftest import LAB, students
from tests.jupyter_servers import wait_until_serving
from tests.lms_platform import LearningPlatform
from tests.waiting import wait_for

#: What the form for a new student holds, unlike those beside students.
NEW = {"student": ""}


class Forms(HTMLParser):
    """The forms of a page: where each goes, and what its fields hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[list[tuple[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        if tag == "form":
            assert about["method"] == "post"
            self.found.append([])
        elif tag in ("input", "select", "textarea") and self.found and "name" in about:
            value = "" if about.get("type") == "checkbox" else about.get("value") or ""
            self.found[-1].append((about["name"], value))


class Browser:
    """Somebody at a server who has cookies and sends forms, as a browser does."""

    def __init__(self, url: str, token: str) -> None:
        self.url = f"{url}mlsys/course/"
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        if token:
            self.get(f"labs?token={token}")

    def get(self, page: str, data: bytes | None = None) -> tuple[int, str]:
        try:
            with self._open.open(self.url + page, data, timeout=120) as answer:
                self.headers, self.at = answer.headers, answer.url
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def send(self, page: str, action: str, *, form: dict[str, str] | None = None, **given) -> str:
        """Fill in a form of a page, send it, and return what follows once the command is done."""
        wanted = {"action": action, **(form or {})}
        _, shown = self.get(page)
        fields = next(f for f in Forms(shown).found if wanted.items() <= dict(f).items())
        sent = [(name, given.pop(name, value)) for name, value in fields]
        assert not given
        status, answer = self.get("do", urlencode(sent).encode())
        assert status == 200, answer
        return self.followed()

    def goes_ahead(self, action: str, **given) -> str:
        """Answer what the page asks after it has said what would happen."""
        return self.send(
            self.at.removeprefix(self.url), action, form=given.pop("form", {}), **given
        )

    def uploads(self, page: str, action: str, field: str, content: bytes) -> str:
        """Send a form with a file."""
        _, shown = self.get(page)
        fields = next(f for f in Forms(shown).found if ("action", action) in f)
        mark = secrets.token_hex(16)
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in fields if name != field
        ] + [
            f'--{mark}\r\nContent-Disposition: form-data; name="{field}"; filename="x.csv"\r\n'
            "Content-Type: text/csv\r\n\r\n".encode() + content + f"\r\n--{mark}--\r\n".encode()
        ]  # fmt: skip
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        sent = urllib.request.Request(f"{self.url}do", b"".join(parts), kind)
        with self._open.open(sent, timeout=120) as answer:
            self.headers, self.at = answer.headers, answer.url
        return self.followed()

    def followed(self) -> str:
        """Return the page once no command runs in it any more."""
        address = self.at.removeprefix(self.url)

        def shown() -> str | None:
            _, page = self.get(address)
            return None if self.headers["Refresh"] else page

        page = wait_for(shown, lambda: self.get(address)[1])
        assert page
        return page


def result(page: str) -> tuple[str, str]:
    """What the page says about the command that ran."""
    found = re.search(r'role="status">\s*<h2>(.*?)</h2>\s*<pre>(.*?)</pre>', page, re.S)
    assert found, page
    return html.unescape(found[1]), html.unescape(found[2])


@pytest.fixture(scope="module")
def place(graded_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded course of its own, with an exchange into which labs can be released."""
    home = tmp_path_factory.mktemp("staff")
    root = Path(shutil.copytree(graded_once, home / "course"))
    exchange = home / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    for folder in (home, *list(home.parents)[:2]):
        folder.chmod(folder.stat().st_mode | 0o111)
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(f'\nc.Exchange.root = "{exchange}"\n')
    return root


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[tuple[str, str]]:
    """The server of somebody who teaches."""
    home = place.parent
    log, token = home / "log.txt", secrets.token_hex(16)
    config = home / "config" / "jupyter_server_config.json"
    config.parent.mkdir()
    extension = '{"ServerApp": {"jpserver_extensions": {"mlsys_widgets.courses.staff_page": true}}}'
    config.write_text(extension)
    options = {"ip": "127.0.0.1", "port": 0, "open_browser": False, "allow_root": True,
               "root_dir": place}  # fmt: skip
    folders = {f"JUPYTER_{name.upper()}_DIR": str(home / name) for name in ("config", "data")}
    runtime = home / "runtime"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", f"--IdentityProvider.token={token}",
             *(f"--ServerApp.{name}={value}" for name, value in options.items())],
            env={**os.environ, **folders, "JUPYTER_RUNTIME_DIR": str(runtime)},
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield wait_until_serving(process, runtime, log), token
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def staff(served) -> Browser:
    return Browser(*served)


def test_the_overview_says_what_waits_and_where_each_lab_stands(staff):
    status, page = staff.get("labs")
    assert status == 200
    row = re.search(r"<tbody>\s*<tr>(.*?)</tr>", page, re.S)[1]
    counts = [int(each) for each in re.findall(r'class="number[^>]*>(\d+)<', row)]
    assert counts[:2] == [3, 3]  # three invented students, all of them graded
    assert "not released" in row
    assert "script" not in staff.headers["Content-Security-Policy"].replace("default-src", "")
    assert "<script" not in page


def test_nobody_else_gets_in_and_no_other_page_can_send_a_form(served, staff, place):
    url, _ = served
    stranger = Browser(url, "")
    _, page = stranger.get("labs")
    assert "course" in stranger.at
    assert "login" in stranger.at  # sent to the sign-in, and shown nothing
    assert LAB not in page
    assert stranger.get("do", b"action=lock&page=people&student=ann")[0] == 403
    # The cookies of somebody who teaches, and a form that is not of this page.
    assert staff.get("do", b"action=lock&page=people&student=ann")[0] == 403
    assert Course.at(place).people.locked == ()


def test_dates_are_set_refused_with_a_sentence_and_undone(staff, place):
    form = {"lab": LAB, "section": ""}
    page = staff.send("dates", "dates", form=form, release="2027-01-25T08:00",
                      due="2027-02-01T23:59")  # fmt: skip
    assert result(page)[0] == "Set dates: done"
    assert Course.at(place).calendar.labs[LAB].due.day == 1
    page = staff.send("dates", "dates", form=form, close="2020-01-01T00:00")
    assert result(page)[0] == "Set dates: not done"
    assert f"labs.{LAB} closes before it is due" in result(page)[1]
    assert Course.at(place).calendar.labs[LAB].close is None
    assert 'value="2027-02-01T23:59"' in page
    page = staff.send("history", "undo")
    assert result(page)[0] == "Undo: done"
    assert Course.at(place).calendar.labs[LAB].due is None


def test_one_student_gets_more_time_and_it_is_taken_back(staff, place):
    staff.send("dates", "extend", student="ann", lab=LAB, days="2", reason="<b>ill</b>")
    (longer,) = Course.at(place).calendar.extensions
    assert (longer.student, longer.lab, longer.days) == ("ann", LAB, 2)
    _, page = staff.get("dates")
    assert "&lt;b&gt;ill&lt;/b&gt;" in page
    assert "<b>ill" not in page
    staff.send("dates", "extend", form={"remove": "1", "student": "ann"})
    assert Course.at(place).calendar.extensions == ()


def test_people_come_are_locked_hired_and_merged_as_the_commands_do(staff, place):
    page = staff.send("people", "add", form=NEW, student="zoe", name="Zoe <i>Ray</i>")
    assert result(page) == ("Add a student: done", "zoe is added.")
    assert "Zoe &lt;i&gt;Ray&lt;/i&gt;" in page
    page = staff.send("people", "add", form=NEW, student="--help")
    assert result(page)[0] == "Add a student: not done"
    assert "usage" not in result(page)[1]
    staff.send("people", "lock", form={"student": "zoe"})
    assert Course.at(place).people.locked == ("zoe",)
    staff.send("history", "undo", form={"word": "zoe"})
    assert Course.at(place).people.locked == ()
    staff.send("people", "staff", name="mia", role="ta")
    assert Course.at(place).people.staff["mia"].role == "ta"
    page = staff.send("people", "merge", form={"source": "zoe"}, into="ann")
    assert result(page)[0] == "Merge: this is what would happen"
    assert "zoe" in students(place)
    page = staff.send("people", "merge", form={"source": "zoe"}, into="nobody")
    assert result(page)[0] == "Merge: not done"
    page = staff.send("people", "merge", form={"source": "zoe"}, into="ann")
    page = staff.goes_ahead("merge", form={"yes": "1"}, typed="zoe")
    assert result(page)[0] == "Merge: done"
    assert "zoe" not in students(place)


def test_a_lab_is_released_withdrawn_and_graded(staff, place):
    outbound = place.parent / "exchange" / "demo" / "outbound" / LAB
    page = staff.send(f"labs?lab={LAB}", "release", note="")
    assert result(page)[0] == "Release: done"
    assert outbound.is_dir()
    page = staff.send(f"labs?lab={LAB}", "withdraw")
    assert result(page)[0] == "Withdraw: done"
    assert not outbound.exists()
    assert "Withdrawn" in page
    assert ChangeHistory(place).read()[0].undo == ("release", LAB)
    page = staff.send(f"labs?lab={LAB}", "collect")
    assert result(page)[0].startswith("Collect and grade: done")
    assert "everything is graded" in result(page)[1]
    _, page = staff.get(f"labs?lab={LAB}")
    assert "How far the class is" in page
    assert re.search(r"Of \d+ students, 3 handed in\.", page)


def test_a_second_look_is_read_as_text_and_answered(staff, place):
    asked = {"number": 1, "ticket": "t" * 32, "student": "ann", "lab": LAB, "question": "speed",
             "words": "<img src=x> is right?", "time": "2026-11-18T06:00:00+00:00"}  # fmt: skip
    line = json.dumps({"asked": asked}).encode() + b"\n"
    append_lines(place / ".mlsys" / "second-looks.jsonl", line)
    _, page = staff.get("looks")
    assert "&lt;img src=x&gt; is right?" in page
    page = staff.send("looks", "close", answer="-1 is not.\nIt is 7.")
    assert result(page)[0] == "Answer: done"
    (look,) = SecondLooks(Course.at(place)).read()
    assert (look.answer, look.closed_by) == ("-1 is not.\nIt is 7.", who_runs())
    assert "Nobody waits" in page


def test_a_class_is_entered_from_a_list_and_a_wrong_list_enters_nobody(staff, place):
    page = staff.uploads("people", "roster", "roster", b"username,name\nlea,Lea Fox\nkim,Kim Ode\n")
    assert result(page)[0] == "Enter a class: done"
    assert result(page)[1].startswith("2 added, 0 corrected, of 2.\n")
    assert {"lea", "kim"} <= students(place).keys()
    assert "2 added" in ChangeHistory(place).read()[0].words
    page = staff.uploads("people", "roster", "roster", b"username\nmax\nb/d\n")
    assert result(page)[0] == "Enter a class: not done"
    assert "line 3: the id 'b/d' contains '/'" in result(page)[1]
    assert "max" not in students(place)


def test_a_student_is_put_into_a_section_and_back(staff, place):
    for section in ("evening", "morning"):
        page = staff.send("people", "add", form={"student": "ann"}, section=section)
        assert result(page)[1] == f"ann is in the section {section}."
    staff.send("history", "undo", form={"word": "--section=evening"})
    assert Course.at(place).calendar.section("ann") == "evening"
    assert "ann" not in Course.at(place).people.dropped


def test_reports_and_grades_are_files_that_open_and_can_do_nothing(staff, place):
    page = staff.send("results", "report", lab=LAB, names="1", csv="1")
    assert result(page)[0] == "Report: done"
    status, report = staff.get(f"file/report-{LAB}-names.html")
    assert status == 200
    assert "Who needs you" in report
    assert "sandbox" in staff.headers["Content-Security-Policy"]
    page = staff.send("results", "lecture", lab=LAB)
    assert result(page)[0] == "Page for the lecture: done"
    _, lecture = staff.get(f"file/lecture-{LAB}.html")
    assert "Who needs you" not in lecture
    page = staff.send("results", "report", lab="*")
    assert "report-course.html" in page
    page = staff.send("results", "export", lab=LAB, to="canvas")
    assert f"{LAB}-canvas.csv" in page
    _, grades = staff.get(f"file/{LAB}-canvas.csv")
    assert grades.startswith("Student,ID")
    assert staff.headers["Content-Disposition"].startswith("attachment")
    page = staff.send("results", "export", lab=LAB, to="csv")
    assert "is for all labs together" in result(page)[1]
    (place / "reports" / "link.html").symlink_to(place / "gradebook.db")
    for name in ("link.html", "nothing.html", "..%2Fgradebook.db", "%00"):
        assert staff.get(f"file/{name}")[0] == 404
    assert "link.html" not in staff.get("results")[1]


def test_a_wrong_key_is_regraded_after_a_look_with_a_reason(staff, place):
    checks = place / "assignments" / LAB / "checks.py"
    before = checks.read_text()
    checks.write_text(re.sub(r"tolerance=[\d.]+", "tolerance=1e9", before))
    assert checks.read_text() != before
    page = staff.send("results", "regrade", lab=LAB, reason="too <strict>")
    assert result(page)[0] == "Regrade: this is what would happen"
    assert "Nothing is changed yet" in result(page)[1]
    page = staff.goes_ahead("regrade", form={"apply": "1"})
    assert result(page)[0] == "Regrade: done"
    _, page = staff.get("history")
    assert "too &lt;strict&gt;" in page
    page = staff.send(f"course?lab={LAB}", "build")
    assert result(page)[0] == "Build: done"
    assert ChangeHistory(place).read()[0].words == f"{LAB} is built from its text."


def test_a_mistake_in_a_lab_is_told_in_a_sentence(staff, place):
    checks = place / "assignments" / LAB / "checks.py"
    before = checks.read_text()
    checks.write_text(f"{before}limits = limit_of_all\n")
    try:
        for page, action, more in (
            ("results", "report", {"lab": LAB}), (f"course?lab={LAB}", "build", {}),
            (f"course?lab={LAB}", "variant", {"student": "ann"}),
        ):  # fmt: skip
            state, said = result(staff.send(page, action, **more))
            assert state.endswith(": not done")
            line = before.count("\n") + 1
            assert f"checks.py, line {line}: NameError" in said
            assert "Traceback" not in said
    finally:
        checks.write_text(before)


def test_whoever_is_forgotten_is_named_first_and_typed(staff, place):
    staff.send("people", "add", form=NEW, student="gus", name="Gus Ode")
    page = staff.send("people", "copy", form={"student": "gus"})
    assert re.search(r"copy-[\d-]+-gus\.zip", page)
    page = staff.send("people", "forget", form={"student": "gus"})
    assert result(page)[0] == "Forget: this is what would happen"
    assert "gradebook: their entry, and 0 submissions" in result(page)[1]
    assert "Type yes" not in page
    for typed in ("", "Gus", "ann"):
        sent = Forms(page).found
        form = dict(next(f for f in sent if ("yes", "1") in f)) | {"typed": typed}
        status, said = staff.get("do", urlencode(form).encode())
        assert status == 400
        assert "to go ahead, type gus" in said
    assert "gus" in students(place)
    page = staff.goes_ahead("forget", form={"yes": "1"}, typed="gus")
    assert result(page)[0] == "Forget: done"
    assert "gus" not in students(place)
    assert not list((place / "reports").glob("copy-*-gus.zip"))
    _, page = staff.get("history")
    assert "Somebody is forgotten." in page
    assert "gus" not in page


def test_a_course_without_a_learning_system_says_so(staff, place):
    _, page = staff.get("results")
    assert "This course names no learning system." in page
    assert ("action", "push") not in {field for form in Forms(page).found for field in form}


def test_grades_are_sent_to_the_learning_system_after_a_look(staff, place):
    settings = place / "assignments" / "course.toml"
    before = settings.read_text()
    with sqlite3.connect(place / "gradebook.db") as book:
        book.execute("update grade set needs_manual_grade = 0")
    with LearningPlatform() as platform:
        platform.register(make_key(place)[0].jwks())
        for student in students(place):
            platform.enroll(f"lti-{student}", ext_user_username=student)
        settings.write_text(before + platform.settings())
        page = staff.send("results", "push", lab=LAB)
        assert result(page)[0] == "Send grades: this is what would happen"
        assert "Nothing is sent yet." in result(page)[1]
        assert "mlsys" not in result(page)[1], "the page has a button for it"
        assert (platform.items, platform.sent()) == ({}, [])
        page = staff.goes_ahead("push", form={"apply": "1"})
        assert result(page)[0] == "Send grades: done"
        assert len(platform.results(LAB)) == 3
        assert None not in platform.results(LAB).values()
        assert ChangeHistory(place).read()[0].words == (
            f"Grades of {LAB} are sent to the learning system."
        )
        (student, points), *_ = platform.results(LAB).items()
        platform.change(LAB, student, (points or 0) + 1)
        page = staff.send("results", "push", lab=LAB)
        assert "left as it is" in result(page)[1]
        page = staff.send("results", "push", lab=LAB, overwrite="1")
        page = staff.goes_ahead("push", form={"apply": "1"})
        assert result(page)[0] == "Send grades: done"
        assert platform.results(LAB)[student] == points
    settings.write_text(before)


@pytest.mark.needs("chromium")
def test_on_a_phone_no_page_has_to_be_moved_sideways(served, staff, browser: Screen):
    staff.send("results", "report", lab=LAB)
    url, token = served
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{url}mlsys/course/labs?token={token}")
    for name in PAGES:
        page.goto(f"{url}mlsys/course/{name}")
        hidden = page.evaluate(
            "() => [...document.querySelectorAll('main, main *')].filter("
            "each => each.getBoundingClientRect().right > innerWidth"
            " || (each.scrollWidth > each.clientWidth + 1 && each.matches('main')))"
            ".map(each => each.outerHTML.slice(0, 100))"
        )
        assert hidden == [], name
    page.goto(f"{url}mlsys/course/labs")
    assert page.locator("td", has_text="3").first.is_visible()
    page.close()


def test_labs_are_called_by_their_titles(staff, place):
    title = lab_titles(Course.at(place))[LAB]
    assert title != LAB
    for page in ("labs", "dates", "results", f"course?lab={LAB}", "history"):
        assert f">{title}<" in staff.get(page)[1]


def test_the_next_term_gets_a_bundle_and_the_doctor_looks(staff, place):
    page = staff.send("course", "bundle")
    assert result(page)[0] == "Pack the course: done"
    status, _ = staff.get("results")
    assert status == 200
    assert (place / "reports" / "next-term.tar.gz").is_file()
    page = staff.send("course", "variant", student="ann")
    assert "key:" in result(page)[1]
