"""Values that nobody expects in a ledger, for properties that must hold with them too."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.ledger.making import LAB

# Whole floats are left out: to JSON Schema 1.0 is an integer, to the quick check it is none.
odd_numbers = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer())
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 8)
    | odd_numbers
    | st.text(max_size=5)
    | st.sampled_from(["x" * 200, "x" * 201, "a\n", "\n", "\x7f", "2026-02-03T09:30:00.000Z\n"])
    | st.sampled_from(["2026-13-03T09:30:00.000Z", "2026-02-31T23:59:59.999Z", LAB + "\n", ".."])
    | st.sampled_from(["f" * 64, "F" * 64, "f" * 63, "f" * 64 + "\n", "٣" * 64])
)
anything = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(max_size=3), scalars)
