"""Scenes that turn into each other, as one SVG that needs no script."""

import re
from xml.etree import ElementTree

import pytest

from mlsys_widgets.drawing.moving import moving
from mlsys_widgets.drawing.scene import Axis, Blocks, Line, Points, Scene, Words

_AXES = Axis("Time", 0, 10, ticks=(5,)), Axis("Power", 0, 10)
_SVG = "{http://www.w3.org/2000/svg}"


def scene(*marks):
    return Scene(*_AXES, marks)


def block(right, name="block"):
    return Blocks(name, ((0, 0, right, 5, "blue"),))


def drawn(*frames):
    return ElementTree.fromstring(moving(frames, "A block & a line", seconds=4, height=116))


def paths(tree):
    """The paths with a color of their own, without the lines of the axes."""
    return list(tree.iter(f"{_SVG}path"))[1:]


def motion(tree):
    (style,) = tree.iter(f"{_SVG}style")
    return style.text


def test_without_motion_the_last_scene_is_seen():
    tree = drawn(scene(block(2)), scene(block(10)))
    (path,) = paths(tree)
    assert path.get("transform") == "translate(8,58) scale(744,50)"
    assert path.get("opacity") is None
    assert motion(tree).startswith("@media (prefers-reduced-motion: no-preference){")
    assert motion(tree).count("{") == motion(tree).count("}")


def test_what_moves_evenly_has_two_keyframes_and_what_stands_still_none():
    tree = drawn(*(scene(block(k), Line("end", (5, 5), (0, 10))) for k in range(1, 11)))
    moves, still = paths(tree)
    assert "animation-name" in moves.get("style")
    assert still.get("style") is None
    (name,) = re.findall(r"animation-name:(\S+)", moves.get("style"))
    (rule,) = re.findall(rf"@keyframes {name}\{{(.*?\}})\}}", motion(tree))
    assert [step.split("{")[0] for step in rule.split("}") if step] == ["0%", "100%"]
    assert "animation:4s linear both" in motion(tree)


def test_a_turn_on_the_way_is_a_keyframe():
    tree = drawn(*(scene(block(k)) for k in (1, 5, 9, 5, 1)))
    assert re.findall(r"([\d.]+)%\{", motion(tree)) == ["0", "50", "100"]


def test_what_comes_and_goes_does_so_at_once():
    here, gone = scene(block(5)), scene(Blocks("block", ()))
    tree = drawn(gone, gone, here, here, gone)
    (path,) = paths(tree)
    assert path.get("opacity") == "0"
    steps = dict(re.findall(r"([\d.]+)%\{[^}]*opacity:(\d)", motion(tree)))
    # A hundredth of a step before it appears it is not there, and before it goes it is.
    seen = {"0": "0", "25": "0", "49.75": "0", "50": "1", "75": "1", "99.75": "1", "100": "0"}
    assert steps == seen


def test_points_are_moved_and_lines_are_drawn_again():
    tree = drawn(
        *(
            scene(Points("now", (k,), (k,), "red"), Line("roof", (0, k, 10), (0, 5, 5), "gray"))
            for k in (2, 8)
        )
    )
    point, line = paths(tree)
    assert point.get("transform") == "translate(603.2,28)"
    assert line.get("d") == "M8,108L603.2,58L752,58"
    assert 'd:path("M8,108L156.8,58L752,58")' in motion(tree)


def test_nothing_is_written_in_it():
    words = Words("words", (5,), (5,), ("42 W",))
    svg = moving([scene(block(2), words), scene(block(3), words)], "A < B", seconds=4, height=90)
    assert "<text" not in svg
    assert "42 W" not in svg
    assert "Power" not in svg
    assert 'aria-label="A &lt; B"' in svg


@pytest.mark.parametrize("words", ["One", "Another"])
def test_two_pictures_on_a_page_do_not_share_a_name(words):
    svg = moving([scene(block(2)), scene(block(3))], words, seconds=4, height=90)
    other = moving([scene(block(2)), scene(block(4))], words, seconds=4, height=90)
    assert re.search('id="(.*?)"', svg)[1] != re.search('id="(.*?)"', other)[1]
