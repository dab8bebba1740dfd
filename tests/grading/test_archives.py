"""Files that students made are taken in, graded here and imported by nbgrader's own command."""

from __future__ import annotations

import io
import json
import secrets
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import nbformat
import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.course.course import Course
from mlsys_widgets.courses.enrollment import enter_students
from mlsys_widgets.courses.roster import RosterEntry
from mlsys_widgets.files import LEDGER, TOLD
from mlsys_widgets.grading.reading.archives import IntakeResult, take_in
from mlsys_widgets.grading.reading.class_list import ClassList
from mlsys_widgets.grading.reading.readers import Readers
from mlsys_widgets.grading.reading.uploads import UnpackUploads
from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.work import find_work
from mlsys_widgets.labs.asked import AUTOGRADED
from mlsys_widgets.labs.told import read_told
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.carried_record import with_record
from tests.grading.classroom import LAB, classroom, fingerprint, quiet
from tests.labs.rehearsal import nbgrader, typed, work_through

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A course, and files of two students, made as students make them."""
    course = classroom(tmp_path_factory.mktemp("archives") / "course")
    home = course.root.parent
    for student in ("ann", "bob"):
        folder = home / student / LAB
        course.give(folder)
        work_through(folder, student, course.course)
        right = course.asked(student).right()
        nbformat.write(typed(course.notebook("release"), right), folder / f"{LAB}.ipynb")
        (home / "inbox").mkdir(exist_ok=True)
        hand_in(find_work(folder), student, into=home / "inbox")
    return course


@pytest.fixture
def course(original, tmp_path):
    shutil.copytree(original.root, tmp_path / "course", dirs_exist_ok=True)
    shutil.copytree(original.root.parent / "inbox", tmp_path / "inbox")
    return type(original)(tmp_path / "course", LAB)


@pytest.fixture
def inbox(course) -> Path:
    return course.root.parent / "inbox"


def test_what_was_handed_in_lies_where_nbgrader_collects_it(course, inbox):
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert (taken.students, taken.known, taken.refused) == (["ann", "bob"], [], {})
    for student in taken.students:
        assert {path.name for path in course.work(student).iterdir()} == {
            f"{LAB}.ipynb", "ledger.jsonl", "ledger_receipt.json", "timestamp.txt",
        }  # fmt: skip
    before = fingerprint(course.root)
    again = take_in(Course.at(course.root), LAB, inbox)
    assert (again.students, again.known, again.refused) == ([], ["ann", "bob"], {})
    assert fingerprint(course.root) == before


def test_mlsys_grade_takes_them_in_and_grades_them(course, inbox, capsys):
    (inbox / f"{LAB}-eve.zip").write_bytes(b"not a zip")
    arguments = ["grade", LAB, "--course", str(course.root), "--from", str(inbox), "-v"]
    with quiet():
        code = main([*arguments, "--workers", "1"])
    output = capsys.readouterr().out
    assert "2 submissions taken in, 0 known already, 1 refused." in output
    assert f"{LAB}-eve.zip: It is not a zip file." in output
    assert code == 3, "a file that was refused needs a person"
    assert "Feedback for their cards" in output
    graded = course.graded_work("ann")
    assert graded.cells
    points = {line.split(":")[0]: line for line in output.splitlines() if " of " in line}
    assert set(points) >= {"ann", "bob"}
    for student in ("ann", "bob"):
        earned = float(points[student].split(": ")[1].split(" of ")[0])
        items = course.asked(student).items.values()
        assert earned == sum(item.points for item in items if isinstance(item, AUTOGRADED))
        # What opens in the cards of the student's own lab, at once; nbgrader's folder is untouched.
        told = read_told((course.root / "told" / student / LAB / TOLD).read_bytes(), LAB, student)
        assert told.earned == earned
        assert all(each.credit == 1 and each.says for each in told.questions.values())
        assert told.questions.keys() == course.asked(student).right().keys()
    assert not (course.root / "feedback").exists()


def test_nbgraders_own_import_takes_them(course, inbox):
    """The real ``nbgrader zip_collect``, with the two lines that the course's settings have."""
    archive = course.root / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    for path in inbox.iterdir():
        shutil.copy(path, archive)
    nbgrader(course.root, ["zip_collect", LAB])
    for student in ("ann", "bob"):
        assert {path.name for path in course.work(student).iterdir()} == {
            f"{LAB}.ipynb", "ledger.jsonl", "ledger_receipt.json", "timestamp.txt",
        }  # fmt: skip
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert taken.known == ["ann", "bob"], "both ways give the very same submission"


def rezipped(path: Path, **changes: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name, old.read(name)))
    return made.getvalue()


def nobodys(course, inbox: Path) -> bytes:
    """An archive in which nothing says whose it is."""
    release = (course.root / "release" / LAB / f"{LAB}.ipynb").read_bytes()
    changes = {"ledger.jsonl": b"", f"{LAB}.ipynb": release}
    return rezipped(inbox / f"{LAB}-ann.zip", **changes)


def only(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


@pytest.mark.parametrize("name", [f"{LAB}.ipynb", "ledger.jsonl"])
@pytest.mark.parametrize("upload", ["Lee_77_{}", "sub/{}", "packed"])
def test_one_file_is_enough(course, inbox, name, upload):
    """Only the notebook, or only the ledger, uploaded as it is or in an archive."""
    archive = inbox / f"{LAB}-ann.zip"
    content = only(archive, name)
    archive.unlink()
    if upload == "packed":
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr(name, content)
    else:
        path = inbox / upload.format(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert (taken.students, taken.refused) == (["ann", "bob"], {})
    assert {path.name for path in course.work("ann").iterdir()} == {name}


def test_mlsys_grade_gives_all_points_for_one_file_and_says_which(course, inbox, tmp_path, capsys):
    release = (course.root / "release" / LAB / f"{LAB}.ipynb").read_bytes()
    for student in ("ann", "bob"):
        archive = inbox / f"{LAB}-{student}.zip"
        path = tmp_path / f"{student}.jsonl"
        path.write_bytes(only(archive, "ledger.jsonl"))
        archive.unlink()
        ledger = Ledger.open(path)
        for name, value in course.asked(student).right().items():
            ledger.record_answer(name, value)
    recorded = {student: (tmp_path / f"{student}.jsonl").read_bytes() for student in ("ann", "bob")}
    (inbox / "x.ipynb").write_bytes(with_record(release, recorded["ann"], LAB, "ann"))
    (inbox / "x.jsonl").write_bytes(recorded["bob"])
    arguments = ["grade", LAB, "--course", str(course.root), "--from", str(inbox), "--json"]
    with quiet():
        main([*arguments, "--workers", "1", "--audit", "0%"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    graded = {line["student"]: line for line in lines}
    said = {name: [each["kind"] for each in line["remarks"]] for name, line in graded.items()}
    assert said == {"ann": ["ledger elsewhere"], "bob": ["ledger alone"]}
    for student, line in graded.items():
        items = course.asked(student).items.values()
        most = sum(item.points for item in items if isinstance(item, AUTOGRADED))
        assert line["earned"] == most, line
        assert line["way"] == "record"


def test_a_notebook_and_its_ledger_belong_together(course, inbox):
    archive = inbox / f"{LAB}-ann.zip"
    for name in (f"{LAB}.ipynb", "ledger.jsonl"):
        (inbox / f"ann_1_{name}").write_bytes(only(archive, name))
    archive.unlink()
    assert take_in(Course.at(course.root), LAB, inbox).students == ["ann", "bob"]
    found = {path.name: path.read_bytes() for path in course.work("ann").iterdir()}
    assert set(found) == {f"{LAB}.ipynb", "ledger.jsonl"}
    # A second notebook of the same student that differs: a person decides.
    shutil.rmtree(course.root / "submitted")
    (inbox / "other.ipynb").write_bytes(found[f"{LAB}.ipynb"].replace(b"nbformat_minor", b"x"))
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert "keep only one of them" in taken.refused["other.ipynb"]
    assert taken.students == ["bob"]


def test_what_does_not_say_whose_it_is_is_refused(course, inbox):
    release = course.root / "release" / LAB / f"{LAB}.ipynb"
    shutil.copy(release, inbox / f"{LAB}-eve.ipynb")
    (inbox / "ledger.jsonl").write_bytes(b"[" * 100_000)
    (inbox / "lab_99.ipynb").write_text('{"metadata": {"mlsys": {"lab": "lab_99"}}}')
    (inbox / "list.ipynb").write_text("[" * 100_000)
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert taken.students == ["ann", "bob"]
    assert {name: words.split(".")[0] for name, words in taken.refused.items()} == {
        f"{LAB}-eve.ipynb": "It carries no record that says whose it is",
        "ledger.jsonl": "It is not a ledger, or its first line is damaged",
        "lab_99.ipynb": f"It belongs to 'lab_99', not to {LAB}",
        "list.ipynb": "It is not the notebook of a lab",
    }


def test_what_differs_from_an_earlier_submission_replaces_it_only_on_demand(course, inbox):
    take_in(Course.at(course.root), LAB, inbox)
    path = inbox / f"{LAB}-ann.zip"
    changed = rezipped(path, **{"timestamp.txt": b"2026-12-01 10:00:00.000000 UTC"})
    path.write_bytes(changed)
    before = fingerprint(course.root)
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert "--force replaces it" in taken.refused[path.name]
    assert fingerprint(course.root) == before
    assert take_in(Course.at(course.root), LAB, inbox, replace=True).students == ["ann"]
    assert b"2026-12-01" in (course.work("ann") / "timestamp.txt").read_bytes()
    assert [each.name for each in course.work("ann").parent.iterdir()] == [LAB]


def test_an_upload_that_changes_while_it_is_taken_in_is_refused(course, inbox):
    path = inbox / f"{LAB}-ann.zip"
    later = rezipped(path, **{"timestamp.txt": b"later"})

    def swapped(paths):
        yield from paths
        path.write_bytes(later)

    taken = take_in(Course.at(course.root), LAB, inbox, counted=swapped)
    assert taken.refused == {path.name: "It was changed while it was taken in."}
    assert taken.students == ["bob"]


def test_what_is_in_uploads_never_comes_to_the_coordinator(course, inbox, monkeypatch):
    """So a class of large uploads costs it no more memory than one: it keeps hashes alone."""
    reads = []
    ask = Readers.ask
    monkeypatch.setattr(
        Readers, "ask", lambda self, request: reads.append(request) or ask(self, request)
    )
    notebook = inbox / f"{LAB}-ann.zip"
    for name in ("cy", "dee", "eve", "fay"):
        text = nbformat.v4.new_raw_cell(secrets.token_hex(1_000_000))
        ledger = inbox / "ledger.jsonl"
        Ledger.open(ledger, lab=LAB, student=name).record_answer("limit", "memory")
        book = nbformat.reads(zipfile.ZipFile(notebook).read(f"{LAB}.ipynb"), 4)
        book.cells.append(text)
        files = {f"{LAB}.ipynb": nbformat.writes(book).encode(), LEDGER: ledger.read_bytes()}
        (inbox / f"{LAB}-{name}.zip").write_bytes(rezipped(notebook, **files))
        ledger.unlink()
    tracemalloc.start()
    taken = take_in(Course.at(course.root), LAB, inbox)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken.refused == {}
    assert taken.students == ["ann", "bob", "cy", "dee", "eve", "fay"]
    assert [len(each.paths) if isinstance(each, UnpackUploads) else 1 for each in reads] == [1] * 12
    assert peak < 2_000_000, "one of the uploads of two megabytes"


def test_two_files_of_one_student_are_for_a_person_to_choose(course, inbox):
    one = inbox / f"{LAB}-ann.zip"
    two = inbox / "sub" / f"{LAB}-ann (1).zip"
    two.parent.mkdir()
    two.write_bytes(one.read_bytes())
    assert take_in(Course.at(course.root), LAB, inbox).students == ["ann", "bob"]
    shutil.rmtree(course.root / "submitted")
    two.write_bytes(rezipped(one, **{"timestamp.txt": b"later"}))
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert taken.students == ["bob"]
    assert set(taken.refused) == {one.name, f"sub/{two.name}"}
    assert "keep only one of them" in taken.refused[one.name]


@pytest.mark.parametrize(
    "name", [f"Lee_123_{LAB}-ann.zip", f"{LAB}-ann-1.zip", f"{LAB}-ann (2).zip"]
)
def test_what_a_website_does_to_a_name_does_not_matter(course, inbox, name):
    (inbox / f"{LAB}-ann.zip").rename(inbox / name)
    assert take_in(Course.at(course.root), LAB, inbox).students == ["ann", "bob"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("homework.zip", f"Its name must be {LAB}-STUDENT.zip"),
        (f"{LAB}-eve.zip", "the ledger in it belongs to ann"),
        (f"{LAB}-..%2F..%2Feve.zip", "the ledger in it belongs to ann"),
    ],
)
def test_a_name_that_does_not_fit_is_refused(course, inbox, name, words):
    (inbox / f"{LAB}-ann.zip").rename(inbox / name)
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert words in taken.refused[name]
    assert taken.students == ["bob"]


@pytest.mark.parametrize("student", ["..%2F..%2Feve", ".", "..", ".hidden", "%00", " ", "a%0Ab"])
def test_no_name_leads_out_of_the_course(course, inbox, student):
    path = inbox / f"{LAB}-{student}.zip"
    path.write_bytes(nobodys(course, inbox))
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert "cannot be the name of a student" in taken.refused[path.name]
    assert taken.students == ["ann", "bob"]


@pytest.mark.parametrize("name", [f"{LAB}.ipynb", f"sub/Ann {LAB}.ipynb", f"{LAB}-ann.rar"])
def test_work_that_is_no_zip_is_not_passed_over_in_silence(course, inbox, name):
    (inbox / name).parent.mkdir(exist_ok=True)
    (inbox / name).write_bytes(b"{}")
    (inbox / "grades.csv").write_bytes(b"")
    (inbox / ".DS_Store").write_bytes(b"")
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert taken.students == ["ann", "bob"]
    assert list(taken.refused) == [name]
    assert f"Ask for {LAB}-STUDENT.zip" in taken.refused[name]


@pytest.mark.parametrize("name", ["ledger (1).jsonl", "ledger.json", "ann_5_ledger.jsonl.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_ledger_is_known_by_what_is_in_it(course, inbox, name, encoding):
    """Its name and its encoding do not matter, and files that are none are left alone."""
    ledger = only(inbox / f"{LAB}-ann.zip", LEDGER)
    (inbox / f"{LAB}-ann.zip").unlink()
    (inbox / name).write_bytes(ledger.decode().encode(encoding))
    (inbox / "grades.json").write_bytes(b"{}")
    (inbox / "notes.txt").write_bytes(b"ask ann")
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert (taken.students, taken.refused) == (["ann", "bob"], {})


def test_a_name_too_long_for_a_gradebook_is_refused(course, inbox):
    path = inbox / f"{LAB}-{'x' * 129}.zip"
    path.write_bytes(nobodys(course, inbox))
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert "cannot be the name of a student" in taken.refused[path.name]


def test_a_link_in_the_inbox_is_not_followed(course, inbox, tmp_path):
    (inbox / f"{LAB}-ann.zip").rename(tmp_path / "elsewhere.zip")
    (inbox / f"{LAB}-ann.zip").symlink_to(tmp_path / "elsewhere.zip")
    taken = take_in(Course.at(course.root), LAB, inbox)
    assert taken.refused == {f"{LAB}-ann.zip": "It is a link or a folder."}


def test_a_folder_that_is_empty_or_not_there(course, tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        take_in(Course.at(course.root), LAB, tmp_path / "none")
    with pytest.raises(ValueError, match="no zip files"):
        take_in(Course.at(course.root), LAB, course.root / "assignments")


# Whose it is: names are held against the class, and who uploaded a file against its name.


@pytest.fixture
def known(course) -> Course:
    """The course with a roster of two."""
    enter_students(Course.at(course.root), [RosterEntry("ann", "Ann", "Lee"), RosterEntry("bob")])
    return Course.at(course.root)


def take(course: Course, inbox: Path) -> IntakeResult:
    return take_in(course, LAB, inbox, known=ClassList.of(course.db_url))


def test_a_stranger_is_refused_with_the_nearest_name_and_the_file_stays(known, inbox):
    mistyped = inbox / f"{LAB}-bobb.zip"
    (inbox / f"{LAB}-bob.zip").rename(mistyped)
    # Without a ledger the name of the file is all there is.
    mistyped.write_bytes(rezipped(mistyped, **{"ledger.jsonl": b"", f"{LAB}.ipynb": b"{}"}))
    taken = take(known, inbox)
    assert taken.students == ["ann"]
    assert "bobb is not in this class. Did they mean bob?" in taken.refused[mistyped.name]
    assert "mlsys course add bobb" in taken.refused[mistyped.name]
    assert mistyped.is_file()


@pytest.mark.parametrize("prefix", ["bob_78_", "Bob_123_assignsubmission_file_"])
def test_nobody_hands_in_as_somebody_else(known, inbox, prefix):
    upload = inbox / f"{prefix}{LAB}-ann.zip"
    (inbox / f"{LAB}-ann.zip").rename(upload)
    taken = take(known, inbox)
    assert taken.students == ["bob"]
    assert "By its name bob uploaded it, and it is the work of ann" in taken.refused[upload.name]


@pytest.mark.parametrize("prefix", ["leeann_78_1234_", "Ann Lee_5_assignsubmission_file_", "x_1_"])
def test_what_a_website_puts_before_a_name_is_no_obstacle(known, inbox, prefix):
    (inbox / f"{LAB}-ann.zip").rename(inbox / f"{prefix}{LAB}-ann.zip")
    assert take(known, inbox).students == ["ann", "bob"]


def test_a_class_that_nobody_entered_has_no_strangers(course, inbox):
    assert take(Course.at(course.root), inbox).students == ["ann", "bob"]
