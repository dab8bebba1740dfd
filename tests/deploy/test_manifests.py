"""Manifests beside the chart: Kubernetes' own schema, secrets, and who reaches whom."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .cluster import KUBERNETES

pytestmark = pytest.mark.timeout(1800)  # the first test makes an environment

PLAIN = [
    "backup.yaml", "course.yaml", "dask.yaml", "disruption.yaml", "exchange.yaml",
    "namespace.yaml", "postgres.yaml", "storage.yaml",
]  # fmt: skip
#: What belongs to the cluster, and to no namespace.
WHOLE_CLUSTER = {"Namespace", "StorageClass"}
Manifest = dict[str, Any]


def documents(name: str) -> list[Manifest]:
    return list(yaml.safe_load_all((KUBERNETES / name).read_text("utf-8")))


def every() -> list[Manifest]:
    return [each for name in PLAIN for each in documents(name)]


def workloads() -> list[Manifest]:
    return [each for each in every() if each["kind"] in ("Deployment", "StatefulSet")]


def jobs() -> list[Manifest]:
    """What runs at its time; each as a workload with a template."""
    found = [each for each in every() if each["kind"] == "CronJob"]
    return [
        {"metadata": each["metadata"], "spec": each["spec"]["jobTemplate"]["spec"]}
        for each in found
    ]


def everything_in(part: Any) -> Iterator[Manifest]:
    """All mappings in a document, at any depth."""
    if isinstance(part, dict):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from everything_in(each)


@pytest.mark.parametrize("name", PLAIN)
def test_manifests_fit_the_schema_of_kubernetes(
    name: str, validate: Callable[..., list[str]]
) -> None:
    assert not any(validate(*documents(name)))


def test_a_field_that_kubernetes_does_not_have_is_found(
    validate: Callable[..., list[str]],
) -> None:
    wrong = copy.deepcopy(workloads()[0])
    wrong["spec"]["template"]["spec"]["containers"][0]["imagePolicy"] = "Always"
    (problem,) = validate(wrong)
    assert "imagePolicy" in problem


@pytest.mark.parametrize("name", [*PLAIN, "values.yaml", "lti11.yaml", "lti13.yaml"])
def test_secrets_are_named_and_never_written(name: str) -> None:
    for document in documents(name):
        assert document.get("kind") != "Secret"
        for part in everything_in(document):
            if re.search(r"token|secret|password", str(part.get("name", "")), re.IGNORECASE):
                assert "value" not in part, part["name"]
            for key, value in part.items():
                if re.search(r"(password|apiToken|cookie_?secret|crypto_?key)$", str(key)):
                    raise AssertionError(f"{key} is written as {value!r}")


def test_every_secret_has_its_command_in_the_readme() -> None:
    readme = (KUBERNETES / "README.md").read_text("utf-8")
    for name in [*PLAIN, "values.yaml", "lti11.yaml"]:
        for document in documents(name):
            for part in everything_in(document):
                if wanted := part.get("secretKeyRef"):
                    assert f"secret generic {wanted['name']}" in readme
                    assert f"{wanted['key']}=" in readme


def test_nothing_runs_as_root_or_can_become_it() -> None:
    for workload in [*workloads(), *jobs()]:
        pod = workload["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            rights = container["securityContext"]
            assert rights["allowPrivilegeEscalation"] is False
            assert rights["capabilities"]["drop"] == ["ALL"]
            assert "memory" in container["resources"]["limits"]


def test_only_workers_may_make_namespaces() -> None:
    unconfined = [
        workload["metadata"]["name"]
        for workload in [*workloads(), *jobs()]
        if workload["spec"]["template"]["spec"]["securityContext"]["seccompProfile"]["type"]
        != "RuntimeDefault"
    ]
    assert unconfined == ["dask-worker"]


def _labels(selector: Manifest) -> set[tuple[str, str]]:
    return set(selector["podSelector"].get("matchLabels", {}).items())


def test_who_may_reach_whom() -> None:
    policies = {
        each["metadata"]["name"]: each["spec"]
        for each in every()
        if each["kind"] == "NetworkPolicy"
    }
    instructor = {("mlsys/role", "instructor")}
    student = {("component", "singleuser-server")}

    def callers(name: str) -> list[set[tuple[str, str]]]:
        return [_labels(peer) for rule in policies[name]["ingress"] for peer in rule["from"]]

    assert callers("gradebook") == [instructor, {("app.kubernetes.io/name", "backup-gradebook")}]
    assert policies["closed"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    assert "egress" not in policies["backup-course"], "the archive of a course goes nowhere"
    assert student not in callers("dask-scheduler")
    assert instructor in callers("dask-scheduler")
    assert callers("ngshare") == [student]
    targets = [
        _labels(peer)
        for rule in policies["dask-worker"]["egress"]
        for peer in rule["to"]
        if "podSelector" in peer
    ]
    assert targets == [
        {("app.kubernetes.io/name", "dask-scheduler")},
        {("app.kubernetes.io/name", "dask-worker")},
    ]


def test_every_selector_finds_its_pods() -> None:
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in workloads()]
    for each in every():
        if each["kind"] == "Service":
            wanted = each["spec"]["selector"].items()
            assert sum(wanted <= labels.items() for labels in pods) == 1


def test_everything_is_in_one_namespace_where_its_policies_are() -> None:
    """A selector of pods means the namespace of its policy, and the commands mean the same one."""
    (space,) = [each["metadata"]["name"] for each in every() if each["kind"] == "Namespace"]
    for each in every():
        if each["kind"] not in WHOLE_CLUSTER:
            assert each["metadata"]["namespace"] == space, each["metadata"]["name"]
    readme = (KUBERNETES / "README.md").read_text("utf-8")
    assert set(re.findall(r"--namespace[ =](\S+)", readme)) == {space}


def test_policies_and_budgets_select_pods_that_exist() -> None:
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in [*workloads(), *jobs()]]
    # Of the chart: a student's server, and an instructor's, which the values label.
    pods += [{"component": "singleuser-server"}, {"mlsys/role": "instructor"}]
    for each in every():
        if each["kind"] in ("NetworkPolicy", "PodDisruptionBudget"):
            key = "podSelector" if each["kind"] == "NetworkPolicy" else "selector"
            wanted = each["spec"][key].get("matchLabels", {}).items()
            assert any(wanted <= labels.items() for labels in pods), each["metadata"]["name"]


def test_classes_of_storage_exist_and_are_used() -> None:
    classes = {each["metadata"]["name"] for each in every() if each["kind"] == "StorageClass"}
    values = documents("values.yaml")[0]["singleuser"]["storage"]["dynamic"]["storageClass"]
    named = {part["storageClassName"] for each in every() for part in everything_in(each)
             if "storageClassName" in part}  # fmt: skip
    assert named | {values} == classes


def test_a_students_server_is_not_moved_and_a_worker_may_be() -> None:
    budgets = {each["metadata"]["name"]: each["spec"] for each in every()
               if each["kind"] == "PodDisruptionBudget"}  # fmt: skip
    assert budgets["servers"]["maxUnavailable"] == 0
    assert budgets["dask-worker"]["maxUnavailable"] != 0


def test_every_claim_is_backed_up_or_named_on_the_page(root: Path) -> None:
    page = (root / "docs" / "administrators" / "deploy.md").read_text("utf-8").split("## Backup")[1]
    for each in every():
        if each["kind"] == "PersistentVolumeClaim" and each["metadata"]["name"] != "backups":
            assert f"`{each['metadata']['name']}`" in page


def test_images_are_those_of_the_values() -> None:
    text = "".join((KUBERNETES / name).read_text() for name in [*PLAIN, "values.yaml"])
    ours = set(re.findall(r"registry\.example\.edu/mlsys/(\w+)(?::(\S+))?", text))
    assert {name for name, _ in ours} == {"student", "grader", "exchange"}
    assert {tag for _, tag in ours if tag} == {"0.1.0"}
    assert not re.search(r"image: \S+:latest|image: [^\s:]+$", text, re.MULTILINE)


def test_pages_and_files_name_one_version_of_the_chart(root: Path, versions: Any) -> None:
    chart, hub = versions["chart"]["jupyterhub"], versions["hub"]["jupyterhub"]
    readme = (KUBERNETES / "README.md").read_text("utf-8")
    assert re.findall(r"--version[ =](\S+)", readme) == [chart]
    oldest, newest = versions["chart"]["kubernetes"][0], versions["chart"]["kubernetes"][-1]
    assert f"Kubernetes {oldest} to {newest}" in readme
    for image in ("student", "grader", "exchange"):
        listed = (root / "deploy" / "images" / image / "requirements.txt").read_text("utf-8")
        assert f"\njupyterhub=={hub}\n" in listed
