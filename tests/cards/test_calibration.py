"""How sure somebody was against how often they were right, as a plot and in words."""

from __future__ import annotations

from mlsys_widgets.cards.calibration import calibration, calibration_in_words


def test_the_plot_says_what_was_answered():
    scene = calibration([(5, True), (5, False), (2, True)], 0.25)
    marks = {mark.name: mark for mark in scene.marks}
    assert list(marks["yours"].x) == [2.0, 5.0]
    assert list(marks["yours"].y) == [1.0, 0.5]
    assert marks["counts"].text == ("1 of 1", "1 of 2")
    assert marks["calibrated"].y == (0.25, 1.0)
    assert "give yourself credit" in calibration_in_words([(1, True)] * 3, 0.25)
    assert "judge your own knowledge well" in calibration_in_words([(5, True)] * 3, 0.25)
