"""What students forget: each mistake keeps the points that its evidence supports, and is told."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from mlsys_widgets.courses import enter_students
from mlsys_widgets.courses.roster import RosterEntry
from mlsys_widgets.files import LEDGER
from mlsys_widgets.grading.gradebook.graded_submission import BY_RECORD, RUN, GradedSubmission
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.ledger.carried_record import put_record
from mlsys_widgets.ledger.transfer import export_ledgers
from mlsys_widgets.notebooks.remarks import NoteKind, RemarkKind
from tests.grading.classroom import LAB, autograded, classroom, grade, record
from tests.grading.forged_ledgers import as_bytes, events_of
from tests.labs.rehearsal import Workshop
from tests.ledger.making import rechained
from tests.sampling import takes_everything

pytestmark = pytest.mark.timeout(600)
NAME = f"{LAB}.ipynb"
#: What the class's lab gives for right answers and everything recorded, without the essay.
ALL = 80
Files = dict[str, bytes]


@dataclass(frozen=True)
class Mistake:
    """What a student does to the folder that is handed in, and what comes of it."""

    make: Callable[[Path], Any]
    #: What is said to the TA, and to the student in the notebook: its kind, and some words of it.
    kind: NoteKind | None = None
    words: str = ""
    earns: float = ALL


def renamed(to: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        (folder / LEDGER).rename(folder / to)

    return make


def saved(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / LEDGER).write_bytes(change((folder / LEDGER).read_bytes()))

    return make


def after(*steps: Callable[[Path], Any]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        for step in steps:
            step(folder)

    return make


def carry(folder: Path) -> None:
    """Save the notebook with its record, as the student's server does."""
    book = json.loads((folder / NAME).read_bytes())
    put_record(book, (folder / LEDGER).read_bytes(), LAB, folder.parent.name)
    (folder / NAME).write_text(json.dumps(book))


def without(*names: str) -> Callable[[Path], None]:
    return lambda folder: [(folder / name).unlink() for name in names]  # type: ignore[return-value]


def packed(folder: Path, *, into: str = "homework.zip", below: str = "") -> None:
    """Put the work into a zip, and leave the notebook as it was released beside it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (NAME, LEDGER):
            archive.write(folder / name, below + name)
    (folder / into).write_bytes(content.getvalue())
    (folder / LEDGER).unlink()


def exported(folder: Path, name: str = "ledgers.json") -> None:
    export_ledgers([folder / LEDGER], folder / name)
    (folder / LEDGER).unlink()


def pretty(content: bytes) -> bytes:
    return b"\n".join(json.dumps(json.loads(x), indent=2).encode() for x in content.splitlines())


def as_list(content: bytes) -> bytes:
    return json.dumps([json.loads(line) for line in content.splitlines()], indent=4).encode()


def sorted_keys(content: bytes) -> bytes:
    lines = (json.dumps(json.loads(line), sort_keys=True) for line in content.splitlines())
    return "".join(f"{line}\n" for line in lines).encode()


def older(content: bytes, left: int = 4) -> bytes:
    return b"".join(content.splitlines(keepends=True)[:-left])


def older_beside(folder: Path) -> None:
    """The new ledger was downloaded when the old one lay there already."""
    content = (folder / LEDGER).read_bytes()
    (folder / "ledger (1).jsonl").write_bytes(content)
    (folder / LEDGER).write_bytes(older(content))


def other_machine(content: bytes, chosen: Callable[[Any], bool], ident: str = "b7" * 16) -> bytes:
    """The ledger that somebody has who did only some of the work, on a machine of its own."""
    opened, *rest = events_of(content)
    return as_bytes(rechained([opened._replace(id=ident), *(e for e in rest if chosen(e))]))


def two_machines(folder: Path, *, second: str = "laptop/ledger.jsonl") -> None:
    """Answers on one machine, everything else on another."""
    content = (folder / LEDGER).read_bytes()
    (folder / second).parent.mkdir(exist_ok=True)
    (folder / second).write_bytes(other_machine(content, lambda e: e.kind == "answer"))
    (folder / LEDGER).write_bytes(other_machine(content, lambda e: e.kind != "answer", "a6" * 16))


def copied_and_continued(folder: Path) -> None:
    """The folder was copied to another machine, and then worked on in both."""
    events = events_of((folder / LEDGER).read_bytes())
    common, rest = events[:3], events[3:]
    for name, some in ((LEDGER, rest[::2]), ("ledger-1.jsonl", rest[1::2])):
        (folder / name).write_bytes(as_bytes(rechained([*common, *some])))


def checkpoint_only(folder: Path) -> None:
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / LEDGER).rename(folder / ".ipynb_checkpoints" / "ledger-checkpoint.jsonl")


def checkpoint_of_notebook(folder: Path) -> None:
    """The lab was fetched again: only the checkpoint still carries the record."""
    blank = (folder / NAME).read_bytes()
    carry(folder)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / NAME).rename(folder / ".ipynb_checkpoints" / f"{LAB}-checkpoint.ipynb")
    (folder / NAME).write_bytes(blank)
    (folder / LEDGER).unlink()


def typed_as_text(folder: Path) -> None:
    """Answers in words, in a cell of the student's own, and nothing recorded."""
    book = nbformat.read(folder / NAME, 4)
    book.cells.append(nbformat.v4.new_markdown_cell("Question 1: 42.7"))
    nbformat.write(book, folder / NAME)
    content = (folder / LEDGER).read_bytes()
    kept = [each for each in events_of(content) if each.kind != "answer"]
    (folder / LEDGER).write_bytes(as_bytes(rechained(kept)))


MOVED, RESAVED = RemarkKind.LEDGER_ELSEWHERE, RemarkKind.LEDGER_RESAVED
MERGED = FlagKind.LEDGERS_MERGED
MISTAKES: Mapping[str, Mistake] = {
    "nothing-wrong": Mistake(lambda folder: None),
    "only-notebook": Mistake(
        after(carry, without(LEDGER)), MOVED, "there is no ledger.jsonl, so the record"
    ),
    "empty": Mistake(
        after(carry, saved(lambda _: b"")), MOVED, "ledger.jsonl is empty, so the record"
    ),
    "empty-alone": Mistake(
        saved(lambda _: b""), FlagKind.NO_LEDGER, "ledger.jsonl is empty and the notebook", 0
    ),
    "nothing": Mistake(without(LEDGER), FlagKind.NO_LEDGER, "there is no ledger.jsonl", 0),
    "browser": Mistake(renamed("ledger (1).jsonl"), MOVED, "“ledger (1).jsonl”"),
    "dash": Mistake(renamed("ledger-1.jsonl"), MOVED, "“ledger-1.jsonl”"),
    "finder": Mistake(renamed("ledger copy.jsonl"), MOVED, "“ledger copy.jsonl”"),
    "german": Mistake(renamed("Kopie von ledger.jsonl"), MOVED, "“Kopie von ledger.jsonl”"),
    "json": Mistake(renamed("ledger.json"), MOVED, "“ledger.json”"),
    "txt": Mistake(renamed("ledger.jsonl.txt"), MOVED, "“ledger.jsonl.txt”"),
    "bare": Mistake(renamed("ledger"), MOVED, "“ledger”"),
    "capitals": Mistake(renamed("LEDGER.JSONL"), MOVED, "“LEDGER.JSONL”"),
    "any-name": Mistake(renamed("my answers.dat"), MOVED, "“my answers.dat”"),
    "subfolder": Mistake(renamed(f"{LAB}/{LEDGER}"), MOVED, f"“{LAB}/{LEDGER}”"),
    "deep": Mistake(renamed(f"a/b/c/{LEDGER}"), MOVED, "“a/b/c/ledger.jsonl”"),
    "checkpoint": Mistake(checkpoint_only, MOVED, "ledger-checkpoint.jsonl"),
    "checkpoint-notebook": Mistake(checkpoint_of_notebook, MOVED, f"{LAB}-checkpoint.ipynb"),
    "old-beside-new": Mistake(older_beside, MOVED, "“ledger (1).jsonl”"),
    "new-beside-old": Mistake(
        lambda folder: (folder / "ledger_old.jsonl").write_bytes(
            older((folder / LEDGER).read_bytes())
        )
    ),
    "twice": Mistake(lambda folder: shutil.copy(folder / LEDGER, folder / "ledger (1).jsonl")),
    "set-aside": Mistake(renamed(f"{LEDGER}.old-1"), MOVED, "“ledger.jsonl.old-1”"),
    "exported": Mistake(exported, MOVED, "“ledgers.json”"),
    "exported-beside": Mistake(
        lambda folder: export_ledgers([folder / LEDGER], folder / "ledgers.json")
    ),
    "exported-as-ledger": Mistake(
        after(exported, lambda folder: (folder / "ledgers.json").rename(folder / LEDGER)),
        RESAVED, "as an export",
    ),
    "zip": Mistake(packed, MOVED, "“homework.zip/ledger.jsonl”"),
    "zip-folder": Mistake(
        lambda folder: packed(folder, below=f"{LAB}/"), MOVED, f"“homework.zip/{LAB}/ledger.jsonl”"
    ),
    "zip-of-hand-in": Mistake(
        lambda folder: packed(folder, into=f"{LAB}-{folder.parent.name}.zip"), MOVED, ".zip/"
    ),
    "two-machines": Mistake(two_machines, MERGED, "“laptop/ledger.jsonl”"),
    "copied-and-continued": Mistake(copied_and_continued, MERGED, "“ledger-1.jsonl”"),
    "utf-16": Mistake(saved(lambda c: c.decode().encode("utf-16")), RESAVED, "as UTF-16"),
    "utf-16-be": Mistake(saved(lambda c: c.decode().encode("utf-16-be")), RESAVED, "as UTF-16"),
    "utf-32": Mistake(saved(lambda c: c.decode().encode("utf-32")), RESAVED, "as UTF-32"),
    "pretty": Mistake(saved(pretty), RESAVED, "in other lines"),
    "list": Mistake(saved(as_list), RESAVED, "in other lines"),
    "one-line": Mistake(saved(lambda c: c.replace(b"\n", b" ")), RESAVED, "in other lines"),
    "old-mac": Mistake(saved(lambda c: c.replace(b"\n", b"\r")), RESAVED, "in other lines"),
    "pretty-utf-16-moved": Mistake(
        after(saved(lambda c: pretty(c).decode().encode("utf-16")), renamed("ledger.json")),
        RESAVED, "as UTF-16 and in other lines",
    ),
    "crlf": Mistake(saved(lambda c: c.replace(b"\n", b"\r\n"))),
    "mark": Mistake(saved(lambda c: b"\xef\xbb\xbf" + c)),
    "sorted": Mistake(saved(sorted_keys)),
    "no-end": Mistake(saved(lambda c: c.rstrip(b"\n"))),
    "blank-lines": Mistake(saved(lambda c: c.replace(b"\n", b"\n\n"))),
    "all-of-it": Mistake(
        saved(lambda c: b"\xef\xbb\xbf" + sorted_keys(c).replace(b"\n", b"\r\n").rstrip())
    ),
    "typed-as-text": Mistake(
        typed_as_text, FlagKind.TYPED_TEXT, "text in a cell, such as “Question 1: 42.7”", 20
    ),
    "garbage": Mistake(
        after(carry, saved(lambda _: b"\x00garbage\xff" * 50)),
        MOVED, "nothing of yours can be read in the file ledger.jsonl, so",
    ),
}  # fmt: skip


def login(mistake: str) -> str:
    """A name of which no part is in any sentence: notebooks for graders name nobody."""
    return f"q{list(MISTAKES).index(mistake):02}"


def with_mistakes(root: Path, names: Iterable[str] = MISTAKES) -> Workshop:
    made = classroom(root / "course")
    for name in names:
        MISTAKES[name].make(record(made, login(name)))
    return made


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return with_mistakes(tmp_path_factory.mktemp("mistakes"))


@pytest.fixture(scope="module")
def graded(course):
    return grade(course)


#: One of each kind runs in ``make test``, all of them in ``make test-all``.
RUNNING = tuple(MISTAKES) if takes_everything() else (
    "nothing-wrong", "only-notebook", "empty-alone", "nothing", "browser", "json", "subfolder",
    "checkpoint", "old-beside-new", "exported", "zip", "two-machines", "utf-16", "pretty",
    "typed-as-text",
)  # fmt: skip


@pytest.fixture(scope="module")
def by_running(tmp_path_factory):
    """Every submission is run, as with ``--run``."""
    made = with_mistakes(tmp_path_factory.mktemp("running"), RUNNING)
    return made, grade(made, run=True)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_keeps_its_points_and_is_told_in_a_sentence(course, graded, name):
    assert graded[login(name)].way == BY_RECORD
    is_told(course, graded, name)


@pytest.mark.parametrize("name", RUNNING)
def test_a_mistake_that_is_run_is_worth_and_told_the_same(by_running, name):
    course, graded = by_running
    assert graded[login(name)].way == RUN
    is_told(course, graded, name)


def is_told(course: Workshop, graded: Mapping[str, GradedSubmission], name: str) -> None:
    """Hold what became of a mistake against what should."""
    mistake, found = MISTAKES[name], graded[login(name)]
    assert found.earned == mistake.earns, found
    told = {note.kind: note.sentence for note in (*found.flags, *found.remarks)}
    first = autograded(course, login(name)).cells[0]
    if mistake.kind is None:
        assert told == {}
        assert first.id != "about-this-submission"
        return
    assert {mistake.kind} <= set(told) <= {mistake.kind, MOVED, RESAVED}
    assert mistake.words in told[mistake.kind]
    assert mistake.words.lower() in first.source.lower(), "the student reads it too"
    is_flag = isinstance(mistake.kind, FlagKind)
    assert [flag.kind for flag in found.flags] == ([mistake.kind] if is_flag else [])


def test_merged_ledgers_verify_and_keep_every_entry(course, graded):
    student = login("two-machines")
    assert graded[student].earned == ALL
    kept, whole = (
        events_of((course.root / "autograded" / each / LAB / LEDGER).read_bytes())
        for each in (student, login("nothing-wrong"))
    )
    assert [each[3:5] for each in kept[1:]] == [each[3:5] for each in whole[1:]]
    again = grade(course, students=student, force=True)[student]
    assert [flag.kind for flag in again.flags] == [MERGED], "merging twice gives the same ledger"


@pytest.mark.parametrize("run", [False, True])
def test_a_mistyped_login_is_told_with_the_nearest_name(tmp_path, run):
    """Work of nobody's: it is graded, and whose it may be is said, as often as it is graded."""
    made = classroom(tmp_path / "course")
    enter_students(made.course, [RosterEntry("annabel", "Anna", "Bell"), RosterEntry("ben")])
    for name in ("anabel", "ben"):
        record(made, name)
    for force in (False, True):
        graded = grade(made, force=force, run=run)
        assert graded["ben"].flags == ()
        (flag,) = graded["anabel"].flags
        assert flag.kind is FlagKind.STRANGER
        assert "anabel is not in this class. Did they mean annabel?" in flag.sentence
        assert "mlsys course merge anabel LOGIN" in flag.sentence
        assert graded["anabel"].earned == ALL
    enter_students(made.course, [RosterEntry("anabel", "Ana", "Bel")])
    assert grade(made, force=True)["anabel"].flags == ()
