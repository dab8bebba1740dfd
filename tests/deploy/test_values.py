"""The values for Zero to JupyterHub: keys, traits, and the pods that come of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from .cluster import HERE, KUBERNETES

pytestmark = pytest.mark.timeout(1800)  # the first test makes an environment

Pods = list[dict[str, Any]]
Render = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def render(hub: Path) -> Render:
    """Have values checked, and pods of people made, by the chart's JupyterHub and KubeSpawner."""

    def run(files: list[Path], *people: str) -> subprocess.CompletedProcess[str]:
        secrets = {"MLSYS_LTI_KEY": "key", "MLSYS_LTI_SECRET": "secret"}
        nowhere = {"KUBECONFIG": str(HERE / "nowhere.yaml")}
        known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return subprocess.run(
            [hub / "python", HERE / "chart.py", *files, "--", *people],
            env=known | secrets | nowhere, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    return run


@pytest.fixture(scope="module")
def rendered(render: Render) -> Pods:
    """Pods of an instructor and, after her, of a student of the same hub."""
    done = render([KUBERNETES / "values.yaml"], "instructor=instructors", "ann.lee@example.edu=")
    assert done.returncode == 0, done.stderr
    made: Pods = json.loads(done.stdout)
    return made


@pytest.mark.parametrize("login", ["lti11.yaml", "lti13.yaml"])
def test_values_and_a_way_to_log_in_are_what_the_hub_takes(render: Render, login: str) -> None:
    done = render([KUBERNETES / "values.yaml", KUBERNETES / login], "ann=")
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_slip_of_the_pen_is_found(render: Render, tmp_path: Path, mistake: str) -> None:
    path, wrong, said = MISTAKES[mistake]
    overlay: Any = wrong
    for name in reversed(path):
        overlay = {name: overlay}
    file = tmp_path / "overlay.yaml"
    file.write_text(yaml.safe_dump(overlay))
    files = [KUBERNETES / "values.yaml", KUBERNETES / "lti13.yaml", file]
    done = render(files, "instructor=instructors")
    assert done.returncode == 1
    assert said in done.stderr


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
    giga = 2**30
    assert container["resources"]["limits"] == {"memory": 1.5 * giga, "cpu": 2}
    assert container["resources"]["requests"] == {"memory": 400 * 2**20, "cpu": 0.1}
    assert container["securityContext"] == {"runAsUser": 1000, "allowPrivilegeEscalation": False}
    assert student["spec"]["automountServiceAccountToken"] is False
    assert [each["mountPath"] for each in container["volumeMounts"]] == ["/home/jovyan"]


def test_the_name_at_the_hub_reaches_the_labs_as_it_is(rendered: Pods) -> None:
    _, student = rendered
    assert _environment(student)["JUPYTERHUB_USER"]["value"] == "ann.lee@example.edu"


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


def test_pods_fit_the_schema_of_kubernetes(rendered: Pods, validate: Callable[..., str]) -> None:
    for pod in rendered:
        assert validate(pod) == ""
