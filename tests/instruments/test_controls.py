"""Controls: what each accepts, how it shows its value, and what it refuses."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traitlets import HasTraits

from mlsys_widgets.instruments.controls import (
    Control,
    Count,
    Select,
    Several,
    Slider,
    Switch,
    controls_of,
)


def _sizes(panel: Any) -> dict[str, str]:
    return {"small": "Small", "large": "Large"} if panel.wide else {"small": "Small"}


class Panel(HasTraits):
    wide = Switch("Wide", default=False, help="Room for more.")
    time = Slider("Time", default=1, low=1e-6, high=10, unit="s", log=True, zero=True, help="How.")
    sides = Slider("Sides", default=4, low=3, high=12, whole=True, help="How many.")
    images = Count("Images", default=10, low=1, high=1e9, log=True, help="How many.")
    size = Select("Size", default="small", options=_sizes, help="Which.")
    marks = Several("Marks", default=(), options={"a": "Alpha", "b": "Beta"}, help="Which.")


CONTROLS = controls_of(Panel)


def test_controls_come_in_the_order_of_their_declaration() -> None:
    assert list(CONTROLS) == ["wide", "time", "sides", "images", "size", "marks"]


def test_a_subclass_adds_its_controls_at_the_end() -> None:
    class More(Panel):
        color = Select("Color", default="red", options={"red": "Red"}, help="Which.")

    assert list(controls_of(More)) == [*CONTROLS, "color"]


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("time", 2, 2.0),
        ("time", "500 ms", 0.5),
        ("time", "1 us", 1e-6),
        ("time", 0, 0.0),  # the stop below its lowest value
        ("time", np.float32(2), 2.0),
        ("time", 10 * (1 + 1e-12), 10.0),  # the last digit of a browser's arithmetic
        ("time", 1e-6 * (1 - 1e-12), 1e-6),
        ("sides", 4, 4.0),
        ("sides", "12", 12.0),
        ("images", "134k", 134_000.0),
        ("size", "small", "small"),
        ("marks", ["b", "a", "b"], ("a", "b")),
        ("marks", "a", ("a",)),
        ("marks", (), ()),
        ("wide", True, True),
    ],
)
def test_accepted(name: str, given: Any, kept: Any) -> None:
    panel = Panel(**{name: given})
    assert getattr(panel, name) == kept
    assert type(getattr(panel, name)) is type(kept)


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("time", 11, "Time is 11 s; it must be 0 or between 1 µs and 10 s"),
        ("time", 1e-9, "Time is 1 ns; it must be 0 or between 1 µs and 10 s"),
        ("time", -1, "Time is −1 s"),
        ("time", math.nan, "Time is nan"),
        ("time", math.inf, "Time is inf"),
        ("time", True, "Time is True"),
        ("time", None, "Time is None"),
        ("time", "30 GB", "which is not a time"),
        ("sides", 2, "Sides is 2; it must be a whole number between 3 and 12"),
        ("sides", 4.4, "Sides is 4.4; it must be a whole number between 3 and 12"),
        ("sides", math.nan, "Sides is nan"),
        ("size", "large", "Size is 'large'; it must be one of: small"),
        ("size", 3, "Size is 3"),
        ("marks", ("a", "c"), "Marks is 'c'; each must be one of: a, b"),
        ("marks", [None], "Marks is None"),
        ("wide", 1, "Wide is 1; it must be True or False"),
        ("wide", "yes", "Wide is 'yes'"),
    ],
)
def test_refused_with_a_sentence(name: str, given: Any, sentence: str) -> None:
    panel = Panel()
    before = getattr(panel, name)
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        setattr(panel, name, given)
    assert sentence in str(refusal.value)
    assert getattr(panel, name) == before


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("time", 0.0, "0 s"),
        ("time", 2e-6, "2 µs"),
        ("images", 999_949.0, "999,949"),
        ("images", 999_950.0, "1 million"),
        ("images", 1.5e9, "1,500 million"),
        ("marks", (), "none"),
        ("marks", ("a", "b"), "Alpha, Beta"),
        ("wide", True, "on"),
        ("size", "small", "small"),
    ],
)
def test_shown(name: str, value: Any, shown: str) -> None:
    assert CONTROLS[name].shown(value) == shown


def test_options_may_depend_on_other_inputs() -> None:
    size = CONTROLS["size"]
    assert isinstance(size, Select)
    narrow, wide = Panel(), Panel(wide=True)
    assert (size.varies, CONTROLS["marks"].varies) == (True, False)
    assert list(size.options(narrow)) == ["small"]
    assert size.spec(wide)["options"] == [["small", "Small"], ["large", "Large"]]
    # Before the inputs are adjusted any word is plausible; after that it has to be an option.
    assert size.plausible(narrow, "large") == "large"
    with pytest.raises(ValueError, match="Size is 3"):
        size.plausible(narrow, 3)


def test_a_spec_has_all_that_the_panel_draws() -> None:
    panel = Panel()
    for name, control in CONTROLS.items():
        spec = control.spec(panel)
        assert (spec["name"], spec["label"]) == (name, control.label)
        assert spec["kind"] in ("slider", "menu", "buttons", "several", "switch")
    assert CONTROLS["time"].spec(panel)["allowed"] == "0 or between 1 µs and 10 s"
    pills = Select("Pick", default="a", options={"a": "A"}, buttons=True, help="Which.")
    assert pills.spec(panel)["kind"] == "buttons"


def test_a_kind_of_control_has_to_validate_for_itself() -> None:
    with pytest.raises(NotImplementedError):
        Control("Any", default=1, help="None.").validate(None, 1)


@given(st.floats(1e-6, 10))
def test_what_a_slider_shows_can_be_typed_again(value: float) -> None:
    time = CONTROLS["time"]
    again = time.read(Panel(), time.shown(value))
    assert again == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (
            {"low": 5, "high": 5, "default": 5},
            "Size runs from 5 to 5; it must run from less to more",
        ),
        (
            {"low": 0, "high": 5, "default": 1, "log": True},
            "Size starts at 0; a logarithmic slider",
        ),
        ({"low": 1, "high": 5, "default": 9}, "Size is 9; it must be between 1 and 5"),
        ({"low": 1, "high": 5, "default": 1.5, "whole": True}, "Size is 1.5; it must be a whole"),
        ({"low": 1, "high": float("inf"), "default": 2}, "Size runs from 1 to inf"),
    ],
)
def test_an_author_is_told_what_is_wrong_with_a_slider(how, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        Slider("Size", help="…", **how)


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_hand_points_at_nothing_that_is_refused(value):
    for slider in (
        Slider("A", default=2, low=1, high=1e6, log=True, whole=True, help="…"),
        Slider("B", default=0, low=1e-7, high=1, log=True, zero=True, help="…"),
        Slider("C", default=0.5, low=0.123456, high=0.98765, help="…"),
    ):
        snapped = slider.snap(value)
        assert slider.validate(None, snapped) == snapped
