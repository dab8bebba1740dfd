"""The log of graded submissions: a line each, whole or not there, and closed to students."""

from __future__ import annotations

import json
import threading

from mlsys_widgets.files import acquire
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.gradebook.graded_submission import GradedSubmission
from mlsys_widgets.grading.judging.scoring import Score
from mlsys_widgets.ledger import Head


def graded(points: float, student: str = "ann") -> GradedSubmission:
    return GradedSubmission(student, (Score("limit", points, 10, data=("float", "0x1p0")),))


def test_the_last_line_counts_and_every_head_is_known(tmp_path):
    log = GradedLog(tmp_path, "lab_02_demo")
    log.add(graded(3), Head(4, "a"), {"parameters": {"side": 4}})
    log.add(graded(5), Head(9, "b"), {})
    log.add_lines([{**graded(7, "bob").as_data(), "head": None}])
    found = log.read()
    assert found["ann"]["scores"][0]["auto"] == 5
    assert found["bob"]["scores"][0]["data"] == ["float", "0x1p0"]
    assert log.heads() == {"ann": {Head(4, "a"), Head(9, "b")}}


def test_half_a_line_takes_nothing_with_it(tmp_path):
    log = GradedLog(tmp_path, "lab_02_demo")
    log.add(graded(3), None, {})
    with (tmp_path / ".mlsys" / "grade-lab_02_demo.jsonl").open("ab") as file:
        file.write(b'{"student": "bob", "sco')
    log.add(graded(5, "cat"), None, {})
    assert sorted(log.read()) == ["ann", "cat"]


def test_a_line_that_another_process_writes_is_waited_for_and_not_cut_off(tmp_path):
    log = GradedLog(tmp_path, "lab_02_demo")
    log.add(graded(3), None, {})
    line = json.dumps({"student": "bob", "scores": []}).encode() + b"\n"
    with (tmp_path / ".mlsys" / "grade-lab_02_demo.jsonl").open("ab") as file:
        acquire(file.fileno())
        file.write(line[:9])
        file.flush()
        adding = threading.Thread(target=log.add, args=(graded(5, "cat"), None, {}))
        adding.start()
        adding.join(0.2)
        assert adding.is_alive()
        file.write(line[9:])
    adding.join()
    assert sorted(log.read()) == ["ann", "bob", "cat"]


def test_only_those_who_teach_can_read_it(tmp_path):
    for mode, wanted in ((0o755, 0o600), (0o775, 0o660)):
        root = tmp_path / f"{mode:o}"
        root.mkdir()
        root.chmod(mode)
        GradedLog(root, "lab_02_demo").add(graded(3), None, {})
        (file,) = (root / ".mlsys").iterdir()
        assert file.stat().st_mode & 0o777 & ~0o022 == wanted & ~0o022
