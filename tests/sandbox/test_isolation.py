"""A child is shut in: who it is, what it sees, what it may use, and that nothing of it is left."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from mlsys_widgets.grading.coordinator import CannotGrade
from mlsys_widgets.sandbox import isolation
from mlsys_widgets.sandbox import system_calls as calls
from mlsys_widgets.sandbox.engine import Engine
from mlsys_widgets.sandbox.isolation import Limits, visible
from mlsys_widgets.sandbox.worker import Job, Nursery, NurseryLost
from tests.grading.classroom import LAB, classroom, grade, hand_in, running, small
from tests.labs.rehearsal import ROOT, run_tool

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
LIMITS = Limits(cell=10, wall=20, cpu=15, memory=300_000_000, disk=10_000_000, output=1_000_000)


@pytest.fixture(scope="module")
def nursery():
    one = Nursery()
    if one.cannot_isolate:
        one.close()
        pytest.skip(one.cannot_isolate)
    yield one
    one.close()


def run(nursery: Nursery, *cells: str, isolate: bool = True, files=None, **limits):
    """Run cells; what each printed or raised, and how it ended."""
    job = Job("ann", LAB, {}, isolate, Limits(**{**asdict(LIMITS), **limits}))
    told = nursery.run(job, files or {}, list(cells), {})
    said = {}
    for line in map(json.loads, told["lines"]):
        if "cell" in line:
            said[line["cell"]] = "".join(
                o.get("text", "") or f"{o.get('ename')}: {o.get('evalue')}" for o in line["outputs"]
            )
    return [said.get(n, "") for n in range(len(cells))], told["ended"]


def test_it_is_nobody_and_has_no_rights(nursery):
    (said,), ended = run(
        nursery,
        "import os, getpass\n"
        "print(os.getuid(), os.geteuid(), os.getgid(), os.getgroups() in ([], [65534]),"
        " getpass.getuser())\n"
        "print([l.split()[1] for l in open('/proc/self/status')"
        " if l.split(':')[0] in ('CapEff', 'CapPrm', 'NoNewPrivs', 'Seccomp')])",
    )
    assert ended == "finished"
    assert said.splitlines() == [
        "65534 65534 65534 True student",
        "['0000000000000000', '0000000000000000', '1', '2']",
    ]


def test_it_has_namespaces_of_its_own(nursery):
    kinds = ("user", "mnt", "pid", "net", "ipc", "uts")
    (said,), _ = run(
        nursery, f"import os\nfor k in {kinds}: print(os.readlink(f'/proc/self/ns/{{k}}'))"
    )
    ours = [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in kinds]
    assert len(said.splitlines()) == len(kinds)
    assert not set(said.splitlines()) & set(ours)


def test_it_sees_only_its_own_processes_and_no_interface(nursery):
    (said,), _ = run(
        nursery,
        "import os\nprint(sorted(n for n in os.listdir('/proc') if n.isdigit()), os.getpid())\n"
        "print([line.split(':')[0].strip() for line in open('/proc/net/dev')][2:])",
    )
    assert said.splitlines() == ["['1', '2'] 2", "['lo']"]


def test_only_its_own_folders_can_be_written(nursery):
    (said,), _ = run(
        nursery,
        "import os\n"
        "for line in open('/proc/self/mountinfo'):\n"
        "    parts = line.split()\n"
        "    if 'rw' in parts[5].split(','): print(parts[4])\n"
        "print(os.getcwd(), os.environ['HOME'])",
    )
    *writable, where = said.splitlines()
    devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
    assert set(writable) - devices == {"/submission", "/tmp", "/dev/shm", "/proc"}
    assert where == f"/submission/ann/{LAB} /submission"


def test_only_the_system_and_the_interpreter_are_there(nursery):
    (said,), _ = run(
        nursery, "import os\nprint(sorted(os.listdir('/')))\nprint(os.listdir('/etc'))"
    )
    top, etc = map(eval, said.splitlines())
    homes = {path.parts[1] for path in visible()}
    assert set(top) - homes <= {"dev", "etc", "proc", "submission", "tmp"}
    assert set(etc) <= {"passwd", "ld.so.cache", "localtime", "fonts", "alternatives", "mime.types"}


def test_no_file_of_the_nursery_is_open(nursery):
    (said,), _ = run(
        nursery,
        "import os\nprint([os.readlink(f'/proc/self/fd/{n}').split(':')[0]"
        " for n in sorted(os.listdir('/proc/self/fd'), key=int)"
        " if os.path.islink(f'/proc/self/fd/{n}')])",
    )
    assert eval(said) == ["/dev/null"] * 3 + ["socket"]


def test_nothing_stays_for_the_next(nursery):
    first = (
        "import os, subprocess\n"
        "for place in ('.', '/tmp', '/dev/shm'): open(f'{place}/mine', 'w').write('x')\n"
        "os.environ['MINE'] = 'x'\nimport json; json.mine = 1\n"
        "subprocess.Popen(['sleep', '4711'], start_new_session=True)"
    )
    second = (
        "import os, json\nprint([os.path.exists(f'{p}/mine') for p in ('.', '/tmp', '/dev/shm')],"
        " 'MINE' in os.environ, hasattr(json, 'mine'))"
    )
    assert run(nursery, first)[1] == "finished"
    assert (
        "sleep 4711"
        not in subprocess.run(
            ["ps", "-eo", "args"], capture_output=True, text=True, check=True
        ).stdout
    )
    assert run(nursery, second)[0][0].strip() == "[False, False, False] False False"


def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_runs(nursery):
    said, ended = run(nursery, "while True: pass", "print('next')", cell=1)
    assert said == ["CellTimeoutError: No reply from kernel before timeout", "next\n"]
    assert ended == "finished"


ENDS = {
    "wall time": (
        "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0)\ntime.sleep(99)",
        {"wall": 2}, "out of time",
    ),
    "processor time": (
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        {"cpu": 1}, "out of processor time",
    ),
    "processor time of many": (
        "import os, time\nfor _ in range(4):\n    if not os.fork():\n        while True: pass\n"
        "time.sleep(30)", {"cpu": 2, "wall": 60, "cell": 60}, "out of processor time",
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
def test_a_limit_ends_it(nursery, what):
    code, limits, wanted = ENDS[what]
    began = time.monotonic()
    said, ended = run(nursery, "print('before')", code, "print('after')", **limits)
    assert (said[0], said[2], ended) == ("before\n", "", wanted)
    assert time.monotonic() - began < 30
    assert run(nursery, "print('as ever')") == (["as ever\n"], "finished")


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
        # Small stacks, or memory would run out first.
        "import threading, time\nthreading.stack_size(65536)\n"
        "for _ in range(99): threading.Thread(target=time.sleep, args=(1,), daemon=True).start()",
        "RuntimeError: can't start new thread",
    ),
    "open files": (
        "held = [open('/dev/null') for _ in range(999)]",
        "OSError: [Errno 24] Too many open files: '/dev/null'",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_a_limit_is_an_error_that_code_sees(nursery, what):
    code, wanted = REFUSALS[what]
    said, ended = run(nursery, code, "held = None\nprint('goes on')")
    assert said == [wanted, "goes on\n"]
    assert ended == "finished"


def test_multiprocessing_works(nursery):
    """Honest code may use it: locks need shared memory, and processes are few."""
    code = (
        "import multiprocessing as m\n"
        "with m.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2, 3]))"
    )
    assert run(nursery, code) == (["[1, 2, 3]\n"], "finished")


def test_twenty_processes_that_share_memory_are_not_too_much(nursery):
    code = (
        "import os, time\nheld = b'x' * 50_000_000\n"
        "for _ in range(20):\n    if not os.fork():\n        time.sleep(1); os._exit(0)\n"
        "time.sleep(1); print('fine')"
    )
    assert run(nursery, code) == (["fine\n"], "finished")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine):
    steps = calls._steps(machine)
    assert len(steps) % 8 == 0
    assert 50 < len(steps) // 8 < 200


def test_a_nursery_that_is_killed_takes_its_child_with_it():
    one = Nursery()
    try:
        job = Job("ann", LAB, {}, not one.cannot_isolate, LIMITS)
        code = "import subprocess, os\nos.system('sleep 31337 &')\nos.kill(os.getppid(), 0)"
        killer = subprocess.Popen(["sh", "-c", f"sleep 2; kill -9 {one.pid}"])
        with pytest.raises(NurseryLost):
            one.run(job, {}, [code, "import time\ntime.sleep(60)"], {})
        killer.wait()
        _gone("sleep 31337")
    finally:
        one.close()


def test_a_nursery_whose_owner_dies_ends():
    code = (
        "import os, time\nfrom mlsys_widgets.sandbox.worker import Job, Nursery\n"
        "one = Nursery(); print(one.pid, flush=True)\n"
        f"one.run(Job('a', '{LAB}', {{}}, not one.cannot_isolate), {{}},"
        " ['import os, time', 'os.system(\"sleep 27182\")'], {})"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        pid = int(owner.stdout.readline())
        time.sleep(1.5)
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()
    _gone("sleep 27182")


def _gone(words: str) -> None:
    for _ in range(50):
        told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        if words not in told.stdout.splitlines():
            return
        time.sleep(0.1)
    raise AssertionError(f"{words} still runs")


def _refuse_namespaces() -> None:
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
    calls.filter_calls()


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
    assert "cannot be shut in here" in told.stderr
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


def test_without_isolation_there_are_limits_and_nothing_is_left(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    one = Nursery()
    try:
        code = "import subprocess\nsubprocess.Popen(['sleep', '16180'], start_new_session=True);"
        files = {"a/b.txt": b"here"}
        said, ended = run(one, code, "print(open('a/b.txt').read())", isolate=False, files=files)
        assert (said, ended) == (["", "here\n"], "finished")
        _gone("sleep 16180")
        code = "import os, time\nif not os.fork():\n    os.setsid()\ntime.sleep(99)"
        assert run(one, code, isolate=False, wall=2)[1] == "out of time"
        said, _ = run(one, "held = bytearray(400_000_000)", isolate=False)
        assert said == ["MemoryError: "]
        assert not list((tmp_path / "tmp").glob("mlsys-submission-*"))
    finally:
        one.close()
    assert not list((tmp_path / "tmp").iterdir())


def test_sandbox_none_grades_the_same(tmp_path):
    course = classroom(tmp_path / "course")
    for name in ("ann", "bob"):
        hand_in(course, name, answers=course.asked(name).right(), ledger=True)
    shut_in, open_ = (grade(course, isolate=isolate, force=True) for isolate in (True, False))
    for name in ("ann", "bob"):
        assert shut_in[name].scores == open_[name].scores
        assert open_[name].earned == 80


def test_a_course_inside_what_submissions_see_is_refused(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    hand_in(course, "ann")
    monkeypatch.setattr(isolation.sys, "prefix", str(tmp_path))
    with pytest.raises(CannotGrade, match="move it to a folder of its own"):
        grade(course)


def test_a_reason_of_any_worker_stops_everything(tmp_path, monkeypatch):
    course = classroom(tmp_path / "course")
    hand_in(course, "ann")
    monkeypatch.setattr(Engine, "why_not_isolated", lambda _: "the reason")
    with pytest.raises(CannotGrade, match=r"the reason.*--sandbox none"):
        grade(course)


AS_NORMAL_USER = """
import json, sys
from mlsys_widgets.sandbox.worker import Job, Nursery
from mlsys_widgets.sandbox.isolation import Limits
one = Nursery()
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
print(json.dumps([one.cannot_isolate, one.run(Job('a', 'b', {}, True, Limits(cell=9, wall=20)),
                                              {}, [code], {})]))
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
    refusal, ran = json.loads(told.stdout.splitlines()[-1])
    assert refusal is None
    said = "".join(o.get("text", str(o)) for o in json.loads(ran["lines"][0]).get("outputs", ()))
    assert said.splitlines() == ["65534 ['65534', '4321', '1']", "['1', '2']", "limited"]
    assert ran["ended"] == "finished"


def test_a_nursery_that_dies_is_tried_once_more(tmp_path):
    """A submission whose nursery dies twice is reported, and its class goes on."""
    course = classroom(tmp_path / "course")
    for name in ("ann", "bob"):
        hand_in(course, name, answers=course.asked(name).right())
    hand_in(course, "cat", running("print('here')"), course.asked("cat").right())
    plain, times = Nursery.run, []

    def dying(self, job, *more):
        if job.student != "ann":
            return plain(self, job, *more)
        times.append(self.pid)
        os.kill(self.pid, 9)
        self._process.wait()
        return plain(self, job, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Nursery, "run", dying)
        graded = grade(course, limits=small())
    assert len(set(times)) == 2
    assert [flag for flag in graded["ann"].flags if flag.startswith("not graded: ")]
    assert (graded["ann"].scores, graded["bob"].earned, graded["cat"].earned) == ((), 60, 60)
    assert not (course.root / "autograded" / "ann").exists()
    again = grade(course)
    assert set(again) == {"ann"}
    assert again["ann"].earned == 60


def test_the_command_is_a_program_too(tmp_path):
    """The nursery is started by its name: outside of it nothing of this may be needed."""
    told = run_tool(tmp_path, "mlsys_widgets.sandbox.fork_server", said="")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr or "socket" in told.stderr
