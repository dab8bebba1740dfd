"""Settings of a Slurm cluster on which students' servers run: a small TOML file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

from mlsys_widgets.hub.accounts.run_as import SYSTEM_PATH
from mlsys_widgets.hub.settings_file import read_settings_file

#: What a value looks like, as Slurm reads it, and an example.
_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "hub": (r"[\w.:-]+", "10.0.0.1"),
    "partition": (r"[\w.,-]*", "teaching"),
    "time": (r"(\d+-)?\d+(:\d+){0,2}", "4:00:00"),
    "memory": (r"\d+[MG]", "1280M"),
    "options": (r"[^\n]*", "--account=teaching"),
}
#: Seconds that a server may take to answer once its job runs.
_STARTS: Final = 180


@dataclass(frozen=True)
class SlurmSettings:
    """How students' servers run as jobs of a cluster."""

    #: The address at which nodes reach this machine.
    hub: str
    #: Where jobs go; the cluster's own default if empty.
    partition: str = ""
    #: After which a server ends, however busy it is; as Slurm writes it.
    time: str = "4:00:00"
    #: What a server is promised and may use.
    memory: str = "1280M"
    cpus: int = 1
    #: Minutes that a student waits for a place before being sent away with a sentence.
    wait: int = 10
    #: What else ``sbatch`` is told, such as ``--account=teaching --qos=short``.
    options: str = ""

    @classmethod
    def read(cls, path: Path) -> Self:
        known = [each.name for each in fields(cls)]
        values = read_settings_file(path, "--slurm", known=known, needed=["hub"])
        for name, (pattern, example) in _LOOKS.items():
            value = values.get(name, getattr(cls, name, ""))
            if not isinstance(value, str) or not re.fullmatch(pattern, value):
                raise ValueError(f'{name} in {path} is {value!r}; write it like "{example}"')
        for name in ("cpus", "wait"):
            value = values.get(name, 1)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} in {path} is {value!r}; it must be a whole number from 1")
        for program in ("sbatch", "squeue", "scancel", "sinfo"):
            if shutil.which(program) is None:
                raise ValueError(
                    f"{program} is missing, which belongs to Slurm; this machine must be one from"
                    " which jobs can be submitted (on Debian: apt-get install slurm-client)"
                )
        return cls(**values)


def slurm_configuration(settings: SlurmSettings) -> dict[str, Any]:
    """Return what JupyterHub is told, by section."""
    runuser = shutil.which("runuser", path=SYSTEM_PATH) or "runuser"
    return {
        "JupyterHub": {
            "spawner_class": "mlsys_widgets.hub.running.slurm_spawner.StudentsOnSlurm",
            "hub_ip": "0.0.0.0",
            "hub_connect_ip": settings.hub,
            # Slurm keeps the queue; who waits in it must not keep others from starting.
            "concurrent_spawn_limit": 0,
            # Who starts a server sees the page that tells what it waits for, from the beginning.
            "tornado_settings": {"slow_spawn_timeout": 0},
        },
        "StudentsOnSlurm": {
            "exec_prefix": f"{runuser} -u {{username}} --",
            "batch_submit_cmd": f"{shutil.which('sbatch')} --parsable",
            "batch_cancel_cmd": f"{shutil.which('scancel')} {{job_id}}",
            "req_partition": settings.partition,
            "req_runtime": settings.time,
            "req_memory": settings.memory,
            "req_nprocs": str(settings.cpus),
            "req_options": settings.options,
            "patience": 60 * settings.wait,
            "start_timeout": 60 * settings.wait + _STARTS,
            "startup_poll_interval": 1.0,
        },
    }
