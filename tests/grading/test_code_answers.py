"""A function that students write, from the page for authors to the gradebook, in all three ways."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.grading.gradebook.graded_submission import BY_RECORD, RUN
from mlsys_widgets.grading.judging.kept_answers import KeptAnswers
from mlsys_widgets.grading.reading.allowance import Allowance
from mlsys_widgets.grading.reading.readers import Readers
from mlsys_widgets.judging import Belief, CodeKey, Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.code_keys import judge_code
from mlsys_widgets.labs import load
from mlsys_widgets.sandbox import engine
from tests.grading.classroom import LAB, autograded, grade, of, record, rows, shown
from tests.labs.rehearsal import Workshop, nbgrader, run_tool
from tests.sampling import sample

pytestmark = pytest.mark.timeout(900)
PAGES = Path(__file__).resolve().parents[2] / "docs" / "authors"
NAME = "attainable_rate"
HEAD = "def attainable(intensity, peak, bandwidth):\n    "
RIGHT = HEAD + "return None if intensity < 0 else min(peak, intensity * bandwidth)"
#: What students recorded, and the points that it earns.
WRITTEN = {
    "right": (RIGHT, 10.0),
    "careless": (HEAD + "return min(peak, intensity * bandwidth)", 8.6),
    "unbounded": (HEAD + "return intensity * bandwidth", 5.0),
    "failing": (HEAD + "return peak / 0", 0.0),
    "endless": (HEAD + "while True: pass", 0.0),
    "leaving": (HEAD + "import os; os._exit(0)", 0.0),
    "nobody": (None, 0.0),
}
#: Whom stock nbgrader grades as well, which runs a whole notebook for each.
BY_STOCK = sample(["careless", "leaving", *WRITTEN], 2)


def lab_of_the_page(
    root: Path, page: str = "code_items.md", items: str = "Code", asked: str = ""
) -> Path:
    """The lab that somebody has who followed the page."""
    text = (PAGES / page).read_text("utf-8")
    asks, lab, checks = re.findall(r"```python\n(.*?)```", text, re.S)
    home = new_lab(root, LAB)
    _append(home / "asks.py", asks, "    Choice,\n", f"    Choice,\n    {items},\n")
    checks = f"{asked}\n\n{checks}"
    known = "import Belief, ChoiceKey, Given, NumberKey"
    _append(home / "checks.py", checks, known, known.replace("Given", "CodeKey, Given"))
    _append(home / "lab.py", "", '# %% card="act1_why"', f'{lab}\n\n# %% card="act1_why"')
    return home


def _append(path: Path, code: str, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(f"{text.replace(old, new)}\n\n{code}", "utf-8")


@dataclass
class Graded:
    """The same class, graded by record, by running everything, and by stock nbgrader."""

    recorded: Workshop
    ran: Workshop
    stock: Workshop
    by_record: dict
    by_run: dict


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Graded:
    place = tmp_path_factory.mktemp("code")
    recorded = Workshop(place / "recorded", LAB)
    recorded.root.mkdir()
    lab_of_the_page(recorded.root)
    built = run_tool(recorded.root, "mlsys_widgets", "build", LAB)
    assert built.returncode == 0, built.stderr
    nbgrader(recorded.root, ["generate_assignment", LAB, "--force"])
    for student, (source, _) in WRITTEN.items():
        answers = {**recorded.asked(student).right(), NAME: source}
        record(recorded, student, {n: each for n, each in answers.items() if each is not None})
    ran, stock = (Workshop(place / name, LAB) for name in ("ran", "stock"))
    for each in (ran, stock):
        shutil.copytree(recorded.root, each.root)
    for student in set(WRITTEN) - set(BY_STOCK):
        shutil.rmtree(stock.root / "submitted" / student)
    told = run_tool(stock.root, "nbgrader", "autograde", LAB)
    assert told.returncode == 0, told.stderr
    return Graded(recorded, ran, stock, grade(recorded), grade(ran, run=True))


def points(found: dict, student: str) -> float:
    (score,) = (each for each in found[student].scores if each.name == NAME)
    return score.auto


@pytest.mark.parametrize("student", WRITTEN)
def test_a_function_earns_what_it_returns(graded, student):
    assert points(graded.by_record, student) == WRITTEN[student][1]
    assert points(graded.by_run, student) == WRITTEN[student][1]


@pytest.mark.parametrize("student", WRITTEN)
def test_record_and_run_agree(graded, student):
    assert of(student, rows(graded.recorded.root)) == of(student, rows(graded.ran.root))


@pytest.mark.parametrize("student", dict.fromkeys(BY_STOCK))
def test_stock_nbgrader_agrees(graded, student):
    assert of(student, rows(graded.recorded.root)) == of(student, rows(graded.stock.root))


def test_by_record_only_functions_run(graded):
    assert {each.way for each in graded.by_record.values()} == {BY_RECORD}
    assert {each.way for each in graded.by_run.values()} == {RUN}
    took = {name: each.seconds > 0 for name, each in graded.by_record.items()}
    assert took == {name: source is not None for name, (source, _) in WRITTEN.items()}


def test_who_has_recorded_a_function_is_read_once_and_needs_no_notebook_server(graded, monkeypatch):
    asked, started = Counter(), []
    ask, fork = Readers.ask, engine.ForkServer
    monkeypatch.setattr(
        Readers, "ask", lambda *a, **m: asked.update([type(a[1]).__name__]) or ask(*a, **m)
    )
    monkeypatch.setattr(engine, "ForkServer", lambda **how: started.append(how) or fork(**how))
    # Nobody is slow to read, which would be a reason to read them twice.
    monkeypatch.setattr(Allowance, "seconds", lambda *_: 600.0)
    found = grade(graded.recorded, force=True, audit=0.0, workers=1, own_engine=True)
    assert {name: points(found, name) for name in WRITTEN} == {
        n: p for n, (_, p) in WRITTEN.items()
    }
    recorded = sum(source is not None for source, _ in WRITTEN.values())
    assert asked == {"JudgeByRecord": len(WRITTEN), "JudgeRun": recorded}
    assert started == [{"only_functions": True}]


def test_the_page_of_a_student_says_what_is_wrong(graded):
    for student, words in {
        "careless": "returns -3000000000000.0; it must be None.",
        "unbounded": "No kernel computes faster than the peak",
        "nobody": "Not answered.",
    }.items():
        by_stock = [graded.stock] if student in BY_STOCK else []
        for course in (graded.recorded, graded.ran, *by_stock):
            said = shown(autograded(course, student), f"check_{NAME}").replace("\n", " ")
            assert words in said
    said = shown(autograded(graded.recorded, "endless"), f"check_{NAME}").replace("\n", " ")
    assert "500,000 steps, probably in a loop without end" in said


def test_a_child_that_ended_itself_is_flagged(graded):
    assert any("ended itself" in words for words in graded.by_record["leaving"].sentences)


def test_a_new_judge_needs_no_run_and_new_cases_do(graded):
    scores = [dict(vars(score)) for score in graded.by_record["careless"].scores]
    lab = load(graded.recorded.root / "assignments" / LAB)
    kept = KeptAnswers({"scores": scores, "parameters": dict(lab.draw("careless"))})
    checks = load_checks(graded.recorded.root / "assignments" / LAB)
    folder = graded.recorded.root / "autograded" / "careless" / LAB

    def generous(given: Given) -> CodeKey:
        known = Belief("no floor", WRITTEN["careless"][0], credit=0.9, says="Close.")
        return replace(checks[NAME](given), beliefs=[known])

    def changed(given: Given) -> CodeKey:
        return CodeKey(RIGHT, [(1, 2, 3)])

    def again(check):
        found = kept.judge({**checks, NAME: check}, {NAME: 10}, folder)
        return next(s.auto for s in found.scores if s.name == NAME), found.kept

    assert again(checks[NAME]) == (8.6, {})
    assert again(generous) == (9.0, {})
    auto, why = again(changed)
    assert auto == 8.6
    assert "cases have changed" in why[NAME]


def test_students_get_no_case_and_no_judge(graded):
    release = graded.recorded.root / "release" / LAB
    for path in release.iterdir():
        text = path.read_text("utf-8")
        for word in ("CodeKey", "_attainable(", "no rate below zero"):
            assert word not in text, path.name


@pytest.mark.parametrize("cases", [[], [[1]] * 101, [[float("nan")]], [[object()]]])
def test_cases_that_cannot_travel_are_refused(cases):
    with pytest.raises(ValueError, match="cases"):
        CodeKey(RIGHT, cases)


def test_a_belief_is_recognized_with_a_second_mistake_beside_it():
    doubled = Belief("doubled", "def half(x): return 2 * x", credit=0.2, says="Divide.")
    key = CodeKey("def half(x): return x / 2", [[1], [2], [3], [0]], [doubled])
    two_are_doubled, zero = ['{"value": 2}', '{"value": 4}', '{"value": 5}'], '{"value": 0}'
    assert judge_code(key, [*two_are_doubled, zero]).belief == "doubled"
    assert judge_code(key, [*two_are_doubled, None]).belief is None, "of four that are wrong"


def test_a_function_that_fails_where_a_belief_fails_holds_it_in_whatever_words():
    zero = Belief("by zero", "def half(x): return x / 0", credit=0.0, says="By two.")
    key = CodeKey("def half(x): return x / 2", [[1], [2]], [zero])
    failed = judge_code(key, ['{"error": "line 7: ZeroDivisionError"}', None])
    assert (failed.belief, failed.says) == (
        "by zero",
        "half(1) fails: line 7: ZeroDivisionError. By two.",
    )


def test_a_solution_that_is_wrong_is_not_built(tmp_path):
    home = lab_of_the_page(tmp_path)
    text = (home / "lab.py").read_text("utf-8")
    (home / "lab.py").write_text(text.replace("None if intensity < 0 else ", ""), "utf-8")
    built = run_tool(tmp_path, "mlsys_widgets", "build", LAB)
    assert built.returncode != 0
    assert f"the solution of {NAME} is not right" in " ".join(built.stderr.split())
