"""Every sentence that a lab says to many students, as far as a machine can judge it.

Sentences are computed: a comparison that holds for the course's own numbers may be false for a
student's, a count may be one, a quotient may be no number. So every item and every verdict is built
for many students, and what a machine can evaluate is evaluated.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.labs import Message, Prediction, Quiz, Reflection
from tests.labs.lab_texts import LabTexts
from tests.labs.read_claims import false_claims, without_code
from tests.labs.rehearsal import ROOT
from tests.sampling import sample

pytestmark = pytest.mark.timeout(600)

STUDENTS = sample([f"student-{k}" for k in range(200)], 30)
#: How many words teach, and how many are too many.
FEEDBACK = (35, 70)
MESSAGE = (80, 150)
VERDICT = (15, 45)
#: How many places of a kind are listed when a test fails.
LISTED = 40

#: Feedback that needs no number, by item, each with the reason.
WITHOUT_NUMBERS: dict[str, str] = {}


class Said(NamedTuple):
    """A text that somebody reads: where it stands, what it is, and to whom it was said first."""

    where: str
    text: str
    student: str


class Texts:
    """All that a lab says, each text once."""

    def __init__(self, lab: str, folder: Path) -> None:
        known = LabTexts(lab, folder)
        found: dict[tuple[str, str], str] = {}
        self.items: list[tuple[str, dict[str, Any]]] = []
        for student in STUDENTS:
            self.items.append((student, known.items(student)))
            for at in (*known.texts(student), *known.verdicts(student)):
                found.setdefault(at, student)
        found.update(dict.fromkeys(known.prose(), "everyone"))
        self.all = [Said(where, text, student) for (where, text), student in found.items()]

    def verdicts(self) -> list[Said]:
        """What the checks say."""
        return [said for said in self.all if said.where.endswith(")") and said.text]


@pytest.fixture(scope="session")
def texts_of(tmp_path_factory):
    @cache
    def of(lab: str) -> Texts:
        return Texts(lab, tmp_path_factory.mktemp(f"said_{lab}"))

    return of


@pytest.fixture
def texts(texts_of, lab) -> Texts:
    return texts_of(lab)


def none_of(wrong: Sequence[str]) -> None:
    """Fail with what is wrong, each place once."""
    once = sorted(set(wrong))
    more = f"\n… and {len(once) - LISTED} more" if len(once) > LISTED else ""
    assert not once, f"{len(once)} places:\n" + "\n".join(once[:LISTED]) + more


# How a text is written.

#: What no sentence contains, and what is wrong about it.
UNWRITTEN = {
    "a number that is none": re.compile(r"\b(?:nan|inf|NaN)\b"),
    "a value of Python": re.compile(
        r"(?<=[a-z,=] )(?:None|True|False)\b|\bp\.\w+|<function|\blambda\b"
    ),
    "a power of ten as computers write it": re.compile(r"\d(?:\.\d+)?e[+-]?\d"),
    "a number with too many digits": re.compile(r"\d\.\d{5,}"),
    "a time as computers write it": re.compile(r"\d{4}-\d\d-\d\d(?:T|\s\d\d:)"),
    "two spaces": re.compile(r"(?<=\S)  +(?=\S)"),
    "a space before a comma": re.compile(r"\w ,"),
    "a word twice": re.compile(r"\b(the|a|an|of|to|in|is|and|that|for|with) \1\b"),
}
#: One of something, and the something in the plural.
_ONE = re.compile(r"(?<![\d.,×/*^−–-])(?<![×/*] )(?<!Day )(?<!Act )(?<!Lab )\b1 ([a-z]{3,}s)\b")
_NO_PLURALS = {"less", "plus", "this", "was", "has", "its", "across", "always", "times", "bytes",
               "thus", "versus", "minus", "does", "puts"}  # fmt: skip


def unwritten(text: str) -> Iterator[str]:
    """What is wrong with how a text is written."""
    plain = without_code(text)
    for what, pattern in UNWRITTEN.items():
        if found := pattern.search(plain):
            yield f"{what}: “{plain[max(0, found.start() - 30) : found.end() + 20].strip()}”"
    for found in _ONE.finditer(plain):
        if found[1] not in _NO_PLURALS:
            yield f"one in the plural: “{found[0]}”"


def test_texts_are_written_for_people(texts):
    none_of([f"{said.where}: {what}" for said in texts.all for what in unwritten(said.text)])


@pytest.mark.parametrize(
    "text",
    [
        "It takes nan ms.", "Off by 1e-09.", "It is None.", "Takes 0.3333333 s.", "1 images fit.",
        "Saved 2026-11-16T06:15:51.", "the the end", "p.kernels of them",
    ],
)  # fmt: skip
def test_what_is_not_written_for_people_is_found(text):
    assert list(unwritten(text))


@pytest.mark.parametrize(
    "text", ["1 image fits.", "11 images", "0.1 images", "1 less", "`x = 1e-09`", "At 1 times 2."]
)
def test_what_is_written_for_people_passes(text):
    assert not list(unwritten(text))


# What a text claims.


def test_what_texts_claim_holds_for_everybody(texts):
    none_of(
        [
            f"{said.where}, for {said.student}: {what}"
            for said in texts.all
            for what in false_claims(said.text)
        ]
    )


@pytest.mark.parametrize(
    "text",
    [
        "The kernel's 5 µs are more than 10 µs of a launch.",
        "So 12 ms is below 8 ms.",
        "That is 6 MB − 2 MB = 5 MB.",
        "And 3 × 4 = 13.",
        "It computes 130% of the time.",
    ],
)
def test_false_claims_are_found(text):
    assert list(false_claims(text))


@pytest.mark.parametrize(
    "text",
    [
        "The kernel's 5 µs are less than 10 µs of a launch.",
        "That is 6 MB − 2 MB = 4 MB.",
        "30 s / 0.2 ms = 150,000 images",
        "a gain of 130%",
        "5 µs is more than 3 images",
    ],
)
def test_true_claims_pass(text):
    assert not list(false_claims(text))


# How much a text says.


def count(text: str) -> int:
    return len(re.findall(r"\S*\w\S*", text))


def feedback(items: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Item, option and words of everything that is said about a choice."""
    for name, item in items.items():
        if isinstance(item, Reflection) and item.blanks:
            for gap, options in item.blanks.items():
                for option in options:
                    yield (
                        f"{name}.{gap}",
                        option,
                        (item.feedback or {}).get(gap, {}).get(option, ""),
                    )
        elif isinstance(item, Prediction | Reflection):
            options = item.options or (("low", "close", "high") if item.feedback else ())
            for option in options:
                yield name, option, (item.feedback or {}).get(option, "")
        elif isinstance(item, Quiz):
            for question in item.questions:
                for option in question.options:
                    words = f"{question.feedback.get(option, '')} {question.why}"
                    yield f"{name}.{question.key}", option, words.strip()


def unfit(found: Iterator[tuple[str, str]], limits: tuple[int, int]) -> list[str]:
    """The places whose texts are too short or too long for somebody, each once."""
    lengths = defaultdict(list)
    for where, words in found:
        lengths[where].append(count(words))
    low, high = limits
    return [
        f"{where}: {min(each)} to {max(each)} words; {low} to {high} are asked for"
        for where, each in lengths.items()
        if min(each) < low or max(each) > high
    ]


def test_feedback_teaches(texts):
    found = (
        (f"{name}, {option}", words)
        for _, items in texts.items
        for name, option, words in feedback(items)
    )
    none_of(unfit(found, FEEDBACK))


def test_feedback_has_the_numbers_of_the_case(texts):
    none_of(
        [
            f"{name}, {option}: “{words[:80]}”"
            for _, items in texts.items[:20]
            for name, option, words in feedback(items)
            if name not in WITHOUT_NUMBERS and not re.search(r"\d", words)
        ]
    )


def test_messages_are_small_stories(texts):
    found = (
        (name, item.message)
        for _, items in texts.items
        for name, item in items.items()
        if isinstance(item, Message)
    )
    none_of(unfit(found, MESSAGE))


def test_verdicts_teach(texts):
    none_of(unfit(((said.where, said.text) for said in texts.verdicts()), VERDICT))


def test_one_sender_has_one_role(texts_of):
    roles, called = defaultdict(set), defaultdict(set)
    for lab in labs_of(Course.at(ROOT)):
        for item in texts_of(lab).items[0][1].values():
            if isinstance(item, Message):
                roles[item.sender].add(item.role)
                for part in item.sender.split():
                    called[part].add(item.sender)
    assert roles
    several = {sender: found for sender, found in roles.items() if len(found) > 1}
    assert not several, f"several roles: {several}"
    namesakes = {part: found for part, found in called.items() if len(found) > 1}
    assert not namesakes, f"people who share a name: {namesakes}"
