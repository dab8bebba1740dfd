"""``mlsys ledger`` as a student who changes machines and a TA who has doubts meet it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets.cli import main
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.ledger.events import to_line
from tests.ledger.making import LAB, STUDENT, Clock, opened, read_events, rechained, worked_through

OTHER = "lab_01_magnitude"


@pytest.fixture
def labs(tmp_path: Path) -> Path:
    """A student's folder: two labs that were begun, one that was not."""
    folder = tmp_path / "mine"
    for lab in (LAB, OTHER, "lab_11_roofline"):
        (folder / lab).mkdir(parents=True)
    worked_through(folder / LAB / "ledger.jsonl")
    opened(folder / OTHER / "ledger.jsonl", Clock(), lab=OTHER).commit_prediction("gap", "C")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]):
    """Run the command, and return the one sentence with which it was refused."""

    def run(*words: object) -> str:
        capsys.readouterr()
        assert main(["ledger", *map(str, words)]) == 1
        told = capsys.readouterr()
        assert told.err.startswith("mlsys: ")
        assert told.err.count("\n") == 1
        assert told.out == ""
        return told.err

    return run


def test_ledgers_move_to_another_machine(labs, tmp_path, monkeypatch, capsys):
    """As docs/reference/ledger.md tells it, in the folders where it says so."""
    monkeypatch.chdir(labs)
    assert main(["ledger", "export"]) == 0
    told = capsys.readouterr().out
    assert "Wrote ledgers.json. On the other machine, run: mlsys ledger import ledgers.json" in told
    assert f"Packed {LAB}/ledger.jsonl" in told

    there = tmp_path / "there"
    there.mkdir()
    shutil.copy(labs / "ledgers.json", there)
    monkeypatch.chdir(there)
    assert main(["ledger", "import", "ledgers.json"]) == 0
    assert f"{LAB}: {LAB}/ledger.jsonl" in capsys.readouterr().out
    for lab in (LAB, OTHER):
        copied = there / lab / "ledger.jsonl"
        assert copied.read_bytes() == (labs / lab / "ledger.jsonl").read_bytes()
    assert not (there / "lab_11_roofline").exists()

    before = contents(there)
    assert main(["ledger", "import", "ledgers.json", "--student", STUDENT]) == 0
    assert contents(there) == before
    led = opened(there / LAB / "ledger.jsonl")
    led.record_answer("more", 1)
    assert led.verify().ok


def test_the_command_as_a_shell_runs_it(labs):
    command = [sys.executable, "-m", "mlsys_widgets", "ledger", "verify"]
    done = subprocess.run([*command, labs], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("2 of 2 ledgers verify.\n")
    done = subprocess.run([*command, labs / "none"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"mlsys: there is no ledger at {labs / 'none'}\n"


@pytest.mark.parametrize("named", ["folder", "lab", "file"])
def test_a_ledger_is_named_by_its_folder_or_itself(labs, tmp_path, named):
    if named == "folder":
        shutil.rmtree(labs / OTHER)
    path = {"folder": labs, "lab": labs / LAB, "file": labs / LAB / "ledger.jsonl"}[named]
    output = tmp_path / "out.json"
    assert main(["ledger", "export", str(path), "--output", str(output)]) == 0
    assert [each["lab"] for each in json.loads(output.read_text())["ledgers"]] == [LAB]


def test_what_cannot_be_exported_is_one_sentence(labs, tmp_path, refused):
    output = tmp_path / "out.json"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert f"there is no ledger in {empty} or the folders in it" in refused("export", empty)
    assert "there is no ledger at" in refused("export", tmp_path / "gone.jsonl")
    theirs = tmp_path / "theirs.jsonl"
    opened(theirs, student="student-02", lab="lab_11_roofline").record_answer("a", 1)
    assert "is of one student" in refused("export", labs, theirs, "--output", output)
    twice = labs / LAB
    assert "once per lab" in refused("export", twice, twice, "--output", output)
    gone = tmp_path / "gone" / "out.json"
    assert "Nothing was saved" in refused("export", labs, "--output", gone)
    output.write_text("precious")
    assert "choose another name" in refused("export", labs, "--output", output)
    assert output.read_text() == "precious"
    ledger = labs / LAB / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"value":"C"', b'"value":"A"'))
    assert "not intact from event" in refused("export", labs, "--output", tmp_path / "new.json")
    assert not (tmp_path / "new.json").exists()


def test_what_cannot_be_imported_is_one_sentence_and_changes_nothing(labs, tmp_path, refused):
    export = tmp_path / "out.json"
    assert main(["ledger", "export", str(labs), "--output", str(export)]) == 0
    there = tmp_path / "there"
    (there / OTHER).mkdir(parents=True)
    opened(there / OTHER / "ledger.jsonl", lab=OTHER).commit_prediction("gap", "A")
    before = contents(there)

    assert "gone another way" in refused("import", export, there)
    assert "not of 'student-02'" in refused("import", export, tmp_path, "--student", "student-02")
    assert "cannot be read" in refused("import", tmp_path / "gone.json", there)
    ledger = labs / LAB / "ledger.jsonl"
    assert "not a JSON document" in refused("import", ledger, there)
    damaged = tmp_path / "damaged.json"
    damaged.write_text(export.read_text().replace('"C"', '"A"'))
    assert "the file was damaged or edited" in refused("import", damaged, there)
    (there / "file").touch()
    assert "Nothing was saved" in refused("import", export, there / "file")
    (there / "file").unlink()
    assert contents(there) == before
    assert not (tmp_path / LAB).exists()


# ---- verify


@pytest.fixture
def verified(capsys: pytest.CaptureFixture[str]):
    """Run ``mlsys ledger verify``, and return its exit code and what it said."""

    def run(*words: object) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["ledger", "verify", *map(str, words)])
        told = capsys.readouterr()
        assert told.err == ""
        return code, told.out

    return run


def test_an_unbroken_ledger_verifies_and_shows_its_head(labs, verified):
    before = contents(labs)
    path = labs / LAB / "ledger.jsonl"
    head = Ledger.open(path).head
    code, told = verified(path)
    assert code == 0
    assert told == (
        f"{path}: verifies\n"
        f"  {LAB} of {STUDENT}, last event 11 at 2026-02-03T09:30:11.000Z\n"
        f"  head {head.hash}\n"
    )
    assert verified(path, "--student", STUDENT, "--head", head.hash) == (0, told)
    assert contents(labs) == before


def test_what_does_not_fit_is_named_ledger_by_ledger(labs, verified):
    path = labs / LAB / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"value":"C"', b'"value":"A"'))
    for name, content in (("empty", ""), ("shopping", "milk\nbread\n")):
        (labs / name).mkdir()
        (labs / name / "ledger.jsonl").write_text(content)
    (labs / "odd" / "ledger.jsonl").mkdir(parents=True)
    code, told = verified(labs)
    assert code == 1
    assert f"{path}: does not verify" in told
    assert "not intact from event 1 (prediction act1) on" in told
    assert f"{labs / OTHER / 'ledger.jsonl'}: verifies" in told
    assert told.count("It holds no events.") == 2
    assert "is not a file" in told
    assert told.endswith("1 of 5 ledgers verify.\n")


def test_somebody_elses_ledger_is_named(labs, verified):
    code, told = verified(labs / LAB, "--student", "student-02")
    assert code == 1
    assert "This is the ledger of 'student-01', not of 'student-02'." in told


def test_a_noted_head_shows_what_the_file_alone_cannot(labs, verified):
    path = labs / LAB / "ledger.jsonl"
    events = read_events(path)
    cut = b"".join(path.read_bytes().splitlines(keepends=True)[:-3])
    rewritten = rechained([events[0], *events[2:]])
    for forged in (cut, b"".join(map(to_line, rewritten))):
        path.write_bytes(forged)
        assert verified(path)[0] == 0
        code, told = verified(path, "--head", events[-1].hash)
        assert code == 1
        assert "the end of the ledger was cut off, or the ledger was rewritten" in told
    path.write_bytes(cut)
    assert verified(path, "--head", events[5].hash)[0] == 0


def test_a_head_that_is_none_is_refused(labs, refused):
    assert "it must be the 64 digits" in refused("verify", labs / LAB, "--head", "abc")
    assert "belongs to one ledger" in refused("verify", labs, "--head", "0" * 64)


def test_an_action_is_needed(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["ledger"])
    assert stop.value.code == 2
    assert "ACTION" in capsys.readouterr().err
