"""What Zero to JupyterHub makes of our values, as far as that can be seen without its chart.

Runs with the Python of the hub (JupyterHub, KubeSpawner and ltiauthenticator in the chart's
versions), not with pytest's. No package index has the chart, so this repeats what it does with the
keys that we use: each is one line of the chart's own jupyterhub_config.py, documented at
https://z2jh.jupyter.org/en/stable/resources/reference.html under the same name. A key that is not
here is an error, and so is a trait that its class does not have.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from traitlets.config import Config
from traitlets.utils.importstring import import_item

#: Keys that become traits of the spawner.
SPAWNER = {
    "singleuser.memory.guarantee": "mem_guarantee",
    "singleuser.memory.limit": "mem_limit",
    "singleuser.cpu.guarantee": "cpu_guarantee",
    "singleuser.cpu.limit": "cpu_limit",
    "singleuser.cmd": "cmd",
    "singleuser.defaultUrl": "default_url",
    "singleuser.uid": "uid",
    "singleuser.fsGid": "fs_gid",
    "singleuser.allowPrivilegeEscalation": "allow_privilege_escalation",
    "singleuser.extraEnv": "environment",
    "singleuser.storage.capacity": "storage_capacity",
}
#: Keys that shape other parts of the cluster, or are combined below, and their allowed values.
OTHERS: dict[str, Any] = {
    "singleuser.image.name": str,
    "singleuser.image.tag": str,
    "singleuser.storage.type": ("dynamic", "static", "none"),
    "singleuser.storage.homeMountPath": str,
    "singleuser.storage.dynamic.storageClass": str,
    "singleuser.cloudMetadata.blockWithIptables": bool,
    "singleuser.networkPolicy.enabled": bool,
    "singleuser.networkPolicy.egress": list,
    "singleuser.networkPolicy.egressAllowRules.cloudMetadataServer": bool,
    "singleuser.networkPolicy.egressAllowRules.nonPrivateIPs": bool,
    "singleuser.networkPolicy.egressAllowRules.privateIPs": bool,
    "hub.existingSecret": str,
    "hub.config": dict,
    "hub.extraConfig": dict,
    "hub.extraEnv": dict,
    "hub.services": dict,
    "hub.loadRoles": dict,
    "proxy.service.type": ("ClusterIP", "NodePort", "LoadBalancer"),
    "proxy.chp.pdb.enabled": bool,
    "proxy.chp.pdb.maxUnavailable": int,
    "proxy.chp.pdb.minAvailable": (None, 0, 1),
    "ingress.enabled": bool,
    "ingress.ingressClassName": str,
    "ingress.annotations": dict,
    "ingress.hosts": list,
    "ingress.tls": list,
    "cull.enabled": bool,
    "cull.timeout": int,
    "cull.every": int,
    "cull.users": bool,
    "scheduling.userScheduler.enabled": bool,
    "scheduling.podPriority.enabled": bool,
    "scheduling.userPlaceholder.replicas": int,
    "scheduling.userPods.nodeAffinity.matchNodePurpose": ("ignore", "prefer", "require"),
    "prePuller.hook.enabled": bool,
    "prePuller.continuous.enabled": bool,
    "prePuller.extraImages": dict,
}
#: Where the classes of hub.config are found.
CLASSES = {
    "JupyterHub": "jupyterhub.app.JupyterHub",
    "Authenticator": "jupyterhub.auth.Authenticator",
    "KubeSpawner": "kubespawner.KubeSpawner",
    "LTI11Authenticator": "ltiauthenticator.lti11.auth.LTI11Authenticator",
    "LTI13Authenticator": "ltiauthenticator.lti13.auth.LTI13Authenticator",
}


class Unknown(ValueError):
    """A key or a trait that does not exist."""


def merged(paths: list[str]) -> dict[str, Any]:
    """Values of several files, as ``helm -f … -f …`` merges them."""

    def merge(below: Any, above: Any) -> Any:
        if isinstance(below, dict) and isinstance(above, dict):
            return below | {key: merge(below.get(key), value) for key, value in above.items()}
        return above

    values: dict[str, Any] = {}
    for path in paths:
        values = merge(values, yaml.safe_load(Path(path).read_text("utf-8")))
    return values


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values by their dotted keys; what the chart takes as a whole stays whole."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        key = f"{prefix}{name}"
        if key in SPAWNER or key in OTHERS:
            found[key] = value
        elif isinstance(value, dict):
            found |= flat(value, f"{key}.")
        else:
            raise Unknown(f"the chart has no key {key}, or tests/deploy/chart.py does not know it")
    return found


def configured(values: dict[str, Any]) -> Config:
    """The configuration of the hub that the chart makes of values."""
    keys = flat(values)
    for key, value in keys.items():
        allowed = OTHERS.get(key)
        if isinstance(allowed, tuple) and value not in allowed:
            raise Unknown(f"{key} is {value!r}; it can be: {', '.join(map(str, allowed))}")
        if isinstance(allowed, type) and not isinstance(value, allowed):
            raise Unknown(f"{key} is {value!r}; it must be {allowed.__name__}")
    config = Config()
    for key, trait in SPAWNER.items():
        if key in keys:
            config.KubeSpawner[trait] = keys[key]
    config.KubeSpawner.image = f"{keys['singleuser.image.name']}:{keys['singleuser.image.tag']}"
    claim = "claim-{user_server}"
    config.KubeSpawner.pvc_name_template = claim
    config.KubeSpawner.volumes = [
        {"name": "volume-{user_server}", "persistentVolumeClaim": {"claimName": claim}}
    ]
    config.KubeSpawner.volume_mounts = [
        {"name": "volume-{user_server}", "mountPath": keys["singleuser.storage.homeMountPath"]}
    ]
    config.JupyterHub.services = [
        {"name": name} | service for name, service in keys["hub.services"].items()
    ]
    config.JupyterHub.load_roles = [
        {"name": name} | role for name, role in keys["hub.loadRoles"].items()
    ]
    for section, traits in keys["hub.config"].items():
        config[section].update(traits)
    for name, code in sorted(keys["hub.extraConfig"].items()):
        exec(compile(code, f"hub.extraConfig.{name}", "exec"), {"c": config})
    return config


def check(config: Config) -> None:
    """Refuse sections without a class, names without a trait, and values that a trait refuses."""
    for section, traits in config.items():
        if section not in CLASSES:
            raise Unknown(f"hub.config has {section}; tests/deploy/chart.py knows no such class")
        known = import_item(CLASSES[section])
        for name in traits:
            if name not in known.class_traits(config=True):
                raise Unknown(f"{section} has no trait {name}")
    from jupyterhub.app import JupyterHub

    JupyterHub(config=config).authenticator_class(config=config)


async def pod(config: Config, name: str, groups: list[str]) -> dict[str, Any]:
    """The pod of somebody's server, as it is sent to Kubernetes."""
    from jupyterhub.objects import Hub, Server
    from kubernetes_asyncio.client import ApiClient
    from kubespawner import KubeSpawner

    user = SimpleNamespace(
        name=name, id=1, url=f"/user/{name}/", server=Server(),
        groups=[SimpleNamespace(name=group) for group in groups],
    )  # fmt: skip
    spawner = KubeSpawner(config=config, user=user, hub=Hub(), _mock=True)
    await spawner.apply_group_overrides()
    made = await spawner.get_pod_manifest()
    if spawner.modify_pod_hook:
        made = spawner.modify_pod_hook(spawner, made)
    rendered: dict[str, Any] = ApiClient().sanitize_for_serialization(made)
    return rendered


async def pods(config: Config, people: list[str]) -> list[dict[str, Any]]:
    """Pods of several people by one hub, one after the other; each is ``name=group,group``."""
    made = []
    for person in people:
        name, _, groups = person.partition("=")
        made.append(await pod(config, name, [group for group in groups.split(",") if group]))
    return made


def outcome(files: list[str], people: list[str]) -> dict[str, Any]:
    """The pods that the files produce, or what is wrong with the files."""
    try:
        config = configured(merged(files))
        check(config)
        return {"pods": asyncio.run(pods(config, people)), "problem": ""}
    except Exception as problem:  # whatever it is, it is about the values
        return {"pods": [], "problem": f"{type(problem).__name__}: {problem}"}


if __name__ == "__main__":
    json.dump([outcome(**job) for job in json.load(sys.stdin)], sys.stdout)
