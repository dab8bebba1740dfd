"""Whose lab it is, and which numbers follow from that."""

from __future__ import annotations

import getpass
import os

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mlsys_widgets.labs import Lab, Parameter, Parameters, execution, steps, student
from mlsys_widgets.labs.identity import remember, settings_file
from mlsys_widgets.labs.variants import draw


@pytest.fixture(autouse=True)
def nobody(monkeypatch, tmp_path):
    """A computer that knows nobody yet."""
    for name in ("MLSYS_STUDENT", "JUPYTERHUB_USER", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(getpass, "getuser", lambda: "laptop")


def test_the_login_of_a_laptop():
    found = student()
    assert (found.name, found.known_from) == ("laptop", "your login on this computer")


def test_a_user_without_a_name(monkeypatch):
    def nameless():
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert student().name == f"user-{os.getuid()}"


def test_what_was_said_wins_over_the_login(tmp_path):
    kept = remember("  ada ")
    assert kept == settings_file() == tmp_path / "config" / "mlsys_widgets" / "student.txt"
    assert (student().name, student().known_from) == ("ada", "what you set with mlsys whoami")
    remember("grace")
    assert student().name == "grace"
    kept.write_text("\n", "utf-8")
    assert student().name == "laptop"


def test_the_hub_wins_over_what_was_said(monkeypatch):
    remember("ada")
    monkeypatch.setenv("JUPYTERHUB_USER", "hub-7")
    assert (student().name, student().known_from) == ("hub-7", "your login at the hub")
    monkeypatch.setenv("JUPYTERHUB_USER", " ")
    assert student().name == "ada"


def test_the_variable_wins_over_the_hub(monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "hub-7")
    monkeypatch.setenv("MLSYS_STUDENT", "looked-at")
    assert student().name == "looked-at"
    assert "MLSYS_STUDENT" in student().known_from


@pytest.mark.parametrize(
    "name", ["student-7", "Müller", "o.brien@uni.edu", "a b", "名前", ".."[:1]]
)
def test_while_grading_only_the_folder_counts(monkeypatch, tmp_path, name):
    remember("ada")
    monkeypatch.setenv("JUPYTERHUB_USER", "ta")
    monkeypatch.setenv("MLSYS_STUDENT", "ta")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    folder = tmp_path / "autograded" / name / "lab_01"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert student().name == student(folder).name == folder.parent.name
    assert student().known_from == "the folder of the submission"


def test_validation_is_of_the_student(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    remember("ada")
    assert execution() == "validate"
    assert student().name == "ada"


@pytest.mark.parametrize(
    ("said", "is_"),
    [("autograde", "autograde"), ("validate", "validate"), ("", "student"), ("other", "student")],
)
def test_occasions(monkeypatch, said, is_):
    monkeypatch.setenv("NBGRADER_EXECUTION", said)
    assert execution() == is_


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\\b", "a\nb", "a\x00b", "x" * 201, "\u200b"])
def test_names_that_are_none_are_refused(name):
    with pytest.raises(ValueError, match=r"must be 1 to 200 printable characters without slashes"):
        remember(name)
    assert not settings_file().exists()


def test_a_name_that_is_none_is_refused_where_it_comes_from(monkeypatch):
    monkeypatch.setenv("MLSYS_STUDENT", "../other")
    with pytest.raises(ValueError, match="the environment variable MLSYS_STUDENT gives"):
        student()


# Everyone has their own numbers.

names = st.text(min_size=1, max_size=30)
values = st.lists(st.integers() | st.text(max_size=5), min_size=1, max_size=20, unique=True)


def parameters(**declared):
    return {name: Parameter(each[0], each, "", name) for name, each in declared.items()}


@given(student=names, edition=st.text(max_size=8), first=values, second=values)
def test_a_draw_is_stable_within_its_values_and_on_its_own(student, edition, first, second):
    alone = draw(parameters(a=first), lab="x", student=student, edition=edition)
    both = draw(parameters(b=second, a=first), lab="x", student=student, edition=edition)
    again = draw(parameters(b=second, a=first), lab="x", student=student, edition=edition)
    assert both == again
    assert alone.a == both.a
    assert both.a in first
    assert both.b in second


@given(student=names, first=values)
def test_without_variants_there_are_defaults(student, first):
    off = draw(parameters(a=first), lab="x", student=student, edition="2027", variants=False)
    assert off == Parameters({"a": first[0]})


def test_every_value_is_reached_about_as_often():
    declared = parameters(a=list(range(20)))
    found = [draw(declared, lab="x", student=f"s{k}").a for k in range(4000)]
    counts = [found.count(value) for value in range(20)]
    assert min(counts) > 130
    assert max(counts) < 280


@pytest.mark.parametrize("what", ["lab", "edition", "student"])
def test_another_lab_edition_or_student_has_other_numbers(what):
    declared = parameters(a=list(range(1000)), b=list(range(1000)))
    base = {"lab": "x", "edition": "", "student": "s"}
    drawn = {tuple(draw(declared, **{**base, what: f"{k}"}).values()) for k in range(50)}
    assert len(drawn) == 50


@given(one=names, other=names)
def test_names_that_differ_are_told_apart(one, other):
    """Names, labs and editions cannot be shifted into each other."""
    assume(one != other)
    declared = parameters(a=range(10**12))
    assert draw(declared, lab=one, student=other) != draw(declared, lab=other, student=one)


def test_parameters_are_read_by_attribute_and_by_name():
    p = Parameters({"kernels": 3})
    assert (p.kernels, p["kernels"], dict(p)) == (3, 3, {"kernels": 3})
    with pytest.raises(AttributeError, match="the lab has no parameter 'kernel'; it has: kernels"):
        _ = p.kernel
    with pytest.raises(AttributeError):
        p._repr_html_()
    with pytest.raises(ValueError, match="'size' has no values; give at least one"):
        Parameter(1, (), "", "size")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((1, 3, 1), (1, 2, 3)),
        ((0.1, 0.3, 0.1), (0.1, 0.2, 0.3)),
        ((1, 2, 0.4), (1, 1.4, 1.8)),
        ((5, 5, 1), (5,)),
    ],
)
def test_steps(arguments, found):
    assert steps(*arguments) == found


@pytest.mark.parametrize("arguments", [(1, 0, 1), (0, 1, 0), (0, 1, -1)])
def test_steps_that_go_nowhere(arguments):
    with pytest.raises(ValueError, match="steps go up from first to last"):
        steps(*arguments)


def test_a_lab_asks_each_id_once():
    lab = Lab("x", title="X", chapter=0, acts=())
    lab.asks(lambda p: None)
    with pytest.raises(ValueError, match="asks <lambda> twice; each id can be used once"):
        lab.asks(lambda p: None)
