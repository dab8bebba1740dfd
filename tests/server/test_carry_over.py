"""What a student wrote is found again in the notebook of another version, whatever has changed."""

from __future__ import annotations

import json
from typing import Any

import nbformat
from nbgrader.utils import compute_checksum

from mlsys_widgets.labs.student_steps import SavedEntry
from mlsys_widgets.server.carry_over import carry_over, recorded_remarks, released_checksum


def cell(kind: str, source: str, name: str = "", **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "cell_type": kind,
        "source": source,
        "metadata": {},
        "id": more.pop("id", name),
    }
    if name:
        said = {"grade_id": name, "grade": False, "solution": True, "locked": False, **more}
        made["metadata"]["nbgrader"] = {
            **said,
            "checksum": released_checksum({**made, "metadata": {"nbgrader": said}}),
        }
    return made


def locked(name: str, source: str) -> dict[str, Any]:
    return cell("code", source, name, solution=False, locked=True)


def book(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return json.loads(
        json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    )


def typed(made: dict[str, Any], name: str, text: str) -> dict[str, Any]:
    (found,) = (
        c for c in made["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name
    )
    found["source"] = text
    return made


def sources(made: dict[str, Any]) -> list[str]:
    return [each["source"] for each in made["cells"]]


def test_the_checksum_is_that_of_nbgrader():
    for made in (
        cell("code", "x = 1", "a"), cell("markdown", "words é", "b", grade=True, points=20),
        locked("c", "assert x"), cell("code", "", "d", grade=True, points=2.5, solution=False),
    ):  # fmt: skip
        assert released_checksum(made) == compute_checksum(nbformat.from_dict(made))


def test_answers_go_into_the_cells_of_their_names():
    old = typed(book(locked("setup", "old set-up"), cell("code", "# here", "one")), "one", "x = 5")
    new = book(
        cell("code", "# here", "one"), locked("setup", "new set-up"), cell("code", "# here", "two")
    )
    made = carry_over(old, new)
    assert sources(made.book) == ["x = 5", "new set-up", "# here"]
    assert (made.cells, made.remarks) == (1, ())
    assert sources(new)[0] == "# here"


def test_a_cell_that_was_not_written_in_is_the_new_one():
    old, new = book(cell("code", "# old", "one")), book(cell("code", "# new", "one"))
    assert carry_over(old, new) == carry_over(new, new)


def test_a_start_that_has_changed_is_mentioned():
    old = typed(book(cell("code", "# in ms", "one")), "one", "# in ms\nx = 5")
    made = carry_over(old, book(cell("code", "# in seconds", "one")))
    assert sources(made.book) == ["# in ms\nx = 5"]
    assert "yours was kept" in made.remarks[0]


def test_what_has_no_place_is_kept_as_text():
    old = book(
        cell("markdown", "*here*", "essay"), cell("code", "", "gone"), cell("code", "", "other")
    )
    for name, text in (("essay", "My words"), ("gone", "1/0"), ("other", "x")):
        typed(old, name, text)
    new = book(cell("markdown", "*here*", "other"), cell("markdown", "?", "kept"))
    made = carry_over(old, new)
    kinds = [(each["cell_type"], each["source"]) for each in made.book["cells"]]
    assert ("markdown", "My words") in kinds
    assert ("raw", "1/0") in kinds
    assert ("raw", "x") in kinds
    assert made.cells == len(made.remarks) == 3
    assert len({each["id"] for each in made.book["cells"]}) == len(kinds)
    nbformat.validate(nbformat.from_dict(made.book))


def test_cells_of_the_students_own_stay_where_they_were():
    still = {"deletable": False, "editable": False}

    def prose(text: str, name: str) -> dict[str, Any]:
        return {"cell_type": "markdown", "source": text, "id": name, "metadata": still}

    def own(text: str, name: str) -> dict[str, Any]:
        return {"cell_type": "markdown", "source": text, "id": name, "metadata": {}}

    old = book(
        own("first", "m0"), prose("Old text", "p-1"), own("mine", "m1"), locked("setup", "s"),
        own("below", "m2"), own("and", "p-2"), own("  ", "m3"),
    )  # fmt: skip
    new = book(prose("New text", "p-2"), locked("setup", "s2"), prose("End", "p-3"))
    made = carry_over(old, new)
    assert sources(made.book) == ["first", "mine", "New text", "s2", "below", "and", "End"]
    assert made.cells == 4
    assert len({each["id"] for each in made.book["cells"]}) == 7
    # There and back, and there again: nothing is doubled.
    made.book["cells"][0]["source"] = "first, and more"
    again = carry_over(carry_over(made.book, old).book, new)
    assert sorted(sources(again.book)) == sorted(sources(made.book))


def test_pasted_pictures_and_the_kernel():
    old = typed(
        book(cell("markdown", "*here*", "essay"), kernelspec={"name": "mine"}),
        "essay",
        "![](a.png)",
    )
    old["cells"][0]["attachments"] = {"a.png": {"image/png": "AAAA"}}
    new = book(
        cell("markdown", "*here*", "essay"), kernelspec={"name": "python3"}, mlsys={"lab": "x"}
    )
    made = carry_over(old, new).book
    assert made["cells"][0]["attachments"] == old["cells"][0]["attachments"]
    assert made["metadata"] == {"kernelspec": {"name": "mine"}, "mlsys": {"lab": "x"}}


def test_strange_notebooks():
    named = {"grade_id": ["x"], "solution": True}
    half = {"grade_id": "y", "grade": True, "solution": True}
    strange = [
        {},
        {"cell_type": 3, "metadata": [], "source": None, "id": 7},
        {"metadata": {"nbgrader": named}, "source": ["a", "b"]},
        {"metadata": {"nbgrader": half}, "source": "\ud800"},
    ]
    made = carry_over({"cells": strange}, book(cell("code", "", "y")))
    assert len(made.book["cells"]) >= 1


def step(name: str, kind: str) -> dict[str, Any]:
    about = {"kind": kind, "id": name, "title": name.title()}
    return {"cell_type": "code", "source": "", "metadata": {"mlsys": about}}


def test_what_becomes_of_recorded_steps():
    asked = (("gone", "prediction"), ("other", "answer"), ("same", "answer"), ("open", "answer"))
    old = book(*(step(*each) for each in asked))
    new = book(step("other", "essay"), step("same", "answer"), step("more", "quiz"))
    said = list(
        recorded_remarks(old, new, dict.fromkeys(("gone", "other", "same"), SavedEntry(True, 1)))
    )
    assert [words.split("”")[0] for words in said] == ["“Gone", "“Other", "“More"]
    assert "no longer asked" in said[0]
    assert "answer it again" in said[1]
