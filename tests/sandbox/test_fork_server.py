"""The fork server: it watches its children, ends them, and leaves nothing of them behind."""

from __future__ import annotations

import sys

import pytest

from mlsys_widgets.sandbox.fork_client import ForkServer
from tests.labs.rehearsal import run_tool
from tests.sandbox.children import a_sleep, is_running, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")

ENDS = {
    "wall time": (
        "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0)\ntime.sleep(99)",
        {"wall": 4}, "out of time",
    ),
    "processor time": (
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        {"cpu": 1}, "out of processor time",
    ),
    "processor time of many": (
        "import os, time\nfor _ in range(4):\n    if not os.fork():\n        while True: pass\n"
        "time.sleep(30)", {"cpu": 2, "wall": 60, "cell": 60}, "out of processor time",
    ),
    # Nobody waits for them, so that no parent ever has their time.
    "processor time of many that nobody waits for": (
        "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "while True:\n    for _ in range(2):\n        if not os.fork():\n"
        "            end = time.process_time() + 0.5\n"
        "            while time.process_time() < end: pass\n            os._exit(0)\n"
        "    time.sleep(0.6)", {"cpu": 3, "wall": 120, "cell": 120}, "out of processor time",
    ),
    "memory in sockets": (
        "import os, socket, time\nfor _ in range(30):\n    if not os.fork():\n"
        "        held = [socket.socketpair() for _ in range(50)]; time.sleep(60)\n"
        "time.sleep(60)", {"cell": 60, "wall": 60}, "out of memory",
    ),
    "memory of many": (
        "import os, time\nfor _ in range(5):\n    if not os.fork():\n"
        "        held = b'x' * 100_000_000; time.sleep(30)\ntime.sleep(30)",
        {"cell": 60}, "out of memory",
    ),
    "output": (
        "import os\nfor _ in range(60): os.write(3, b'x' * 65536)", {}, "too much output",
    ),
    "signal": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", {}, "ended by SIGSEGV"),
    "exit": ("import os\nos._exit(7)", {}, "exit 7"),
}  # fmt: skip


@pytest.mark.parametrize("what", ENDS)
def test_a_limit_ends_it(server, what):
    code, limits, wanted = ENDS[what]
    printed, ended = run(server, "print('before')", code, "print('after')", **limits)
    assert (printed[0], printed[2], ended) == ("before\n", "", wanted)
    assert run(server, "print('as ever')") == (["as ever\n"], "finished")


def test_without_isolation_there_are_limits_and_nothing_is_left(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    one, sleep = ForkServer(), a_sleep()
    try:
        code = f"import subprocess\nsubprocess.Popen({sleep.split()}, start_new_session=True);"
        files = {"a/b.txt": b"here"}
        printed, ended = run(one, code, "print(open('a/b.txt').read())", isolate=False, files=files)
        assert (printed, ended) == (["", "here\n"], "finished")
        assert not is_running(sleep)
        code = "import os, time\nif not os.fork():\n    os.setsid()\ntime.sleep(99)"
        assert run(one, code, isolate=False, wall=1)[1] == "out of time"
        printed, _ = run(one, "held = bytearray(400_000_000)", isolate=False)
        assert printed == ["MemoryError: "]
        assert not list((tmp_path / "tmp").glob("mlsys-submission-*"))
    finally:
        one.close()
    assert not list((tmp_path / "tmp").iterdir())


def test_the_command_is_a_program_too(tmp_path):
    """The fork server is started by its name: outside of it nothing of this may be needed."""
    told = run_tool(tmp_path, "mlsys_widgets.sandbox.fork_server", printed="")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr or "socket" in told.stderr
