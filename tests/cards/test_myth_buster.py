"""Claims: a stance first, then the facts, once for each; some of them are true."""

from __future__ import annotations

import pytest

from mlsys_widgets import Myth, MythBuster
from mlsys_widgets.labs import Myths

MYTHS = [Myth("flops", "Fewer FLOPs run faster.", "Bytes count."), Myth("two", "Two.", "Other.")]


def test_myths_one_by_one(led, open_ledger, browser_of):
    myths = MythBuster("myths", MYTHS, ledger=led)
    page = browser_of(myths)
    assert "Bytes count." not in page.sent
    assert "Two." not in page.sent
    page.ask("commit-flops")
    assert page.trouble == "First say whether you believe it or doubt it."
    page.ask("commit-flops", flops="believe")
    assert page.said == "The facts: Bytes count."
    assert "Two." in page.sent
    assert "Other." not in page.sent
    with pytest.raises(ValueError, match="You already said “I believe it”"):
        myths.commit("flops", "doubt")
    again = MythBuster("myths", MYTHS, ledger=open_ledger())
    assert again.stances == {"flops": "believe"}
    again.commit("two", "doubt")
    assert again.is_open
    assert "You sorted 1 of 2 correctly." in again.text()
    assert myths.is_open  # it heard of it


def test_a_myth_is_not_revealed_when_nothing_was_saved(led, browser_of, read_only):
    page = browser_of(MythBuster("myths", MYTHS, ledger=led))
    with read_only():
        page.ask("commit-flops", flops="doubt")
        assert "Nothing was saved" in page.trouble
        assert "Bytes count." not in page.sent
    page.ask("retry")
    assert "Bytes count." in page.sent


def test_the_item_itself_makes_the_card(led):
    myths = MythBuster("myths", Myths(MYTHS, title="Two myths"), ledger=led)
    assert myths.title == "Two myths"
    myths.commit("two", "doubt")
    assert set(led.state().answers) == {"myths.two"}
    assert "You were right to doubt it." not in myths.text()  # the first claim comes first
    assert myths.commit("flops", "doubt") == "Bytes count."
    assert "You were right to doubt it." in myths.text()


@pytest.mark.parametrize(
    ("true", "stance", "label", "score"),
    [
        (True, "believe", "True, as you said.", (1, 1)),
        (True, "doubt", "This one is true.", (0, 1)),
        (False, "believe", "Many people believe it, but it is not true.", (0, 1)),
        (False, "doubt", "You were right to doubt it.", (1, 1)),
    ],
)
def test_a_true_claim_is_sorted_by_believing_it(led, browser_of, true, stance, label, score):
    claim = Myth("fp16", "fp16 halves the traffic.", "Two bytes instead of four.", true=true)
    myths = MythBuster("claims", [claim], ledger=led)
    assert label not in browser_of(myths).sent  # nothing tells before the stance
    myths.commit("fp16", stance)
    assert label in myths.text()
    assert myths.score == score
    assert f"You sorted {score[0]} of 1 correctly." in myths.text()
