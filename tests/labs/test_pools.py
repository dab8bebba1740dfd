"""An item may be one of several questions: drawn like a number, and found again by who grades."""

from __future__ import annotations

import math
import shutil
from collections import Counter

import pytest

from mlsys_widgets.authoring import Course, new_lab
from mlsys_widgets.authoring.hidden_tests import CheckSource
from mlsys_widgets.authoring.notebook import Notebook
from mlsys_widgets.authoring.text import TextError, read
from mlsys_widgets.authoring.traveling_files import traveling
from mlsys_widgets.grading.judging.scoring import Judge
from mlsys_widgets.grading.judging.student_view import student_view
from mlsys_widgets.grading.reading.entry_rules import EntryRules
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import Given
from mlsys_widgets.labs import Choice, Lab, Number, Parameter, load
from mlsys_widgets.ledger.events import GENESIS, chained
from mlsys_widgets.sandbox.answer_data import to_data
from tests.labs.rehearsal import ROOT, hidden_test, run_hidden

DEMO = "lab_02_demo"
ITEM, OTHER = "intensity_flop_per_byte", "bytes_per_flop"
ASKED = """

@lab.asks(instead_of="intensity_flop_per_byte")
def bytes_per_flop(p: Parameters) -> Number:
    return Number(
        f"How many bytes does the fused kernel of side {p.side} move for each FLOP?",
        "bytes per FLOP",
        points=40,
        title="Two products, one kernel",
        act=1,
        after=["act1_bound"],
    )
"""
CHECKED = """

def bytes_per_flop(given: Given) -> NumberKey:
    return NumberKey(1 / _fused(given.p.side), tolerance=0.02)
"""
STUDENTS = [f"student-{k}" for k in range(40)]


@pytest.fixture
def home(tmp_path):
    folder = new_lab(tmp_path, DEMO)
    for name, code in (("asks.py", ASKED), ("checks.py", CHECKED)):
        path = folder / name
        path.write_text(path.read_text("utf-8") + code, "utf-8")
    return folder


@pytest.fixture
def notebook(home):
    return Notebook(load(home), CheckSource(home / "checks.py"), Course.at(home.parents[1]))


def right(p) -> float:
    """What is right: the fused kernel does side / 2 FLOP per byte, as the demo lab says."""
    return p.side / 2 if p.asked(ITEM) == ITEM else 2 / p.side


def test_one_question_is_drawn_and_without_variants_the_first(home):
    lab = load(home)
    drawn = [lab.draw(student) for student in STUDENTS]
    assert {p[ITEM] for p in drawn} == {ITEM, OTHER}
    assert {("bytes" in lab.items(p)[ITEM].unit, p.asked(ITEM)) for p in drawn} == {
        (False, ITEM), (True, OTHER),
    }  # fmt: skip
    usual = lab.draw("ann", variants=False)
    assert lab.items(usual)[ITEM].unit == "FLOP per byte"
    assert list(lab.items(drawn[0])) == list(lab.items(usual)), "an item keeps its place and id"
    assert lab.pools == {ITEM: (ITEM, OTHER)}


def test_the_key_is_that_of_the_drawn_question(home, tmp_path):
    lab, checks = load(home), load_checks(home)
    assert OTHER not in checks
    for student in STUDENTS:
        p = lab.draw(student)
        assert checks[ITEM](Given(p, tmp_path)).value == pytest.approx(right(p))
        answers = {ITEM: to_data(right(p))}
        (score,), _ = Judge(lab, checks).score(student, {}, {ITEM: 40}, answers, tmp_path)
        assert score.auto == 40
        (asked,) = (q for q in student_view(home, student).questions if q[0] == ITEM)
        assert ("for each FLOP?" in asked[1]) is (p[ITEM] == OTHER)


def test_stock_nbgrader_judges_the_drawn_question(home, notebook, tmp_path):
    book = notebook.make(read(home / "lab.py"))
    test, lab = hidden_test(book, ITEM), load(home)
    for student in STUDENTS[:6]:
        folder = tmp_path / "autograded" / student / DEMO
        folder.mkdir(parents=True)
        shutil.copy(home / "asks.py", folder)
        points, _ = run_hidden(test, folder, {ITEM: right(lab.draw(student))})
        assert points == 40
        points, _ = run_hidden(test, folder, {ITEM: 7.7})
        assert points == 0


def test_students_get_the_questions_and_no_key(home):
    asks = traveling(home, DEMO)["asks.py"]
    assert "def bytes_per_flop" in asks
    assert "_fused" not in asks


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("points=40,", "points=30,", "must have the same points: 30 and 40"),
        ('"Two products, one kernel"', '"Bytes"', "must have the same title"),
        ("act=1,", "", "must have the same act"),
        ('["act1_bound"]', "[]", "must have the same after"),
        ("return ", 'return Prediction("?", act=1) or ', "must have the same kind"),
    ],
)
def test_questions_that_cannot_take_each_others_place_are_refused(home, old, new, sentence):
    path = home / "asks.py"
    path.write_text(path.read_text("utf-8").replace(ASKED, ASKED.replace(old, new)), "utf-8")
    made = Notebook(load(home), CheckSource(home / "checks.py"), Course.at(home.parents[1]))
    with pytest.raises(TextError, match=sentence):
        made.make(read(home / "lab.py"))


def test_a_question_without_a_key_is_refused(home, notebook):
    path = home / "checks.py"
    path.write_text(path.read_text("utf-8").replace(CHECKED, ""), "utf-8")
    with pytest.raises(ValueError, match=f"no function {OTHER}, which {ITEM} may ask"):
        load_checks(home)
    made = Notebook(load(home), CheckSource(path), Course.at(home.parents[1]))
    with pytest.raises(TextError, match=f"no function {OTHER}, and the lab grades"):
        made.make(read(home / "lab.py"))


def test_what_cannot_be_a_pool_is_told():
    lab = Lab(
        "x", title="X", chapter=0, acts=(), parameters={"side": Parameter(1, (1, 2), "", "side")}
    )

    def side(p):
        return Number("?", "µs", points=1)

    def other(p):
        return Number("??", "µs", points=1)

    with pytest.raises(ValueError, match="other instead of side, which it does not ask before"):
        lab.asks(instead_of="side")(other)
    lab.asks(side)
    with pytest.raises(ValueError, match="has a parameter side; an item with several questions"):
        lab.asks(instead_of="side")(other)


def test_a_ledger_may_hold_an_answer_to_any_question_where_nobody_knows_which_was_asked():
    lab = Lab("lab_02", title="Two", chapter=2, acts=())

    @lab.asks
    def limit(p):
        return Choice("What limits?", {"memory": "m", "compute": "c"}, points=5)

    @lab.asks(instead_of="limit")
    def helps(p):
        return Choice("What helps?", {"fuse": "f", "batch": "b"}, points=5)

    def entry(value):
        held = {"value": value, "unit": None, "confidence": None}
        return chained(GENESIS, 1, "2026-02-03T09:30:00.000Z", "lab_02", "answer", "limit", held)

    anybody = EntryRules(lab)
    assert [anybody.refusal(entry(each)) for each in ("memory", "batch")] == ["", ""]
    assert anybody.refusal(entry("neither"))
    of_ann = EntryRules(lab, lab.items(lab.draw("ann", variants=False)))
    assert not of_ann.refusal(entry("memory"))
    assert of_ann.refusal(entry("batch"))


def test_every_lab_asks_neighbors_something_else_in_two_places(lab):
    home = ROOT / "assignments" / lab
    declared = load(home)
    assert len(declared.pools) >= 2
    for item, questions in declared.pools.items():
        asked = {declared.draw(student).asked(item) for student in STUDENTS}
        assert asked == set(questions), item


def test_questions_are_spread_over_a_class_as_fair_dice_spread_them(lab):
    """Each student's draw is theirs alone: whoever comes later changes nobody's question.

    So a count is binomial: five standard deviations are left by chance once in 1.7 million counts.
    """
    declared, size = load(ROOT / "assignments" / lab), 200
    squares = []
    for edition in map(str, range(2000, 2025)):
        drawn = [declared.draw(f"student-{k}", edition=edition) for k in range(size)]
        for item, questions in declared.pools.items():
            share = 1 / len(questions)
            spread = math.sqrt(size * share * (1 - share))
            counts = Counter(p.asked(item) for p in drawn)
            off = [(counts[name] - size * share) / spread for name in questions]
            assert max(map(abs, off)) < 5, (item, edition, counts)
            squares.append(off[0] ** 2)
    # Nor is it better than chance: then a student's question would depend on the others'.
    mean, sigma = sum(squares) / len(squares), math.sqrt(2 / len(squares))
    assert abs(mean - 1) < 5 * sigma
