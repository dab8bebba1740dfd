"""Minutes on a cover come from a count, and the count from a stated table."""

from __future__ import annotations

import re

import pytest

from mlsys_widgets.labs import (
    Checklist,
    Choice,
    Code,
    Essay,
    Game,
    Measurement,
    Message,
    Myth,
    Myths,
    Number,
    Peek,
    Prediction,
    Question,
    Quiz,
    Record,
    Reflection,
    Takeaways,
)
from mlsys_widgets.labs.lab_minutes import (
    RATES,
    WORDS_PER_MINUTE,
    LabMinutes,
    Sitting,
    in_steps,
    item_minutes,
    reading,
)
from tests.labs.rehearsal import ROOT

TEN = "one two three four five six seven eight nine ten"
PAGE = "docs/authors/time_on_a_lab.md"


def words(n):
    return n / WORDS_PER_MINUTE


@pytest.mark.parametrize(
    ("item", "minutes"),
    [
        (Message("Ada", "CTO", "Hi", TEN, task="go on"), words(15)),
        (Message("Ada", "CTO", "Hi", TEN, in_context={"cloud": "a b", "edge": TEN}), words(19)),
        (Prediction(TEN, {"A": "a b", "B": "c"}, title="t", answer="A"), words(14)),
        (Number(TEN, "ms", points=1, title="t"), words(11)),
        (Choice(TEN, {"a": "a b", "b": "c"}, points=1, title="t"), words(14)),
        (Reflection(TEN, {"a": "a b", "b": "c"}, right="a", title="t"), words(14)),
        (Essay(TEN, [(1, "a b c")], title="t"), words(14)),
        (Code(TEN, "f()", [], points=1, title="t"), words(11)),
        (Measurement(TEN, title="t"), words(11)),
        (Takeaways([("a", "b c")], ahead="d", title="t"), words(5)),
        (Peek("$x$"), 0),
        (Record(["x"], points=1), 0),
    ],
)
def test_words_are_read_and_then_something_is_done(item, minutes):
    kinds = {
        Prediction: "prediction", Number: "number", Choice: "choice", Reflection: "reflection",
        Essay: "essay", Code: "code", Measurement: "measurement", Peek: "equations",
    }  # fmt: skip
    done = RATES[kinds[type(item)]] if type(item) in kinds else 0
    assert item_minutes(item) == pytest.approx(minutes + done)


def test_of_feedback_one_option_is_read():
    said = {"A": TEN, "B": " ".join([TEN] * 3)}
    asked = Prediction("q", {"A": "a", "B": "b"}, title="t", answer="A")
    told = Prediction("q", {"A": "a", "B": "b"}, title="t", answer="A", feedback=said)
    assert item_minutes(told) - item_minutes(asked) == pytest.approx(words(20))
    gaps = Reflection("It is {x}.", blanks={"x": {"a": "b", "c": "d"}}, right={"x": "a"}, title="t")
    assert item_minutes(gaps) == pytest.approx(words(6) + RATES["reflection"])


def test_quizzes_claims_and_skills_count_one_by_one():
    question = Question("k", "a b", {"a": "x", "b": "y"}, right="a", why="z")
    quiz = Quiz([question, Question("l", "a b", {"a": "x", "b": "y"}, right="a", why="z")])
    assert item_minutes(quiz) == pytest.approx(words(10) + 2 * RATES["quiz question"])
    myths = Myths([Myth("k", "a b", "c d e")])
    assert item_minutes(myths) == pytest.approx(words(5) + RATES["claim"])
    skills = Checklist({"a": "b c", "d": "e"}, [(0, "low", "again"), (2, "high", "well")])
    assert item_minutes(skills) == pytest.approx(words(3) + 2 * RATES["skill"])


def test_a_policy_takes_longer_than_a_function_of_a_few_lines():
    policy = Code(TEN, "f()", [], points=1, title="t", game=Game("", lambda decided: decided))
    assert item_minutes(policy) == pytest.approx(words(11) + RATES["policy"])


def test_longer_texts_take_longer():
    assert reading("a b c", "d") == words(4)
    assert item_minutes(Number("a b", "ms", points=1)) < item_minutes(Number(TEN, "ms", points=1))


def test_an_act_with_a_break_names_both_parts():
    minutes = LabMinutes((Sitting(1, 31), Sitting(2, 38), Sitting(2, 27)))
    assert minutes.of_act(2) == "about 40 and 25 minutes, with a break between"
    assert minutes.in_words == "about 95 minutes"
    assert minutes.of_act(3) == minutes.beyond_the_acts == ""


def test_one_part_needs_no_list_and_no_part_takes_no_time():
    assert LabMinutes((Sitting(1, 1),)).in_words == "about 5 minutes"


@pytest.mark.parametrize(
    ("core", "deeper"),
    [
        ((17.3, 21.8, 6.0), (18.2, 6.2, 17.7, 18.2)),
        ((9.2, 16.0, 19.8), (12.4, 12.4, 12.4)),
        ((15.3, 8.0, 21.2), (1.0, 49.0)),
    ],
)
def test_what_the_acts_take_adds_up_to_the_whole(core, deeper):
    parts = [
        tuple(Sitting(k, minutes) for k, minutes in enumerate(each, 1)) for each in (core, deeper)
    ]
    minutes = LabMinutes(*parts)
    words = " ".join(minutes.of_act(k) for k in range(1, 5))
    assert sum(map(int, re.findall(r"\d+", words))) == minutes.total + minutes.total_deeper
    assert minutes.total == 45
    for each, takes in zip(in_steps(parts[0]), core, strict=True):
        assert abs(each - takes) < 5


def test_it_comes_back_from_a_notebook():
    minutes = LabMinutes((Sitting(1, 31.4), Sitting(0, 7.0)), deeper=(Sitting(1, 12.6),))
    plain = minutes.plain()
    assert plain == {"sittings": [[1, 31.4], [0, 7.0]], "deeper": [[1, 12.6]]}
    assert LabMinutes.from_plain(plain).plain() == plain
    # The cover reads them, the headings do not, and both say the same.
    tight = LabMinutes((Sitting(1, 12.4), Sitting(2, 17.6), Sitting(0, 14.9)))
    assert in_steps(LabMinutes.from_plain(tight.plain()).sittings) == in_steps(tight.sittings)
    assert LabMinutes.from_plain({"sittings": [[1, 31]]}).total_deeper == 0


# The page for instructors states the rates, and the walk that they come from.


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / PAGE).read_text("utf-8")


def test_the_page_states_the_rates(page):
    stated = {
        name: float(m) for name, m in re.findall(r"^\| `(.+?)` \|[^|]*\| ([\d.]+) \|", page, re.M)
    }
    assert stated == dict(RATES)
    assert f"{WORDS_PER_MINUTE} words per minute" in page


def test_the_rates_give_what_the_walk_took(page):
    """Counts of the first edition of each lab, and how long somebody needed who walked it."""
    head, rows = _table(page, "| lab |")
    assert len(rows) == 4
    for row in rows:
        said = dict(zip(head, row, strict=True))
        counted = int(said.pop("words").replace(",", "")) / WORDS_PER_MINUTE
        least, most = map(int, said.pop("walked").split("–"))
        total, lab = int(said.pop("minutes")), said.pop("lab")
        counted += sum(RATES[name] * int(many) for name, many in said.items())
        assert round(counted) == total, lab
        assert least <= total <= most, lab


def _table(page, start):
    lines = page[page.index(start) :].split("\n\n")[0].splitlines()
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return cells[0], cells[2:]
