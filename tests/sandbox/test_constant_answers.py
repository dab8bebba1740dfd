"""The attack that needs no code: the same answers for everybody, the best that there are.

Whoever knows nothing about their own numbers, but everything about those of a class, hands in the
constants that earn most in expectation. It must be less than 10 points of a lab's hundred.
"""

from __future__ import annotations

import pytest

from tests.labs.test_sweep import CONSTANT, STUDENTS, Swept, best_constants

LABS = ("lab_01_magnitude", "lab_07_kernel_fusion", "lab_11_roofline", "lab_review_foundations")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lab", LABS)
def test_constant_answers_earn_next_to_nothing(lab, tmp_path, capsys):
    best = best_constants(Swept(lab, tmp_path, STUDENTS[:100]))
    earned = sum(points for points, _ in best.values())
    with capsys.disabled():
        print(f"\nattack: constant answers earn {earned:.1f} points in {lab}")
    assert earned < CONSTANT == 10
