"""A course on a real Slurm of two nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hub.slurm import NODES, Slurm, running_slurm
from tests.waiting import wait_for

pytestmark = [pytest.mark.needs("slurm"), pytest.mark.needs("munge")]


@pytest.fixture(scope="module")
def slurm(hub_is_possible: None) -> Iterator[Slurm]:
    with running_slurm() as cluster:
        yield cluster


def test_a_command_runs_on_both_nodes(slurm: Slurm) -> None:
    said = slurm.ask("srun", "-N2", "-n2", "sh", "-c", "echo $SLURMD_NODENAME")
    assert sorted(said.split()) == sorted(NODES)


def test_a_node_that_dies_takes_its_jobs_along(slurm: Slurm) -> None:
    job = slurm.ask(
        "sbatch", "--parsable", "--no-requeue", "-w", "right", "--wrap", "sleep inf",
        "--output=/dev/null",
    )  # fmt: skip
    wait_for(lambda: slurm.jobs()[job] == ("RUNNING", "right"), slurm.logs)
    slurm.kill("right")
    wait_for(lambda: slurm.jobs()[job][0] == "NODE_FAIL", slurm.logs)
    slurm.start("right")
    assert slurm.ask("srun", "-w", "right", "echo", "back") == "back"
