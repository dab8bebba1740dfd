"""Which act a cell's minutes belong to, and that each part of our labs fits into a class."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import Course, labs_of
from mlsys_widgets.authoring.act_minutes import lab_minutes, with_deeper
from mlsys_widgets.authoring.text import LabCell, read
from mlsys_widgets.files import LAB_TEXT
from mlsys_widgets.labs import Essay, Message, Number, load
from mlsys_widgets.labs.lab_minutes import (
    RATES,
    WORDS_PER_MINUTE,
    item_minutes,
)
from tests.conftest import ROOT

ITEMS = {
    "opening": Message("Ada", "CTO", "Hi", "Help."),
    "first": Number("How many?", "ms", points=1, act=1),
    "second": Number("How many?", "ms", points=1, act=2),
    "reply": Essay("Why?", [(1, "says why")]),
}
NUMBER = item_minutes(ITEMS["first"])
#: A part that takes longer than this does not fit into a class.
CLASS_MINUTES = 50
#: The core of a lab takes no longer than this, with all that opens and closes it.
CORE_MINUTES = 45


def prose(body):
    return LabCell("prose", "", body)


def answer(name):
    return LabCell("answer", name, f"{name} = 1")


END = prose("## End")
INSTRUMENT = LabCell("instrument", "A roofline", "RooflineWidget()")


def counted(*cells):
    minutes = lab_minutes(ITEMS, cells)
    core, deeper = (
        [(each.act, pytest.approx(each.minutes)) for each in parts]
        for parts in (minutes.sittings, minutes.deeper)
    )
    return core, deeper


def words(n):
    return n / WORDS_PER_MINUTE


def test_a_section_belongs_to_the_act_of_its_items():
    found, deeper = counted(
        prose("# Title"),
        LabCell("setup", "", "import x"),
        LabCell("card", "opening", ""),
        prose("## Act one"),
        INSTRUMENT,
        answer("first"),
        prose("### More"),
        prose("## Act two"),
        answer("second"),
        LabCell("reveal", "second", "lab.reveal()"),
        prose("## Words"),
        LabCell("essay", "reply", "Because."),
        LabCell("design", "", "lab.design({})"),
        LabCell("show", "HUD", "lab.hud()"),
    )
    opening, essay = item_minutes(ITEMS["opening"]), item_minutes(ITEMS["reply"])
    assert found == [
        (
            1,
            words(2)
            + RATES["cover"]
            + opening
            + words(3)
            + RATES["instrument"]
            + NUMBER
            + words(2),
        ),
        (2, words(3) + NUMBER + RATES["reveal"] + RATES["own words"]),
        (0, words(2) + essay + RATES["design"] + RATES["shown"]),
    ]
    assert deeper == []


def test_a_section_between_two_of_an_act_belongs_to_it_and_one_after_all_to_none():
    between = prose("## Between\n\nthree words here")
    cells = [answer("first"), between, prose("## Two"), answer("first"), END, INSTRUMENT]
    assert counted(*cells)[0] == [
        (1, 2 * NUMBER + words(7)),
        (0, words(2) + RATES["instrument"]),
    ]


def test_a_short_rest_is_part_of_the_last_act():
    assert counted(answer("first"), END)[0] == [(1, NUMBER + words(2))]


def test_a_template_counts_as_one_word():
    assert counted(prose("It has {{ q(devices['h100-sxm'].ridge(), 'FLOP/B') }} now."))[0] == [
        (0, words(4))
    ]


@pytest.mark.parametrize("heading", ["### Time for a break", "## A break", "### Take a break?"])
def test_a_break_begins_another_sitting_of_the_act(heading):
    parts, _ = counted(answer("first"), prose(heading), answer("first"), END)
    assert [act for act, _ in parts] == [1, 1]


@pytest.mark.parametrize("title", ["When does it break even?", "A break-even", "Graph breaks"])
def test_what_breaks_even_is_no_break(title):
    assert len(counted(answer("first"), prose(f"### {title}"), INSTRUMENT)[0]) == 1


def test_a_break_after_the_acts_splits_the_rest():
    end = [END, INSTRUMENT, prose("### Time for a break"), INSTRUMENT]
    assert [act for act, _ in counted(answer("first"), *end)[0]] == [1, 0, 0]


def test_what_is_deeper_is_counted_apart_until_the_next_heading_of_its_level():
    cells = [
        answer("first"),
        LabCell("deeper", "", "### Deeper: energy"),
        INSTRUMENT,
        prose("#### Even deeper"),
        answer("second"),
        prose("### Back"),
        INSTRUMENT,
        LabCell("deeper", "", "## Deeper: words"),
        LabCell("essay", "reply", "Because."),
    ]
    core, deeper = counted(*cells)
    assert core == [(1, NUMBER + words(2) + RATES["instrument"])]
    assert deeper == [
        (2, words(3 + 3) + RATES["instrument"] + NUMBER),
        (0, words(3) + item_minutes(ITEMS["reply"])),
    ]
    assert [d for _, d in with_deeper(cells)] == [
        False, True, True, True, True, False, False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("name", labs_of(Course.at(ROOT)))
def test_the_core_of_our_labs_fits_into_a_class_and_so_does_each_deeper_part(name):
    folder = ROOT / "assignments" / name
    lab = load(folder)
    assert lab.minutes is None, "our own labs promise what is counted"
    cells = list(read(folder / LAB_TEXT))
    found = lab_minutes(lab.items(lab.draw("", variants=False)), cells)
    said = ", ".join(f"act {each.act or '–'}: {each.minutes:.0f}" for each in found.sittings)
    core = sum(each.minutes for each in found.sittings)
    assert core <= CORE_MINUTES, f"the core of {name} takes {core:.2f} minutes ({said})"
    assert found.total <= CORE_MINUTES
    for each in (*found.sittings, *found.deeper):
        assert each.minutes <= CLASS_MINUTES, f"{each} of {name} does not fit into a class"
    # Every act is there, if only beyond the core.
    acts = {each.act for each in (*found.sittings, *found.deeper)}
    assert acts - {0} == set(range(1, len(lab.acts) + 1))


def test_what_opens_and_closes_a_lab_is_counted():
    setup, shown = LabCell("setup", "", "import math"), LabCell("show", "Context", "context")
    around = RATES["cover"] + 2 * RATES["shown"]
    cells = [setup, shown, answer("first"), shown]
    assert counted(*cells)[0] == [(1, around + NUMBER)]


def test_a_comparison_has_room_for_a_sentence_of_ones_own():
    reveal = LabCell("reveal", "guess", "lab.reveal('guess')")
    own = RATES["reveal"] + RATES["own words"]
    assert counted(answer("first"), reveal)[0] == [(1, NUMBER + own)]
