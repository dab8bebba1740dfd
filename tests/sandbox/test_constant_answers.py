"""The attack that needs no code: the same answers for everybody, the best that there are.

Whoever knows nothing about their own numbers, but everything about those of a class, hands in the
constants that earn most in expectation. It must be less than 10 points of a lab's hundred.

Answers about a student's own machine are not among them: their keys come from ``machine.json``, a
file that the student hands in, so a file and two answers that go around a class earn their points.
What that is worth is printed beside the rest, and docs/administrators/threat_model.md says so.
"""

from __future__ import annotations

import pytest

from tests.labs.test_sweep import CONSTANT, OWN_MACHINE, STUDENTS, Swept, best_constants

LABS = (
    "lab_01_magnitude",
    "lab_07_kernel_fusion",
    "lab_10_fewer_bits",
    "lab_11_roofline",
    "lab_18_joules",
    "lab_review_foundations",
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lab", LABS)
def test_constant_answers_earn_next_to_nothing(lab, tmp_path, capsys):
    swept = Swept(lab, tmp_path, STUDENTS[:100])
    best = best_constants(swept)
    earned = sum(points for points, _ in best.values())
    copied = sum(i.points for name, i in swept.plain.graded.items() if name in OWN_MACHINE)
    with capsys.disabled():
        more = f", and {copied:g} more with a machine.json that goes around" if copied else ""
        print(f"\nattack: constant answers earn {earned:.1f} points in {lab}{more}")
    assert earned < CONSTANT == 10
    assert copied == (12 if lab == "lab_11_roofline" else 0)
