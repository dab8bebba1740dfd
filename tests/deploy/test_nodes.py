"""Sizing that adds up: what the cluster is promised fits on its machines."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from .cluster import KUBERNETES


@pytest.fixture(scope="module")
def nodes(root: Path) -> ModuleType:
    """A part of the load tool, which is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "benchmarks"))
        from classroom import nodes
    return nodes


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return dict(yaml.safe_load((KUBERNETES / "values.yaml").read_text("utf-8")))


@pytest.fixture(scope="module")
def quota() -> dict[str, Any]:
    found = yaml.safe_load_all((KUBERNETES / "namespace.yaml").read_text("utf-8"))
    (only,) = [each for each in found if each["kind"] == "ResourceQuota"]
    return dict(only["spec"]["hard"])


LIMITS = {"cpu_guarantee": 0.1, "memory_guarantee_mib": 256}


@pytest.mark.parametrize(
    ("machine", "changed", "students", "full_by"),
    [
        ({"cores": 16, "memory_gib": 64}, {}, 102, "pods"),
        ({"cores": 16, "memory_gib": 64, "volumes": 24}, {}, 24, "volumes"),
        ({"cores": 4, "memory_gib": 64}, {}, 34, "CPU"),
        ({"cores": 16, "memory_gib": 64}, {"memory_guarantee_mib": 1024}, 57, "memory"),
        ({"cores": 16, "memory_gib": 64, "pods": 30}, {}, 22, "pods"),
    ],
)
def test_the_smallest_number_decides(
    nodes: ModuleType, machine: dict[str, int], changed: dict[str, Any], students: int, full_by: str
) -> None:
    found = nodes.fit(nodes.Machine(**machine), LIMITS | changed)
    assert (found.students, found.full_by) == (students, full_by)


def test_what_is_promised_is_never_more_than_there_is(nodes: ModuleType) -> None:
    for machine in nodes.MACHINES:
        students = nodes.fit(machine, LIMITS).students
        assert students * LIMITS["cpu_guarantee"] + nodes.SYSTEM_CORES <= machine.cores
        promised = students * LIMITS["memory_guarantee_mib"] + nodes.SYSTEM_MIB
        assert promised <= machine.memory_gib * 1024
        assert students + nodes.SYSTEM_PODS <= 110


def test_our_values_and_quota_add_up(
    nodes: ModuleType, values: dict[str, Any], quota: dict[str, Any]
) -> None:
    assert nodes.problems(values, quota, nodes.PLANNED) == []


@pytest.mark.parametrize(
    ("path", "wrong", "problem"),
    [
        (("memory", "guarantee"), "2G", "promised more than allowed"),
        (("cpu", "limit"), 32, "more than a machine has"),
        (("cpu", "guarantee"), 1, "CPU for fewer"),
        (("memory", "guarantee"), "1G", "memory for fewer"),
    ],
)
def test_values_that_do_not_add_up_are_found(
    nodes: ModuleType, values: dict[str, Any], quota: dict[str, Any], path: tuple[str, str],
    wrong: Any, problem: str,
) -> None:  # fmt: skip
    changed = copy.deepcopy(values)
    changed["singleuser"][path[0]][path[1]] = wrong
    assert any(problem in said for said in nodes.problems(changed, quota, nodes.PLANNED))


def test_a_quota_without_volumes_is_found(
    nodes: ModuleType, values: dict[str, Any], quota: dict[str, Any]
) -> None:
    small = quota | {"persistentvolumeclaims": "10"}
    assert "volumes for fewer" in nodes.problems(values, small, nodes.PLANNED)[0]


def test_the_plan_of_the_page_fits_on_its_machines(nodes: ModuleType, root: Path) -> None:
    found = json.loads((root / "docs" / "_static" / "sizing.json").read_text("utf-8"))
    for each in found["plan"]:
        for key, volumes in (("machines", None), ("machines_with_volumes", nodes.BLOCK_VOLUMES)):
            machine = nodes.Machine(nodes.PLANNED.cores, nodes.PLANNED.memory_gib, volumes)
            assert each["online"] / each[key] <= nodes.fit(machine, found["limits"]).students
            assert each["online"] / each[key] <= 110


def test_the_page_says_with_which_jupyterhub_was_measured(root: Path, versions: Any) -> None:
    found = json.loads((root / "docs" / "_static" / "sizing.json").read_text("utf-8"))
    measured, pinned = found["versions"]["jupyterhub"], versions["hub"]["jupyterhub"]
    page = re.sub(r"\s+", " ", (root / "docs" / "administrators" / "sizing.md").read_text("utf-8"))
    unmeasured = f"limits have not been measured with {pinned}"
    assert (unmeasured in page) == (measured != pinned)
    assert f"{measured}. The images pin {pinned}" in page or measured == pinned
