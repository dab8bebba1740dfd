"""A lab as its notebook uses it: what is checked, what is kept, and what is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mlsys_widgets import Move
from mlsys_widgets.authoring import new_lab
from mlsys_widgets.cards.open_lab import open_lab
from mlsys_widgets.labs import UnusableAnswer
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.carried_record import record_of

DEMO, OWNER = "lab_02_demo", "student-07"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A student's folder with the lab."""
    monkeypatch.setenv("MLSYS_STUDENT", OWNER)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    home = new_lab(tmp_path / "course", DEMO)
    mine = tmp_path / "mine"
    mine.mkdir()
    shutil.copy(home / "asks.py", mine)
    return mine


@pytest.fixture
def opened(folder):
    return open_lab(DEMO, folder=folder)


def text(widget):
    return widget._repr_mimebundle_()["text/plain"]


def test_it_knows_whose_it_is(opened):
    assert opened.student.name == OWNER
    assert opened.p == opened.lab.draw(OWNER)
    said = text(opened.welcome())
    assert OWNER in said
    assert "MLSYS_STUDENT" in said
    assert "100 points" in said


@pytest.fixture
def moved(folder, opened):
    """The notebook alone, on another machine: what was recorded, and the folder without it."""
    opened.card("act1_bound").commit("B", confidence=4)
    path = folder / "ledger.jsonl"
    content = path.read_bytes()
    path.unlink()
    book = {"metadata": {"mlsys": {"lab": DEMO, "record": record_of(content)}}, "cells": []}
    (folder / f"{DEMO}.ipynb").write_text(json.dumps(book))
    return content


def test_a_notebook_that_was_moved_alone_brings_its_ledger_along(folder, moved):
    again = open_lab(DEMO, folder=folder)
    assert (folder / "ledger.jsonl").read_bytes() == moved
    assert again.card("act1_bound").is_open
    assert "restored from the record that the notebook carries" in text(again.welcome())
    assert "restored" not in text(open_lab(DEMO, folder=folder).welcome()), "only once"


def test_a_renamed_notebook_brings_it_along_too(folder, moved, monkeypatch):
    (folder / f"{DEMO}.ipynb").rename(folder / "mine (1).ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", "labs/mine (1).ipynb")
    open_lab(DEMO, folder=folder)
    assert (folder / "ledger.jsonl").read_bytes() == moved


def test_a_friends_notebook_does_not_become_ones_own(folder, moved, monkeypatch):
    monkeypatch.setenv("MLSYS_STUDENT", "bob")
    his = open_lab(DEMO, folder=folder)
    assert not (folder / "ledger.jsonl").exists()
    assert f"carries the record of {OWNER}, and you are bob" in text(his.welcome())
    his.card("act1_bound").commit("A", confidence=2)
    assert Ledger.open(folder / "ledger.jsonl").student == "bob"


def test_where_it_is_graded_the_kernel_restores_nothing(folder, moved, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    open_lab(DEMO, folder=folder)
    assert not (folder / "ledger.jsonl").exists()


def test_cards_are_made_once(opened):
    assert opened.card("act1_bound") is opened.card("act1_bound")
    with pytest.raises(
        ValueError, match=r"asks nothing called 'act9'; it asks: opening, act1_bound"
    ):
        opened.card("act9")
    with pytest.raises(ValueError, match="commitments is a Record, which has no card"):
        opened.card("commitments")


def test_every_item_has_a_card_or_a_cell(opened):
    for name in opened.items:
        if name != "commitments":
            assert text(opened.card(name))


def test_what_code_computes_is_recorded(opened, capsys):
    opened.answer("limit", " Compute")
    assert capsys.readouterr().out == "limit: “the arithmetic units” is recorded.\n"
    opened.answer("intensity_flop_per_byte", 12)
    assert "12 FLOP per byte is recorded." in capsys.readouterr().out
    answers = opened.ledger.state().answers
    assert answers["limit"].value == "compute"
    assert (answers["intensity_flop_per_byte"].value, answers["intensity_flop_per_byte"].unit) == (
        12, "FLOP per byte",
    )  # fmt: skip
    assert opened.answered("limit") == "compute"
    assert opened.answered("intensity_flop_per_byte") == 12


@pytest.mark.parametrize("value", [..., "33%", "many", float("nan"), [3], True, 10**400])
def test_what_cannot_be_used_is_a_sentence_and_not_kept(opened, capsys, value):
    opened.answer("intensity_flop_per_byte", value)
    said = capsys.readouterr().out
    assert said.startswith("intensity_flop_per_byte is not recorded. ")
    assert "intensity_flop_per_byte" not in opened.ledger.state().answers
    assert opened.answered("intensity_flop_per_byte") is ...


def test_running_code_again_does_not_undo_what_was_entered_later(opened, capsys):
    opened.answer("intensity_flop_per_byte", 12)
    opened.card("act1_bound").commit("B", 3)
    opened.card("intensity_flop_per_byte").record("14")
    capsys.readouterr()
    opened.answer("intensity_flop_per_byte", 12)
    assert "The card says 14 FLOP per byte" in " ".join(capsys.readouterr().out.split())
    assert opened.answered("intensity_flop_per_byte") == 14
    opened.answer("intensity_flop_per_byte", 13)
    assert opened.answered("intensity_flop_per_byte") == 13


def test_a_card_is_not_answered_from_code(opened):
    with pytest.raises(ValueError, match="act1_bound is a prediction; it is not answered with"):
        opened.answer("act1_bound", "B")


@pytest.mark.parametrize("kept", [{"a": 1}, [3], "a third", True])
def test_an_answer_that_the_question_cannot_have_is_none(opened, kept):
    opened.ledger.record_answer("intensity_flop_per_byte", kept)
    assert opened.answered("intensity_flop_per_byte") is ...


def test_validation_fails_where_an_answer_is_missing(opened, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(UnusableAnswer, match="limit: nothing is recorded in the card of “"):
        opened.answered("limit")
    with pytest.raises(UnusableAnswer, match="Not in your ledger yet: Prediction: "):
        opened.record("commitments")
    opened.answer("limit", "memory")
    assert opened.answered("limit") == "memory"
    assert not opened.ledger.state().answers


def test_nothing_is_kept_while_nbgrader_grades(folder, monkeypatch, capsys, tmp_path):
    submission = tmp_path / "autograded" / "ada" / DEMO
    submission.parent.mkdir(parents=True)
    folder.rename(submission)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    lab = open_lab(DEMO, folder=submission)
    assert lab.student.name == "ada"
    lab.answer("limit", "memory")
    assert lab.answered("limit") == "memory"
    lab.answer("limit", ...)
    assert "limit is not recorded. Nothing is chosen yet." in capsys.readouterr().out
    assert lab.record("commitments") is None
    assert sorted(path.name for path in submission.iterdir()) == ["asks.py"]


def test_a_record_says_what_is_there(opened):
    assert "○ To do: Prediction:" in text(opened.record("commitments"))
    opened.card("act1_bound").commit("B", 3)
    opened.card("act1_why").answer("more")
    assert "◐ Tried, not right yet: Reflection:" in text(opened.record("commitments"))
    assert "what you have tried counts" in text(opened.record("commitments"))
    opened.card("act1_why").answer("larger")
    assert "To do" not in text(opened.record("commitments"))
    assert "Tried" not in text(opened.record("commitments"))


def test_a_notebook_in_the_wrong_folder_is_told(folder):
    with pytest.raises(
        ValueError, match=r"belongs to lab_07, but the asks.py beside it belongs to lab_02"
    ):
        open_lab("lab_07", folder=folder)
    (folder / "asks.py").unlink()
    with pytest.raises(ValueError, match=r"asks.py is not beside the notebook"):
        open_lab(DEMO, folder=folder)


def test_in_source_the_ledger_is_kept_aside(tmp_path, folder):
    """nbgrader would hand an instructor's ledger to every student."""
    source = tmp_path / "course" / "source" / DEMO
    source.mkdir(parents=True)
    shutil.copy(folder / "asks.py", source)
    (tmp_path / "course" / "nbgrader_config.py").touch()
    lab = open_lab(DEMO, folder=source)
    lab.card("act1_bound").commit("B", 3)
    assert sorted(path.name for path in source.iterdir()) == ["asks.py"]
    assert "This is the instructor's notebook" in text(lab.welcome())
    shutil.rmtree(lab.ledger.path.parent)


def test_a_ledger_of_somebody_else_is_told_and_left_alone(folder, capsys):
    theirs = Ledger.open(folder / "ledger.jsonl", lab=DEMO, student="ada")
    theirs.commit_prediction("act1_bound", "A", 2)
    before = theirs.path.read_bytes()
    lab = open_lab(DEMO, folder=folder)
    assert "The ledger beside this notebook belongs to ada" in text(lab.welcome())
    lab.answer("limit", "memory")
    assert "limit is not recorded. Nothing was saved" in capsys.readouterr().out
    assert theirs.path.read_bytes() == before


def test_variants_off_and_another_edition(folder):
    off = open_lab(DEMO, folder=folder, variants=False)
    assert off.p == off.lab.draw("", variants=False)
    assert "yours alone" not in text(off.welcome())
    assert open_lab(DEMO, folder=folder, edition="b").p == off.lab.draw(OWNER, edition="b")


def test_who_is_only_known_by_the_computer_is_told_what_to_do(folder, monkeypatch, tmp_path):
    for name in ("MLSYS_STUDENT", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert "mlsys whoami NAME" in text(open_lab(DEMO, folder=folder).welcome())


def test_moves_come_before_a_reveal_but_not_for_an_instructor(folder, tmp_path):
    def revealed(lab):
        toggle = lab.context({"cloud": "Cloud", "edge": "Edge"})
        edge = Move("Switch to the edge", toggle, context="edge")
        lab.card("act1_bound").commit("B", 3)
        more = {} if lab.items["act1_bound"].answer else {"model": 1.0}
        return lab.reveal("act1_bound", moves=[edge], **more)

    mine = open_lab(DEMO, folder=folder)
    assert revealed(mine).missing == ["Switch to the edge"]
    hud = mine.hud(numbers={"MFU": (0.4, "%")}, after={"MFU": "act1_why"})
    assert "MFU: not yet" in hud.text()
    assert "○ Not compared yet" in hud.text()
    mine.context({}).context = "edge"
    mine._reveals["act1_bound"].compare()
    mine.card("act1_why").answer("larger")
    assert "MFU: 40%" in hud.text()
    assert "Not compared yet" not in hud.text()

    source = tmp_path / "teaching" / "source" / DEMO
    source.mkdir(parents=True)
    shutil.copy(folder / "asks.py", source)
    (tmp_path / "teaching" / "nbgrader_config.py").touch()
    assert revealed(open_lab(DEMO, folder=source)).shown
