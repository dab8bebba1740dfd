"""Nothing on the screen tells an answer before the student has committed one.

Each lab is walked in order. Before each prediction and each graded answer, everything that can be
read is searched for the answer: its number with its unit, or the words that set the right option
apart from the others. What holds for one student only is an accident and no telling.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import pytest

from mlsys_widgets.judging import ChoiceKey, NumberKey
from mlsys_widgets.labs import Choice, Number, Prediction, Takeaways
from tests.labs.lab_walk import LabWalk
from tests.labs.opened_lab import open_lab_of
from tests.labs.shown_numbers import Shown, numbers_in, unit_of

pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("read_once")]

STUDENTS = [f"student-{k}" for k in range(5)]
#: For how many of them a text must tell the answer.
MOST = 4
#: How close a number must be to a predicted one to tell it.
CLOSE = 0.02

#: What looks like telling and is not: item and place, with the reason.
NOT_TELLING: dict[tuple[str, str], str] = {}

#: Words that set nothing apart.
_COMMON = frozenset(re.findall(r"\w+", """
about after again against all also always and another any are around because been before being
beside between both but can cannot could each enough every few first for from get gets has have
having here how into its itself just keep kept large larger last least less like long longer
made make makes many more most much must nearly need needs never next none not nothing now once
one only onto other others over own part per rather right same set should since small smaller
some still such take takes than that the their them then there these they this those three time
times too two under until very was were what when where which while who whole will with within
without would you your
"""))  # fmt: skip


@lru_cache(65536)
def words_of(text: str) -> frozenset[str]:
    """The words of a text that say something, without their endings."""
    found = re.findall(r"[a-zµη]{3,}[a-z0-9.]*", text.lower())
    return frozenset(re.sub(r"(?:ing|ed|es|s)$", "", w) for w in found if w not in _COMMON)


@lru_cache(65536)
def sentences(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"(?<=[.!?;:])\s+|\n+", text))


def distinguishing(question: str, options: dict[str, str], right: str) -> frozenset[str]:
    """The words that only the right option has."""
    others = " ".join(words for key, words in options.items() if key != right)
    return words_of(options[right]) - words_of(others) - words_of(question)


def tells_words(wanted: frozenset[str], text: str) -> str:
    """The sentence of a text that says what sets the right option apart; empty if none does."""
    if len(wanted) < 2:
        return ""
    need = len(wanted) if len(wanted) < 4 else 0.75 * len(wanted)
    found = (s for s in sentences(text) if " = " not in s and len(wanted & words_of(s)) >= need)
    return next(found, "")


def tells_number(value: float, unit: str, tolerance: float, absolute: float, text: str) -> str:
    """The number of a text that is the answer, with its unit; empty if none is."""
    dimension, size = unit_of(unit) if unit else ("count", 1.0)
    allowed = max(tolerance * abs(value), absolute)
    for shown in numbers_in(text):
        if shown.dimension != dimension or abs(shown.value / size - value) > allowed:
            continue
        if dimension != "count" or (shown.digits > 1 and _counts(shown, unit, text)):
            return shown.words
    return ""


def _counts(shown: Shown, unit: str, text: str) -> bool:
    """Whether a number counts the same things: 8 images are not 8 kernels."""
    noun = unit.rsplit(maxsplit=1)[-1].rstrip("s") if unit else ""
    return bool(noun) and bool(re.search(rf"{re.escape(shown.words)}\s+(?:\w+\s+)?{noun}", text))


def telling(item, key, text: str) -> str:
    """What in a text tells the answer to an item; empty if nothing does."""
    if isinstance(item, Number):
        assert isinstance(key, NumberKey)
        return tells_number(float(key.value), item.unit, key.tolerance, key.absolute, text)
    if isinstance(key, NumberKey):
        # A prediction is kept in SI units, and a percentage as a fraction.
        unit = "×" if item.unit == "%" else item.unit
        return tells_number(float(key.value), unit, max(key.tolerance, CLOSE), 0.0, text)
    assert isinstance(key, ChoiceKey)
    asked = item.question if isinstance(item, Prediction) else item.ask
    found = tells_words(distinguishing(asked, dict(item.options), key.value), text)
    if not found and isinstance(item, Prediction) and item.values:
        unit = "×" if item.unit == "%" else item.unit
        found = tells_number(float(item.values[key.value]), unit, CLOSE, 0.0, text)
    return found


def test_no_text_tells_an_answer_before_it_is_committed(lab, tmp_path):
    told = Counter()
    said = {}
    for k, student in enumerate(STUDENTS):
        walk = LabWalk.of(lab, student, tmp_path / str(k))
        for name, item in walk.commitments():
            if name not in walk.asked.keys:
                continue
            for place, text in walk.screen(but=name):
                if found := telling(item, walk.asked.keys[name], text):
                    told[name, place] += 1
                    said[name, place] = f"{found!r} in “{' '.join(text.split())[:200]}”"
    wrong = [
        f"{lab} / {name} / {place}: {said[name, place]}"
        for (name, place), count in told.items()
        if count >= MOST and (name, place) not in NOT_TELLING
    ]
    assert not wrong, "\n".join(wrong)


def test_takeaways_open_when_every_prediction_of_the_core_is_sealed(lab, tmp_path):
    """A walk goes down the page, and sees no card that opens early further down."""
    made = open_lab_of(lab, STUDENTS[0], tmp_path).lab.lab
    items = made.items(made.draw(STUDENTS[0]))

    def before(name: str) -> set[str]:
        direct = items[name].after
        return set(direct).union(*map(before, direct))

    sealed = {
        name
        for name, item in items.items()
        if isinstance(item, Prediction) and name not in made.deeper
    }
    for name, item in items.items():
        if isinstance(item, Takeaways) and name.endswith("takeaways"):
            assert sealed <= before(name), sealed - before(name)


def test_a_walk_commits_everything_and_opens_all(lab, tmp_path):
    walk = LabWalk.of(lab, STUDENTS[0], tmp_path / "x")
    seen = [name for name, _ in walk.commitments()]
    wanted = [n for n, i in walk.asked.items.items() if isinstance(i, Prediction | Number | Choice)]
    assert sorted(seen) == sorted(wanted)
    assert all(not instrument.locked for instrument in walk.found.instruments)
    assert set(walk.reveals) == {cell.name for cell in walk.cells if cell.kind == "reveal"}
    places = {place.split()[0] for place, _ in walk.screen(but="")}
    assert places == {"prose", "card", "reveal", "instrument"}


OPTIONS = {
    "A": "launches wait for the kernel before them",
    "B": "launches run ahead and kernels queue on the device",
}


def test_words_that_set_an_option_apart():
    found = distinguishing("How are kernels launched?", OPTIONS, "B")
    assert "queue" in found
    assert "kernel" not in found
    assert tells_words(found, "Today is fine. On this device they run ahead, in a queue.")
    assert not tells_words(found, "They run ahead. The device has a queue.")
    assert not tells_words(frozenset({"queue"}), "There is a queue.")


@pytest.mark.parametrize(
    ("item", "key", "telling_text", "harmless"),
    [
        (
            Number("How busy?", "percent", points=1),
            NumberKey(33.3, 0.01),
            "The GPU computes 33.4% of the time.",
            "It takes 33.3 ms.",
        ),
        (
            Number("How many?", "images", points=1),
            NumberKey(133_607, 0.01),
            "After 133,607 images it pays.",
            "After 133,607 tokens it pays.",
        ),
        (
            Prediction("How busy?", {"A": "a half", "B": "a third"}, values={"A": 0.5, "B": 0.333},
                       unit="%"),
            ChoiceKey("B"),
            "It computes 33.3 % of the time.",
            "It computes 50 % of the time.",
        ),
        (
            Prediction("How busy?", unit="%", low=0, high=1),
            NumberKey(0.39, 0.02),
            "busy: 39.2%",
            "busy: 44%",
        ),
        (
            Choice("How are kernels launched?", {k.lower(): v for k, v in OPTIONS.items()}, 1),
            ChoiceKey("b"),
            "They run ahead, and the device keeps them in a queue.",
            "Kernels wait.",
        ),
    ],
)  # fmt: skip
def test_what_tells_an_answer(item, key, telling_text, harmless):
    assert telling(item, key, telling_text)
    assert not telling(item, key, harmless)


def test_exceptions_have_reasons():
    assert all(len(reason.split()) > 3 for reason in NOT_TELLING.values())
