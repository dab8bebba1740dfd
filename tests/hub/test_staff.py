"""All that ``docs/instructors/people.md`` says about a TA and an instructor, tried on a real hub.

The table of that page is read row by row; whoever writes another row has to try it here, too. The
first instructor hires both and then does nothing: whatever a TA and a second instructor need, they
have without the account that owns the course.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from tests.hub.day import LAB, BrowserUser, Formgrader
from tests.hub.running import ROOT, running_hub
from tests.hub.term import Term
from tests.hub.test_course_day import by_hand

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(1800)]

POINTS, COMMENT = 4.0, "Say which number you mean."
WORDS, ANSWER = "I think that both launches count.", "They do: read the message again."


class Day:
    """A course with a TA and a second instructor, each with a student whose work they grade."""

    def __init__(self, term: Term, browser: Browser) -> None:
        self.term, self.hub, self.browser = term, term.hub, browser
        tag = self.hub.names["teacher"].removesuffix("teacher")
        self.hub.names |= {who: f"{tag}{who}" for who in ("ivy", "zoe", "zed", "yan")}
        self.student = {"tom": "ada", "ivy": "ben"}

    def tries(self, who: str, command: str) -> tuple[bool, str]:
        """Whether a command works in somebody's terminal, and what it prints."""
        person = self.term.person(who)
        shown = person.terminal(f"cd {self.term.course} && {{ {command}; }}; echo rc=''$?")
        assert "Errno" not in shown, shown
        assert "Traceback" not in shown, shown
        return "rc=0" in shown, shown

    def looks(self, who: str) -> str:
        works, shown = self.tries(who, "mlsys second-looks")
        assert works, shown
        return shown


@pytest.fixture(scope="module")
def day(hub_is_possible: None, browser: Browser) -> Iterator[Day]:
    with running_hub(("ada", "ben")) as hub:
        day = Day(Term(hub), browser)
        for who, role in (("tom", "ta"), ("ivy", "instructor")):
            day.term.says("teacher", f"mlsys course staff {hub.names[who]} --role {role}")
        yield day


def grades(day: Day, who: str, may: bool) -> None:
    """In the browser, from what lies in the exchange to feedback that the student can fetch."""
    assert may
    day.term.works(day.student[who], LAB)
    day.term.hands_in(day.student[who], LAB)
    course, student = day.term.course, day.hub.names[day.student[who]]
    user = BrowserUser(day.browser, day.hub, who)
    user.log_in()
    user.lands_in_the_course()
    user.opens_jupyterlab()
    formgrader = Formgrader(user)
    formgrader.press("collect")
    assert (course / "submitted" / student / LAB / "ledger.jsonl").exists()
    user.menu("File", "New", "Terminal")
    said = user.type_into_terminal(f"mlsys grade {LAB}")
    assert "wait for a person" in said, said
    assert "! " not in said, said
    formgrader.open_submission(f"Test, {day.student[who].title()}")
    formgrader.grade("reply", POINTS, COMMENT)
    user.wait(lambda: by_hand(day.hub, student) == {"reply": (POINTS, COMMENT)}, "points are kept")
    formgrader.leave_submission()
    formgrader.go_to("Manage Assignments")
    assert "Successfully generated feedback" in formgrader.press("generate-feedback")
    assert "Successfully released feedback" in formgrader.press("release-feedback")
    page = (course / "feedback" / student / LAB / f"{LAB}.html").read_text()
    assert COMMENT in page
    assert "Ask for a second look" in page
    user.close()


def answers_second_looks(day: Day, who: str, may: bool) -> None:
    """All who teach see the request, one of them answers, and the student reads it at once."""
    assert may
    person = day.term.person(day.student[who])
    about = {"path": f"{LAB}/{LAB}.ipynb", "question": "launch_budget_us", "words": WORDS}
    asked = person.ask("POST", "mlsys/second-look", json=about)
    assert asked.status_code == 200, asked.text
    for each in (who, "tom", "ivy", "teacher"):
        shown = day.looks(each)
        assert "1 open second look." in shown, shown
        assert WORDS in shown
    number = re.search(rf"(\d+)  {person.name}  ", shown)
    assert number, shown
    works, said = day.tries(who, f"mlsys second-looks close {number[1]} '{ANSWER}'")
    assert works, said
    assert f"{person.name} reads the answer in JupyterLab now" in said.replace("\r\n", "")
    (mine,) = person.ask("GET", "mlsys/second-look", params={"path": about["path"]}).json()["asked"]
    assert mine["answer"]["answer"] == ANSWER
    for each in ("tom", "ivy", "teacher"):
        assert "0 open second looks." in day.looks(each)


def makes_results(day: Day, who: str, may: bool) -> None:
    for command in (
        f"regrade {LAB}", f"course split {LAB}", f"report {LAB} --names --output ~/report.html",
        f"export {LAB} --to canvas --output ~/grades.csv",
    ):  # fmt: skip
        works, shown = day.tries(who, f"mlsys {command}")
        assert works is may, shown


def reads(day: Day, who: str, may: bool) -> None:
    files = f"assignments/{LAB}/checks.py assignments/course.toml nbgrader_config.py"
    assert day.tries(who, f"cat {files} source/{LAB}/*.ipynb > /dev/null")[0] is may


def changes(day: Day, who: str, may: bool) -> None:
    for folder in ("assignments", "source", "release"):
        assert day.tries(who, f"touch {folder}/x && rm {folder}/x")[0] is may, folder
    assert day.tries(who, "echo >> nbgrader_config.py")[0] is may


def releases(day: Day, who: str, may: bool) -> None:
    works, shown = day.tries(who, f"mlsys course release {LAB} --note 'As before.'")
    assert works is may, shown


def moves_people(day: Day, who: str, may: bool) -> None:
    zoe, zed, yan = (day.hub.names[each] for each in ("zoe", "zed", "yan"))
    for command in (
        f"add {zoe}", f"lock {zoe}", f"unlock {zoe}", f"rename {zoe} {zed}", f"add {yan}",
        f"merge {yan} {zed} --yes", f"copy {zed} --to ~/zed.zip", f"drop {zed}",
        f"forget {zed} --yes",
    ):  # fmt: skip
        works, shown = day.tries(who, f"mlsys course {command}")
        assert works is may, shown
        assert may or "only an instructor can do that" in shown, shown


def sees_first_passwords(day: Day, who: str, may: bool) -> None:
    assert day.tries(who, f"ls {day.hub.places.people}")[0] is may
    assert not day.tries(who, f"cat {day.hub.places.secrets}/passwords.json")[0]


def opens_the_admin_page(day: Day, who: str, may: bool) -> None:
    page = day.term.person(who).session.get(f"{day.hub.url}/hub/admin", timeout=60)
    assert page.ok is may, page.text


#: What the page's table says in its first column, and how that is tried.
STEPS: dict[str, Callable[[Day, str, bool], None]] = {
    "formgrader, terminal, `mlsys grade`, collect, release feedback": grades,
    "read and answer [second looks](regrading.md#second-looks)": answers_second_looks,
    "regrade, split grading, report, export grades": makes_results,
    "read labs, keys and settings": reads,
    "change `assignments/`, `source/`, `release/`, `nbgrader_config.py`": changes,
    "release a lab": releases,
    "add, drop, lock, rename, merge, forget, copy people": moves_people,
    "see first passwords of accounts that were added": sees_first_passwords,
    "the hub's admin page": opens_the_admin_page,
}


def rights() -> dict[str, dict[str, bool]]:
    """What the page gives whom, in its own words."""
    page = (ROOT / "docs" / "instructors" / "people.md").read_text("utf-8")
    lines = page.partition("| on a hub | instructor | TA |")[2].splitlines()[2:]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines[: lines.index("")]]
    return {
        what: {"instructor": instructor == "yes", "ta": ta == "yes"}
        for _, what, instructor, ta, *_ in rows
    }


def test_all_that_the_page_says_is_tried() -> None:
    assert list(rights()) == list(STEPS)


@pytest.mark.slow  # test_people_watch.py has a TA who grades a class and changes nothing else
@pytest.mark.parametrize(("who", "role"), [("tom", "ta"), ("ivy", "instructor")])
def test_a_ta_and_a_second_instructor_do_all_that_the_page_says(
    day: Day, who: str, role: str
) -> None:
    for what, may in rights().items():
        STEPS[what](day, who, may[role])


def test_a_student_neither_reads_nor_forges_second_looks(day: Day) -> None:
    exchange = day.term.exchange
    ben = day.term.person("ben")
    shown = ben.terminal(
        f"ls {exchange}/{BOX}; ls {exchange}/{ANSWERS}; echo x > {exchange}/{ANSWERS}/x;"
        f" cat {day.term.course}/.mlsys/second-looks.jsonl; rm -r {exchange}/{BOX}"
    )
    assert shown.lower().count("permission denied") >= 5, shown
    # Another student's name, and more files than anybody reads.
    kernel = ben.kernel()
    forged = ben.run(
        kernel,
        "from pathlib import Path\n"
        "from mlsys_widgets.handin.second_look import SecondLookRequest, new_ticket, put_into_box\n"
        f"for _ in range(60):\n    put_into_box(Path({str(exchange)!r}), SecondLookRequest("
        f"new_ticket(), {day.hub.names['ada']!r}, {LAB!r}, 'launch_budget_us', 'Mine.'))\n"
        "print('put', 'there')",
    )
    assert "put there" in forged, forged
    ben.ask("DELETE", f"api/kernels/{kernel}")
    shown = day.looks("tom")
    assert "0 open second looks." in shown
    assert "50 requests not taken in: the file belongs to somebody else than it says." in shown
    assert list((exchange / BOX).iterdir()) == []
