"""Leaving a tenth of the cases out: each once, and the fit hardly moves."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.measured.calibrating import fitted_positions
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.stability import PARTS, left_out, without
from mlsys_widgets.measured.trial import Errors, Trial, hold_trial
from tests.sampling import takes_everything


@given(st.integers(1, 500))
def test_every_fitted_case_is_left_out_once(count: int) -> None:
    fitted = list(fitted_positions(count))
    kept = [list(without(part)(count)) for part in range(PARTS)]
    left = [set(fitted) - set(each) for each in kept]
    assert all(set(each) <= set(fitted) for each in kept)
    assert sorted(position for each in left for position in each) == fitted
    assert max(map(len, left)) - min(map(len, left)) <= 1


def test_a_small_document_is_fitted_without_each_tenth(small_document: Document) -> None:
    """Seven products are fitted, so parts eight to ten hold none and change nothing."""
    pytest.importorskip("scipy")
    whole = hold_trial(small_document)
    taken = PARTS if takes_everything() else 2
    found = list(islice(left_out(small_document, whole), taken))
    assert [one.part for one in found] == list(range(1, taken + 1))
    for one in found:
        assert 0 <= one.changed <= one.most
        assert one.mean_error > 0
    assert [one.changed > 0 for one in found] == ([True] * 7 + [False] * 3)[:taken]
    if taken == PARTS:
        assert found[-1].mean_error == pytest.approx(Errors.of(whole.judged).mean)


@pytest.mark.slow
def test_the_fit_of_the_h200_does_not_stand_on_a_tenth_of_its_cases(h200: Trial) -> None:
    first = next(left_out(h200.document, h200))
    assert first.changed < 0.05
    assert first.mean_error < Errors.of(h200.judged).mean + 0.02
