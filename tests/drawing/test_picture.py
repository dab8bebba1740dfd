"""Still pictures: well-formed, the same bytes for the same scene, and everything in its place."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.scene import Axis, Blocks, Line, Points, Scene, Strokes, Words, decades
from mlsys_widgets.drawing.theme import TONES

SVG = "{http://www.w3.org/2000/svg}"
ACROSS = Axis("students & more", 0.0, 10.0, ticks=(0.0, 5.0, 10.0))
UP = Axis("time", 1.0, 100.0, log=True, ticks=decades(1.0, 100.0))


def drawn(*marks: object, **more: object) -> ElementTree.Element:
    scene = Scene(ACROSS, UP, marks, **more)  # type: ignore[arg-type]
    return ElementTree.fromstring(picture.svg((scene,), "A <title> & more"))


def texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def test_axes_are_labeled_and_ticked() -> None:
    root = drawn()
    assert root.find(f"{SVG}title").text == "A <title> & more"  # type: ignore[union-attr]
    assert {"students & more", "time", "0", "5", "10", "1", "100"} <= set(texts(root))


def test_every_kind_of_mark_is_drawn() -> None:
    root = drawn(
        Line("line", (0.0, 10.0), (1.0, 100.0), "blue", "dashed"),
        Strokes("arrows", (((0.0, 1.0), (1.0, 2.0)), ((2.0, 2.0), (3.0, 3.0)))),
        Points("points", (5.0,), (10.0,), "red", "diamond", words=("here",)),
        Blocks("blocks", ((1.0, 1.0, 2.0, 10.0, "green"),)),
        Words("words", (5.0,), (10.0,), ("a < b",)),
    )
    text = ElementTree.tostring(root, "unicode")
    for tone in ("blue", "red", "green"):
        assert TONES[tone] in text
    assert {"here", "a < b"} <= set(texts(root))
    (block,) = (each for each in root.iter(f"{SVG}rect") if each.get("fill") == TONES["green"])
    assert float(block.get("height", "0")) > 0


def test_the_middle_of_a_logarithmic_axis_is_ten() -> None:
    root = drawn(Points("points", (5.0,), (10.0,), "red"))
    (point,) = (each for each in root.iter(f"{SVG}path") if each.get("fill") == TONES["red"])
    x, y = map(float, re.findall(r"[\d.]+", point.get("transform", ""))[:2])
    assert (x, y) == (78 + (picture.WIDTH - 102) / 2, 16 + (340 - 68) / 2)


def test_ticks_may_have_several_lines() -> None:
    across = Axis("", 0.0, 1.0, ticks=(0.5,), words=("one\ntwo\nthree",))
    root = ElementTree.fromstring(picture.svg((Scene(across, UP),), "title"))
    lines = [each for each in root.iter(f"{SVG}text") if each.text in ("one", "two", "three")]
    heights = [float(each.get("y", "0")) for each in lines]
    assert heights == sorted(set(heights))
    assert max(heights) < 340


def test_a_heading_and_a_caption_take_their_own_room() -> None:
    scene = Scene(ACROSS, UP)
    plain, full = (
        ElementTree.fromstring(text)
        for text in (
            picture.svg((scene,), "title"),
            picture.svg((scene,), "title", ("word " * 50,), heading="A heading"),
        )
    )
    assert "A heading" in texts(full)
    assert int(full.get("height", "0")) >= int(plain.get("height", "0")) + 30 + 3 * 18


def test_an_entry_of_the_legend_may_have_a_line_and_a_symbol() -> None:
    both = drawn(legend=(("measured", "purple", "solid circle"),))
    found = [each for each in both.iter() if TONES["purple"] in each.attrib.values()]
    assert [each.tag for each in found] == [f"{SVG}path"] * 2
    (block,) = (e for e in drawn(legend=(("part", "purple", ""),)).iter(f"{SVG}rect")
                if e.get("fill") == TONES["purple"])  # fmt: skip
    assert block.get("width") == "20"


def test_a_long_legend_breaks_into_rows() -> None:
    root = drawn(legend=tuple((f"a rather long entry {k}", "blue", "") for k in range(8)))
    places = {
        float(each.get("x", "0"))
        for each in root.iter(f"{SVG}text")
        if (each.text or "").startswith("a rather")
    }
    assert max(places) + 22 * 7 < picture.WIDTH + 8


def test_pictures_of_one_page_share_no_ids() -> None:
    scene = Scene(ACROSS, UP)
    first, again, other = (
        picture.svg((scene, scene), title) for title in ("first", "first", "other")
    )
    assert first == again
    ids = re.findall(r'id="(\w+)"', first + other)
    assert len(ids) == len(set(ids)) == 4


def test_values_far_outside_stay_numbers() -> None:
    root = drawn(Line("line", (-1e30, 1e30), (1e-300, 1e300), "blue"))
    assert not re.search("nan|inf", ElementTree.tostring(root, "unicode"))


def test_a_png_is_made_at_twice_the_size() -> None:
    pytest.importorskip("resvg_py")
    made = picture.png(picture.svg((Scene(ACROSS, UP),), "title"))
    assert made.startswith(b"\x89PNG")
    width, height = (int.from_bytes(made[k : k + 4], "big") for k in (16, 20))
    assert (width, height) == (2 * picture.WIDTH, 2 * 340)
