"""A measurement in the background: a real child that measures, is canceled, and never stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from mlsys_widgets.measured import background, cases, ceilings, load
from mlsys_widgets.measured.background import BackgroundMeasurement, refuse_unwritable
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(300)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_it_measures_tells_how_far_it_is_and_saves(tmp_path):
    out = tmp_path / "machine.json"
    # Nine seconds do on a quiet machine; on a busy one some cases would be left out.
    run = BackgroundMeasurement(out, sizes=[64, 256], budget=250, longest=280)
    seen: list[tuple[float, str, bool]] = []
    run.follow(lambda: seen.append((run.share, run.doing, out.exists())))
    assert run.wait(280) == "saved", run.problem
    shares = [share for share, _, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {doing.partition(":")[0] for _, doing, _ in seen} >= {"copy", "gemm", "saved"}
    # In one step, at the end: while it measured there was no file.
    assert not any(there for _, doing, there in seen if doing.startswith(("copy", "gemm")))
    document = load(out)
    assert document["method"]["quick"]
    assert ceilings(document).peaks.keys() == {"fp32", "fp64"}
    assert {case.kind for case in cases(document)} == {
        "copy", "triad", "gemm", "launch", "dispatch", "elementwise", "fusion", "attention",
        "decode_attention", "rmsnorm", "layernorm", "softmax", "rotary", "gated", "residual",
        "embedding", "layer",
    }  # fmt: skip
    skipped = {entry["what"] for entry in document["skipped"]}
    assert {"gemm fp16", "gemm bf16", "gemm int8"} <= skipped
    assert [path.name for path in tmp_path.iterdir()] == ["machine.json"]
    late = threading.Event()
    run.follow(late.set)
    assert late.is_set(), "whoever comes late is told at once"


def test_it_runs_at_a_low_priority_and_is_canceled_without_a_trace(tmp_path):
    out = tmp_path / "machine.json"
    out.write_bytes(b"the one before")
    run = BackgroundMeasurement(out, budget=60)
    assert wait_for(lambda: run.share > 0)
    assert os.getpriority(os.PRIO_PROCESS, run.pid) > os.getpriority(os.PRIO_PROCESS, 0)
    run.cancel()
    assert run.wait(30) == "canceled"
    assert not is_alive(run.pid)
    assert out.read_bytes() == b"the one before"
    assert [path.name for path in tmp_path.iterdir()] == ["machine.json"]
    run.cancel()  # once more does nothing
    assert run.outcome == "canceled"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_whoever_began_it(tmp_path, how):
    """A kernel that is restarted or killed leaves nobody behind who measures on."""
    code = f"""
        import time
        from pathlib import Path
        from mlsys_widgets.measured.background import BackgroundMeasurement
        run = BackgroundMeasurement(Path({str(tmp_path / "machine.json")!r}), budget=100)
        while not run.share:
            time.sleep(0.05)
        print(run.pid, flush=True)
        time.sleep(100)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert is_alive(child)
    parent.send_signal(how)
    parent.wait(20)
    assert wait_for(lambda: not is_alive(child), 20)
    assert list(tmp_path.iterdir()) == []
    parent.stdout.close()


def test_what_takes_too_long_is_ended(tmp_path):
    run = BackgroundMeasurement(tmp_path / "machine.json", budget=100, longest=0.5)
    assert run.wait(60) == "failed"
    assert "did not end within 0 s" in run.problem or "did not end within 1 s" in run.problem
    assert not is_alive(run.pid)


def test_a_file_beside_the_notebook_shadows_no_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numpy.py").write_text("raise SystemExit('mine')")
    run = BackgroundMeasurement(tmp_path / "machine.json", budget=100)
    assert wait_for(lambda: run.share > 0)
    run.cancel()
    run.wait(30)


def test_a_child_that_crashes_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(background, "_CHILD", "mlsys_widgets.measured.no_such_module")
    run = BackgroundMeasurement(tmp_path / "machine.json")
    assert run.wait(60) == "failed"
    assert "ended with code 1" in run.problem
    assert "no_such_module" in run.problem


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_measured(tmp_path):
    folder = tmp_path / "closed"
    with pytest.raises(ValueError, match=r"machine\.json could not be saved: No such file"):
        refuse_unwritable(folder / "machine.json")
    folder.mkdir()
    refuse_unwritable(folder / "machine.json")
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_named_before_anything_is_measured(tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ValueError, match="The disk is full"):
        refuse_unwritable(tmp_path / "machine.json")
