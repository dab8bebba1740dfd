"""Many students per lab: every key is a number, every belief is told apart from it."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from unittest import mock

import pytest

from mlsys_widgets import measured
from mlsys_widgets.authoring import Course
from mlsys_widgets.authoring.text import read
from mlsys_widgets.judging import ChoiceKey, CodeKey, Given, NumberKey
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.code_keys import judge_code
from mlsys_widgets.judging.verdicts import judge
from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Code,
    Essay,
    Message,
    Myths,
    Number,
    Peek,
    Prediction,
    Quiz,
    Record,
    Reflection,
    Takeaways,
    load,
)
from mlsys_widgets.labs.asked import AUTOGRADED
from mlsys_widgets.labs.function_calls import call
from mlsys_widgets.measured import queries
from tests.labs.rehearsal import ROOT, Asked, put_examples
from tests.sampling import sample

pytestmark = pytest.mark.timeout(300)

STUDENTS = ["Ωmega öß", *(f"student-{k}" for k in range(999))]
#: How many of them the short suite looks at.
FEW = 200
#: How many students' questions are looked at; the keys are looked at for all.
SOME = 50

#: Predictions whose right option differs from student to student because the lab means it to.
ON_PURPOSE: dict[str, set[str]] = {}

#: Graded numbers that have fewer than `MANY` different keys, each with the reason.
FEW_KEYS: dict[str, str] = {
    "own_ridge_flop_per_byte": "computed from a measurement of the student's own machine",
    "own_share_pct": "computed from a measurement of the student's own machine",
}
#: What depends on a machine that differs between students, but not between those of a test.
OWN_MACHINE = {"own_ridge_flop_per_byte", "own_share_pct"}
MANY = 20
#: A decision that is the same for everybody, or nearly, may carry this much.
SAME_FOR_ALL = 2
#: How often each option of any other decision must be right.
LIVE = 0.1
#: What a neighbor's answers may earn, of all points that no person gives.
COPIED = 0.1
#: What the best constant answers may earn, in points of a hundred.
CONSTANT = 10
PAIRS = 200

#: What PHYSICS.md says the labs are about: somewhere among the keys when variants are off.
REFERENCES = {
    # Of the gaps: 10 s in days, and per watt; of the terms: 2 of 3.6 images; of the SRAM: bits.
    "lab_01_magnitude": [989_000 * 10 / 86_400, 989_000 / 7_000, 200 / 3.6003, 32 * 0.320 / 100],
    # Of the streams: five of them; of the ridge: with 88% of the bandwidth.
    "lab_07_kernel_fusion": [1.25, 16.67, 5 * 5.361, 625, 6510.4, 3.9 / 0.88, 22.45, 90.0],
    "lab_11_roofline": [31.55, 279.4, 1.832, 144],
    "lab_review_foundations": [8 * 156, 16, 192, 2.5],
}


class Swept:
    """One lab and all its keys, loaded once."""

    def __init__(self, lab, folder, students):
        self.students = students
        course = Course.at(ROOT)
        home = course.folder("assignments", lab)
        put_examples(folder, home=home)
        self.lab, self.checks, self.folder = load(home), load_checks(home), folder
        self.home = home
        _read_once(self.checks)
        with mock.patch.object(queries, "load", cache(queries.load)):
            self.everyone = {student: self._keys(self.lab.draw(student)) for student in students}
        self.default = self.lab.draw("", variants=False)
        self.plain = Asked(
            self.lab, self.default, self.lab.items(self.default), self._keys(self.default)
        )

    def _keys(self, p):
        given = Given(p, self.folder)
        return {name: check(given) for name, check in self.checks.items()}

    def keys(self, kind):
        """Student, answer and key, of one kind."""
        for student, keys in self.everyone.items():
            for name, key in keys.items():
                if isinstance(key, kind):
                    yield student, name, key


def _read_once(checks):
    """A measurement beside the notebook is the same for everybody."""
    for check in checks.values():
        for name, value in list(check.__globals__.items()):
            if value is measured.load:
                check.__globals__[name] = cache(measured.load)


@pytest.fixture(scope="session")
def sweeps(tmp_path_factory):
    known = {}

    def sweep(lab, many):
        if (lab, many) not in known:
            folder = tmp_path_factory.mktemp(f"sweep_{lab}")
            known[lab, many] = Swept(lab, folder, STUDENTS[:many])
        return known[lab, many]

    return sweep


@pytest.fixture(params=[FEW, pytest.param(len(STUDENTS), marks=pytest.mark.slow)])
def swept(sweeps, lab, request):
    return sweeps(lab, request.param)


def apart(key, one, other):
    """Whether no answer could stand for both."""
    reach = max(key.tolerance * abs(one), key.absolute) + max(
        key.tolerance * abs(other), key.absolute
    )
    return abs(one - other) >= min(reach, 2 * key.tolerance * abs(one) + 2 * key.absolute)


def test_every_key_and_belief_is_a_finite_number(swept):
    wrong = {
        (name, student)
        for student, name, key in swept.keys(NumberKey)
        if not all(math.isfinite(v) for v in (key.value, *(float(b.value) for b in key.beliefs)))
    }
    assert not wrong


def test_no_belief_is_as_good_as_the_key(swept):
    wrong = {}
    for student, name, key in swept.keys(NumberKey):
        for belief in key.beliefs:
            if key.reaches(key.value, belief.value) or key.reaches(belief.value, key.value):
                wrong.setdefault((name, belief.name), (student, key.value, belief.value))
    assert not wrong


def test_beliefs_are_told_apart(swept):
    wrong = {}
    for student, name, key in swept.keys(NumberKey):
        for one, other in combinations(key.beliefs, 2):
            if key.reaches(one.value, other.value) or key.reaches(other.value, one.value):
                wrong.setdefault((name, one.name, other.name), (student, one.value, other.value))
    assert not wrong


def test_beliefs_are_told_apart_from_the_key_by_rounding_too(swept):
    """Somebody who rounds on both sides must still be recognized."""
    wrong = {}
    for student, name, key in swept.keys(NumberKey):
        for belief in key.beliefs:
            if not apart(key, key.value, float(belief.value)):
                wrong.setdefault((name, belief.name), (student, key.value, belief.value))
    assert not wrong


def test_functions_are_right_or_known(swept):
    """The one of the key earns everything, and that of each belief is recognized as this one."""
    different = {(each[1], repr(each[2])): each for each in swept.keys(CodeKey)}
    for student, name, key in sample(list(different.values()), 1):
        function = swept.plain.items[name].function
        sources = {None: key.value, **{each.name: each.value for each in key.beliefs}}
        for belief, source in sources.items():
            verdict = judge_code(
                key, [call(source, function, case, key.driver) for case in key.cases]
            )
            assert verdict.belief == belief, (name, student)
            assert verdict.right is (belief is None), (name, student)


@pytest.mark.usefixtures("read_once")
def test_the_decimals_that_are_said_to_be_enough_are_enough(swept):
    said = ("A whole number is", "One decimal is", "Two decimals are", "Three decimals are")
    wrong = {}
    for student, keys in swept.everyone.items():
        for name, item in swept.lab.items(swept.lab.draw(student)).items():
            for decimals, words in enumerate(said):
                if isinstance(item, Number) and f"{words} enough" in item.ask:
                    key = keys[name]
                    if not key.reaches(key.value, round(key.value, decimals)):
                        wrong.setdefault(name, (student, words, key.value))
    assert not wrong


def test_every_number_knows_three_beliefs_at_least(swept):
    few = {
        name: len(swept.plain.keys[name].beliefs)
        for name in swept.plain.of(Number)
        if len(swept.plain.keys[name].beliefs) < 3
    }
    assert not few


def test_every_belief_has_a_name_and_a_sentence_of_its_own(swept):
    for name in swept.plain.graded:
        beliefs = swept.plain.keys[name].beliefs
        for words in ([b.name for b in beliefs], [b.says for b in beliefs]):
            assert len(set(words)) == len(words), f"{name}: two beliefs say the same"
            assert all(each == each.strip() and each for each in words)
        assert all(b.says.endswith((".", "!", "?", ".”", ".)")) for b in beliefs), name


def test_every_wrong_option_has_a_belief(swept):
    for name, item in swept.plain.of(Choice).items():
        key = swept.plain.keys[name]
        assert key.value in item.options, name
        held = [belief.value for belief in key.beliefs]
        assert sorted([*held, key.value]) == sorted(item.options), name


def test_what_a_prediction_finds_is_the_same_for_everybody(swept, lab):
    found = defaultdict(set)
    predictions = swept.plain.of(Prediction)
    for _, name, key in swept.keys(ChoiceKey):
        if name in predictions:
            found[name].add(key.value)
    assert {name for name, values in found.items() if len(values) > 1} == ON_PURPOSE.get(lab, set())


def test_predictions_name_what_the_checks_find(swept):
    for name, item in swept.plain.of(Prediction).items():
        key = swept.plain.keys[name]
        if item.options:
            assert key.value in item.options, name
            assert item.answer in (None, key.value), name
        else:
            assert item.low <= key.value <= item.high, name


def test_every_number_has_many_keys(swept):
    """A copied number is wrong for nearly everybody else."""
    found = defaultdict(set)
    for _, name, key in swept.keys(NumberKey):
        found[name].add(f"{float(key.value):.3g}")
    # Among a few students not every key has had its turn.
    least = MANY if len(swept.students) == len(STUDENTS) else 0.75 * MANY
    few = {
        name: len(found[name])
        for name in swept.plain.of(Number)
        if len(found[name]) < least and name not in FEW_KEYS
    }
    assert not few, f"different keys of {len(swept.students)} students: {few}"


def test_every_option_of_a_decision_is_right_for_somebody(swept):
    """Students' own numbers decide; where the truth is one for all, it carries little."""
    found = defaultdict(Counter)
    for _, name, key in swept.keys(ChoiceKey):
        found[name][key.value] += 1
    everybody = len(swept.students)
    least = LIVE if everybody == len(STUDENTS) else 0.7 * LIVE
    wrong = {
        name: {option: found[name][option] / everybody for option in item.options}
        for name, item in swept.plain.of(Choice).items()
        if item.points > SAME_FOR_ALL
        and min(found[name][option] for option in item.options) < least * everybody
    }
    assert not wrong, wrong


def drawn(swept):
    """The graded answers that depend on drawn parameters alone; a rule is the same for all."""
    return {
        name: item
        for name, item in swept.plain.graded.items()
        if name not in OWN_MACHINE and not isinstance(item, Code)
    }


def test_what_a_neighbors_answers_earn(swept, lab, capsys):
    """Two students who sit side by side, two hundred times."""
    items = drawn(swept)
    all_points = sum(i.points for i in swept.plain.items.values() if isinstance(i, AUTOGRADED))
    chance = random.Random(lab)
    earned = Counter()
    for _ in range(PAIRS):
        owner, copyist = chance.sample(swept.students, 2)
        for name, item in items.items():
            verdict = judge(swept.everyone[copyist][name], swept.everyone[owner][name].value)
            earned[name] += verdict.credit * item.points / PAIRS
    mean = sum(earned.values())
    most = ", ".join(f"{name} {points:.1f}" for name, points in earned.most_common(5))
    with capsys.disabled():
        print(f"\n{lab}: a neighbor's answers earn {mean:.1f} of {all_points:g} ({most})")
    assert mean <= COPIED * all_points, f"{mean:.1f} of {all_points:g} points: {most}"


def best_constants(swept):
    """For each answer, the constant that earns most over a class, and what it earns."""
    people = swept.students[:100]
    best = {}
    for name, item in drawn(swept).items():
        keys = [swept.everyone[student][name] for student in people]
        if isinstance(item, Choice):
            tried = set(item.options)
        else:
            values = [v for k in keys[:25] for v in (k.value, *(b.value for b in k.beliefs))]
            tried = {float(f"{float(v):.3g}") for v in values}
        mean, value = max(
            (sum(judge(key, each).credit for key in keys) / len(keys), str(each)) for each in tried
        )
        best[name] = (mean * item.points, value)
    return best


def test_what_the_best_constant_answers_earn(swept, lab, capsys):
    """The same answers handed in by everybody, each the one that earns most over the class."""
    best = best_constants(swept)
    total = sum(points for points, _ in best.values())
    ranked = sorted(best.items(), key=lambda pair: -pair[1][0])[:6]
    most = ", ".join(f"{name} = {value} {points:.1f}" for name, (points, value) in ranked)
    with capsys.disabled():
        print(f"\n{lab}: the best constant answers earn {total:.1f} points ({most})")
    assert total < CONSTANT, f"{total:.1f} points: {most}"


def test_exceptions_name_graded_numbers(swept):
    """An exception that no lab needs any longer is removed; checked once, over all labs."""
    known = {
        name
        for each in Course.at(ROOT).root.glob("assignments/*/asks.py")
        for name in load(each.parent)._asks
    }
    assert OWN_MACHINE | set(FEW_KEYS) <= known
    assert all(len(reason.split()) > 3 for reason in FEW_KEYS.values())


def test_questions_show_the_students_own_numbers(swept):
    """Students with other numbers read other questions."""
    asks = defaultdict(set)
    for student in swept.students[:SOME]:
        for name, item in swept.lab.items(swept.lab.draw(student)).items():
            if isinstance(item, Number):
                asks[name].add(item.ask)
    drawn = [name for name, words in asks.items() if len(words) > 3]
    assert len(drawn) >= len(asks) / 2


def test_reference_values(swept, lab):
    keys = [float(k.value) for k in swept.plain.keys.values() if isinstance(k, NumberKey)]
    for wanted in REFERENCES.get(lab, ()):
        assert any(key == pytest.approx(wanted, rel=2e-3) for key in keys), (wanted, keys)


def test_points_are_a_hundred_and_most_for_numbers_and_decisions(swept):
    points = swept.lab.points(swept.default)
    assert sum(points.values()) == 100
    typed = sum(points[name] for name in swept.plain.graded)
    records = sum(points[name] for name in swept.plain.of(Record))
    essays = sum(points[name] for name in swept.plain.of(Essay))
    assert typed > 50
    assert 0 < records <= 25
    assert essays > 0
    for student in swept.students[:10]:
        assert swept.lab.points(swept.lab.draw(student)) == points


def test_a_lab_has_all_its_parts(swept, lab):
    written = read(swept.home / "lab.py")
    kinds = [each.kind for each in written]
    cards = {each.name for each in written if each.kind == "card"}
    shown = "\n".join(each.body for each in written if each.kind in ("show", "instrument"))
    placed = cards | {w.name for w in written if w.kind in ("answer", "essay", "record")}
    items = swept.plain.items
    assert set(items) - placed == set(), "asked and never shown"
    assert len(swept.lab.acts) >= 2
    assert swept.plain.of(Message)
    assert swept.plain.of(Takeaways)
    assert "lab.hud(" in shown
    assert "lab.context(" in shown
    revealed = {each.name for each in written if each.kind == "reveal"}
    whole = []
    for act in range(1, len(swept.lab.acts) + 1):
        of_act = {name: item for name, item in items.items() if item.act == act}
        thought = Reflection | Quiz | Myths | Checklist
        wanted = (Prediction, Number | Choice, thought, Peek)
        whole += [all(any(isinstance(i, kind) for i in of_act.values()) for kind in wanted)]
        predictions = {name for name, item in of_act.items() if isinstance(item, Prediction)}
        assert predictions <= revealed, f"act {act} never reveals what was predicted"
    assert whole.count(True) >= 2, "two acts need prediction, answer, reflection and math"
    assert kinds.count("instrument") >= len(swept.lab.acts)
    recorded = {each for record in swept.plain.of(Record).values() for each in record.of}
    assert set(swept.plain.of(Prediction)) <= recorded
    if "design" in kinds:
        assert "design" in recorded
    else:
        assert lab == "lab_review_foundations", "only the review ends without a design"


def test_everything_waits_for_something_that_exists(swept):
    for name, item in swept.plain.items.items():
        assert set(item.after) <= set(swept.plain.items), name
        order = list(swept.plain.items)
        assert all(order.index(each) < order.index(name) for each in item.after), name
