"""Tables that every spreadsheet reads and none computes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from mlsys_widgets.classes.csv_tables import as_csv, harmless, members, submissions
from mlsys_widgets.classes.summary import ClassMember, ClassSummary, QuestionSummary
from tests.classes.test_class_charts import row

#: Names as somebody may write them into a roster.
HOSTILE = [
    '=HYPERLINK("https://a.example","click")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\x00=1",
    " =1", "\N{FULLWIDTH EQUALS SIGN}1", "\x1b[2Jred", "ev\u202ell", "a\nb", "x" * 255, "bad\udcff",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_cell_is_no_formula_and_no_command(name):
    ((cell,),) = csv.reader(io.StringIO(as_csv((name,), ())))
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "\N{FULLWIDTH EQUALS SIGN}"))
    assert cell.isprintable()
    cell.encode()


@pytest.mark.parametrize("cell", ["-", "-7.5", "+3", "0", "Zoë 李", "a=b", "    Points", ""])
def test_numbers_and_names_stay_as_they_are(cell):
    assert harmless(cell) == cell


def test_members_have_their_pace_and_why_they_are_at_risk():
    early, late = (replace(row(1), began=began, half_done=0.5) for began in (49.25, -1))
    signs = ("began after it was due", "left 60% of the points blank")
    people = (
        ClassMember("ann", "Ann Lee", "evening", "mia", "graded", signs, late),
        ClassMember("ben", "", "", "", "missing"),
        ClassMember("cem", "", "", "", "graded", row=early),
    )
    summary = ClassSummary("lab", "A lab", 1.0, members=people)
    ann, ben, cem = csv.DictReader(io.StringIO(members(summary)))
    assert (ann["student"], ann["at_risk"]) == ("ann", "; ".join(signs))
    assert (ann["began_hours_before_due"], cem["began_hours_before_due"]) == ("-1", "49.25")
    assert (ben["state"], ben["began_hours_before_due"], ben["at_risk"]) == ("missing", "", "")
    nobody = [replace(each, student="", name="", ta="") for each in people]
    for order in (nobody, nobody[::-1]):  # whatever the alphabet says
        found = list(csv.DictReader(io.StringIO(members(replace(summary, members=tuple(order))))))
        assert [each["student"] for each in found] == ["1", "2", "3"]
        assert [each["state"] for each in found] == ["graded", "missing", "graded"]
        assert found[2]["section"] == "evening"


def test_second_answers_have_a_column_for_each_question():
    question = QuestionSummary("limit", "Limit", "number", 10.0)
    rows = (replace(row(1), second_credits={"limit": 0.5}), row(1))
    summary = ClassSummary("lab", "A lab", 10.0, rows, (question,))
    found = csv.DictReader(io.StringIO(submissions(summary)))
    assert [each["limit_second"] for each in found] == ["0.5", ""]
