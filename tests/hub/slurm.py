"""A real Slurm of two nodes on this machine, for tests.

``with running_slurm() as slurm`` starts munged, slurmctld and two slurmd in a folder of their own:
own configuration, ports, key and socket, nothing of the system's. The nodes ``left`` and ``right``
are this machine under two addresses of the loopback, each with processes of its own: a node that is
killed takes everything along that ran on it, as a machine does that loses its power.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.hub.running import free_port
from tests.waiting import wait_for

NODES = {"left": "127.0.0.1", "right": "127.0.0.2"}
#: Seconds: a command of Slurm, on a busy machine.
SOON = 120

#: Two servers fit on a node. A node that is silent for ten seconds is dead, so that a test need not
#: wait for the five minutes that are usual.
CONFIGURATION = """\
ClusterName=mlsystest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmctldTimeout=600
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
MailProg=/bin/true
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n.spool
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=2
ReturnToService=2
PartitionName=course Nodes=left,right Default=YES State=UP
"""


@dataclass
class Slurm:
    """A cluster in a folder."""

    folder: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """With which its commands find it."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def ask(self, *words: str) -> str:
        """Run a command of Slurm; returns what it printed."""
        done = subprocess.run(
            words, env=os.environ | self.environment, capture_output=True, text=True, check=False,
            timeout=SOON,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stderr}\n{self.logs()}"
        return done.stdout.strip()

    def jobs(self) -> dict[str, tuple[str, str]]:
        """Each job's state and node."""
        lines = self.ask("squeue", "--noheader", "--states=all", "-o", "%i %T %N").splitlines()
        found = (line.split() for line in lines)
        return {job: (state, node[0] if node else "") for job, state, *node in found}

    def state(self, node: str) -> str:
        """What Slurm thinks of a node: idle, mixed, allocated, down*, …."""
        return self.ask("sinfo", "--noheader", "-n", node, "-o", "%t")

    def start(self, node: str) -> None:
        """Start a node, and wait until Slurm uses it."""
        # In a namespace, because what slurmd starts is no child of it, and would outlive it.
        apart = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
        self._run(node, *apart, "slurmd", "-D", "-N", node)
        wait_for(lambda: self.state(node) in ("idle", "mix"), self.logs, SOON)

    def kill(self, node: str) -> None:
        """Let a node die, with everything on it."""
        process = self.processes.pop(node)
        process.kill()
        process.wait()

    def logs(self) -> str:
        """The end of everything that was logged, for who has to find out."""
        return "\n".join(
            f"{path.name}: {path.read_text(errors='replace')[-1500:]}"
            for path in self.folder.glob("*.log")
        )

    def _run(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.out.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, env=os.environ | self.environment, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def begin(self) -> None:
        """Start everything."""
        munge = self.folder / "munge"
        munge.mkdir()
        (munge / "key").write_bytes(secrets.token_bytes(128))
        (munge / "key").chmod(0o600)
        files = [
            f"--{name}={munge / name.removesuffix('-file')}"
            for name in ("key-file", "socket", "pid-file", "log-file", "seed-file")
        ]
        self._run("munged", "munged", "--foreground", *files)
        wait_for((munge / "socket").exists, self.logs, SOON)
        lines = [
            f"NodeName={node} NodeHostname={socket.gethostname()} NodeAddr={address}"
            f" Port={free_port()} CPUs=2 RealMemory=4000"
            for node, address in NODES.items()
        ]
        text = CONFIGURATION.format(host=socket.gethostname(), port=free_port(), folder=self.folder)
        (self.folder / "slurm.conf").write_text(text + "\n".join(lines) + "\n")
        (self.folder / "state").mkdir()
        self._run("slurmctld", "slurmctld", "-D", "-c")
        for node in NODES:
            self.start(node)

    def end(self) -> None:
        """End everything that was started here."""
        for name in reversed(list(self.processes)):
            self.kill(name)


@contextmanager
def running_slurm() -> Iterator[Slurm]:
    """A cluster until the end of the block."""
    # Users pass through it, so it cannot be among pytest's own folders, which are private.
    folder = Path(tempfile.mkdtemp(prefix="mlsystest_slurm_"))
    folder.chmod(0o755)
    slurm = Slurm(folder)
    try:
        slurm.begin()
        yield slurm
    finally:
        slurm.end()
        shutil.rmtree(folder)
