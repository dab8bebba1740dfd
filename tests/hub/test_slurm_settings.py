"""Settings of a cluster: a slip is named before a hub starts with it."""

from __future__ import annotations

import pytest

from mlsys_widgets.hub.running import slurm_settings
from mlsys_widgets.hub.running.slurm_settings import SlurmSettings, slurm_configuration


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm_settings.shutil, "which", lambda name, path="": f"/slurm/{name}")

    def reading(text):
        (tmp_path / "slurm.toml").write_text(text)
        return SlurmSettings.read(tmp_path / "slurm.toml")

    return reading


def test_good_settings_reach_the_spawner(read):
    settings = read('hub = "10.0.0.1"\npartition = "teaching"\ntime = "1-12:00"\nwait = 3')
    made = slurm_configuration(settings)
    assert made["JupyterHub"]["hub_connect_ip"] == "10.0.0.1"
    spawner = made["StudentsOnSlurm"]
    assert (spawner["req_partition"], spawner["req_runtime"]) == ("teaching", "1-12:00")
    assert spawner["batch_submit_cmd"] == "/slurm/sbatch --parsable"
    assert spawner["patience"] == 180 < spawner["start_timeout"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "lacks hub"),
        ('hub = "a"\nqueue = "x"', "has queue; it can have"),
        ('hub = "a"\ntime = "four hours"', 'time in .* write it like "4:00:00"'),
        ('hub = "a"\nmemory = 1280', 'memory in .* write it like "1280M"'),
        ('hub = "a"\noptions = "--qos=short\\nrm"', "options in"),
        ('hub = "a"\ncpus = 0', "a whole number from 1"),
        ('hub = "a"\nwait = true', "a whole number from 1"),
    ],
)
def test_what_is_wrong_is_named(read, text, problem):
    with pytest.raises(ValueError, match=problem):
        read(text)


def test_a_machine_without_slurm_is_told_so(read, monkeypatch):
    monkeypatch.setattr(slurm_settings.shutil, "which", lambda name, path="": None)
    with pytest.raises(ValueError, match=r"sbatch is missing.*slurm-client"):
        read('hub = "10.0.0.1"')
