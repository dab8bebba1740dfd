"""A measurement that comes with the package earns nothing, and one that two have is pointed out."""

from __future__ import annotations

import json
import random

import pytest

from mlsys_widgets.classes.simulated_machine import other_machine
from mlsys_widgets.course.course import Course
from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.grading.gradebook.graded_log import GradedLog
from mlsys_widgets.grading.judging.flags import FlagKind
from mlsys_widgets.grading.judging.own_measurement import SubmittedGiven
from mlsys_widgets.labs import Parameters
from mlsys_widgets.measured import load
from mlsys_widgets.measured.timings import shipped_as, timings
from tests.grading.classroom import grade, record
from tests.labs.rehearsal import committed, nbgrader
from tests.sampling import sample

LAB = "lab_11_roofline"
OWN = ("own_ridge_flop_per_byte", "own_share_pct")
SHIPPED = "cpu-2core-server"


def measured(document):
    """A change that puts a measurement beside the notebook."""

    def change(_book, folder):
        (folder / MEASUREMENT).write_text(json.dumps(document, indent=3))

    return change


def retouched():
    """The shipped document as somebody hides it: saved again, another name, other first cases."""
    document = load(SHIPPED)
    document["device"]["name"] = "My laptop"
    other = json.loads(other_machine(json.dumps(document).encode(), random.Random(2)))
    document["cases"][:100] = other["cases"][:100]
    return document


def about_measurements(flags):
    kinds = (FlagKind.SHIPPED_MEASUREMENT, FlagKind.SHARED_MEASUREMENT)
    return [flag for flag in flags if flag.kind in kinds]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = committed(tmp_path_factory.mktemp("measured") / "course", LAB)
    nbgrader(course.root, ["generate_assignment", LAB, "--force"])
    friends = json.loads(other_machine(json.dumps(load(SHIPPED)).encode(), random.Random(5)))
    record(course, "ann")
    record(course, "bob", change=measured(friends))
    record(course, "cat", change=measured({**friends, "date": "2026-11-01T10:00:00Z"}))
    record(course, "eve", change=measured(load(SHIPPED)))
    record(course, "fay", change=measured(retouched()))
    return course


@pytest.mark.slow
@pytest.mark.parametrize("run", sample([False, True], 1))
def test_a_class_in_which_not_everybody_has_measured(course, run):
    graded = grade(course, run=run, force=True)
    credits = {
        name: [score.credit for score in each.scores if score.name in OWN]
        for name, each in graded.items()
    }
    assert credits == {
        "ann": [1, 1], "bob": [1, 1], "cat": [1, 1], "eve": [0, 0], "fay": [0, 0],
    }  # fmt: skip
    for name in ("eve", "fay"):
        (flag,) = about_measurements(graded[name].flags)
        assert flag.kind is FlagKind.SHIPPED_MEASUREMENT
        says = next(score.says for score in graded[name].scores if score.name in OWN)
        assert "Take your own in the lab, or with: mlsys measure --cpu" in says
    lines = GradedLog(Course(course.root).home, LAB).read()
    about = {
        name: [flag.about for flag in about_measurements(lines[name]["flags"])]
        for name in ("ann", "bob", "cat")
    }
    assert about == {"ann": [], "bob": ["cat"], "cat": ["bob"]}


def test_a_measurement_that_is_padded_until_nobody_reads_it(tmp_path):
    (tmp_path / MEASUREMENT).write_bytes(json.dumps(load(SHIPPED)).encode() + b" " * (8 << 20))
    given = SubmittedGiven(Parameters({}), tmp_path)
    assert given.p == {}
    with pytest.raises(ValueError, match=r"has more than 8 MiB, .* Take your own"):
        _ = given.folder


def test_whose_timings_they_are():
    assert shipped_as(timings(json.dumps(load("h200-sxm")).encode())) == "h200-sxm"
    own = other_machine(json.dumps(load(SHIPPED)).encode(), random.Random(1))
    assert shipped_as(timings(own)) is None
    # Two timings may be the same by accident.
    case = load(SHIPPED)["cases"]
    mixed = {"cases": [*case[:2], *json.loads(own)["cases"][2:]]}
    assert shipped_as(timings(json.dumps(mixed).encode())) is None
    for broken in (b"", b"[]", b"{}", b'{"cases": [{"seconds": {"median": "x"}}]}', b"[" * 10**5):
        assert timings(broken) == frozenset()
