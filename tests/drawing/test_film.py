"""Films: what they hold, and what they refuse."""

from __future__ import annotations

import json

import pytest

from mlsys_widgets.drawing.film import Actor, Film

STILL = ((0.0, 0.0, 0.0, 0.1, 0.1),)


def test_a_film_travels_as_json():
    block = Actor("1", "red", ((0.0, 0.0, 0.5, 0.123456, 0.2), (1.0, 1.0, 0.5, 0.1, 0.2)), 1.5)
    film = Film("Launches", 2.0, (block,), ((0.5, "CPU"),), ((0.0, "Start."), (2.0, "End.")))
    told = json.loads(json.dumps(film.to_json()))
    assert told["actors"] == [
        ["1", "#d4522a", [[0, 0, 0.5, 0.123, 0.2], [1, 1, 0.5, 0.1, 0.2]], 1.5]
    ]
    assert (told["rows"], told["moments"]) == ([[0.5, "CPU"]], [[0, "Start."], [2, "End."]])


@pytest.mark.parametrize("moments", [(), ((0.5, "Late."), (2.0, "End.")), ((0.0, "Start."),)])
def test_a_film_has_a_first_and_a_last_moment(moments):
    with pytest.raises(ValueError, match="'Launches' needs a moment at 0 and one at its end"):
        Film("Launches", 2.0, (Actor("1", "red", STILL),), moments=moments)


@pytest.mark.parametrize("path", [(), ((1.0, 0, 0, 1, 1), (0.5, 0, 0, 1, 1))])
def test_a_block_moves_forward_in_time(path):
    with pytest.raises(ValueError, match="the block '1' of 'Launches' moves back in time"):
        Film("Launches", 2.0, (Actor("1", "red", path),), moments=((0.0, "S."), (2.0, "E.")))


def test_a_tone_that_does_not_exist_is_named():
    film = Film("A", 1.0, (Actor("1", "pink", STILL),), moments=((0.0, "S."), (1.0, "E.")))
    with pytest.raises(ValueError, match="'pink' is not a tone"):
        film.to_json()


def test_a_film_at_a_moment_is_a_scene():
    block = Actor("1", "red", ((1.0, 0.0, 0.5, 0.1, 0.2), (3.0, 0.5, 0.5, 0.3, 0.2)), leaves=3.5)
    film = Film("A", 4.0, (block,), moments=((0.0, "S."), (4.0, "E.")))

    def shown(time):
        (mark,) = film.at(time).marks
        return mark.blocks

    assert shown(0.5) == shown(3.5) == ()
    assert shown(2.0) == ((0.25, 0.5, pytest.approx(0.45), 0.7, "red"),)
    assert shown(3.2) == ((0.5, 0.5, 0.8, 0.7, "red"),)
