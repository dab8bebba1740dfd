"""Asking again: each attempt reads differently, is found again, and takes the pool in turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.labs import Choice, Lab, Number, Parameter, steps
from mlsys_widgets.labs.attempts import Attempts, answer_name, attempt_in


def tiles(*, pool: bool = False) -> Lab:
    side = Parameter(256, steps(128, 384, 8), "elements", "side of a tile")
    level = Parameter("L1", ("L1", "L2"), "", "where it lives")
    lab = Lab(
        "lab_02", title="Caches", chapter=2, acts=(), parameters={"side": side, "level": level}
    )

    @lab.asks
    def tile_bytes(p):
        return Number(f"How many bytes has a tile of {p.side}?", "bytes", 6)

    if pool:

        @lab.asks(instead_of="tile_bytes")
        def row_bytes(p):
            return Number(f"How many bytes has a row of {p.side}?", "bytes", 6)

    @lab.asks
    def home(p):
        return Choice(f"Does it fit {p.level}?", {"yes": "it does", "no": "it does not"}, points=1)

    return lab


@given(student=st.text(min_size=1, max_size=20), variants=st.booleans())
def test_no_two_attempts_ask_the_same_and_the_first_is_the_labs(student, variants):
    lab = tiles()
    attempts = Attempts(lab, student, variants=variants)
    asked = [attempts.at("tile_bytes", k) for k in range(5)]
    assert asked[0].p == lab.draw(student, variants=variants)
    assert len({each.item.ask for each in asked}) == 5
    assert [each.number for each in asked] == list(range(5))
    again = Attempts(lab, student, variants=variants).at("tile_bytes", 3)
    assert again == asked[3]


def test_a_question_runs_out_of_numbers_when_all_were_asked():
    attempts = Attempts(tiles(), "ann")
    first, second = attempts.at("home", 0), attempts.at("home", 1)
    assert {first.item.ask, second.item.ask} == {"Does it fit L1?", "Does it fit L2?"}
    assert attempts.at("home", 2) is None


@given(student=st.text(min_size=1, max_size=20))
def test_the_questions_of_a_pool_take_turns(student):
    attempts = Attempts(tiles(pool=True), student)
    first, second, third, fourth = (
        "tile" in attempts.at("tile_bytes", k).item.ask for k in range(4)
    )
    assert (first, second) == (third, fourth)
    assert first != second


def test_two_students_have_other_second_attempts():
    asked = {Attempts(tiles(), f"s{k}").at("tile_bytes", 1).p.side for k in range(60)}
    assert len(asked) > 15  # of 33 sides


@given(item=st.text(min_size=1, max_size=20), attempt=st.integers(1, 999_999))
def test_the_name_of_an_answer_tells_item_and_attempt(item, attempt):
    assert attempt_in(answer_name(item, attempt)) == (item, attempt)


@given(item=st.text(max_size=20))
def test_an_ordinary_name_is_a_first_attempt(item):
    if not item.startswith("again."):
        assert attempt_in(item) == (item, 0)
