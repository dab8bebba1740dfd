"""Options are in an order of each student's own, unless they form a scale."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from mlsys_widgets.grading.judging.student_view import student_view
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import (
    Choice,
    Item,
    Lab,
    Parameters,
    Prediction,
    Question,
    Quiz,
    Reflection,
    load,
)
from mlsys_widgets.labs.option_order import drawn_order, in_drawn_order, scale
from tests.labs.rehearsal import ROOT, put_examples

STUDENTS = [f"student-{k}" for k in range(400)]
OPTIONS = {"w": "its arithmetic", "x": "its memory", "y": "its launches", "z": "its cables"}
SEEDS = [f"{k}" for k in range(400)]


def test_every_option_stands_everywhere_about_as_often():
    orders = [tuple(drawn_order(OPTIONS, "limit", seed)) for seed in SEEDS]
    assert len(set(orders)) == math.factorial(4)
    for place in range(4):
        even([order[place] for order in orders], 4)


def even(found: list[Any], many: int) -> None:
    """Nothing is there more often than chance makes it: five standard deviations at most."""
    counts, share = Counter(found), 1 / many
    slack = 5 * math.sqrt(len(found) * share * (1 - share))
    assert len(counts) == many
    assert max(abs(n - len(found) * share) for n in counts.values()) < slack, counts


def test_two_items_of_a_student_have_orders_of_their_own():
    same = sum(
        tuple(drawn_order(OPTIONS, "one", seed)) == tuple(drawn_order(OPTIONS, "two", seed))
        for seed in SEEDS
    )
    assert same < 400 / 24 + 5 * math.sqrt(400 / 24)


@pytest.mark.parametrize(
    ("options", "values", "order"),
    [
        ({"a": "about 90%", "b": "about 5%", "c": "about 50%"}, None, "bca"),
        ({"a": "5×", "b": "3×", "c": "10 to 20×"}, None, "bac"),
        ({"a": "about 1,000", "b": "10 million", "c": "2.5 thousand"}, None, "acb"),
        ({"a": "most", "b": "hardly any"}, {"a": 0.9, "b": 0.05}, "ba"),
    ],
)
def test_a_scale_rises(options, values, order):
    assert {"".join(drawn_order(options, "n", seed, values)) for seed in SEEDS[:20]} == {order}


def test_what_is_about_the_others_comes_last():
    options = {"none": "none of these: it must shrink", **OPTIONS}
    orders = [list(drawn_order(options, "limit", seed)) for seed in SEEDS[:20]]
    assert {order[-1] for order in orders} == {"none"}
    assert len({order[0] for order in orders}) > 1


def test_numbers_within_options_are_no_scale():
    assert scale({"core": "a core 3 times as fast", "flash": "a flash 9 times as fast"}) is None
    assert scale({"a": "5", "b": "many"}) is None


@pytest.fixture
def asked() -> Lab:
    lab = Lab("x", title="X", chapter=0, acts=())
    made: dict[str, Item] = {
        "guess": Prediction("Which?", OPTIONS, answer="x"),
        "why": Reflection("Why?", OPTIONS, right="x"),
        "gap": Reflection("It is {what}.", blanks={"what": OPTIONS}, right={"what": "x"}),
        "limit": Choice("What?", OPTIONS, points=1),
        "level": Choice("Where?", OPTIONS, points=1, ordered=True),
        "quiz": Quiz([Question("q", "Which?", OPTIONS, right="x")]),
    }
    for name, item in made.items():

        def asks(_p: Parameters, item: Item = item) -> Item:
            return item

        asks.__name__ = name
        lab.asks(asks)
    return lab


def shown(items: Mapping[str, Item]) -> dict[str, tuple[str, ...]]:
    """The keys of all options, in order."""
    return {name: tuple(options) for name, options, _ in choices(items)}


def choices(items: Mapping[str, Item]) -> Iterator[tuple[str, Mapping[str, str], Any]]:
    """Name, options and the right one (`None` if a check knows it) of all that is chosen."""
    for name, item in items.items():
        match item:
            case Prediction() | Choice() if item.options:
                yield name, item.options, None
            case Reflection() if item.options:
                yield name, item.options, item.right
            case Reflection() if item.blanks:
                for gap, options in item.blanks.items():
                    yield f"{name}.{gap}", options, item.right[gap]
            case Quiz():
                for kept, each in zip(item.ledger_names(name), item.questions, strict=True):
                    yield kept, each.options, each.right


def test_whoever_grades_draws_the_same_order_and_a_neighbor_another(asked):
    ann, again, ben = (shown(asked.items(asked.draw(who))) for who in ("ann", "ann", "ben"))
    assert ann == again
    assert ann["level"] == ben["level"] == tuple(OPTIONS)
    differ = [name for name in ann if name != "level"]
    assert any(ann[name] != ben[name] for name in differ)
    assert len({ann[name] for name in differ}) > 1
    assert all(set(keys) == set(OPTIONS) for keys in ann.values())


def test_without_variants_everybody_has_one_order(asked):
    ann, ben = (shown(asked.items(asked.draw(who, variants=False))) for who in ("ann", "ben"))
    assert ann == ben
    assert any(keys != tuple(OPTIONS) for keys in ann.values())


def test_a_ta_sees_the_options_as_the_student_saw_them():
    home = ROOT / "assignments" / "lab_11_roofline"
    lab = load(home)
    limit = lab.items(lab.draw("ann"))["first_limit"]
    (told,) = (ask for name, ask, _ in student_view(home, "ann").questions if name == "first_limit")
    rows = told.splitlines()[-3:]
    pairs = zip("ABC", limit.options.items(), strict=True)
    assert rows == [f'  {letter}. {words} ("{key}")' for letter, (key, words) in pairs]


# The labs of this repository.


@cache
def written(lab: str) -> tuple[Lab, dict[str, Item]]:
    """A lab and what it asks with the usual numbers, options as they are written."""
    declared = load(ROOT / "assignments" / lab)
    usual = Parameters(dict(declared.draw("", variants=False)))
    return declared, declared.items(usual)


def test_the_right_option_stands_everywhere_about_as_often(lab, tmp_path):
    declared, items = written(lab)
    put_examples(tmp_path, home=ROOT / "assignments" / lab)
    checks, usual = load_checks(ROOT / "assignments" / lab), declared.draw("", variants=False)
    seeds = [declared.draw(student).order_seed for student in STUDENTS]
    for name, options, told in choices(items):
        of = name.partition(".")[0]
        item = items[of]
        if getattr(item, "ordered", False) or scale(options, getattr(item, "values", None)):
            continue
        right = told or checks[name](Given(usual, tmp_path)).value
        orders = [shown({of: in_drawn_order(item, of, seed)})[name] for seed in seeds]
        last = any(re.match("(none|all|any) of", each, re.I) for each in options.values())
        even([order.index(right) for order in orders], len(options) - last)


_BY_PLACE = re.compile(
    r"\b[Oo]ptions? [A-E]\b|\b(?:first|second|third|fourth|last) (?:option|answer)\b"
    r"|\b[Aa]nswer [A-E]\b|\boptions? (?:above|below)\b"
)


def test_no_text_speaks_of_the_place_of_an_option(lab):
    for name in ("asks.py", "checks.py", "lab.py"):
        text = (ROOT / "assignments" / lab / name).read_text("utf-8")
        assert not _BY_PLACE.findall(re.sub(r'"\s*\n\s*f?"', "", text))
