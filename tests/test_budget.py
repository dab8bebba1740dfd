"""The suite's own budget: what counts for whom, and who is named."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.budget import CPU, LAB, LABS, REFERENCE, ROOM, UNIT, Budget, lab_of, room_of, used
from tests.sampling import EXAMPLE
from tests.waiting import wait_for

OTHER = next(lab for lab in LABS if lab != EXAMPLE)


def spend(budget: Budget, nodeid: str, seconds: float, unit: float = REFERENCE) -> None:
    noted = [(CPU, seconds), (UNIT, unit)]
    budget.pytest_runtest_logreport(
        SimpleNamespace(when="teardown", nodeid=nodeid, user_properties=noted)
    )


@pytest.mark.parametrize(
    ("nodeid", "room", "lab"),
    [
        (f"tests/labs/test_sweep.py::test_keys[{OTHER}-200]", "labs", OTHER),
        (f"tests/browser/test_labs.py::test_walk[{EXAMPLE}]", "browser", None),
        ("tests/courses/doctor/test_labs.py::test_it", "courses", None),
        ("tests/test_files.py::test_it", "test_files.py", None),
        ("mlsys_widgets/labs/lab.py::mlsys_widgets.labs.lab.Lab", "mlsys_widgets", None),
    ],
)
def test_a_test_counts_for_its_room_and_its_lab(nodeid, room, lab):
    assert (room_of(nodeid), lab_of(nodeid)) == (room, lab)


def test_who_is_over_budget_is_named():
    budget = Budget()
    spend(budget, "tests/drawing/test_scene.py::test_it", ROOM - 1)
    assert budget.over() == []
    spend(budget, "tests/drawing/test_scene.py::test_other", 2)
    (sentence,) = budget.over()
    assert "drawing took" in sentence
    spend(budget, f"tests/labs/test_sweep.py::test_it[{OTHER}]", LAB + 1)
    assert budget.over()[0].startswith(OTHER)


def test_a_slow_machine_spends_no_more():
    quick, slow = Budget(), Budget()
    spend(quick, "tests/drawing/test_scene.py::test_it", 10)
    spend(slow, "tests/drawing/test_scene.py::test_it", 30, unit=3 * REFERENCE)
    assert slow.spent["drawing"] == pytest.approx(quick.spent["drawing"])


@pytest.mark.skipif(sys.platform != "linux", reason="only there can one look at running processes")
def test_what_servers_use_counts_while_they_run():
    """A server has a child of its own, as a browser has a renderer."""
    child = "import sys; sum(range(40_000_000)); sys.stdin.read()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    before = used()
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE) as server:
        wait_for(lambda: used() > before + 0.5)
        assert server.poll() is None
