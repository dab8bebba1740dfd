"""Settings declared once: a field says what is read, what is refused, and with which sentence."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mlsys_widgets.course.settings_tables import (
    LOGINS,
    TEXT,
    number,
    one_of,
    read_table,
    setting,
    settings_of,
)


@dataclass(frozen=True)
class Room:
    key: str
    name: str = setting(..., TEXT, '"lab"', "What it is called.")
    seats: float = setting(20.0, number(high=50), "30", "How many fit.")
    kind: str = setting("lab", one_of("lab", "hall"), '"hall"', "What it is.", without="a lab")
    people: tuple[str, ...] = setting((), LOGINS, '["ada"]', "Who has a key.", without="nobody")


def test_what_is_given_is_read_and_the_rest_has_its_default():
    given = read_table(Room, "rooms.a", {"name": "A", "people": ["ada"]})
    assert given == {"name": "A", "people": ("ada",)}
    assert Room("a", **given) == Room("a", "A", 20.0, "lab", ("ada",))


def test_fields_that_are_no_settings_cannot_be_set():
    assert list(settings_of(Room)) == ["name", "seats", "kind", "people"]
    with pytest.raises(ValueError, match="sets key; it can set: name, seats, kind, people"):
        read_table(Room, "rooms.a", {"name": "A", "key": "b"})


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({}, "r.name is None; it must be a text in quotes"),
        ({"name": " "}, "r.name is ' '; it must be a text in quotes"),
        ({"name": "A", "seats": True}, "r.seats is True; it must be a number, between 0 and 50"),
        ({"name": "A", "seats": 50.5}, "r.seats is 50.5; it must be a number, between 0 and 50"),
        ({"name": "A", "kind": "den"}, 'r.kind is \'den\'; it must be "lab" or "hall"'),
        ({"name": "A", "people": "ada"}, "r.people is 'ada'; it must be a list of names"),
        ({"name": "A", "people": ["a/b"]}, "r.people names 'a/b'; a login has 1 to 128"),
        (3, r"r is 3; it must be a table, under a line \[r\]"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_table(Room, "r", table)


def test_the_page_has_words_for_defaults():
    words = {name: each.default for name, each in settings_of(Room).items()}
    assert words == {"name": "", "seats": "20", "kind": "a lab", "people": "nobody"}
    assert [name for name, each in settings_of(Room).items() if each.required] == ["name"]
