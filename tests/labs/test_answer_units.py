"""What people type as an answer, in the unit that was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.labs.answer_units import comma_note, read_number, short_number

UNITS = ("percent", "times", "µs", "ms", "seconds", "hours", "MB", "GB", "TFLOPS", "images")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("33%", "percent", 33),
        ("33 percent", "percent", 33),
        ("0.33", "percent", 0.33),
        ("2.4×", "times", 2.4),
        ("2.4x", "times", 2.4),
        ("3.94 us", "µs", 3.94),
        ("0.00394 ms", "µs", 3.94),
        ("2 days", "hours", 48),
        ("90 min", "hours", 1.5),
        ("1.5 GB", "MB", 1500),
        ("0.05 GB/s", "MB/s", 50),
        ("312", "TFLOPS", 312),
        ("312 TFLOPS", "TFLOPS", 312),
        ("0.3 PFLOPS", "TFLOPS", None),
        ("16 images", "images", 16),
        ("1.2 million", "images", 1_200_000),
        ("1,000", "images", 1000),
        ("~ 1e3", "images", 1000),
        ("−5", "percent", -5),
    ],
)
def test_units_are_read(text: str, unit: str, value: float | None) -> None:
    if value is None:
        with pytest.raises(ValueError, match="which is not a compute rate"):
            read_number(text, unit)
    else:
        assert read_number(text, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["3,94", "1.2.3", "5 GB", "many", "never", "1e999", "1 000"])
def test_what_is_not_a_number_of_that_kind_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a|is too large"):
        read_number(text, "µs")


@given(st.floats(1e-9, 1e12), st.sampled_from(UNITS))
def test_a_bare_number_is_in_the_unit_that_was_asked_for(number: float, unit: str) -> None:
    assert read_number(f"{number:.12g}", unit) == pytest.approx(number, rel=1e-10)


@given(st.floats(-1e14, 1e14, allow_nan=False))
def test_a_number_that_is_shown_can_be_typed_again(number: float) -> None:
    """The card fills its box with what it shows."""
    assert read_number(short_number(number), "images") == pytest.approx(number, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("text", ["3,940", "−3,940 µs", "12,345"])
def test_one_comma_before_three_digits_is_asked_back(text: str) -> None:
    assert text.strip().replace(",", ".") in comma_note(text)


@pytest.mark.parametrize("text", ["3940", "0.5", "1,234,567", "1,234.5", "3,94", ""])
def test_other_commas_are_not(text: str) -> None:
    assert comma_note(text) == ""
