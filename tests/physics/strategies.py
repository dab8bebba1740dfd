"""Inputs for property tests: numbers spread evenly over their orders of magnitude."""

from __future__ import annotations

import math

from hypothesis import strategies as st


def positive(low: float = 1e-12, high: float = 1e18) -> st.SearchStrategy[float]:
    """Numbers spread evenly over their orders of magnitude."""
    exponents = st.floats(math.log10(low), math.log10(high), allow_nan=False)
    return exponents.map(lambda e: min(max(10.0**e, low), high))


dimensions = st.integers(1, 100_000)
counts = positive(1, 1e6)
times = positive(1e-9, 1.0)
rates = positive(1e-3, 1e9)
launches = st.sampled_from(["serial", "async", "graph"])


def multiples(of: int, high: int) -> st.SearchStrategy[int]:
    """Whole multiples up to ``high``, spread evenly over their orders of magnitude."""
    return positive(1, high / of).map(lambda value: of * int(value))


def whole(high: int) -> st.SearchStrategy[int]:
    """Whole numbers from 1, spread evenly over their orders of magnitude."""
    return multiples(1, high)
