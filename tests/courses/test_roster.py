"""Rosters as learning systems export them, and the mistakes that are in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlsys_widgets.courses.roster import RosterEntry, RosterError, hub_remarks, read_roster


@pytest.fixture
def roster(tmp_path: Path):
    """Write a roster and read it."""

    def read(content: str | bytes) -> list[RosterEntry]:
        path = tmp_path / "roster.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_roster(path)

    return read


ANN = RosterEntry("ann", "Ann", "Lee", "ann@uni.edu", "17")


@pytest.mark.parametrize(
    "text",
    [
        "id,first_name,last_name,email,lms_user_id\nann,Ann,Lee,ann@uni.edu,17\n",  # nbgrader
        "Username,First name,Last name,Email address,ID number\nann,Ann,Lee,ann@uni.edu,17\n",
        "First name;Surname;Username;ID number;Email address\r\nAnn;Lee;ann;17;ann@uni.edu\r\n",
        "Student,ID,SIS User ID,SIS Login ID,Section,Email\n"
        '    Points Possible,,,,,\n"Lee, Ann",17,S-17,ann,A,ann@uni.edu\n'
        '"Student, Test",99,,f00dcafe,A,\n',  # Canvas
        "NetID\tName\tE-Mail\tSID\nann\tAnn Lee\tann@uni.edu\t17\n",
        "LOGIN ,  First   Name,last name,mail,lms id\n ann , Ann, Lee ,ann@uni.edu,17\n",
    ],
)
def test_columns_under_the_names_that_systems_give_them(roster, text: str):
    assert roster(text) == [ANN]


def test_a_mark_at_the_beginning_empty_lines_and_missing_cells(roster):
    text = "\ufeffid;first name\n\nmüller;Jörg\n;;\nbob\n"
    assert roster(text) == [RosterEntry("müller", "Jörg"), RosterEntry("bob")]


def test_a_name_with_a_line_break_in_another_column_keeps_its_line_number(roster):
    with pytest.raises(RosterError, match="line 4: the id is empty"):
        roster('id,name,note\nann,Ann,"two\nlines"\n,Nobody,\n')


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (",", "line 3: the id is empty; give everybody a login"),
        ("ann,", "line 3: 'ann' is already in line 2; remove one of them"),
        ("a/b,", "line 3: the id 'a/b' contains '/', and folders are named after it"),
        ("..,", "line 3: the id '..' begins with '.'"),
        ("../x,", "line 3: the id '../x' begins with '.'"),
        ("-rf,", "line 3: the id '-rf' begins with '-'"),
        ("a b,", "line 3: the id 'a b' contains a space"),
        ("a+b,", "line 3: the id 'a+b' contains '+'"),
        ("a*,", "line 3: the id 'a*' contains '*'"),
        ("a\\b,", "line 3: the id 'a\\\\b' contains '\\\\'"),
        ("x" * 129 + ",", "is longer than 128 characters"),
        ("bob," + "x" * 129, "line 3: the first name of 'bob' is longer than 128 characters"),
        ('bob,"two\nlines"', "line 4: the first name of 'bob' contains a control character"),
    ],
)
def test_each_wrong_row_is_a_sentence_with_its_line(roster, row: str, said: str):
    if row == ",":
        row = ",Somebody"
    with pytest.raises(RosterError) as problem:
        roster(f"id,first name\nann,Ann\n{row}\n")
    first, second = str(problem.value).split("\n", 1)
    assert first.endswith("roster.csv has 1 row to fix, so nobody was entered:")
    assert said in second


def test_all_wrong_rows_are_told_at_once(roster):
    with pytest.raises(RosterError) as problem:
        roster("id\nann\na b\nann\n-x\n")
    assert [line.split(":")[0] for line in str(problem.value).splitlines()[1:]] == [
        "line 3", "line 4", "line 5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty; it needs a line of headings"),
        ("id,name\n", "has headings and no students"),
        ("name,email\nAnn,a@b\n", "has no column of logins; it has: name, email. Call the column"),
        ("ann,Ann\nbob,Bob\n", "has no column of logins; it has: ann, Ann"),
        ("id\nMüller".encode("latin-1"), "is not UTF-8; export it as CSV UTF-8"),
        ("id\nann".encode("utf-16"), "is not UTF-8"),
        ('id,name\nann,"Ann', "line 2: not CSV"),
    ],
)
def test_files_that_are_no_roster(roster, content: str | bytes, said: str):
    with pytest.raises(RosterError) as problem:
        roster(content)
    assert said in str(problem.value)


def test_what_only_a_hub_cannot_handle_is_a_remark(roster):
    students = roster("id\nann\nAnn\n2027001\nann@uni.edu\n" + "x" * 33 + "\n")
    first, second = hub_remarks(students)
    assert first.startswith(f"Ann, 2027001, ann@uni.edu, {'x' * 33}: not a valid user name")
    assert second == "ann, Ann: a JupyterHub takes these for the same user"
    assert hub_remarks([ANN]) == []
    many = hub_remarks([RosterEntry(f"X{number}") for number in range(8)])
    assert many[0].startswith("X0, X1, X2, X3, X4 and 3 more: ")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200) | st.text("id,;\n\t\"' ann/.-", max_size=80).map(str.encode))
def test_whatever_is_in_the_file_every_id_can_name_a_folder(tmp_path: Path, content: bytes):
    path = tmp_path / "roster.csv"
    path.write_bytes(b"id,name\n" + content)
    try:
        students = read_roster(path)
    except RosterError:
        return
    ids = [each.id for each in students]
    assert len(set(ids)) == len(ids)
    for each in ids:
        assert (tmp_path / each).parent == tmp_path
        assert (tmp_path / each) != tmp_path
        assert not set(each) & set("/\\+*?[] \t\n")
