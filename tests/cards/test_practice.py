"""Practice: an answer is judged when it is recorded, explained, and asked again until mastered."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.cards.open_lab import open_lab
from mlsys_widgets.cards.practice_parts import _as_said, beyond_the_verdict
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.keys import NumberKey
from mlsys_widgets.labs.attempts import answer_name
from mlsys_widgets.labs.student_steps import progress, saved_progress
from mlsys_widgets.ledger import Ledger

ASSIGNMENTS = Path(__file__).parents[2] / "assignments"
NAME = "lab_02_caches"
INTENSITY = "intensity_flop_per_byte"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Open the practice of a new lab, as each kernel does for itself."""
    monkeypatch.setenv("MLSYS_STUDENT", "ann")
    home = new_lab(tmp_path / "course", NAME)
    folder = tmp_path / NAME
    folder.mkdir()
    for name in ("asks.py", "checks.py"):
        shutil.copy(home / name, folder)

    def opened(**more):
        made = open_lab(NAME, edition="practice", folder=folder, **{"way": "practice", **more})
        if more.get("way", "practice") == "practice" and not made.card("act1_bound").is_open:
            made.card("act1_bound").commit("B", confidence=4)
        return made

    return opened


def press(card, action, **values):
    card._asked(None, {"action": action, "values": values}, None)
    return card.text()


def side(lab, number=0):
    return lab._attempts.at(INTENSITY, number).p.side


def step_words(lab):
    (step,) = (each for each in lab.steps if each.name == INTENSITY)
    how = progress(step, saved_progress(lab.ledger.state(), NAME))
    return how.state, how.words


def test_a_wrong_answer_is_explained_and_never_praised(lab):
    card = lab().card(INTENSITY)
    assert "○○ not mastered yet" in card.title
    assert "point" not in card.title
    before = card.text()
    assert "solution" not in before
    text = press(card, "record", answer=str(side(lab()) / 4))
    assert "✗ Not right." in text
    assert "✓" not in text
    assert "The solution with your numbers" in text
    assert f"{side(lab()) / 2:g} FLOP per byte" in text
    assert step_words(lab()) == ("tried", "not right yet")
    # Corrected afterward: right, and not at the first try.
    text = press(card, "record", answer=str(side(lab()) / 2))
    assert "✓ Right." in text
    assert "✗" not in text
    assert step_words(lab()) == ("done", "right, ○○ not mastered yet")


def test_a_solution_does_not_repeat_what_the_verdict_on_a_right_answer_says(lab):
    opened = lab()
    card, key = opened.card(INTENSITY), side(opened) / 2
    why = opened._practice.checks[INTENSITY](Given(opened._attempts.at(INTENSITY, 0).p, Path()))
    assert len(why.says) > 20, "this test needs a key that explains itself"
    press(card, "record", answer=str(key))
    text = card.text()
    assert text.count(beyond_the_verdict(why.says)) == 1
    # All of it was answered, so nothing is left to unfold.
    assert "The solution with your numbers" not in text
    # Nearly right is right; the fold then has what was not answered, and nothing twice.
    text = press(card, "record", answer=str(key * (1 + why.tolerance / 2)))
    assert "✓ Right." in text
    assert f"{key:g} FLOP per byte" in text.partition("The solution with your numbers")[2]
    assert text.count(beyond_the_verdict(why.says)) == 1


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (NumberKey(93.456789, tolerance=0.02), 93.46),
        (NumberKey(883_036.4, tolerance=0.01), 883_000),
        # Of these, every digit counts.
        (NumberKey(883_036, tolerance=0, absolute=0.5), 883_036),
        (NumberKey(0.123456, tolerance=0.0001), 0.123456),
    ],
)
def test_a_solution_has_no_more_digits_than_tell_it(key, said):
    assert _as_said(key) == said
    assert key.reaches(key.value, said)


def test_the_explanation_is_that_of_the_recognized_belief(lab):
    opened = lab()
    check = opened._practice.checks[INTENSITY]
    given = opened._attempts.at(INTENSITY, 0).p
    belief = next(b for b in check(Given(given, Path())).beliefs if not b.form)
    text = press(opened.card(INTENSITY), "record", answer=str(belief.value))
    assert belief.says.split(".")[0] in text


def test_the_verdict_says_more_than_a_hint_about_the_form(lab):
    text = press(lab().card(INTENSITY), "record", answer="-7")
    assert "✗ Not right. It is too low" in text
    assert "not negative" not in text


def test_two_first_tries_on_fresh_numbers_master_a_question_across_kernels(lab):
    card = lab().card(INTENSITY)
    press(card, "record", answer=str(side(lab(), 0) / 2))
    assert "●○ right at the first try once" in card.title
    press(card, "another")
    assert "✓" not in card.text()
    assert card.item.ask in card.text()
    card = lab().card(INTENSITY)  # after a restart
    assert card.attempt == 1
    press(card, "record", answer=str(side(lab(), 1) / 2))
    assert "●● mastered" in card.title
    card = lab().card(INTENSITY)
    assert "●● mastered" in card.title
    assert "✓ Right." in card.text()
    assert step_words(lab()) == ("done", "●● mastered")
    # What comes after it takes nothing away.
    press(card, "another")
    press(card, "record", answer="1")
    assert step_words(lab())[1] == "●● mastered"


def test_another_one_never_takes_a_done_step_back(lab):
    card = lab().card(INTENSITY)
    press(card, "record", answer=str(side(lab()) / 2))
    press(card, "another")
    assert step_words(lab()) == ("done", "●○ right at the first try once")
    press(card, "record", answer="1")
    assert "✗ Not right" in card.text()
    assert step_words(lab()) == ("done", "right before, ●○ right at the first try once")


def practiced(folder, name, *right):
    """Open the practice of a real lab; answer questions right, and return it."""
    home = folder / name
    if not home.exists():
        home.mkdir()
        for each in ("asks.py", "checks.py"):
            shutil.copy(ASSIGNMENTS / name / each, home)
    opened = open_lab(name, edition="practice", way="practice", folder=home)
    for question in right:
        card = opened.card(question)
        for before in card.item.after:
            if not opened.card(before).is_open:
                options = opened.items[before].options
                opened.card(before).commit(next(iter(options)) if options else "1", confidence=4)
        check = opened._practice.checks[question]
        key = check(Given(card._given, home)).value
        card.record(key if isinstance(key, str) else f"{key:.6g}")
    return opened


def test_questions_on_one_idea_master_it_over_labs(tmp_path, monkeypatch):
    monkeypatch.setenv("MLSYS_STUDENT", "ann")
    once = "●○ right at the first try once"
    one = practiced(tmp_path, "lab_01_magnitude", "catch_up_days")
    assert once in one.card("catch_up_days").title
    two = practiced(tmp_path, "lab_11_roofline", "dense_share_pct", "side_elements")
    assert "●● mastered, counting other questions" in two.card("dense_share_pct").title
    assert two.card("side_elements").title.endswith(f"({once})")  # another idea
    # The earlier lab knows it when it is opened again, and nothing is counted twice.
    for _ in range(2):
        one = practiced(tmp_path, "lab_01_magnitude")
        assert "●● mastered, counting other questions" in one.card("catch_up_days").title
        assert one.ledger.state().answers["elsewhere"].value["the sparse peak is the peak"] == 1
    # Somebody else's ledger beside it says nothing.
    monkeypatch.setenv("MLSYS_STUDENT", "ben")
    shutil.rmtree(tmp_path / "lab_01_magnitude")
    assert "elsewhere" not in practiced(tmp_path, "lab_01_magnitude").ledger.state().answers


def test_a_question_says_when_its_numbers_are_used_up(lab):
    card = lab().card("limit")
    for _ in range(200):
        press(card, "record", answer=next(iter(card.item.options)))
        before = card.attempt
        text = press(card, "another")
        if card.attempt == before:
            break
    assert "The lab has no other numbers for this question" in text
    assert card.answer is not None


def test_practice_keeps_off_the_record_of_an_assignment(lab):
    lab(way="assignment").ledger.record_answer("limit", "memory")
    with pytest.raises(ValueError, match="is the record of an assignment"):
        lab()


def test_a_ledger_of_practice_counts_for_nothing_in_an_assignment(lab, capsys):
    opened = lab()
    opened.card("limit").record("memory")
    assignment = lab(way="assignment")
    assert assignment.answered("limit") is ...
    assert any("is from practice and counts for nothing" in n for n in assignment._all_notices())


def test_the_cover_and_the_essays_speak_of_no_points(lab):
    opened = lab()
    cover = opened.welcome().text()
    assert "Nothing is graded" in cover
    assert "points" not in cover
    assert "way" in Ledger.open(opened.ledger.path).state().answers
    for name, item in opened.items.items():
        if item.kind == "Question":
            assert "point" not in opened.card(name).title, name


def test_answers_of_attempts_lie_under_their_own_names(lab):
    opened = lab()
    card = opened.card("limit")
    card.record("memory")
    assert {"limit", "judged.limit"} <= opened.ledger.state().answers.keys()
    if card.ask_again():
        card.record("memory")
        assert f"judged.{answer_name('limit', 1)}" in opened.ledger.state().answers
