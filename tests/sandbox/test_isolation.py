"""A child is isolated: who it is, what it sees, what it may use, and that nothing of it is left."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlsys_widgets.sandbox import isolation
from mlsys_widgets.sandbox.isolation import visible
from mlsys_widgets.sandbox.system_call_filter import filter_calls
from tests.grading.classroom import classroom, hand_in
from tests.labs.rehearsal import ROOT
from tests.sandbox.children import LAB, a_sleep, is_running, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def test_it_is_nobody_and_has_no_rights(server):
    (printed,), ended = run(
        server,
        "import os, getpass\n"
        "print(os.getuid(), os.geteuid(), os.getgid(), os.getgroups() in ([], [65534]),"
        " getpass.getuser())\n"
        "print([l.split()[1] for l in open('/proc/self/status')"
        " if l.split(':')[0] in ('CapEff', 'CapPrm', 'NoNewPrivs', 'Seccomp')])",
    )
    assert ended == "finished"
    assert printed.splitlines() == [
        "65534 65534 65534 True student",
        "['0000000000000000', '0000000000000000', '1', '2']",
    ]


def test_it_has_namespaces_of_its_own(server):
    kinds = ("user", "mnt", "pid", "net", "ipc", "uts")
    (printed,), _ = run(
        server, f"import os\nfor k in {kinds}: print(os.readlink(f'/proc/self/ns/{{k}}'))"
    )
    ours = [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in kinds]
    assert len(printed.splitlines()) == len(kinds)
    assert not set(printed.splitlines()) & set(ours)


def test_it_sees_only_its_own_processes_and_no_interface(server):
    (printed,), _ = run(
        server,
        "import os\nprint(sorted(n for n in os.listdir('/proc') if n.isdigit()), os.getpid())\n"
        "print([line.split(':')[0].strip() for line in open('/proc/net/dev')][2:])",
    )
    assert printed.splitlines() == ["['1', '2'] 2", "['lo']"]


def test_only_its_own_folders_can_be_written(server):
    (printed,), _ = run(
        server,
        "import os\n"
        "for line in open('/proc/self/mountinfo'):\n"
        "    parts = line.split()\n"
        "    if 'rw' in parts[5].split(','): print(parts[4])\n"
        "print(os.getcwd(), os.environ['HOME'])",
    )
    *writable, where = printed.splitlines()
    devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
    assert set(writable) - devices == {"/submission", "/tmp", "/dev/shm", "/proc"}
    assert where == f"/submission/ann/{LAB} /submission"


def test_only_the_system_and_the_interpreter_are_there(server):
    code = "import os\nprint(sorted(os.listdir('/')))\nprint(os.listdir('/etc'))"
    (printed,), _ = run(server, code)
    top, etc = map(eval, printed.splitlines())
    homes = {path.parts[1] for path in visible()}
    assert set(top) - homes <= {"dev", "etc", "proc", "submission", "tmp"}
    assert set(etc) <= {"passwd", "ld.so.cache", "localtime", "fonts", "alternatives", "mime.types"}


def test_no_file_of_the_fork_server_is_open(server):
    (printed,), _ = run(
        server,
        "import os\nprint([os.readlink(f'/proc/self/fd/{n}').split(':')[0]"
        " for n in sorted(os.listdir('/proc/self/fd'), key=int)"
        " if os.path.islink(f'/proc/self/fd/{n}')])",
    )
    assert eval(printed) == ["/dev/null"] * 3 + ["socket"]


def test_nothing_stays_for_the_next(server):
    sleep = a_sleep()
    first = (
        "import os, subprocess\n"
        "for place in ('.', '/tmp', '/dev/shm'): open(f'{place}/mine', 'w').write('x')\n"
        "os.environ['MINE'] = 'x'\nimport json; json.mine = 1\n"
        f"subprocess.Popen({sleep.split()}, start_new_session=True)"
    )
    second = (
        "import os, json\nprint([os.path.exists(f'{p}/mine') for p in ('.', '/tmp', '/dev/shm')],"
        " 'MINE' in os.environ, hasattr(json, 'mine'))"
    )
    assert run(server, first)[1] == "finished"
    assert not is_running(sleep)
    assert run(server, second)[0][0].strip() == "[False, False, False] False False"


REFUSALS = {
    "memory of one": ("held = bytearray(400_000_000)", "MemoryError: "),
    "file size": ("open('big', 'wb').truncate(20_000_000)", "OSError: [Errno 27] File too large"),
    "disk": (
        "for k in range(9): open(f'/tmp/{k}', 'wb').write(bytes(2_000_000))",
        "OSError: [Errno 28] No space left on device",
    ),
    "shared memory": (
        "open('/dev/shm/x', 'wb').write(bytes(5_000_000))",
        "OSError: [Errno 28] No space left on device",
    ),
    "processes": (
        # Small stacks, or memory would run out first; how small they may be differs by machine.
        "import threading, time\nsize = 4096\n"
        "while True:\n"
        "    try: threading.stack_size(size); break\n"
        "    except ValueError: size *= 2\n"
        "for _ in range(99): threading.Thread(target=time.sleep, args=(1,), daemon=True).start()",
        "RuntimeError: can't start new thread",
    ),
    "open files": (
        "held = [open('/dev/null') for _ in range(999)]",
        "OSError: [Errno 24] Too many open files: '/dev/null'",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_a_limit_is_an_error_that_code_sees(server, what):
    code, wanted = REFUSALS[what]
    printed, ended = run(server, code, "held = None\nprint('goes on')")
    assert printed == [wanted, "goes on\n"]
    assert ended == "finished"


def test_multiprocessing_works(server):
    """Honest code may use it: locks need shared memory, and processes are few."""
    code = (
        "import multiprocessing as m\n"
        "with m.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2, 3]))"
    )
    assert run(server, code) == (["[1, 2, 3]\n"], "finished")


def test_twenty_processes_that_share_memory_are_not_too_much(server):
    code = (
        "import os, time\nheld = b'x' * 50_000_000\n"
        "for _ in range(20):\n    if not os.fork():\n        time.sleep(1); os._exit(0)\n"
        "time.sleep(1); print('fine')"
    )
    assert run(server, code) == (["fine\n"], "finished")


def _refuse_namespaces() -> None:
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
    filter_calls()


def test_a_machine_that_cannot_isolate_says_so(tmp_path):
    """Really refused: this grader runs where a filter takes namespaces away."""
    course = classroom(tmp_path / "course")
    hand_in(course, "ann", answers={"limit": "memory"})
    told = subprocess.run(
        [sys.executable, "-m", "mlsys_widgets", "grade", LAB],
        cwd=course.root, capture_output=True, text=True, check=False,
        preexec_fn=_refuse_namespaces, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert told.returncode == 1, told
    assert "cannot be isolated here" in told.stderr
    assert "--sandbox none" in told.stderr
    assert "Traceback" not in told.stderr
    assert not (course.root / "autograded").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mlsys_widgets", "grade", LAB, "--sandbox", "none", "-v"],
        cwd=course.root, capture_output=True, text=True, check=False,
        preexec_fn=_refuse_namespaces, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done
    assert "Without isolation" in done.stdout
    assert "ann: 20 of 100" in done.stdout


AS_NORMAL_USER = """
import json, sys
from mlsys_widgets.sandbox.fork_client import ForkServer
from mlsys_widgets.sandbox.job import Job
from mlsys_widgets.sandbox.limits import Limits
one = ForkServer()
code = '''
import os, socket
print(os.getuid(), open('/proc/self/uid_map').read().split())
print(sorted(n for n in os.listdir('/proc') if n.isdigit()))
for place in ('/usr', '/etc', '/'):
    try: open(place + '/x', 'w'); print('LEAK', place)
    except OSError: pass
try: socket.create_connection(('127.0.0.1', 22), 1); print('LEAK network')
except OSError: pass
try: os.kill(1, 9); open('/proc/1/mem', 'rb').read(1); print('LEAK init')
except OSError: pass
import threading, time
try:
    for _ in range(99): threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
    print('LEAK processes')
except RuntimeError: print('limited')
'''
report = one.run(Job('a', 'b', {}, True, Limits(cell=9, wall=20)), {}, [code], {})
print(json.dumps([one.cannot_isolate, report.lines, report.ending.ended]))
one.close()
"""


def test_it_works_for_a_normal_user(tmp_path):
    """Where root tests: as somebody else, with the system's Python and the packages of this one."""
    if os.geteuid() != 0:
        pytest.skip("everything here runs as a normal user already")
    python = shutil.which("python3", path="/usr/bin")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if (
        not python
        or version
        not in subprocess.run(
            [python, "--version"], capture_output=True, text=True, check=True
        ).stdout
    ):
        pytest.skip(f"the system has no Python {version} that others may run")
    packages = next(p for p in sys.path if p.endswith("site-packages"))
    told = subprocess.run(
        [python, "-c", AS_NORMAL_USER], user=4321, group=4321, extra_groups=[], cwd="/",
        env={"PYTHONPATH": f"{ROOT}:{packages}", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent",
             "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "PermissionError" in told.stderr or "No module named" in told.stderr:
        pytest.skip("another user cannot read this environment")
    assert told.returncode == 0, told.stderr
    refusal, (_started, cell, *_), ended = json.loads(told.stdout.splitlines()[-1])
    assert refusal is None
    printed = "".join(o.get("text", str(o)) for o in json.loads(cell).get("outputs", ()))
    assert printed.splitlines() == ["65534 ['65534', '4321', '1']", "['1', '2']", "limited"]
    assert ended == "finished"


def test_an_environment_that_is_a_link_is_there_with_its_target(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setattr(isolation.sys, "prefix", str(tmp_path / "link"))
    assert {tmp_path / "link", (tmp_path / "real").resolve()} <= set(visible())
