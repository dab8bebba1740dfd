"""The load tool: two real students at work, and what the page about sizing says of many."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.hub.running import proxy

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "docs" / "_static"
#: In each of these folders' processes the name of the folder stands in the command line.
ASIDE = "mlsys-load-"


@pytest.fixture(scope="module")
def classroom():
    """The parts of the load tool, which is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        from classroom import page, pictures, sizing, widgets, wire
    return SimpleNamespace(page=page, pictures=pictures, sizing=sizing, widgets=widgets, wire=wire)


@pytest.fixture(scope="module")
def found():
    return json.loads((STATIC / "sizing.json").read_text("utf-8"))


def look(folder: Path, *words: str, **environment: str) -> dict:
    """Run the load tool with two students; what it wrote."""
    done = subprocess.run(
        [sys.executable, "benchmarks/hub_load.py", "--quick", "--output", folder, *words],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "sizing.json").read_text("utf-8"))


def left_behind(folder: Path) -> list[str]:
    """Command lines of processes that still work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"{folder}/{ASIDE}" in words:
            found.append(words.replace("\0", " "))
    return found


def worked(level: dict) -> None:
    """Two students did everything, and nothing went wrong."""
    assert level["students"] == 2
    assert level["troubles"] == {}
    assert level["rush"]["seconds"]["count"] == 2
    # Every card of the lab was gone through, in two or three clicks for a prediction.
    assert level["rush"]["commit_ms"]["count"] >= 2 * 12
    assert level["update_ms"]["count"] >= 10
    assert 0 < level["update_ms"]["median"] <= level["felt_ms"]["max"]
    assert level["hand_in"]["submit_ms"]["count"] == 2
    memory = level["memory_mib"]
    assert memory["server"]["median"] > 50
    assert memory["kernel"]["median"] > 50
    assert memory["student"]["median"] < 1000
    assert 0 < level["explore"]["cores_student"]["max"] < 2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_students_work_through_the_lab(tmp_path):
    found = look(tmp_path, "--no-hub")
    (level,) = found["levels"]
    worked(level)
    assert level["memory_mib"]["shared"] == {}
    assert (tmp_path / "sizing-latency.svg").read_text("utf-8").startswith("<svg")
    assert not left_behind(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_look_that_is_ended_early_leaves_nobody_behind(tmp_path):
    with subprocess.Popen(
        [sys.executable, "benchmarks/hub_load.py", "--quick", "--no-hub", "--output", tmp_path],
        cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        while not any("ipykernel" in words for words in left_behind(tmp_path)):
            assert process.poll() is None
            time.sleep(0.1)
        process.terminate()
        assert process.wait(60)
    assert not left_behind(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.skipif(
    shutil.which("npm") is None and shutil.which("configurable-http-proxy") is None,
    reason="npm is missing: the hub's proxy is installed with it (apt-get install npm)",
)
def test_the_same_through_a_hub(tmp_path):
    found = look(tmp_path, "--hub", PATH=f"{proxy()}{os.pathsep}{os.environ['PATH']}")
    (level,) = found["levels"]
    worked(level)
    assert set(level["memory_mib"]["shared"]) == {"hub", "proxy"}
    assert level["explore"]["cores_proxy"] > 0
    assert not left_behind(tmp_path)


def test_a_frame_is_what_jupyter_server_reads(classroom):
    from jupyter_server.services.kernels.connection.base import (
        deserialize_msg_from_ws_v1,
        serialize_msg_to_ws_v1,
    )

    parts = [b'{"msg_id": "a"}', b"{}", b"{}", b'{"code": "1"}', b"buffer"]
    frame = classroom.wire.packed("shell", parts)
    channel, read = deserialize_msg_from_ws_v1(frame)
    assert (channel, [bytes(each) for each in read]) == ("shell", parts)
    sent = bytes(serialize_msg_to_ws_v1(parts, "iopub"))
    assert classroom.wire.unpacked(sent) == ["iopub", *parts]


@pytest.mark.parametrize(
    ("slider", "position", "value"),
    [
        ({"low": 1.0, "high": 100.0, "log": True, "whole": False, "zero": False}, 500, 10.0),
        ({"low": 0.0, "high": 8.0, "log": False, "whole": True, "zero": False}, 260, 2.0),
        ({"low": 16.0, "high": 64.0, "log": True, "whole": True, "zero": True}, 0, 0.0),
        ({"low": 16.0, "high": 64.0, "log": True, "whole": True, "zero": True}, 1, 16.0),
        ({"low": 16.0, "high": 64.0, "log": True, "whole": True, "zero": True}, 1000, 64.0),
    ],
)
def test_a_slider_has_the_values_of_the_panel(classroom, slider, position, value):
    assert classroom.widgets.value_at(slider, position) == value


def test_a_lucky_level_beyond_the_first_slow_one_does_not_count(classroom):
    levels = [
        {"students": count, "update_ms": {"median": median}, "troubled": troubled}
        for count, median, troubled in ((8, 60.0, 0), (32, 90.0, 1), (16, 70.0, 1), (48, 99.0, 0))
    ]
    assert classroom.sizing.held(levels) == 8  # 1 of 16 had trouble
    levels[2]["troubled"] = 0
    levels[1]["update_ms"]["median"] = 101.0
    assert classroom.sizing.held(levels) == 16


def test_more_students_need_more(classroom, found):
    sizing = classroom.sizing
    small, large = (sizing.need(students, 0.5, found) for students in (100, 1000))
    assert large.online == 10 * small.online == 500
    assert large.cores > 10 * (small.cores - 1)  # of which each is rounded up
    assert large.grading_core_hours == pytest.approx(10 * small.grading_core_hours)
    # Where a student is slower to serve, a class needs more cores; memory stays as it is.
    slower = copy.deepcopy(found)
    for level in slower["levels"][1:]:
        level["update_ms"]["median"] = 1000.0
    worse = sizing.need(1000, 0.5, slower)
    assert worse.cores > large.cores
    assert worse.memory_gib == large.memory_gib


def test_the_limits_cover_what_was_measured(classroom, found):
    limits = classroom.sizing.limits(found)
    full = [level for level in found["levels"] if "memory_mib" in level]
    for level in full:
        assert level["memory_mib"]["student"]["p95"] <= limits["memory_guarantee_mib"]
        peak = level["memory_mib"]["peak"]["max"] + found["measuring_mib"]  # as in Lab 11
        assert peak < limits["memory_limit_mib"]
    assert 0 < limits["cpu_guarantee"] < limits["cpu_limit"]
    assert limits == found["limits"]


def test_the_page_and_its_pictures_say_what_was_measured(classroom, found, tmp_path):
    kept = (ROOT / "docs" / "administrators" / "sizing.md").read_text("utf-8")
    renew = "is stale: run .venv/bin/python benchmarks/hub_load.py --page"
    assert classroom.sizing.plan(found) == found["plan"], renew
    assert classroom.page.fill(kept, found) == kept, renew
    for picture in classroom.pictures.draw(found, tmp_path):
        assert picture.read_bytes() == (STATIC / picture.name).read_bytes(), (
            f"{picture.name} {renew}"
        )


def test_a_page_without_a_part_is_refused(classroom, found):
    with pytest.raises(ValueError, match="one part <!-- result -->, and has 0"):
        classroom.page.fill("# A page\n", found)
