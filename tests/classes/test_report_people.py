"""The people of a class on its page: for staff, with names and without."""

from __future__ import annotations

from dataclasses import replace

from mlsys_widgets.classes.report_page import page
from mlsys_widgets.classes.summary import ClassMember, ClassSummary
from tests.classes.html_page import Page
from tests.classes.test_class_charts import row


def test_staff_read_names_sections_and_tas() -> None:
    essay = replace(row(1), total=0.5, waiting=True, open_points=0.5)
    members = (
        ClassMember("ann", "Ann Lee", "evening", "mia", "graded", row=essay),
        ClassMember("ben", "", "evening", "mia", "missing", ("handed in nothing in a, b",)),
        ClassMember("eve", "Eve <Wu>", "", "", "has time"),
    )
    summary = ClassSummary("lab", "A lab", 1.0, rows=(essay,), members=members)
    shown = Page(page(summary)).text
    assert "1 of 3 handed in nothing (ben); 1 is at risk. Not due yet: 1 (Eve <Wu> (eve))." in shown
    assert "At risk is whoever" in shown
    assert "handed in nothing in a, b" in shown
    for words in ("By section", "no section", "By TA", "mia", "0.5 of 1", "100%"):
        assert words in shown
    assert "of what is graded" in shown
    assert " late " not in shown.partition("Everybody")[2], "nobody was late"
    nobody = tuple(replace(each, student="", name="", ta="") for each in members)
    shown = Page(page(replace(summary, members=nobody))).text
    assert "1 of 3 handed in nothing; 1 is at risk. Not due yet: 1." in shown
    assert "This page is for staff all the same: small groups are on it" in shown
    assert "By section" in shown
    everybody = replace(summary, members=members[:1], rows=(row(1),))
    shown_all = Page(page(everybody)).text
    assert "Everybody who was due handed in; 0 are at risk." in shown_all
    assert "of what is graded" not in shown_all
    assert not [words for words in ("ben", "mia", "because", "By TA") if words in shown]
