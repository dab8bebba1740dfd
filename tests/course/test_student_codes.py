"""A code for each student: the same numbers as with the secret, and nobody else's."""

from __future__ import annotations

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.student_codes import BY_CODE, CodeRefused, checked_code, code_of
from mlsys_widgets.labs.lab import Lab
from mlsys_widgets.labs.variants import Parameter

EDITION = f"{BY_CODE} 2027 5f0c9a"


@pytest.fixture
def lab() -> Lab:
    many = Parameter(0, range(1_000_000), "", "one of many, so that draws differ")
    return Lab("lab_02", title="Caches", chapter=2, acts=("Only",), parameters={"many": many})


def test_a_code_draws_what_the_secret_draws_for_that_student_alone(lab):
    for student in ("ann", "bob"):
        code = code_of(EDITION, student)
        assert lab.draw(student, edition=code) == lab.draw(student, edition=EDITION)
    ann, bob = (lab.draw(each, edition=EDITION) for each in ("ann", "bob"))
    assert ann != bob
    assert lab.draw("bob", edition=code_of(EDITION, "ann")) != bob


def test_another_secret_or_year_has_other_codes():
    codes = {code_of(f"{BY_CODE} {each}", "ann") for each in ("2027 5f", "2028 5f", "2027 60")}
    assert len(codes) == 3


def test_a_page_draws_nothing_without_a_code(lab):
    with pytest.raises(CodeRefused, match="is not one of 'ann'"):
        lab.draw("ann", edition=BY_CODE)


@pytest.mark.parametrize("slip", ["", "ann", "7", "KT3K-ES7S-M6WV", "KT3K-ES7S-M6WV-TCA", "☃" * 14])
def test_a_slip_is_noticed(slip):
    with pytest.raises(CodeRefused, match="14 letters and digits"):
        checked_code(slip, "ann")


def test_every_single_wrong_character_but_a_few_in_a_thousand_is_noticed():
    code = code_of(EDITION, "ann").replace("-", "")
    taken = 0
    for at in range(12):
        for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".replace(code[at], ""):
            try:
                checked_code(code[:at] + other + code[at + 1 :], "ann")
                taken += 1
            except CodeRefused:
                pass
    # Two characters of five bits let one in 1,024 pass; of 372 slips, that is less than one.
    assert taken <= 3


def test_codes_need_a_secret(tmp_path):
    (tmp_path / "assignments").mkdir()
    settings = tmp_path / "assignments" / "course.toml"
    settings.write_text("student_codes = true\n")
    with pytest.raises(ValueError, match="student_codes needs a secret"):
        Course.at(tmp_path)
    settings.write_text('student_codes = true\nsecret = "5f0c9a"\nedition = "2027"\n')
    course = Course.at(tmp_path)
    assert (course.edition, course.draws_by_code) == (EDITION, True)
