"""A lab as one student saw it, for a TA: parameters, questions, keys."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import new_lab
from mlsys_widgets.grading.judging.student_view import student_view
from mlsys_widgets.labs import load
from mlsys_widgets.physics import devices

OWNER = "student-07"


@pytest.fixture
def home(tmp_path):
    return new_lab(tmp_path / "course", "lab_02_demo")


def test_what_a_student_saw(home, tmp_path):
    lab = load(home)
    shown = student_view(home, OWNER)
    (row,) = shown.parameters
    side = lab.draw(OWNER).side
    assert row == ("side", f"{side}", "elements", "side of the square matrices")
    asked = {name: (ask, key) for name, ask, key in shown.questions}
    assert list(asked) == ["act1_bound", "intensity_flop_per_byte", "limit", "act1_why"]
    assert f"{side} by {side}" in asked["intensity_flop_per_byte"][0]
    assert asked["intensity_flop_per_byte"][1].endswith(" FLOP per byte, within 2.0%")
    # Two fused products with sides twice as long do as many FLOP per byte as the side is long.
    waits = side < devices["h100-sxm"].ridge()
    assert asked["limit"][1] == ('"memory"' if waits else '"compute"')
    assert (asked["act1_bound"][1], asked["act1_why"][1]) == ('"B"', '"larger"')
    default = student_view(home, OWNER, variants=False)
    assert default.parameters[0][1] == f"{lab.draw('', variants=False).side}"
    assert student_view(home, OWNER, edition="2027") != shown


def test_a_key_that_depends_on_the_submission(home):
    checks = home / "checks.py"
    text = checks.read_text("utf-8").replace(
        "    right = _fused(side)\n",
        "    if not (given.folder / 'machine.json').exists():\n"
        "        raise ValueError('no machine.json')\n"
        "    right = _fused(side)\n",
    )
    checks.write_text(text, "utf-8")
    assert (
        student_view(home, OWNER).questions[1][2] == "depends on the submission (no machine.json)"
    )
    (home.parent / "machine.json").write_text("{}", "utf-8")
    assert "within" in student_view(home, OWNER, work=home.parent).questions[1][2]
