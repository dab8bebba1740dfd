"""The base of all cards: buttons, refusals, retries, gates, and the still version."""

from __future__ import annotations

import pytest

from mlsys_widgets.cards.card import LabWidget
from mlsys_widgets.cards.parts import Prose
from mlsys_widgets.ledger import NotSaved


class AnyGate:
    def __init__(self):
        self.is_open, self.to_open, self._then = False, "ring the bell", []

    def on_open(self, then):
        self._then.append(then)

    def open(self):
        self.is_open = True
        for then in self._then:
            then()


class Bell(LabWidget):
    """A card that does what a test wants."""

    kind = "Bell"

    def __init__(self, do=lambda values: None, **more):
        super().__init__("A **bell**", **more)
        self.do, self.rung = do, 0
        self.show()

    def parts(self):
        return [Prose("rung", f"Rung {self.rung} times.")]

    def actions(self):
        return {"ring": self._ring}

    def _ring(self, values):
        self.do(values)
        self.rung += 1
        self._say("Ding.", focus="rung")


def test_a_button_does_its_action(browser_of):
    given = []
    bell = Bell(given.append)
    page = browser_of(bell)
    page.ask("ring", loud="yes")
    assert given == [{"loud": "yes"}]
    assert (bell.rung, page.said, page.trouble) == (1, "Ding.", None)
    assert bell._card.view["focus"] == "rung"


@pytest.mark.parametrize(
    ("problem", "words", "again"),
    [
        (ValueError("Pull harder."), "Pull harder.", False),
        (NotSaved("Nothing was saved."), "Nothing was saved.", True),
        (KeyError("rope"), "That did not work: 'rope'. Nothing you entered is lost", False),
        (ZeroDivisionError(), "That did not work: ZeroDivisionError.", False),
    ],
)
def test_whatever_happens_the_student_sees_a_sentence(browser_of, problem, words, again):
    problems = [problem]

    def fail(_values):
        if problems:
            raise problems.pop()

    bell = Bell(fail)
    page = browser_of(bell)
    page.ask("ring")
    assert words in page.trouble
    assert page.can_retry is again
    assert words in bell.text()
    assert bell.rung == 0
    page.ask("retry" if again else "ring")
    assert (bell.rung, page.trouble) == (1, None)


def test_an_answer_brings_the_refusal_with_it(browser_of):
    """The state that shows it may be lost, and without it the page would take it for recorded."""
    bell = Bell(lambda values: values["rope"])
    sent = []
    bell._card.send = sent.append
    browser_of(bell).ask("ring")
    browser_of(bell).ask("ring", rope="a long one")
    refused, done = sent
    assert "That did not work" in refused["refusal"]
    assert done["refusal"] == ""


def test_an_unknown_action_breaks_nothing(browser_of):
    bell = Bell()
    browser_of(bell).ask("steal")
    assert "That did not work" in browser_of(bell).trouble
    assert bell.rung == 0


def test_a_gate_hides_everything_but_the_title(browser_of):
    gate = AnyGate()
    bell = Bell(after=gate)
    assert bell.blocked_by is gate
    assert bell.text() == "Bell: A bell\nClosed. Opens after you ring the bell."
    assert "Rung" not in browser_of(bell).sent
    with pytest.raises(ValueError, match=r"still closed\. It opens after you ring the bell\."):
        bell._need_gates()
    gate.open()
    assert bell.blocked_by is None
    assert "Rung 0 times." in browser_of(bell).sent


def test_an_authors_mistake_is_a_sentence(browser_of):
    class Broken(Bell):
        def parts(self):
            raise KeyError("gone")

    assert "This cannot be shown: 'gone'." in Broken().text()


def test_the_still_version(browser_of):
    bell = Bell()
    bundle = bell._repr_mimebundle_()
    assert "<h4>A <strong>bell</strong></h4>" in bundle["text/html"]
    assert bundle["text/plain"] == "Bell: A bell\nRung 0 times."
    assert repr(bell) == "<Bell: A **bell**>"


def test_a_card_that_nobody_looks_at_lays_nothing_out():
    class Counted(Bell):
        laid_out = 0

        def parts(self):
            self.laid_out += 1
            return super().parts()

    bell = Counted()
    for _ in range(3):
        bell.refresh()
    assert bell.laid_out == 0
    assert bell.still()["text/plain"] in bell.text()
    assert bell.laid_out == 2  # one for both forms of the still page, and one for the text
    assert bell._card.view["title"] == "A <strong>bell</strong>"
    bell.refresh()
    assert bell.laid_out == 4


def test_a_card_that_changed_before_anybody_looked_shows_how_it_is_now(browser_of):
    bell = Bell()
    bell.rung = 7
    bell.show()
    assert "Rung 7 times." in browser_of(bell).sent
    bell.rung = 8
    bell.show()
    assert "Rung 8 times." in browser_of(bell).sent
