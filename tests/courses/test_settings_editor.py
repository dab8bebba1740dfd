"""Changing people in course.toml: comments stay, and what is not understood is not touched."""

from __future__ import annotations

import tomllib

import pytest

from mlsys_widgets.course.course import Course
from mlsys_widgets.course.staff import OtherNames, StaffMember
from mlsys_widgets.courses.settings_editor import SettingsEditor

TEXT = """# My course.
variants = true  # always

[labs.lab_01]  # the first
weight = 2

# People of the evening.
[sections.evening]
students = [
    "ada",  # repeats
    'ben',
]

[[extensions]]
student = "ada"
days = 2
reason = "ill"

# Ben had an exam.
[[extensions]]
student = "ben"
days = 1
reason = "an exam of ada"
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "assignments" / "lab_01").mkdir(parents=True)
    (tmp_path / "assignments" / "course.toml").write_text(TEXT)
    return tmp_path


def text(root) -> str:
    return (root / "assignments" / "course.toml").read_text()


def test_a_renamed_student_has_the_new_name_in_sections_and_extensions(root):
    edit = SettingsEditor(root)
    edit.rename("ada", "ann")
    edit.set_names({"ann": OtherNames("ada")})
    edit.write()
    assert (
        text(root)
        == TEXT.replace('"ada",', '"ann",').replace('student = "ada"', 'student = "ann"')
        + '\n[names.ann]\nnumbers = "ada"\n'
    )


def test_a_forgotten_one_leaves_nothing_and_others_stay(root):
    edit = SettingsEditor(root)
    edit.mark("ben", locked=True)
    edit.remove("ben")
    edit.write()
    assert "'ben'" not in text(root)
    assert 'student = "ben"' not in text(root)
    assert "# repeats" in text(root)
    assert "people" not in tomllib.loads(text(root))
    assert Course.at(root).calendar.sections == {"evening": ("ada",)}


def test_staff_and_lists_are_replaced_as_a_whole(root):
    for member in (StaffMember("mia", "ta", ("evening",)), StaffMember("mia", "instructor")):
        edit = SettingsEditor(root)
        edit.set_staff("mia", member)
        edit.mark("ada", locked=True)
        edit.put_into("zoe", "morning")
        edit.put_into("ada", "morning")
        edit.write()
    assert text(root).count("[staff.mia]") == 1
    course = Course.at(root)
    assert course.people.staff["mia"] == StaffMember("mia", "instructor")
    assert course.people.locked == ("ada",)
    assert course.calendar.sections == {"evening": ("ben",), "morning": ("zoe", "ada")}
    edit = SettingsEditor(root)
    edit.set_staff("mia", None)
    edit.mark("ada", locked=False)
    edit.write()
    assert "staff" not in tomllib.loads(text(root))
    assert text(root).startswith(TEXT[:90])


def test_a_style_that_it_does_not_understand_is_refused_and_kept(root):
    path = root / "assignments" / "course.toml"
    # tomlkit changes the order of these tables.
    before = (
        '[sections.a.labs.lab_01]\n[[extensions]]\nstudent = "x"\n[sections.b]\nstudents = []\n'
    )
    path.write_text(before)
    edit = SettingsEditor(root)
    edit.rename("ada", "ann")
    edit.mark("x", locked=True)
    with pytest.raises(ValueError, match="in a way that this command cannot change"):
        edit.write()
    assert path.read_text() == before


def test_a_text_that_does_not_say_what_was_wanted_is_never_written(root, monkeypatch):
    edit = SettingsEditor(root)
    edit.mark("ada", locked=True)
    for wrong in ("variants = false\n", "variants = "):
        monkeypatch.setattr("tomlkit.dumps", lambda _, wrong=wrong: wrong)
        with pytest.raises(ValueError, match="in a way that this command cannot change"):
            edit.write()
    assert text(root) == TEXT


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'sections = { evening = { students = ["ada"] } }\n',
            'sections = { evening = { students = ["ann"] } }\n',
        ),
        (
            '[sections.a]\nstudents = ["ada"]\n\n# Dates.\n[late]\nper_day = 1\n\n'
            "[sections.b]\nstudents = ['x', 'y']\n",
            '[sections.a]\nstudents = ["ann"]\n\n# Dates.\n[late]\nper_day = 1\n\n'
            "[sections.b]\nstudents = ['x', 'y']\n",
        ),
    ],
)
def test_tables_may_stand_in_one_line_and_in_any_order(before, after):
    edit = SettingsEditor.of_text(before)
    edit.rename("ada", "ann")
    assert edit.text == after
    edit.mark("ann", locked=True)
    edit.check()
    assert edit.text == f'{after}\n[people]\nlocked = ["ann"]\n'


def test_comments_above_a_table_stay_when_it_or_the_one_before_goes():
    ada = '[[extensions]]\nstudent = "ada"\n'
    ben = '# An exam.\n[[extensions]]\nstudent = "ben"\n'
    away = '\n# Who is away.\n[people]\nlocked = ["ada"]  # until May\n'
    edit = SettingsEditor.of_text(f"{ada}\n{ben}{away}\n# The end.\n")
    edit.remove("ada")
    assert edit.text == f"{ben}\n# Who is away.\n\n# The end.\n"
    edit = SettingsEditor.of_text(f"{ada}\n{ben}{away}")
    edit.remove("ben")
    assert edit.text == f"{ada}\n# An exam.\n{away.lstrip()}"


def test_a_new_setting_stands_above_the_comments_of_the_next_table():
    edit = SettingsEditor.of_text('[staff.mia]\nrole = "ta"\n\n# Late.\n[late]\nper_day = 1\n')
    edit.set_staff("mia", StaffMember("mia", "ta", ("a",)))
    assert edit.text == (
        '[staff.mia]\nrole = "ta"\nsections = ["a"]\n\n# Late.\n[late]\nper_day = 1\n'
    )


def test_what_is_no_course_any_more_is_taken_back(root):
    edit = SettingsEditor(root)
    edit.set_staff("ada", StaffMember("ada", "ta"))
    with pytest.raises(ValueError, match="needs another login"):
        edit.write()
    assert text(root) == TEXT


def test_two_at_once_do_not_overwrite_each_other(root):
    first, second = SettingsEditor(root), SettingsEditor(root)
    first.mark("ada", locked=True)
    second.mark("ben", locked=True)
    first.write()
    with pytest.raises(ValueError, match="try again"):
        second.write()
    assert Course.at(root).people.locked == ("ada",)
