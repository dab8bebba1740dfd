"""What people read and what they type."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlsys_widgets.physics import counted, format_quantity, parse_quantity
from mlsys_widgets.wording.units import in_one_unit

UNITS = ["s", "days", "B", "B/s", "FLOP", "FLOP/s", "OP/s", "FLOP/B", "W", "%", "×", "/s", "/day",
         "J", "Wh", "J/token", "J/B", "J/FLOP", "kg", "kg/J", "USD", "USD/J",
         "images", ""]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (571.7e12, "FLOP/s", "571.7 TFLOPS"),
        (1979e12, "FLOP/s", "1,979 TFLOPS"),
        (1e9, "FLOP/s", "1 GFLOPS"),
        (35e12, "OP/s", "35 TOPS"),
        (29.85e-6, "s", "29.9 µs"),
        (4.04e-6, "s", "4.04 µs"),
        (30, "s", "30 s"),
        (0, "s", "0 s"),
        (119.999, "s", "2 min"),
        (81_288, "s", "22.6 hours"),
        (0.01336, "days", "19.2 min"),
        (30, "days", "30 days"),
        (365 * 5, "days", "5 years"),
        (133_607.14, "images", "133,607 images"),
        (math.inf, "images", "never"),
        (17.18e9, "B", "17.2 GB"),
        (512e3, "B", "512 KB"),
        (3.35e12, "B/s", "3.35 TB/s"),
        (0.05e9, "B/s", "50 MB/s"),
        (999.97e9, "B/s", "1 TB/s"),
        (8.2e9, "FLOP", "8.2 GFLOP"),
        (170.67, "FLOP/B", "170.7 FLOP/B"),
        (5 / 6, "FLOP/B", "0.833 FLOP/B"),
        (0.1, "W", "100 mW"),
        (2.56, "J", "2.56 J"),
        (4.32e6, "Wh", "1.2 kWh"),
        (1800, "Wh", "0.5 Wh"),
        (0.0432, "J/token", "43.2 mJ/token"),
        (1.36e-10, "J/B", "136 pJ/B"),
        (9.6e-13, "J/FLOP", "960 fJ/FLOP"),
        (0.888, "kg", "888 g"),
        (1200, "kg", "1.2 t"),
        (0.481 / 3.6e6, "kg/J", "481 g/kWh"),
        (3.2, "USD", "3.2 USD"),
        (0.12 / 3.6e6, "USD/J", "0.12 USD/kWh"),
        (1e5, "W", "100 kW"),
        (0.578, "%", "57.8%"),
        (1 / 3, "%", "33.3%"),
        (989_000, "×", "989,000×"),
        (1450, "/s", "1,450/s"),
        (2400, "/day", "2,400/day"),
        (-3e-3, "s", "−3 ms"),
        (True, "", "yes"),
        (False, "", "no"),
    ],
)
def test_shown(value: float, unit: str, shown: str) -> None:
    assert format_quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("30 s", "s", 30),
        ("30s", "s", 30),
        (" 30 ", "s", 30),
        ("5us", "s", 5e-6),
        ("5 µs", "s", 5e-6),
        ("5 μs", "s", 5e-6),  # the Greek letter, as some keyboards type it
        ("2 Hours", "s", 7200),
        ("1 week", "days", 7),
        ("36 hours", "days", 1.5),
        ("1.5 TB/s", "B/s", 1.5e12),
        ("1.5tb/s", "B/s", 1.5e12),
        ("16 GiB", "B", 16 * 2**30),
        ("512 kB", "B", 512e3),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("989 tflops", "FLOP/s", 989e12),
        ("100 TOPS", "OP/s", 100e12),
        ("33%", "%", 0.33),
        ("33", "%", 0.33),
        ("0.5 %", "%", 0.005),
        ("134k", "images", 134_000),
        ("134K images", "images", 134_000),
        ("1 image", "images", 1),
        ("1.2 million", "", 1.2e6),
        ("1e5", "", 1e5),
        ("1E+5", "", 1e5),
        ("1,234,567", "", 1_234_567),
        ("1_000", "", 1000),
        (".5", "", 0.5),
        ("~134k", "", 134_000),
        ("2.4x", "×", 2.4),
        ("100 per hour", "/day", 2400),
        ("10M/day", "/day", 1e7),
        ("1 per min", "/s", 1 / 60),
        ("−3 ms", "s", -3e-3),
        ("-3 ms", "s", -3e-3),
        ("never", "days", math.inf),
        ("0.1 mW", "W", 1e-4),
        ("1 Wh", "J", 3600.0),
        ("1.2", "Wh", 4.32e6),
        ("500 Wh", "Wh", 1.8e6),
        ("43 mJ", "J/token", 0.043),
        ("300 g", "kg", 0.3),
        ("0.3 $/kWh", "USD/J", 0.3 / 3.6e6),
        ("0.1 MW", "W", 1e5),
    ],
)
def test_read(typed: str, unit: str, value: float) -> None:
    assert parse_quantity(typed, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("typed", "unit", "sentence"),
    [
        ("", "s", "'' is not a time; write it like 30 s, 5 µs or 2 hours"),
        ("soon", "s", "'soon' is not a time"),
        ("30 GB", "s", "is in GB, which is not a time"),
        ("30 s", "B", "which is not an amount of data; write it like 16 GB or 512 KB"),
        ("1,5", "s", "with a decimal point, not a comma"),
        ("3.2.1", "", "is not a number"),
        ("1e400", "", "is too large"),
        ("0.1 mw", "W", "which is not a power"),  # milli or mega: both would fit
        ("nan", "", "'nan' is not a number"),
        ("inf", "s", "'inf' is not a time"),
        ("--3", "", "is not a number"),
        ("__import__('os')", "%", "is not a percentage"),
        ("1" * 400, "", "is too large"),
    ],
)
def test_refused(typed: str, unit: str, sentence: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        parse_quantity(typed, unit)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("number", "nouns", "shown"),
    [
        (0, ("image",), "0 images"),
        (1, ("image",), "1 image"),
        (0.9999, ("image",), "1 image"),  # as it is shown, so it is counted
        (1.5, ("image",), "1.5 images"),
        (134_125.2, ("image",), "134,125 images"),
        (1, ("order of magnitude", "orders of magnitude"), "1 order of magnitude"),
        (2, ("query", "queries"), "2 queries"),
        (math.inf, ("image",), "never"),
    ],
)
def test_counted(number: float, nouns: tuple[str, ...], shown: str) -> None:
    assert counted(number, *nouns) == shown


def test_nan_is_never_shown() -> None:
    with pytest.raises(ValueError, match="NaN"):
        format_quantity(math.nan, "s")


magnitudes = st.floats(-25, 25).map(lambda e: 10.0**e)


@given(magnitudes, st.sampled_from(UNITS), st.booleans(), st.booleans())
@example(10.0**-1.00001, "B", False, True)  # rounds up to the next decade
def test_what_is_shown_reads_back(value: float, unit: str, negative: bool, pad: bool) -> None:
    value = -value if negative else value
    shown = format_quantity(value, unit, pad=pad)
    again = parse_quantity(shown, unit)
    # Three digits below ten and one decimal above: half a percent at the worst.
    assert again == pytest.approx(value, rel=5.1e-3)
    assert format_quantity(again, unit, pad=pad) == shown


@given(st.floats(1, 9.99), st.sampled_from(UNITS))
def test_padded_numbers_keep_their_width(value: float, unit: str) -> None:
    widths = {len(format_quantity(v, unit, pad=True)) for v in (value, 2.0, 2.5, 9.99)}
    # These are shown at another scale than the value's.
    if unit not in ("%", "days", "Wh", "kg/J", "USD/J"):
        assert len(widths) == 1


@given(st.text(max_size=30), st.sampled_from(UNITS))
def test_any_text_is_a_number_or_a_sentence(typed: str, unit: str) -> None:
    try:
        assert not math.isnan(parse_quantity(typed, unit))
    except ValueError as refusal:
        assert "write it like" in str(refusal) or "too large" in str(refusal)  # noqa: PT017


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("s", (0.8438, 9.33), ("0.844 s", "9.33 s")),
        ("s", (9.33, 0.8438), ("9.33 s", "0.844 s")),
        # Less than a hundredth of the unit would be a small fraction.
        ("s", (0.0999, 9.33), ("0.0999 s", "9.33 s")),
        ("s", (0.0099, 9.33), ("9.9 ms", "9.33 s")),
        ("s", (90, 1200), ("1.5 min", "20 min")),
        ("s", (59, 1200), ("59 s", "20 min")),
        ("days", (0.225, 30), ("5.4 hours", "30 days")),
        ("days", (1.5, 30), ("1.5 days", "30 days")),
        ("s", (0, 9.33), ("0 s", "9.33 s")),
        ("s", (0, 0), ("0 s", "0 s")),
        ("s", (-0.5, 3), ("−0.5 s", "3 s")),
        ("s", (0.0005, math.inf), ("500 µs", "never")),
        ("%", (0.5, 0.001), ("50%", "0.1%")),
        ("images", (12, 3_000), ("12 images", "3,000 images")),
        ("s", (), ()),
    ],
)
def test_what_is_compared_has_one_unit(unit, values, shown):
    assert in_one_unit(unit, *values) == shown


@given(
    st.sampled_from(UNITS),
    st.lists(st.floats(0, allow_nan=False).filter(lambda x: x < 1e12), min_size=1, max_size=4),
)
def test_in_one_unit_nothing_is_written_less_exactly(unit, values):
    assert in_one_unit(unit, values[0]) == (format_quantity(values[0], unit),)
    for value, shown in zip(values, in_one_unit(unit, *values), strict=True):
        if value > 1e-9:
            assert parse_quantity(shown, unit) == pytest.approx(value, rel=6e-3)
