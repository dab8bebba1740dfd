"""Quizzes and myths as data: their parts, and the names under which the ledger keeps them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import mlsys_widgets
from mlsys_widgets.labs import Myth, Myths, Question, Quiz

RELU = Question("relu", "What limits ReLU?", {"m": "memory", "c": "compute"}, right="m")
FLOPS = Myth("flops", "Fewer FLOPs run faster.", "Bytes count.")


def saved(*names: str) -> SimpleNamespace:
    return SimpleNamespace(predictions={}, reflections={}, answers=dict.fromkeys(names))


def test_the_front_door_has_these_very_classes():
    assert mlsys_widgets.Question is Question
    assert mlsys_widgets.Myth is Myth


def test_the_names_in_the_ledger():
    other = Question("gelu", "And GELU?", {"m": "memory", "c": "compute"}, right="m")
    assert Quiz([RELU, other]).ledger_names("phase1") == ("phase1.relu", "phase1.gelu")
    assert Myths([FLOPS]).ledger_names("five") == ("five.flops",)


def test_done_when_everything_was_answered():
    other = Question("gelu", "And GELU?", {"m": "memory", "c": "compute"}, right="m")
    quiz = Quiz([RELU, other])
    assert not quiz.is_done("q", saved("q.relu"))
    assert quiz.is_done("q", saved("q.relu", "q.gelu"))
    assert not Myths([FLOPS]).is_done("m", saved())
    assert Myths([FLOPS]).is_done("m", saved("m.flops"))


def test_a_lab_may_write_parts_as_mappings():
    """Labs from before questions had a class of their own still open."""
    fields = {"key": "relu", "words": RELU.words, "options": RELU.options, "right": "m"}
    assert Quiz([fields]) == Quiz([RELU])  # type: ignore[list-item]
    claim = {"key": "flops", "claim": FLOPS.claim, "reality": FLOPS.reality}
    assert Myths([claim]) == Myths([FLOPS])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="answer"):
        Quiz([{**fields, "answer": "m"}])  # type: ignore[list-item]


@pytest.mark.parametrize("kind", [Quiz, Myths])
def test_nothing_to_ask(kind):
    with pytest.raises(ValueError, match=r"is empty; it needs at least one (question|myth)"):
        kind([])


def test_a_key_is_used_once():
    with pytest.raises(ValueError, match="uses the key 'flops' twice"):
        Myths([FLOPS, FLOPS])


def test_a_question_without_its_answer():
    with pytest.raises(ValueError, match="right of q names 'z'"):
        Question("q", "?", {"a": "yes"}, right="z")
    with pytest.raises(ValueError, match="feedback of q names 'z'"):
        Question("q", "?", {"a": "yes"}, right="a", feedback={"z": "?"})
