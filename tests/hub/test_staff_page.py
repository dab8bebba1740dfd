"""A day of a course in the browser, on a real hub: by a second instructor and a TA alone.

The first instructor hires the second one, and then does nothing until the two leave again.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Locator, expect

from mlsys_widgets.course.course import Course
from tests.hub.day import PICTURES, READY, BrowserUser
from tests.hub.running import Hub, Person, running_hub
from tests.hub.term import FACTOR, FIRST, REASON, Term

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(1500)]

WORDS, ANSWER = "I think that this was right.", "It was: the key is fixed."
ILLNESS, COMMENT = "illness", "Which number is your own?"


class Staff(BrowserUser):
    """Somebody who teaches, on their page."""

    def goes_to(self, page: str) -> None:
        self.page.get_by_role("navigation").get_by_role("link", name=page).click()
        expect(self.page.get_by_role("heading", level=1)).to_be_visible(timeout=READY)

    def opens_the_lab(self) -> None:
        self.goes_to("Labs")
        self.page.locator("tr", has_text="Magnitude").get_by_role("link").click()
        expect(self.page.get_by_role("heading", name="Release")).to_be_visible(timeout=READY)

    def form(self, action: str, inside: Locator | None = None) -> Locator:
        """The form on the page that does something."""
        fields = self.page.locator(f'input[name="action"][value="{action}"]')
        return (inside or self.page).locator("form", has=fields).first

    def sends(self, action: str, button: str, inside: Locator | None = None, **given: str) -> None:
        """Fill in a form and press its button."""
        form = self.form(action, inside)
        for name, value in given.items():
            field = form.locator(f'[name="{name}"]')
            if field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(value)
            elif field.get_attribute("type") == "checkbox":
                field.check()
            else:
                field.fill(value)
        form.get_by_role("button", name=button).click()

    def changes(self, login: str) -> Locator:
        """Unfold what can be done about somebody."""
        row = self.page.locator("tr", has=self.page.get_by_role("cell", name=login, exact=True))
        row.locator("summary").click()
        return row

    def reads(self, what: str) -> str:
        """What the page says about the command that was started, once it has ended so."""
        said = self.page.get_by_role("status")
        expect(said.get_by_role("heading")).to_have_text(re.compile(what), timeout=READY)
        return said.inner_text()

    def goes_ahead(self, typed: str = "") -> None:
        """Agree to what would happen."""
        if typed:
            self.page.get_by_label("To go ahead, type").fill(typed)
        self.page.get_by_role("button", name="Yes, go ahead").click()

    def pictures(self, name: str) -> None:
        """Save the page, which has no script, as a small screen shows it, light and dark."""
        self.page.set_viewport_size({"width": 1280, "height": 720})
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            self.page.screenshot(path=PICTURES / f"{self.who}-{name}-{scheme}.png")
        self.page.emulate_media(color_scheme="light")


def password_in(said: str, after: str = "Password until they change it:") -> str:
    found = re.search(rf"{after} +(\S+)", said)
    assert found, said
    return found[1]


@contextmanager
def at_browsers(browser: Browser, hub: Hub, *people: str) -> Iterator[list[Staff]]:
    """Staff with browser windows; what they saw last is kept."""
    users = [Staff(browser, hub, who) for who in people]
    try:
        yield users
    finally:
        for user in users:
            user.picture("last")
            user.close()


def test_a_student_gets_nothing_of_it(hub: Hub, ada: Person, teacher: Person) -> None:
    assert ada.ask("GET", "mlsys/course/labs").status_code == 404
    address = f"{teacher.base}mlsys/course/"
    token = {"Authorization": f"token {ada.token}"}
    assert ada.session.get(f"{address}labs", headers=token, timeout=60).status_code == 403
    form = {"action": "staff", "page": "people", "name": ada.name, "role": "instructor"}
    sent = ada.session.post(f"{address}do", data=form, headers=token, timeout=60)
    assert sent.status_code == 403
    assert ada.name not in Course.at(hub.places.course).people.staff


@pytest.fixture
def own_hub(hub_is_possible: None) -> Iterator[Hub]:
    """A hub for a day that changes people, dates and keys: no other test could follow it."""
    with running_hub() as hub:
        tag = hub.names["teacher"].removesuffix("teacher")
        hub.names |= {who: f"{tag}{who}" for who in ("ivy", "tia", "fay")}
        yield hub


@pytest.mark.slow
def test_a_second_instructor_and_a_ta_run_the_course_in_the_browser(
    own_hub: Hub, browser: Browser, tmp_path: Path
) -> None:
    term = Term(own_hub)
    checks = term.course / "assignments" / FIRST / "checks.py"
    with at_browsers(browser, own_hub, "teacher", "ivy", "tia") as (teacher, ivy, tia):
        teacher.log_in()
        teacher.lands_in_the_course()
        teacher.goes_to("People")
        ivy.log_in(hires(teacher, ivy.name, "instructor"))
        ivy.lands_in_the_course()

        adds_people(ivy, tmp_path)
        tia.log_in(hires(ivy, tia.name, "ta"))
        sets_dates(ivy)
        releases(ivy)

        term.works("eve", FIRST, wrong=True)
        term.hands_in("eve", FIRST)
        hands_in_the_ledger_of_somebody_else(term)

        tia.lands_in_the_course()
        may_change_nothing(tia)
        grades(tia, term)
        answers_a_second_look(tia, term)

        fixes_a_key(ivy, term, checks)
        regrades(ivy, term)
        looks_at_the_class(ivy)
        reads_the_history(ivy, tia)
        forgets(ivy)
        teacher.goes_to("People")
        for gone in (ivy, tia):
            about = teacher.changes(gone.name)
            about.get_by_role("button", name="No longer teaches").click()
            assert gone.name in teacher.reads("Staff: done")


# The second instructor, in the morning.


def hires(user: Staff, name: str, role: str) -> str:
    """Let somebody teach; returns their first password."""
    new = user.page.locator("main > form", has=user.page.get_by_label("role"))
    new.get_by_label("login").fill(name)
    new.get_by_label("role").select_option(role)
    new.get_by_role("button", name="Add").click()
    return password_in(user.reads("Staff: done"))


def adds_people(ivy: Staff, folder: Path) -> None:
    names = ivy.hub.names
    ivy.goes_to("People")
    new = ivy.page.locator("main > form", has=ivy.page.get_by_label("first and last name"))
    new.get_by_label("login").fill(names["eve"])
    new.get_by_label("first and last name").fill("Eve Test")
    new.get_by_label("section").fill("evening")
    new.get_by_role("button", name="Add").click()
    assert password_in(ivy.reads("Add a student: done"))
    roster = folder / "class.csv"
    roster.write_text(f"username,name\n{names['fay']},Fay Test\n")
    ivy.page.get_by_label("CSV with a line of headings").set_input_files(roster)
    ivy.page.get_by_role("button", name="Add all").click()
    fay = Person(ivy.hub, names["fay"])
    entered = ivy.reads("Enter a class: done")
    assert fay.login(password_in(entered, fay.name)).status_code == 302
    about = ivy.changes(fay.name)
    ivy.sends("add", "Put there", about, section="evening")
    assert f"{fay.name} is in the section evening." in ivy.reads("Add a student: done")
    ivy.pictures("people")


def sets_dates(ivy: Staff) -> None:
    root = ivy.hub.places.course
    ivy.goes_to("Dates")
    for due in ("2099-02-01T23:59", "2099-03-01T23:59"):
        row = ivy.page.locator("tr", has=ivy.page.get_by_label(f"due of {FIRST}"))
        row.get_by_label(f"due of {FIRST}").fill(due)
        row.get_by_role("button", name="Save").click()
        assert "2099" in ivy.reads("Set dates: done")
        ivy.goes_to("Dates")
    ivy.goes_to("History")
    ivy.page.get_by_role("button", name="Undo").first.click()
    ivy.reads("Undo: done")
    due_time = Course.at(root).calendar.dates(FIRST).due
    assert due_time
    assert due_time.month == 2
    ivy.goes_to("Dates")
    eve = ivy.hub.names["eve"]
    more = {"student": eve, "lab": FIRST, "days": "2", "reason": ILLNESS}
    ivy.sends("extend", "Give more time", **more)
    assert f"for {eve}" in ivy.reads("Give more time: done")
    ivy.pictures("dates")


def releases(ivy: Staff) -> None:
    ivy.opens_the_lab()
    ivy.page.get_by_role("button", name="Withdraw").click()
    ivy.reads("Withdraw: done")
    ivy.page.get_by_role("button", name="Release").click()
    ivy.reads("Release: done")
    assert (ivy.hub.places.exchange / "mlsys" / "outbound" / FIRST).is_dir()


# A student who copies.


def hands_in_the_ledger_of_somebody_else(term: Term) -> None:
    ben = term.person("ben")
    term.fetches(ben, FIRST)
    ledger = ben.home / FIRST / "ledger.jsonl"
    shutil.copyfile(term.person("eve").home / FIRST / "ledger.jsonl", ledger)
    shutil.chown(ledger, ben.name)
    ben.assignment("submit", FIRST)


# The TA.


def may_change_nothing(tia: Staff) -> None:
    """What is an instructor's is not offered, and refused to whoever asks for it all the same."""
    for page, words in (
        ("Dates", "change dates"), ("People", "change who is in the course"),
    ):  # fmt: skip
        tia.goes_to(page)
        expect(tia.page.get_by_text(f"Only an instructor can {words}.")).to_be_visible()
        expect(tia.page.get_by_role("button")).to_have_count(0)
    tia.goes_to("History")
    expect(tia.page.get_by_role("cell", name=tia.hub.names["ivy"]).first).to_be_visible()
    expect(tia.page.get_by_role("button")).to_have_count(0)
    tia.goes_to("Course")
    expect(tia.page.get_by_text("Only an instructor can change a lab.")).to_be_visible()
    token = tia.page.locator('[name="_xsrf"]').first.get_attribute("value") or ""
    for form in (
        {"action": "staff", "page": "people", "name": tia.name, "role": "instructor"},
        {"action": "forget", "page": "people", "student": "ada", "yes": "1", "typed": "ada"},
        {"action": "release", "page": "labs", "lab": FIRST},
        {"action": "undo", "page": "history", "word": "drop"},
    ):
        address = f"{tia.hub.url}/user/{tia.name}/mlsys/course/do"
        sent = tia.page.request.post(address, form={**form, "_xsrf": token})
        assert sent.status == 403, sent.text()
        assert "only an instructor can do that" in sent.text()


def grades(tia: Staff, term: Term) -> None:
    """From what waits to feedback, with an essay by hand."""
    tia.goes_to("Labs")
    ungraded = re.compile(r"[1-9]\d* submissions? without a grade")
    expect(tia.page.locator("main")).to_contain_text(ungraded)
    tia.opens_the_lab()
    tia.page.get_by_role("button", name="Collect and grade").click()
    assert "submissions" in tia.reads("Collect and grade: done, and somebody should look")
    flagged = tia.page.locator("tr", has_text=tia.hub.names["ben"])
    expect(flagged).to_contain_text(f"is of {tia.hub.names['eve']}")
    tia.pictures("graded")
    reads_an_essay(tia, term)
    tia.opens_the_lab()
    tia.page.get_by_role("button", name="Return feedback").click()
    tia.reads("Return feedback: done")
    page = term.course / "feedback" / tia.hub.names["eve"] / FIRST / f"{FIRST}.html"
    assert "Ask for a second look" in page.read_text()
    assert COMMENT in page.read_text()


def reads_an_essay(tia: Staff, term: Term) -> None:
    """By an item of the rubric and in words, without knowing whose it is."""
    tia.page.get_by_role("link", name=re.compile("^Read .* essay")).click()
    essay = tia.page.get_by_role("article").filter(has_text="What eve thinks about")
    expect(essay).not_to_contain_text(tia.hub.names["eve"])
    essay.get_by_role("checkbox", name="+4 Gives at least three numbers").check()
    essay.get_by_label("For this answer alone").fill(COMMENT)
    tia.pictures("essay")
    essay.get_by_role("button", name="Save").click()
    expect(tia.page.get_by_role("status")).to_have_text("Saved.")
    assert by_hand(term, "eve") == [4]
    tia.page.get_by_role("link", name=re.compile("^all: ")).click()
    expect(essay).to_contain_text(f"4 points by {tia.name}")


def by_hand(term: Term, who: str) -> list[float]:
    """Points that a person has given somebody in the lab."""
    with Gradebook(f"sqlite:///{term.course / 'gradebook.db'}") as book:
        of = book.find_submission(FIRST, term.hub.names[who])
        given = [grade.manual_score for each in of.notebooks for grade in each.grades]
    return [each for each in given if each is not None]


def answers_a_second_look(tia: Staff, term: Term) -> None:
    eve, asked = term.person("eve"), {"path": f"{FIRST}/{FIRST}.ipynb"}
    about = {**asked, "question": term.asked_of_ben(), "words": WORDS}
    sent = eve.ask("POST", "mlsys/second-look", json=about)
    assert sent.status_code == 200, sent.text
    tia.goes_to("Second looks")
    expect(tia.page.get_by_text(WORDS)).to_be_visible()
    tia.page.get_by_label("What the student reads").fill(ANSWER)
    tia.page.get_by_role("button", name="Answer and close").click()
    tia.reads("Answer: done")
    (mine,) = eve.ask("GET", "mlsys/second-look", params=asked).json()["asked"]
    assert mine["answer"]["answer"] == ANSWER


# The second instructor, in the evening.


def fixes_a_key(ivy: Staff, term: Term, checks: Path) -> None:
    """In JupyterLab's editor, to which the page leads, and with its button."""
    name = term.asked_of_ben()
    fixed = (
        f"\n\n_{name}_was = {name}\n\n\ndef {name}(given: Given) -> NumberKey:\n"
        f"    was = _{name}_was(given)\n"
        f"    return NumberKey(was.value, tolerance={FACTOR}, says=was.says)\n"
    )
    ivy.goes_to("Course")
    ivy.pictures("course")
    ivy.page.get_by_role("link", name="checks.py").click()
    editor = ivy.page.locator(".jp-FileEditor .cm-content")
    expect(editor).to_be_visible(timeout=READY)
    editor.click()
    ivy.page.keyboard.press("Control+End")
    ivy.page.keyboard.insert_text(fixed)
    ivy.page.keyboard.press("Control+s")
    ivy.wait(lambda: checks.read_text().rstrip().endswith(fixed.strip()), "the new key is saved")
    ivy.page.goto(f"{ivy.hub.url}/user/{ivy.name}/mlsys/course/course?lab={FIRST}")
    ivy.page.get_by_role("button", name="Who has which version").click()
    ivy.reads("Versions: done")


def regrades(ivy: Staff, term: Term) -> None:
    before = term.total("eve", FIRST)
    ivy.goes_to("Results")
    ivy.sends("regrade", "Show who would change", lab=FIRST, reason=REASON)
    assert re.search(r": [1-9]\d* would change", ivy.reads("Regrade: this is what would happen"))
    assert term.total("eve", FIRST) == before
    ivy.pictures("regrade")
    ivy.goes_ahead()
    ivy.reads("Regrade: done")
    assert term.total("eve", FIRST) > before
    ivy.sends("split", "Split", lab=FIRST)
    assert ivy.hub.names["tia"] in ivy.reads("Split grading: done")


def looks_at_the_class(ivy: Staff) -> None:
    ivy.sends("report", "Make the report", lab=FIRST, names="1")
    ivy.reads("Report: done")
    ivy.sends("export", "Export", lab=FIRST, to="canvas")
    ivy.reads("Export grades: done")
    ivy.pictures("results")
    with ivy.page.expect_download() as got:
        ivy.page.get_by_role("link", name=f"{FIRST}-canvas.csv").click()
    assert ivy.hub.names["eve"] in Path(got.value.path()).read_text()
    ivy.page.get_by_role("link", name=f"report-{FIRST}-names.html").click()
    expect(ivy.page.get_by_role("heading", name="Who needs you")).to_be_visible()
    ivy.pictures("report")
    ivy.page.go_back()


def reads_the_history(ivy: Staff, tia: Staff) -> None:
    """Every change of the day is there, with who made it."""
    eve = ivy.hub.names["eve"]
    ivy.goes_to("History")
    ivy.pictures("history")
    for who, what in (
        (ivy, f"{eve} is added."), (ivy, "A list of students is entered"),
        (ivy, f"{ivy.hub.names['fay']} is in the section evening."),
        (ivy, f"{tia.name} is now a TA."), (ivy, f"{FIRST} is due"), (ivy, ILLNESS),
        (ivy, f"{FIRST} is withdrawn"), (ivy, f"{FIRST} is released"),
        (tia, f"Feedback for {FIRST} is returned"), (tia, f"A second look of {eve} is answered"),
        (ivy, REASON), (ivy, f"Grading {FIRST} by hand is split"),
    ):  # fmt: skip
        row = ivy.page.locator("tr", has_text=what).first
        expect(row.get_by_role("cell", name=who.name, exact=True)).to_be_visible()


def forgets(ivy: Staff) -> None:
    """Whoever came today goes again, after the page has said what will be lost."""
    ivy.goes_to("Dates")
    row = ivy.page.locator("tr", has=ivy.page.get_by_label(f"due of {FIRST}"))
    row.get_by_label(f"due of {FIRST}").fill("")
    row.get_by_role("button", name="Save").click()
    ivy.reads("Set dates: done")
    # What was copied from eve is in the work of ben, and stays.
    for who, end, left in (
        ("eve", "something is left", {ivy.hub.names["ben"]}), ("fay", "done", set()),
    ):  # fmt: skip
        name = ivy.hub.names[who]
        ivy.goes_to("People")
        ivy.changes(name).get_by_role("button", name="Forget").click()
        listed = ivy.reads("Forget: this is what would happen")
        assert "on the hub: account, home" in listed
        ivy.pictures("forget")
        ivy.goes_ahead(typed=name)
        said, gone, after = ivy.reads(f"Forget: {end}").partition("The hub has removed the account")
        assert gone, said
        assert {line.split("/")[1] for line in after.splitlines() if ": " in line} == left
        expect(ivy.page.get_by_role("cell", name=name, exact=True)).to_have_count(0)
