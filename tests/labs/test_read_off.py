"""Nothing of a lab displays the key of a graded answer: no instrument, text or hint.

Everything is done that opens locks and hints. Then fifty students put their own parameters into
every control that can hold them, in each context and with every option, and read every number and
every option's name on the screen. `tests.labs.shown_numbers` says how, and what counts as reading
off. The texts of the lab are read for all students: messages, questions, feedback, hints.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.judging import ChoiceKey, NumberKey
from mlsys_widgets.labs import Choice, Number, load
from tests.labs import shown_numbers
from tests.labs.claims import numbers_of
from tests.labs.lab_texts import LabTexts
from tests.labs.rehearsal import ROOT
from tests.labs.shown_numbers import (
    EXACTLY,
    OFTEN,
    Recipe,
    Setting,
    Trial,
    missing_bindings,
    numbers_in,
    read_off,
    recipes,
    unit_of,
)
from tests.labs.test_sweep import OWN_MACHINE
from tests.sampling import sample

pytestmark = pytest.mark.timeout(600)

#: Questions where reading an instrument is itself the skill, each with the reason.
READING_IS_THE_SKILL: dict[str, str] = {}
#: Texts that say what a choice is about, and the choice.
GIVEN_IN = {
    ("capture_message", "capture_method"): "what Lena's model contains is what is asked about",
}
#: What such a question may be worth.
READING_EARNS = 3


@pytest.mark.slow
def test_no_instrument_displays_a_key(lab, tmp_path):
    found = [
        str(each) for each in read_off(lab, tmp_path) if each.question not in READING_IS_THE_SKILL
    ]
    assert not found, "\n".join(sorted(found))


def said_keys(lab: str, folder: Path, students: Sequence[str], read: str = "texts") -> list[str]:
    """Texts of a lab that say the key of a graded number to one student after the other.

    ``read`` is the method of `LabTexts` that has them.
    """
    texts = LabTexts(lab, folder)
    often: Counter[tuple[str, str, int]] = Counter()
    to_the_digit: Counter[tuple[str, str, int]] = Counter()
    said, values, asked_of = {}, defaultdict(set), Counter[str]()
    for student in students:
        keys, question_of = texts.keys(student), texts.drawn(student).asked
        numbers = {
            question_of(name): (item, key)
            for name, item in texts.items(student).items()
            if isinstance(item, Number) and isinstance(key := keys[name], NumberKey)
        }
        asked_of.update(list(numbers))
        for name, (_, key) in numbers.items():
            values[name].add(key.value)
        for where, text in getattr(texts, read)(student):
            for place, shown in enumerate(numbers_of(text)):
                for name, (item, key) in numbers.items():
                    own = question_of(where.partition(" ")[0]) == name  # a verdict on it
                    if shown.within(key, item.unit) and not own:
                        at = (name, where, place)
                        often[at] += 1
                        to_the_digit[at] += shown.exactly(key, item.unit)
                        said[at] = text
    return [
        f"{at[0]} is said in {at[1]} to {count} of {many} students: “{said[at][:160]}”"
        for at, count in often.items()
        # What a student measures is the same for all in a test, and meets numbers by accident.
        if len(values[at[0]]) > 1
        and (
            count >= OFTEN * (many := asked_of[at[0]]) or to_the_digit[at] >= max(EXACTLY * many, 2)
        )
    ]


def test_no_text_or_hint_says_a_key(lab, tmp_path):
    """Of all students in a sweep, of some otherwise."""
    everyone = [f"student-{k}" for k in range(400)]
    students = sample(everyone, 20)
    found = said_keys(lab, tmp_path, students)
    assert not found, "\n".join(sorted(found))
    found = told_options(lab, tmp_path, students, "texts")
    assert not found, "\n".join(sorted(found))


def test_no_explanation_says_the_key_of_another_question(lab, tmp_path):
    """Whoever hands in one answer is told about that one, and may still answer all others."""
    everyone = [f"student-{k}" for k in range(400)]
    students = sample(everyone, 20)
    found = said_keys(lab, tmp_path, students, "verdicts")
    assert not found, "\n".join(sorted(found))
    found = told_options(lab, tmp_path, students)
    assert not found, "\n".join(sorted(found))


def told_options(
    lab: str, folder: Path, students: Sequence[str], read: str = "verdicts"
) -> list[str]:
    """Texts by whose words the right option of another question can be guessed.

    Which option is right differs from student to student. Whoever knows what others were told, and
    what was right for them, guesses what was right for most of those with the same words. ``read``
    is the method of `LabTexts` that has the texts.
    """
    texts = LabTexts(lab, folder)
    right: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for student in students:
        keys, question_of = texts.keys(student), texts.drawn(student).asked
        options = {
            question_of(name): key.value
            for name, item in texts.items(student).items()
            if isinstance(item, Choice) and isinstance(key := keys[name], ChoiceKey)
        }
        for where, text in getattr(texts, read)(student):
            words = re.sub(r"[\d.,]+", "#", text)
            own = question_of(re.split(r"\W", where, maxsplit=1)[0])
            for name, value in options.items():
                if own != name and (own, name) not in GIVEN_IN:
                    right[where, name].append((words, value))
    guessed = {at: sum(_guessed(told, k) for k in range(len(told))) / len(told)
               for at, told in right.items() if len(told) >= len(students) / 2}  # fmt: skip
    return [f"{at[0]} tells {at[1]} to {part:.0%}" for at, part in guessed.items() if part >= OFTEN]


def _guessed(told: Sequence[tuple[str, str]], mine: int) -> bool:
    """Whether somebody's right option is that of most others with the same words."""
    words, value = told[mine]
    others = Counter(v for k, (w, v) in enumerate(told) if w == words and k != mine)
    return bool(others) and others.most_common(1)[0][0] == value


def test_a_text_that_says_a_key_is_found(lab, tmp_path, monkeypatch):
    def and_the_keys(self, student):
        keys, items = self.keys(student), self.items(student)
        for name, item in items.items():
            if isinstance(item, Number):
                yield f"{name}.hint", f"It is {keys[name].value:.5g} {item.unit}."

    monkeypatch.setattr(LabTexts, "texts", and_the_keys)
    found = said_keys(lab, tmp_path, [f"student-{k}" for k in range(10)])
    declared = load(ROOT / "assignments" / lab)
    items = declared.items(declared.draw(""))
    # Of a pool, all questions.
    numbers = {
        question
        for name, item in items.items()
        if isinstance(item, Number)
        for question in declared.pools.get(name, [name])
    }
    assert {each.split(" ")[0] for each in found} >= numbers - OWN_MACHINE


def test_an_explanation_that_tells_of_another_question_is_found(lab, tmp_path, monkeypatch):
    def and_the_others(self, student):
        keys, items = self.keys(student), self.items(student)
        for name, item in items.items():
            if isinstance(item, Number):
                yield "other (right)", f"It is {keys[name].value:.5g} {item.unit}."
            elif isinstance(item, Choice):
                yield f"other {name}", item.options[keys[name].value]

    monkeypatch.setattr(LabTexts, "verdicts", and_the_others)
    students = [f"student-{k}" for k in range(10)]
    assert said_keys(lab, tmp_path, students, "verdicts")
    assert told_options(lab, tmp_path, students)


def test_where_reading_is_the_skill_it_earns_little():
    course = Course.at(ROOT)
    known = {}
    for lab in labs_of(course):
        declared = load(course.folder("assignments", lab))
        known.update(declared.items(declared.draw("")))
    for name, reason in READING_IS_THE_SKILL.items():
        assert isinstance(known.get(name), Number), f"{name} is no graded number of a lab"
        assert known[name].points <= READING_EARNS, name
        assert len(reason.split()) > 3, f"{name} needs a reason"


def test_what_is_typed_together_fits_the_lab(lab, tmp_path):
    """`shown_numbers.EXTRA` names instruments, controls and parameters that exist."""
    assert not missing_bindings(lab, tmp_path / "x")


# The harness itself.


@pytest.fixture
def trial(lab, tmp_path, read_once):
    return Trial.of(lab, "student-0", tmp_path / "x")


def test_everything_is_open(trial):
    for instrument in trial.found.instruments:
        assert not instrument.locked
        assert instrument.shown_hint == instrument.hint(instrument.result)


def test_every_instrument_is_tried_in_every_context(trial, lab):
    tried = recipes(trial.found, lab)
    assert {each.instrument for each in tried} == set(range(len(trial.found.instruments)))
    assert {each.context for each in tried} >= {next(iter(trial.found.names["context"]._contexts))}
    assert len(tried) > 20 * len(trial.found.instruments)
    typed = {setting.words for each in tried for setting in each.typed}
    assert any(words.startswith("p.") for words in typed)


def test_a_key_that_is_shown_is_found(lab, tmp_path, monkeypatch):
    """A question whose key is the first number of an instrument's cards, for every student."""

    def from_card(self):
        instrument = next(
            i for i in self.found.instruments
            if any(numbers_in(value) for _, value, _ in i.cards(i.result))
        )  # fmt: skip
        values = [value for _, value, _ in instrument.cards(instrument.result)]
        shown = next(number for value in values for number in numbers_in(value))
        size = {"ratio": ("percent", 0.01), "s": ("ms", 1e-3), "B": ("MB", 1e6)}
        unit, one = size.get(shown.dimension, (shown.dimension, 1.0))
        return {name: (NumberKey(shown.value / one, 0.01), unit) for name in self.asked.of(Number)}

    def as_it_opens(found, _lab):
        return [
            Recipe(next(iter(found.names["context"]._contexts)), k, (), ())
            for k, _ in enumerate(found.instruments)
        ]

    monkeypatch.setattr(Trial, "keys", property(from_card))
    monkeypatch.setattr(shown_numbers, "recipes", as_it_opens)
    students = ("student-0", "student-1")
    found = read_off(lab, tmp_path, students)
    declared = load(ROOT / "assignments" / lab)
    # Of a pool, each student is asked one question.
    shown_to = Counter(
        p.asked(name)
        for p in map(declared.draw, students)
        for name, item in declared.items(p).items()
        if isinstance(item, Number)
    )
    assert {each.question: each.students for each in found} == shown_to
    assert f"{lab} / {found[0].question}" in str(found[0])


def test_a_recipe_that_is_refused_shows_nothing(trial):
    context = next(iter(trial.found.names["context"]._contexts))
    slider = next(
        (k, name)
        for k, instrument in enumerate(trial.found.instruments)
        for name, control in instrument.controls.items()
        if hasattr(control, "low")
    )
    recipe = Recipe(context, slider[0], (Setting(slider[1], "far too much", lambda p: 1e99),), ())
    assert list(trial.hits(recipe)) == []
    assert "far too much" in str(recipe)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("33.3%", [("ratio", 0.333)]),
        ("2.4× of 15.5 ms", [("ratio", 2.4), ("s", 0.0155)]),
        ("571.7 TFLOPS at 150 FLOP/B", [("FLOP/s", 571.7e12), ("FLOP/B", 150)]),
        ("133,607 images, 22.6 hours", [("count", 133607), ("s", 81360)]),
        ("12.9 million", [("count", 12.9e6)]),
        ("1,450 images/s and 2400/day", [("1/s", 1450), ("1/s", 2400 / 86400)]),
        ("−4.5 s", [("s", -4.5)]),
        ("80 GB over 3.35 TB/s", [("B", 80e9), ("B/s", 3.35e12)]),
        ("fp16 of A100 never", []),
    ],
)
def test_numbers_are_read_with_their_units(text, expected):
    found = [(number.dimension, number.value) for number in numbers_in(text)]
    assert [dimension for dimension, _ in found] == [dimension for dimension, _ in expected]
    assert [v for _, v in found] == pytest.approx([v for _, v in expected])


@pytest.mark.parametrize(
    ("unit", "dimension", "size"),
    [
        ("percent", "ratio", 0.01),
        ("µs", "s", 1e-6),
        ("MB", "B", 1e6),
        ("FLOP per byte", "FLOP/B", 1.0),
        ("thousand parameters", "count", 1e3),
        ("images per second", "1/s", 1.0),
        ("trips", "count", 1.0),
    ],
)
def test_units_of_questions_are_known(unit, dimension, size):
    assert unit_of(unit) == (dimension, pytest.approx(size))


def test_a_number_is_copied_with_its_unit():
    key = NumberKey(33.3, 0.01)
    (percent,), (ratio,), (time,) = (numbers_in(t) for t in ("33.3%", "33.3", "33.3 ms"))
    assert percent.within(key, "percent")
    assert percent.exactly(key, "percent")
    assert ratio.within(key, "percent")
    assert not time.within(key, "percent")
    assert not numbers_in("33.9%")[0].within(key, "percent")
    assert not numbers_in("33%")[0].exactly(key, "percent")
    assert Counter(n.digits for n in numbers_in("1,000 and 0.012")) == {4: 1, 2: 1}
