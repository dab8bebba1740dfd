"""How many students fit on a machine of a cluster: the least of five numbers, and which one it is.

A machine of Kubernetes is full when its processor or its memory is promised away, when it has as
many pods as the kubelet allows, or when no further volume can be attached. Whatever the largest of
these numbers promises, the smallest one decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

GIB = 1024  # MiB
#: The kubelet's default (--max-pods), which Kubernetes supports and tests.
MOST_PODS = 110
#: Pods that every machine runs for the cluster: network, volumes, names, logs, image puller.
SYSTEM_PODS = 8
#: What these pods are promised.
SYSTEM_CORES, SYSTEM_MIB = 0.5, 512.0
#: Volumes that clouds attach to one machine, less two: for its own disk, and one that moves in.
#: The smallest of the common ones; yours is in `kubectl get csinode -o yaml`.
BLOCK_VOLUMES = 24


@dataclass(frozen=True)
class Machine:
    """A machine of a cluster.

    Parameters
    ----------
    cores, memory_gib
        As it is rented.
    volumes
        How many can be attached to it; `None` where homes are folders of one file system.
    pods
        How many it may run.
    """

    cores: int
    memory_gib: int
    volumes: int | None = None
    pods: int = MOST_PODS

    @property
    def free_cores(self) -> float:
        """What is left for students after kubelet, system and the cluster's own pods.

        The kubelet's part is what clouds reserve: 6 % of the first core, 1 % of the second, 0.5 %
        of the next two, and 0.25 % of the others.
        """
        parts = [0.06, 0.01, 0.005, 0.005, *[0.0025] * max(0, self.cores - 4)]
        return self.cores - sum(parts[: self.cores]) - SYSTEM_CORES

    @property
    def free_mib(self) -> float:
        """The same for memory: 25 % of the first 4 GiB, then 20 %, 10 % and 6 %, and 100 MiB."""
        reserved, left = 100.0, float(self.memory_gib)
        for size, share in ((4, 0.25), (4, 0.2), (8, 0.1), (112, 0.06), (math.inf, 0.02)):
            part = min(left, size)
            reserved += part * share * GIB
            left -= part
        return self.memory_gib * GIB - reserved - SYSTEM_MIB


@dataclass(frozen=True)
class Fit:
    """How many students fit by each number.

    Parameters
    ----------
    cpu, memory, pods
        By the guarantees of a student, and by the number of pods.
    volumes
        By what can be attached; `None` where nothing has to be.
    """

    cpu: int
    memory: int
    pods: int
    volumes: int | None

    @property
    def students(self) -> int:
        """How many fit."""
        return min(self._numbers.values())

    @property
    def full_by(self) -> str:
        """What runs out first."""
        return min(self._numbers, key=self._numbers.__getitem__)

    @property
    def _numbers(self) -> dict[str, int]:
        numbers = {"CPU": self.cpu, "memory": self.memory, "pods": self.pods}
        return numbers if self.volumes is None else {**numbers, "volumes": self.volumes}


#: What clouds rent, and the two ways to keep homes.
MACHINES = tuple(
    Machine(cores, 4 * cores, volumes) for cores in (4, 8, 16) for volumes in (None, BLOCK_VOLUMES)
)
#: The one of the plan.
PLANNED = Machine(16, 64)


def fit(machine: Machine, limits: dict[str, Any]) -> Fit:
    """How many students fit on a machine, by the limits of a measurement.

    >>> limits = {"cpu_guarantee": 0.1, "memory_guarantee_mib": 256}
    >>> fit(Machine(16, 64), limits).students, fit(Machine(16, 64), limits).full_by
    (102, 'pods')
    >>> fit(Machine(16, 64, volumes=24), limits).full_by
    'volumes'
    """
    return Fit(
        cpu=int(machine.free_cores / limits["cpu_guarantee"]),
        memory=int(machine.free_mib / limits["memory_guarantee_mib"]),
        pods=machine.pods - SYSTEM_PODS,
        volumes=machine.volumes,
    )


def machines(online: int, machine: Machine, limits: dict[str, Any]) -> int:
    """How many machines a class needs that is online at once."""
    return math.ceil(online / fit(machine, limits).students)


def problems(values: dict[str, Any], quota: dict[str, Any], machine: Machine) -> list[str]:
    """What does not add up between the values of the chart, a namespace's quota and a machine.

    Parameters
    ----------
    values
        Of the chart: the limits of a student.
    quota
        ``spec.hard`` of the namespace's quota.
    machine
        On which students run.
    """
    memory, cpu = values["singleuser"]["memory"], values["singleuser"]["cpu"]
    limits = {
        "cpu_guarantee": float(cpu["guarantee"]),
        "memory_guarantee_mib": mib(memory["guarantee"]),
    }
    found = []
    if mib(memory["guarantee"]) > mib(memory["limit"]) or cpu["guarantee"] > cpu["limit"]:
        found.append("a student is promised more than allowed")
    if cpu["limit"] > machine.free_cores or mib(memory["limit"]) > machine.free_mib:
        found.append("a student may use more than a machine has")
    fits = fit(machine, limits).students
    if fits < 1:
        found.append("no student fits on a machine")
    pods = int(quota["pods"])
    promised = pods * limits["memory_guarantee_mib"]
    if mib(quota["requests.memory"]) < promised:
        found.append(f"the quota has memory for fewer than its {pods} pods")
    if cores(quota["requests.cpu"]) < pods * limits["cpu_guarantee"]:
        found.append(f"the quota has CPU for fewer than its {pods} pods")
    if int(quota["persistentvolumeclaims"]) < pods:
        found.append(f"the quota has volumes for fewer than its {pods} pods")
    return found


def mib(text: str) -> float:
    """A size as JupyterHub and Kubernetes write it, in MiB; JupyterHub's M is a MiB, too.

    >>> mib("256M"), mib("1G"), mib("2Gi"), mib("1Ti")
    (256.0, 1024.0, 2048.0, 1048576.0)
    """
    number, unit = text.rstrip("KMGTi"), text[len(text.rstrip("KMGTi")) :].rstrip("i")
    return float(number) * {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}[unit]


def cores(text: str | float) -> float:
    """Cores as Kubernetes writes them.

    >>> cores("250m"), cores("2"), cores(0.1)
    (0.25, 2.0, 0.1)
    """
    words = str(text)
    return float(words[:-1]) / 1000 if words.endswith("m") else float(words)
