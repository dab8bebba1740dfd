"""Every sentence of a lab with a number or a comparison is evaluated, or named as one that is not.

``tests.labs.claims`` says how, and the files beside it hold what each lab claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mlsys_widgets.labs import Parameters
from tests.labs.claims import (
    Claim,
    ClaimsFile,
    Quantity,
    Reading,
    Student,
    claims_of,
    claims_something,
    sentences,
    unnumbered,
)
from tests.labs.lab_texts import LabTexts
from tests.sampling import sample

pytestmark = pytest.mark.timeout(600)

STUDENTS = sample([f"student-{k}" for k in range(400)], 25)
#: How many sentences are listed when a test fails.
LISTED = 60


class Evaluated:
    """A lab with its claims: what is false, what nothing evaluates, and what was met."""

    def __init__(self, lab: str, folder: Any, file: ClaimsFile) -> None:
        texts = LabTexts(lab, folder)
        units = {name: each.unit for name, each in texts.lab.parameters.items()}
        self.file = file
        self.false: dict[str, str] = {}
        self.uncovered: dict[str, str] = {}
        self.met: set[str] = set()
        everybody = texts.lab.draw("", variants=False)
        self._take(Student(file, everybody, units), texts.prose(), "everybody")
        handed_on = texts.handed_on(file.materials)
        self._take(Student(file, everybody, units), handed_on, "everybody")
        for name in STUDENTS:
            student = Student(file, texts.drawn(name), units)
            self._take(student, texts.texts(name), name)
            self._take(student, texts.verdicts(name), name)

    def _take(self, student: Student, said: Iterator[tuple[str, str]], name: str) -> None:
        for where, text in said:
            for sentence in sentences(text):
                if not (claims_something(where, sentence) or self.file.about(sentence)):
                    continue
                words = unnumbered(sentence)
                self.met.add(words)
                if why := student.uncovered(where, sentence):
                    self.uncovered.setdefault(words, f"{where}: {why}: {sentence}")
                for what in student.false(sentence):
                    self.false.setdefault(words, f"{where}, for {name}: “{what}”: {sentence}")


@pytest.fixture(scope="session")
def evaluated_labs() -> dict[str, Evaluated]:
    return {}


@pytest.fixture
def evaluated(lab, evaluated_labs, tmp_path_factory) -> Evaluated:
    file = claims_of(lab)
    assert file is not None, f"write down what {lab} claims, in tests/labs/claims/{lab}.py"
    if lab not in evaluated_labs:
        evaluated_labs[lab] = Evaluated(lab, tmp_path_factory.mktemp(f"claims_{lab}"), file)
    return evaluated_labs[lab]


def _none(found: dict[str, str]) -> None:
    listed = "\n".join(sorted(found.values())[:LISTED])
    assert not found, f"{len(found)} sentences:\n{listed}"


def test_every_claim_holds_for_everybody(evaluated):
    _none(evaluated.false)


def test_every_sentence_is_evaluated_or_named(evaluated):
    _none(evaluated.uncovered)


def test_every_claim_is_about_a_sentence(evaluated):
    file = evaluated.file
    words = [*(each.words for each in file.claims), *file.not_evaluated]
    gone = [each for each in words if not any(each in sentence for sentence in evaluated.met)]
    assert not gone, f"no sentence says this any more: {gone}"
    assert len(set(words)) == len(words), "the same words twice"
    assert all(len(why.split()) > 3 for why in file.not_evaluated.values())


# The machinery itself.

P = cast(Parameters, SimpleNamespace(kernel_us=5, launch_us=10))
UNITS = {"kernel_us": "µs", "launch_us": "µs"}


def student(*claims: Claim | Reading, quantities: tuple[Quantity, ...] = (), **named: str):
    return Student(ClaimsFile(quantities, claims, named), P, UNITS)


def test_a_text_is_split_into_sentences_that_are_alike_for_everybody():
    text = "It takes 5 µs. **Half** of 1.2 ms are left (Lab 11).\n\nWhy 3?\n\n| a | 4 % |"
    found = ["It takes 5 µs.", "Half of 1.2 ms are left (Lab 11).", "Why 3?"]
    assert list(sentences(text))[:3] == found
    assert unnumbered(found[1]) == "Half of # are left (Lab 11)."


def test_what_asks_shows_or_is_believed_claims_nothing():
    assert not claims_something("a.ask", "How many of 5 kernels are left?")
    assert not claims_something("a.options[A]", "about 90%: the GPU is the bottleneck")
    assert not claims_something("a.ask", "Two decimals are more than enough, as in 3.45.")
    assert not claims_something("a.feedback[A]", "Make the tensor larger and watch.")
    assert not claims_something("a.ask", "The slower of the two sets the pace.")
    assert claims_something("a.ask", "A kernel takes 5 µs.")
    assert claims_something("a.feedback[A]", "Launches take longer than kernels.")


def test_a_number_must_be_known_at_its_precision():
    assert student().uncovered("", "A kernel takes 5 µs.") == ""
    assert "7 µs" not in student().uncovered("", "A kernel takes 7 µs.")
    assert "no known quantity" in student().uncovered("", "A kernel takes 7 µs.")
    pair = Quantity("launch and kernel", "s", lambda p: 1e-6 * (p.kernel_us + p.launch_us))
    assert student().uncovered("", "Together 15 µs.")
    assert not student(quantities=(pair,)).uncovered("", "Together 15 µs.")
    assert student(quantities=(pair,)).uncovered("", "Together 15.1 µs.")


def test_a_comparison_needs_a_claim_that_holds():
    said = "A launch takes longer than its kernel of 5 µs."
    assert "nothing evaluates" in student().uncovered("", said)
    true = Claim("A launch takes longer", lambda p: p.launch_us > p.kernel_us)
    assert not student(true).uncovered("", said)
    assert not student(true).false(said)
    assert student(Claim("A launch takes", lambda p: p.launch_us < p.kernel_us)).false(said)
    # A comparison of two numbers is read without help.
    assert not student().uncovered("", "So 5 µs is less than 10 µs.")
    assert student().false("So 5 µs is more than 10 µs.")


def test_a_reading_answers_for_the_printed_numbers():
    said = "For 5% a kernel would have to last 526 ns."
    reading = Reading("a kernel would have to last #", lambda p, n: abs(n[1] - 10e-6 / 19) < 1e-9)
    assert student().uncovered("", said)
    assert not student(reading).uncovered("", said)
    assert not student(reading).false(said)
    assert student(reading).false(said.replace("526", "625"))


def test_what_is_not_evaluated_is_named():
    assert not student(**{"Python": "a matter of taste"}).uncovered("", "Python is never too slow.")
