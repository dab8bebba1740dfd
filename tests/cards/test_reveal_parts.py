"""What a reveal is made of, for the browser, as plain text and on a still page."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET

from mlsys_widgets.cards.reveal_parts import (
    ComparedNumbers,
    Comparison,
    NumbersBehind,
    RevealVerdict,
)
from mlsys_widgets.cards.worked_numbers import worked_rows
from mlsys_widgets.drawing.number_line import NumberMark

MINE = NumberMark("You", 70.0, "70 images", "prediction")
MODEL = NumberMark("The model", 30.0, "30 images", "model")
ROWS = (
    ("You predicted", "A: about *70*", "prediction", "confidence 4 of 5"),
    ("The model says", "30 images", "model", ""),
)


def a_comparison():
    numbers = ComparedNumbers(MINE, (MODEL,), 0, "images", "a factor of 2.33")
    return Comparison("compared", ROWS, 1, numbers)


def test_the_picture_comes_for_a_column_and_for_a_phone():
    wide, narrow = re.findall(r"<svg.*?</svg>", a_comparison().spec()["html"])
    assert "You <tspan" in wide
    assert "70 images" in wide
    # The large number above has the unit already.
    assert "images" not in "".join(ET.fromstring(narrow).itertext())
    said = "On one axis: You predicted A: about 70, The model says 30 images."
    assert ET.fromstring(narrow).get("aria-label") == f"{said} Distance: a factor of 2.33."


def test_a_still_page_has_the_picture_as_an_image_with_its_words():
    page = a_comparison().html()
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert ET.fromstring(base64.b64decode(data)).tag.endswith("svg")
    assert 'alt="On one axis: You predicted A: about 70' in page
    assert "<svg" not in page


def test_options_without_numbers_have_no_picture():
    part = Comparison("compared", ROWS, 1)
    assert part.spec()["html"] == ""
    assert part.html().startswith("<ul>")
    assert part.text() == (
        "You predicted: A: about 70 (confidence 4 of 5)\nThe model says: 30 images"
    )


def test_a_bare_verdict_says_how_far_in_the_same_sentence():
    far = "Your prediction is close."
    right = RevealVerdict("verdict", "Right.", far, words="Just *so*.")
    assert right.spec()["lead"] == "<strong>Right.</strong> Your prediction is close."
    assert right.spec()["rest"] == ["Just <em>so</em>."]
    assert right.text() == "Your prediction is close.\nRight. Just so."


def test_a_verdict_that_says_how_far_says_it_once():
    too_high = "Far off: 60 points too high."
    wrong = RevealVerdict("verdict", too_high, "It is far from the model.")
    assert wrong.spec()["lead"] == f"<strong>{too_high}</strong>"
    assert wrong.text() == too_high


def test_numbers_behind_are_rows_under_headings():
    behind = NumbersBehind("behind", (("Numbers", worked_rows({"Ridge": (152.9, "FLOP/B")})),))
    assert behind.spec()["groups"] == [["Numbers", [["Ridge", "152.9 FLOP/B", "", ""]]]]
    assert behind.text() == "Numbers\nRidge: 152.9 FLOP/B"
    assert "<li><strong>Ridge:</strong> 152.9 FLOP/B</li>" in behind.html()
