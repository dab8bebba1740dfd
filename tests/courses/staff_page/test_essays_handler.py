"""Essays on the page of staff, in a real Jupyter server: nothing typed is lost, nothing runs."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.grading_shares import shares_path
from mlsys_widgets.grading.essays.essay_grading import EssayAnswer, EssayGrading, NewMark
from mlsys_widgets.grading.gradebook.grade_history import who_runs
from mlsys_widgets.notebooks.essay_cells import as_typed
from tests.courses.conftest import LAB
from tests.courses.staff_page.test_staff_handlers import Browser, place, served, staff

__all__ = ["place", "served", "staff"]

HERE = f"essays?lab={LAB}"
HOSTILE = "</blockquote><script>alert(1)</script> {{ 7*7 }} \"'><img src=x onerror=y>"


def answers(place: Path) -> list[EssayAnswer]:
    """Everybody's answers; three, of which one or two may be empty."""
    return EssayGrading(Course.at(place), LAB).answers("advice")


@pytest.fixture
def waiting(place: Path) -> list[EssayAnswer]:
    """Answers to read, one of them by somebody who wants to run a script."""
    from sqlalchemy import create_engine, text

    (place / ".mlsys" / f"essays-{LAB}.jsonl").unlink(missing_ok=True)
    for number, each in enumerate(answers(place)):
        path = place / "autograded" / each.student / LAB / f"{LAB}.ipynb"
        book = json.loads(path.read_bytes())
        for cell in book["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "advice":
                cell["source"] = as_typed(HOSTILE if number == 0 else f"Text {number}.")
        path.chmod(0o644)
        path.write_text(json.dumps(book), "utf-8")
    with create_engine(Course.at(place).db_url).begin() as db:
        cells = "(select id from base_cell where name = 'advice')"
        db.execute(text("update grade set auto_score = null, manual_score = null,"
                        f" needs_manual_grade = 1 where cell_id in {cells}"))  # fmt: skip
        db.execute(text(f"update comment set manual_comment = null where cell_id in {cells}"))
    return answers(place)


def fields(page: str) -> list[tuple[str, str]]:
    """What a browser would send of the page's last form, without buttons: only what is ticked."""
    form = page[page.rindex('<form method="post"') :]
    found = []
    for tag in re.findall(r"<input[^>]*>", form):
        about = {k: html.unescape(v) for k, v in re.findall(r'(\w+)="([^"]*)"', tag)}
        if about.get("type") != "checkbox" or " checked" in tag:
            found.append((about["name"], about.get("value", "")))
    texts = re.findall(r'<textarea name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.S)
    return found + [(name, html.unescape(words)) for name, words in texts]


def send(staff: Browser, *more: tuple[str, str], page: str = "", to: str = HERE) -> str:
    """Fill in the form and send it; a field that is given replaces that of the form."""
    sent = fields(page or staff.get(to)[1])
    named = {name for name, _ in more if not name.startswith("item.")}
    sent = [pair for pair in sent if pair[0] not in named]
    status, answer = staff.get("essays", urlencode([*sent, *more]).encode())
    assert status == 200, answer
    return answer


def article(page: str, alias: str) -> str:
    return page[page.index(f'aria-labelledby="{alias}"') :].partition("</article>")[0]


def test_answers_stand_side_by_side_as_text_under_pseudonyms(staff, waiting):
    status, page = staff.get(HERE)
    assert status == 200
    assert page.count("<article") == 3
    assert HOSTILE in html.unescape(article(page, waiting[0].alias))
    assert "<script" not in page
    assert "<img" not in page
    assert not any(each.student in page for each in waiting)
    assert all(each.student in staff.get(f"{HERE}&names=1")[1] for each in waiting)
    assert "script" not in staff.headers["Content-Security-Policy"].replace("default-src", "")


def test_one_is_saved_and_what_is_typed_about_another_stays(staff, place, waiting):
    first, second, _ = (each.alias for each in waiting)
    page = send(staff, (f"item.{first}", "1"), (f"comment.{second}", "<i>hm</i>"), ("save", first))
    assert "&lt;i&gt;hm&lt;/i&gt;" in article(page, second)
    assert "Not saved yet." in article(page, second)
    assert f'aria-labelledby="{first}"' not in page  # it does not wait any more
    assert [each.points for each in answers(place)] == [10, None, None]
    send(staff, ("save", "*"), page=page)
    found = answers(place)
    assert [each.points for each in found] == [10, 0, None]  # who was not touched still waits
    assert found[1].mark.comment == "<i>hm</i>"
    assert found[0].mark.who == who_runs()


def test_what_a_colleague_saved_meanwhile_is_told_and_nothing_typed_is_lost(staff, place, waiting):
    alias = waiting[0].alias
    _, page = staff.get(HERE)
    mark = NewMark([1, 2], "Mine.", waiting[0].seen)
    EssayGrading(Course.at(place), LAB).give("advice", {waiting[0].student: mark})
    more = (f"item.{alias}", "2"), (f"comment.{alias}", "Typed."), ("save", "*")
    page = send(staff, *more, page=page)
    told = article(page, alias)
    assert f"Not saved: {who_runs()} has given it 20 points since" in told
    assert "Typed." in told
    assert answers(place)[0].mark.comment == "Mine."
    assert 'value="2" checked' in told
    assert 'value="1" checked' not in told
    send(staff, ("save", alias), page=page)  # having read that
    assert (answers(place)[0].points, answers(place)[0].mark.comment) == (10, "Typed.")


def test_mine_are_those_of_the_split(staff, place, waiting):
    assert "mine:" not in staff.get(HERE)[1]
    shares = shares_path(place, LAB)
    shares.write_text(json.dumps({waiting[1].student: who_runs(), waiting[2].student: "mia"}))
    _, page = staff.get(f"{HERE}&mine=1")
    shares.unlink()
    assert re.findall(r'aria-labelledby="([^"]*)"', page) == [waiting[1].alias]


def test_the_rubric_changes_for_all_and_a_wrong_number_keeps_what_was_typed(staff, place, waiting):
    mark = NewMark([1], "", waiting[0].seen)
    EssayGrading(Course.at(place), LAB).give("advice", {waiting[0].student: mark})
    rubric = f"{HERE}&question=advice&rubric=1"
    _, page = staff.get(rubric)
    assert "1 answer has it." in page
    seen = EssayGrading(Course.at(place), LAB).question("advice").rubric.item(1).seen
    item = [("number", "1"), ("seen", seen), ("text", "<b>names</b> it"), ("do", "save")]
    page = send(staff, *item, ("points", "six"), page=page)
    assert "Not saved: 'six' is no number of points" in html.unescape(page)
    assert page.count("&lt;b&gt;names&lt;/b&gt; it") == 1
    page = send(staff, *item, ("points", "6"), page=page)
    assert answers(place)[0].points == 6
    assert "<b>names" not in page
    page = send(staff, *item, ("points", "7"), page=page)  # of a page that was loaded before
    assert f"{who_runs()} has changed this item since" in page
    assert answers(place)[0].points == 6


def test_no_other_page_can_send_it_and_nobody_else_gets_in(served, staff, place, waiting):
    alias, seen = waiting[0].alias, waiting[0].seen
    form = {"lab": LAB, "question": "advice", "answer": alias, "save": alias, f"item.{alias}": "1",
            f"seen.{alias}": seen}  # fmt: skip
    sent = urlencode(form).encode()
    assert staff.get("essays", sent)[0] == 403  # without the token of the page
    stranger = Browser(served[0], "")
    assert stranger.get("essays", sent)[0] == 403
    assert waiting[1].text not in stranger.get(HERE)[1]
    assert answers(place)[0].points is None


@pytest.mark.parametrize("what", ["lab=nothing", f"lab={LAB}&question=nothing", "lab=../x", ""])
def test_what_is_not_there_is_said_in_a_sentence(staff, what):
    status, page = staff.get(f"essays?{what}")
    assert status == 409
    assert re.search("there is no lab|has no essay", page)
    assert "Traceback" not in page
