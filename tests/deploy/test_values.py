"""The values for Zero to JupyterHub: keys, traits, and the pods that come of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from .cluster import HERE, KUBERNETES

pytestmark = pytest.mark.timeout(1800)  # the first test makes an environment

Pods = list[dict[str, Any]]

MISTAKES = {
    "a key": (("singleuser", "memoryy"), {"limit": "1G"}, "no key singleuser.memoryy"),
    "a key deep inside": (("cull", "timout"), 5, "no key cull.timout"),
    "a choice": (("proxy", "service", "type"), "Cluster", "proxy.service.type is 'Cluster'"),
    "a type": (("cull", "every"), "often", "cull.every is 'often'"),
    "a class": (("hub", "config", "KubeSpawnr"), {"cmd": "x"}, "KubeSpawnr"),
    "a trait": (("hub", "config", "KubeSpawner", "sever_token_scopes"), [], "sever_token_scopes"),
    "a trait of LTI": (("hub", "config", "LTI13Authenticator", "isuer"), "x", "isuer"),
    "a value": (("singleuser", "memory", "limit"), "lots", "lots"),
    "a value for groups": (
        ("hub", "config", "KubeSpawner", "group_overrides", "instructors", "spawner_override"),
        {"mem_limit": "lots"},
        "lots",
    ),
}
STUDENT = "ann.lee@example.edu"
LOGINS = ("lti11.yaml", "lti13.yaml")


@pytest.fixture(scope="module")
def outcomes(hub: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the chart's JupyterHub and KubeSpawner make of our files, right and with mistakes."""
    values, folder = str(KUBERNETES / "values.yaml"), tmp_path_factory.mktemp("overlays")
    jobs = {"ours": {"files": [values], "people": ["instructor=instructors", f"{STUDENT}="]}}
    for name in LOGINS:
        jobs[name] = {"files": [values, str(KUBERNETES / name)], "people": ["ann="]}
    for name, (path, wrong, _) in MISTAKES.items():
        overlay: Any = wrong
        for key in reversed(path):
            overlay = {key: overlay}
        file = folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(overlay))
        files = [values, str(KUBERNETES / "lti13.yaml"), str(file)]
        jobs[name] = {"files": files, "people": ["instructor=instructors"]}
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    known |= {"MLSYS_LTI_KEY": "key", "MLSYS_LTI_SECRET": "secret"}
    done = subprocess.run(
        [hub / "python", HERE / "chart.py"], input=json.dumps(list(jobs.values())),
        env=known | {"KUBECONFIG": str(HERE / "nowhere.yaml")},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(jobs, json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def rendered(outcomes: dict[str, Any]) -> Pods:
    """Pods of an instructor and, after her, of a student of the same hub."""
    assert outcomes["ours"]["problem"] == ""
    made: Pods = outcomes["ours"]["pods"]
    return made


def test_values_start_the_server_that_the_image_starts(root: Path, rendered: Pods) -> None:
    dockerfile = (root / "deploy" / "images" / "student" / "Dockerfile").read_text("utf-8")
    (command,) = re.findall(r"^CMD (.+)$", dockerfile, re.MULTILINE)
    for pod in rendered:
        assert pod["spec"]["containers"][0]["args"] == json.loads(command)


@pytest.mark.parametrize("login", LOGINS)
def test_values_and_a_way_to_log_in_are_what_the_hub_takes(
    outcomes: dict[str, Any], login: str
) -> None:
    assert outcomes[login]["problem"] == ""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_slip_of_the_pen_is_found(outcomes: dict[str, Any], mistake: str) -> None:
    assert MISTAKES[mistake][2] in outcomes[mistake]["problem"]


def test_nobody_gets_in_before_a_file_says_who() -> None:
    values = yaml.safe_load((KUBERNETES / "values.yaml").read_text())
    assert values["hub"]["config"]["JupyterHub"]["authenticator_class"] == "null"
    assert "allow_all" not in values["hub"]["config"]["Authenticator"]


def _container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["spec"]["containers"]
    return dict(only)


def _environment(pod: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in _container(pod)["env"]}


def test_a_student_has_the_limits_of_the_values_and_no_rights(rendered: Pods) -> None:
    _, student = rendered
    container = _container(student)
    # What a student in a lab was seen to use: benchmarks/hub_load.py.
    found = json.loads((HERE.parents[1] / "docs" / "_static" / "sizing.json").read_text("utf-8"))[
        "limits"
    ]
    assert container["resources"]["limits"] == {
        "memory": found["memory_limit_mib"] * 2**20,
        "cpu": found["cpu_limit"],
    }
    assert container["resources"]["requests"] == {
        "memory": found["memory_guarantee_mib"] * 2**20,
        "cpu": found["cpu_guarantee"],
    }
    assert container["securityContext"] == {"runAsUser": 1000, "allowPrivilegeEscalation": False}
    assert student["spec"]["automountServiceAccountToken"] is False
    assert [each["mountPath"] for each in container["volumeMounts"]] == ["/srv/jovyan"]


def test_the_name_at_the_hub_reaches_the_labs_as_it_is(rendered: Pods) -> None:
    _, student = rendered
    assert _environment(student)["JUPYTERHUB_USER"]["value"] == STUDENT


def test_only_instructors_have_the_course_and_the_gradebook(rendered: Pods) -> None:
    instructor, student = rendered
    assert _environment(instructor)["MLSYS_GRADEBOOK"]["valueFrom"]["secretKeyRef"] == {
        "name": "mlsys-gradebook",
        "key": "url",
    }
    claims = [each["persistentVolumeClaim"] for each in instructor["spec"]["volumes"]]
    assert {"claimName": "mlsys-course"} in claims
    assert "/grader:" in _container(instructor)["image"]
    # The instructor's pod came first: nothing of it stays with the hub.
    assert not {"MLSYS_GRADEBOOK", "MLSYS_COURSE"} & set(_environment(student))
    assert "mlsys-course" not in json.dumps(student)
    assert "mlsys/role" not in student["metadata"]["labels"]
    assert "/student:" in _container(student)["image"]


def test_pods_fit_the_schema_of_kubernetes(
    rendered: Pods, validate: Callable[..., list[str]]
) -> None:
    assert validate(*rendered) == ["", ""]
