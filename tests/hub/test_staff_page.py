"""Staff run a course in the browser, on a real hub, with the rights that each of them has."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.change_history import ChangeHistory
from tests.hub.day import READY, BrowserUser
from tests.hub.running import Hub, Person

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

LAB = "lab_01_magnitude"


class Staff(BrowserUser):
    """Somebody who teaches, on their page."""

    def goes_to(self, page: str) -> None:
        self.page.get_by_role("navigation").get_by_role("link", name=page).click()
        expect(self.page.get_by_role("heading", level=1)).to_be_visible(timeout=READY)

    def reads(self, what: str) -> str:
        """What the page says about the command that was started, once it has ended so."""
        said = self.page.get_by_role("status")
        expect(said.get_by_role("heading")).to_have_text(re.compile(what), timeout=READY)
        return said.inner_text()


def test_a_student_gets_nothing_of_it(hub: Hub, ada: Person, teacher: Person) -> None:
    assert ada.ask("GET", "mlsys/course/labs").status_code == 404
    address = f"{teacher.base}mlsys/course/"
    token = {"Authorization": f"token {ada.token}"}
    assert ada.session.get(f"{address}labs", headers=token, timeout=60).status_code == 403
    form = {"action": "staff", "page": "people", "name": ada.name, "role": "instructor"}
    sent = ada.session.post(f"{address}do", data=form, headers=token, timeout=60)
    assert sent.status_code == 403
    assert ada.name not in Course.at(hub.places.course).people.staff


def test_an_instructor_hires_a_ta_who_grades_and_changes_no_dates(
    hub: Hub, ada: Person, browser: Browser
) -> None:
    ada.assignment("fetch", LAB)
    ada.assignment("submit", LAB)
    root = hub.places.course
    hub.names["tia"] = hub.names["ada"].removesuffix("ada") + "tia"
    teacher, tia = Staff(browser, hub, "teacher"), Staff(browser, hub, "tia")
    try:
        teacher.log_in()
        teacher.lands_in_the_course()
        teacher.goes_to("Dates")
        dates = teacher.page.locator("tr", has_text=LAB).first
        dates.get_by_label(f"due of {LAB}").fill("2099-02-01T23:59")
        dates.get_by_role("button", name="Save").click()
        assert "2099" in teacher.reads("Set dates: done")
        assert ChangeHistory(root).read()[0].who == teacher.name
        teacher.goes_to("History")
        teacher.page.get_by_role("button", name="Undo").first.click()
        teacher.reads("Undo: done")
        assert Course.at(root).calendar.dates(LAB).due is None
        teacher.goes_to("People")
        hiring = teacher.page.locator("form", has=teacher.page.get_by_label("role"))
        hiring.get_by_label("login").fill(tia.name)
        hiring.get_by_role("button", name="Add").click()
        said = teacher.reads("Staff: done")
        password = re.search(r"Password until they change it: (\S+)", said)
        assert password, said
        teacher.picture("people")

        tia.log_in(password[1])
        tia.lands_in_the_course()
        tia.goes_to("Dates")
        expect(tia.page.get_by_text("Only an instructor can change dates.")).to_be_visible()
        expect(tia.page.get_by_role("button")).to_have_count(0)
        tia.goes_to("Labs")
        tia.page.locator("tr", has_text="Magnitude").get_by_role("link").click()
        tia.page.get_by_role("button", name="Collect and grade").click()
        assert "submissions" in tia.reads("Collect and grade: done")
        expect(tia.page.locator("main")).to_contain_text(re.compile("[1-9] graded"))
        tia.picture("graded")

        teacher.page.locator("tr", has_text=tia.name).locator("summary").click()
        teacher.page.get_by_role("button", name="No longer teaches").click()
        teacher.reads("Staff: done")
    finally:
        for user in (teacher, tia):
            user.close()
