"""Inside a hidden test: points for an answer, points for what the ledger holds, and for a TA."""

from __future__ import annotations

import shutil

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.grading import award, award_record
from mlsys_widgets.judging import Belief, Given, NumberKey
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.ledger import Ledger

DEMO, OWNER = "lab_02_demo", "student-07"


@pytest.fixture
def home(tmp_path):
    return new_lab(tmp_path / "course", DEMO)


@pytest.fixture
def submission(home, tmp_path, monkeypatch):
    """Where nbgrader runs the notebook of the owner."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    folder = tmp_path / "autograded" / OWNER / DEMO
    folder.mkdir(parents=True)
    shutil.copy(home / "asks.py", folder)
    monkeypatch.chdir(folder)
    return folder


def side_doubled(given: Given) -> NumberKey:
    return NumberKey(
        2 * given.p.side, 0, [Belief("not doubled", given.p.side, credit=1 / 3, says="Twice it.")]
    )


def test_the_answer_is_found_by_the_name_of_its_check(home, submission, capsys):
    side = load(home).draw(OWNER).side
    assert award(side_doubled, {"side_doubled": 2 * side}, points=5) == 5
    assert award(side_doubled, {"side_doubled": side}, points=5) == 1.67
    assert award(side_doubled, {}, points=5) == 0
    assert capsys.readouterr().out.splitlines() == [
        "side_doubled: 5 of 5 points. Right.",
        "side_doubled: 1.67 of 5 points. Twice it.",
        "side_doubled: 0 of 5 points. Not answered.",
    ]


def test_variants_and_edition_are_those_of_the_course(home, submission):
    lab = load(home)
    default, other = lab.draw(OWNER, variants=False).side, lab.draw(OWNER, edition="2027").side
    assert lab.draw(OWNER).side != other
    assert award(side_doubled, {"side_doubled": 2 * default}, points=1, variants=False) == 1
    assert award(side_doubled, {"side_doubled": 2 * other}, points=1, edition="2027") == 1


def test_a_check_that_finds_nothing_to_judge_says_so(submission, capsys):
    def own_number(given):
        raise ValueError("machine.json is not beside the notebook")

    assert award(own_number, {"own_number": 3}, points=5) == 0
    assert capsys.readouterr().out == (
        "own_number: 0 of 5 points. machine.json is not beside the notebook\n"
    )


def test_a_check_that_is_broken_is_not_hidden(submission):
    """A mistake of the lab must never look like one of the student."""

    def broken(given):
        return given.p.side / None

    with pytest.raises(TypeError):
        award(broken, {"broken": 1}, points=5)


def ledger(folder, student=OWNER):
    return Ledger.open(folder / "ledger.jsonl", lab=DEMO, student=student)


def test_a_record_is_shared_equally(submission, capsys):
    assert award_record("commitments", points=20) == 0
    kept = ledger(submission)
    kept.commit_prediction("act1_bound", "B", 3)
    assert award_record("commitments", points=20) == 10
    kept.record_reflection("act1_why", "larger", correct=True)
    assert award_record("commitments", points=20) == 20
    assert " ".join(capsys.readouterr().out.split()) == (
        "commitments: 0 of 20 points. There is no ledger that can be read, and no record in the"
        " notebook. Missing: “Arithmetic or memory?”, “What helps?”."
        " commitments: 10 of 20 points. Missing: “What helps?”."
        " commitments: 20 of 20 points. All there."
    )


def test_nothing_is_earned_with_somebody_elses_ledger(submission, capsys):
    kept = ledger(submission, "somebody-else")
    kept.commit_prediction("act1_bound", "B", 3)
    kept.record_reflection("act1_why", "larger", correct=True)
    assert award_record("commitments", points=20) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert output.startswith(
        f"commitments: 0 of 20 points. The ledger is of somebody-else, not of {OWNER}."
    )


def test_looking_at_a_ledger_never_writes_one(submission):
    award_record("commitments", points=20)
    assert sorted(path.name for path in submission.iterdir()) == ["asks.py"]


@pytest.mark.parametrize("content", [b"nonsense\n", b"\xff\xfe\x00", b'{"seq": 0}\n'])
def test_a_broken_ledger_is_a_sentence(submission, capsys, content):
    (submission / "ledger.jsonl").write_bytes(content)
    assert award_record("commitments", points=20) == 0
    output = capsys.readouterr().out
    assert output.startswith("commitments: 0 of 20 points. ")
    assert "Traceback" not in output
    assert (submission / "ledger.jsonl").read_bytes() == content


def test_a_changed_ledger_is_told_to_the_grader(submission, capsys):
    kept = ledger(submission)
    kept.commit_prediction("act1_bound", "B", 3)
    kept.record_reflection("act1_why", "larger", correct=True)
    changed = kept.path.read_text("utf-8").replace('"larger"', '"more"')
    kept.path.write_text(changed, "utf-8")
    award_record("commitments", points=20)
    assert "For the grader: " in capsys.readouterr().out


# The files of a lab.


def test_checks_are_the_functions_of_the_file(home):
    found = load_checks(home)
    assert set(found) == {"act1_bound", "intensity_flop_per_byte", "limit"}


def test_files_that_are_missing_or_wrong_are_told(tmp_path, home):
    with pytest.raises(ValueError, match=r"no checks.py in .*; it belongs to an instructor"):
        load_checks(tmp_path)
    with pytest.raises(ValueError, match=r"asks.py is not beside the notebook; .*fetch the lab"):
        load(tmp_path)
    (home / "asks.py").write_text("lab = 3\n", "utf-8")
    with pytest.raises(ValueError, match="declares no lab; it must have a line: lab = Lab"):
        load(home)
    assert not (home / "__pycache__").exists()
