"""The page about a class: self-contained, and what students wrote is only text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mlsys_widgets.classes import ClassSummary, class_summary
from mlsys_widgets.classes.question_statistics import QuestionStatistics
from mlsys_widgets.classes.report_page import page
from mlsys_widgets.classes.statistics import Estimate
from mlsys_widgets.classes.summary import (
    BeliefCount,
    OwnWordsLine,
    PredictedOption,
    PredictionSummary,
    QuestionSummary,
    SubmissionRow,
)
from tests.classes.html_page import Page
from tests.grading.classroom import LAB
from tests.grading.simulated import copy_of_class, graded_class

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def summary() -> ClassSummary:
    return class_summary(LAB, graded_class())


def test_the_page_needs_nothing_else(summary: ClassSummary) -> None:
    text = page(summary)
    found = Page(text)
    assert not [tag for tag, _ in found.tags if tag in ("script", "link", "img", "iframe")]
    # The name of SVG's namespace and a reference to the page itself fetch nothing.
    text = text.replace("http://www.w3.org/2000/svg", "").replace("url(#", "")
    assert not re.search(r"https?://|@import|url\(", text)
    assert "prefers-color-scheme: dark" in text
    pictures = [k for k, (tag, _) in enumerate(found.tags) if tag == "svg"]
    assert pictures
    assert all(found.tags[k + 1][0] == "title" for k in pictures)
    assert all(found.titles)
    assert "NaN" not in text
    headings = (
        "How many points", "Question by question", "What the class believes", "Predictions",
        "How sure, and how right", "Time on task", "To look at",
    )  # fmt: skip
    for words in headings:
        assert words in found.text


def test_what_students_wrote_is_only_text(tmp_path: Path) -> None:
    root = copy_of_class(tmp_path / "course")
    journal = root / ".mlsys" / f"grade-{LAB}.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    lines[0]["flags"] = [{"kind": "other", "about": "", "detail": "<script>alert(1)</script>"}]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = page(class_summary(LAB, root, names=True))
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_what_students_say_about_a_prediction_stands_below_its_chart() -> None:
    options = (PredictedOption("A: small", 1, 0), PredictedOption("B: large", 1, 1))
    said = (OwnWordsLine("A", False, "I forgot <memory>."), OwnWordsLine("B", True, "Luck."))
    asked = PredictionSummary("gap", "How far?", "How far apart?", options, True, said)
    text = page(ClassSummary("lab", "A lab", 1.0, rows=(_row(),), predictions=(asked,)))
    assert "In their own words (2)" in text
    assert "<li>I forgot &lt;memory&gt;." in text
    assert text.index("How far?") < text.index("I forgot") < text.index("Luck.")


def test_words_of_a_lab_keep_their_marks_and_nothing_else() -> None:
    asked = QuestionSummary("q", "Why `x < 1` and **not** <b>2</b>?", "number", 1.0, right=1)
    text = page(ClassSummary("lab", "A lab", 1.0, rows=(_row(),), questions=(asked,)))
    assert "Why <code>x &lt; 1</code> and <strong>not</strong> &lt;b&gt;2&lt;/b&gt;?" in text


def test_bars_are_text_and_boxes_as_wide_as_the_screen(summary: ClassSummary) -> None:
    asked = QuestionSummary("q", "How <long>?", "number", 1.0, mean_earned=0.25, right=1, wrong=3)
    text = page(ClassSummary("lab", "A lab", 1.0, rows=(_row(),), questions=(asked,)))
    assert "<li>How &lt;long&gt;? · 25%<div>" in text
    assert re.findall(r'<span style="width: ([\d.]+%); background', text)[:2] == [
        "25.00%", "75.00%",
    ]  # fmt: skip


def test_the_means_of_a_question_are_called_what_they_are() -> None:
    at = QuestionStatistics(mean_at_hand_in=Estimate(0.5, 0.4, 0.6, 30))
    asked = QuestionSummary(
        "q", "How long?", "number", 1.0, mean_earned=0.75, right=1, statistics=at
    )
    text = page(ClassSummary("lab", "A lab", 1.0, rows=(_row(),), questions=(asked,)))
    (table,) = re.findall(r"<table.*?</table>", text[text.index("mean earned") - 400 :], re.S)[:1]
    header, row = (
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", each) for each in table.split("<tr>")[1:3]
    )
    told = dict(zip(header, row, strict=True))
    assert (told["mean earned"], told["mean at hand-in"]) == ("75%", "50%")


def test_the_first_screen_says_what_they_believe_and_what_to_say() -> None:
    held = (BeliefCount("adds the launches", "Launches overlap.", 2),)
    asked = QuestionSummary(
        "q", "How long?", "number", 1.0, right=1, wrong=2, blank=5, beliefs=held
    )
    late = replace(_row(), penalty=0.5, seconds_late=60.0)
    found = Page(
        page(ClassSummary("lab", "A lab", 1.0, rows=(_row(), late), questions=(asked,), late=1))
    )
    first, _, rest = found.text.partition("Details")
    assert "67%" in first
    assert "2 of 3, answered in “How long?”" in first
    assert "Launches overlap." in first
    assert "Numbers are those of the lab's text; each student had others." in first
    assert "Late penalties are in these points: 1 late submission lost 0.5 points." in first
    assert "Question by question" in rest
    assert not [attributes for tag, attributes in found.tags if tag == "details" and attributes]


def _row() -> SubmissionRow:
    return SubmissionRow("", 1.0, 0.0, None, 0, 0, False, (), {"q": 1.0}, {})
