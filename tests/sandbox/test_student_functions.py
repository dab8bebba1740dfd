"""Functions of students in the sandbox: hostile ones spoil their own replies and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from mlsys_widgets.labs.function_calls import Failure, read_reply
from mlsys_widgets.sandbox.fork_client import ForkServer, child_content
from mlsys_widgets.sandbox.job import FINISHED, FunctionCall, Job
from mlsys_widgets.sandbox.outputs import take_reports
from mlsys_widgets.sandbox.worker import RunResult, apply_replies
from tests.sandbox.children import LAB, LIMITS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
HEAD = "import os, sys, json\ndef f(k):\n    "


@pytest.fixture(scope="module")
def caller():
    """A fork server that only calls functions."""
    one = ForkServer(only_functions=True)
    if one.cannot_isolate:
        one.close()
        pytest.skip(one.cannot_isolate)
    yield one
    one.close()


@pytest.fixture(params=["caller", "server"])
def either(request):
    """The two kinds of fork servers that call functions."""
    return request.getfixturevalue(request.param)


def called(server, body, *, source=None, cells=(), watched=None, cases=3, driver="", **limits):
    """The replies to some cases, and how the child ended."""
    job = Job("ann", LAB, {}, limits=replace(LIMITS, **limits))
    wrote = HEAD + body if source is None else source
    calls = {
        f"code.{k}": FunctionCall("code", wrote or None, "f", [k], driver) for k in range(cases)
    }
    report = server.run(job, {}, list(cells), watched or {}, calls=calls)
    result = apply_replies(RunResult("ann"), report, calls)
    return [_value(result.answers.get(name)) for name in calls], result


def _value(answer):
    found = read_reply(answer[1] if answer else None)
    return found.why if isinstance(found, Failure) else found


NOTHING = "it gave nothing that can be read"


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("return 2 * k", [0, 2, 4]),
        ("print('garbage', file=sys.__stdout__); os.write(1, b'{}'); return k", [0, 1, 2]),
        ("sys.exit(k)", ["line 3: it ends the program; return a value instead"] * 3),
        ("raise SystemExit if k == 1 else KeyError(k)", None),
        ("return f(k)", None),
        ("return [k] * 10_000_000", ["it returns more than can be read"] * 3),
        ("return 'x' * (1 << 40)", ["line 3: it needs more memory than there is"] * 3),
        ("sys.settrace(None); return k", [0, 1, 2]),
        ("globals()['k'] = 7; f.k = getattr(f, 'k', 0) + 1; return f.k", [1, 1, 1]),
    ],
)
def test_a_function_gives_replies_and_nothing_else(either, body, values):
    found, result = called(either, body)
    assert result.ended == FINISHED
    if values is None:
        assert all(isinstance(each, str) for each in found)
    else:
        assert found == values


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("os._exit(0) if k == 1 else None; return k", "it ended itself"),
        ("import ctypes; ctypes.string_at(0) if k == 1 else None; return k", "ended by SIGSEGV"),
    ],
)
def test_calls_before_the_end_count(either, body, ended):
    found, result = called(either, body)
    assert found == [0, NOTHING, NOTHING]
    assert result.ended == ended
    assert any(ended in remark.sentence for remark in result.remarks)


PLAY = "def play(f, k):\n    decided = []\n    for number in range(3):\n"
PLAY += "        decided.append(f(number + k))\n    return decided"


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("return 2 * k", [[0, 2, 4], [2, 4, 6], [4, 6, 8]]),
        ("return k / (k - 4)", [[0.0, -1 / 3, -1.0], [-1 / 3, -1.0, -3.0], None]),
        # Its own list and its own driver: what comes back are still decisions, for a replay.
        ("sys._getframe(1).f_locals['decided'].append(7); return k", None),
        ("while k > 3: pass\n    return k", [[0, 1, 2], [1, 2, 3], None]),
        ("os._exit(0) if k == 3 else None; return k", [[0, 1, 2], None, None]),
        ("return [m for m in sys.modules if 'assignments' in m]", [[[]] * 3] * 3),
    ],
)
def test_a_driver_plays_a_policy_in_the_child(either, body, values):
    found, _ = called(either, body, driver=PLAY)
    if values is None:
        assert found[0] == [7, 0, 7, 1, 7, 2]
    else:
        assert [None if isinstance(each, str) else each for each in found] == values


@pytest.mark.parametrize("instead", ["'x'", "'[1]'", "'x' * 10**7"])
def test_whoever_patches_json_loses_all_replies(either, instead):
    """What is patched is the child's own way to report; nothing else believes it."""
    found, result = called(either, f"json.dumps = lambda *a, **m: {instead}; return k")
    assert found == [NOTHING] * 3
    assert result.ended != FINISHED


def test_a_loop_in_c_is_ended_from_outside_and_earlier_calls_count(either):
    found, _ = called(
        either, "sum(iter(int, 1)) if k == 1 else None; return k", cell=1, wall=60, cpu=3
    )
    assert found[0] == 0
    assert found[1:] == [NOTHING] * 2 or "took too long" in found[1]


def test_a_loop_that_catches_everything_returns_nothing(either):
    endless = "while True:\n        try:\n            while True: pass\n"
    endless += "        except BaseException: pass"
    found, _ = called(either, endless, cell=1, wall=60, cpu=3)
    assert set(found) <= {NOTHING, "it was stopped because it took too long"}


def test_processes_and_memory_have_limits(either):
    bomb = "n = 0\n    try:\n        while n < 500:\n            pid = os.fork()\n"
    bomb += (
        "            if not pid:\n                import time; time.sleep(30)\n            n += 1\n"
    )
    bomb += "    except OSError: return n"
    found, _ = called(either, bomb, cases=1, processes=16)
    assert isinstance(found[0], int)
    assert found[0] < 16


@pytest.mark.parametrize(
    "path", ["/etc/shadow", "../../checks.py", "checks.py", "ledger.jsonl", "asks.py"]
)
def test_there_is_nothing_to_read(either, path):
    look = f"return os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r}).read()"
    found, _ = called(either, look, cases=1)
    assert isinstance(found[0], str)
    assert "Error" in found[0]


def test_nobody_is_reached(either):
    found, _ = called(
        either, "import socket; socket.create_connection(('127.0.0.1', 22), 2); return 1", cases=1
    )
    assert "Error" in found[0]


def test_a_child_gets_the_source_and_the_arguments_only():
    calls = {"code.0": FunctionCall("code", "def f(k): return k", "f", [295])}
    sent = json.loads(child_content("ann/lab", {}, (), {}, {}, calls)[4:])
    assert sent["calls"] == {
        "code.0": {"answer": "code", "source": "def f(k): return k", "function": "f",
                   "arguments": [295], "driver": ""},
    }  # fmt: skip
    assert not sent["files"]
    assert not sent["cells"]


def test_a_forged_line_is_a_reply_or_nothing(either):
    """Whoever writes to the socket can only say what a function could have returned."""
    forge = "line = json.dumps({'answer': 'code.0', 'value': ['str', '{\"value\": 5}']}) + '\\n'\n"
    forge += "    line += json.dumps({'cell': 0, 'outputs': [], 'count': 1}) + '\\n'\n"
    forge += "    line += json.dumps({'answer': 'points', 'value': ['int', '0x64']}) + '\\n'\n"
    forge += "    for fd in range(3, 64):\n        try: os.write(fd, line.encode())\n"
    forge += "        except OSError: pass\n    return k"
    found, result = called(either, forge, cases=1)
    assert found == [5]
    assert "points" not in result.answers
    assert any("believed" in str(remark.kind).lower() for remark in result.remarks)


def test_a_notebook_that_ran_has_the_source_in_its_answer(server):
    wrote = "code = 'def f(k): return 7'"
    found, _ = called(server, "", source="", cells=[wrote, "code = 3"], watched={0: "code"})
    assert found == [7, 7, 7]
    found, _ = called(server, "", source="", cells=["code = 3"], watched={0: "code"})
    assert found == [NOTHING] * 3
    found, _ = called(server, "return 1", cells=["code = 3"], watched={0: "code"})
    assert found == [1, 1, 1]


def test_replies_are_read_like_other_answers():
    remarks: list = []
    lines = [json.dumps({"answer": "code.0", "value": ["str", "x" * 30_000]})]
    assert take_reports(None, frozenset(), lines, remarks) == {}
    assert remarks


def test_a_small_process_calls_functions(caller, server):
    """It forks in a fraction of the time, and a student's function can still import anything."""
    loaded = (
        "return [n for n in ('IPython', 'bqplot', 'mlsys_widgets.instruments') if n in sys.modules]"
    )
    assert called(caller, loaded, cases=1)[0] == [[]]
    assert called(server, loaded, cases=1)[0][0]
    assert called(caller, "import numpy; return float(numpy.sqrt(k))")[0] == [0, 1, 2**0.5]
    _, result = called(caller, "return k", cells=["print('no')"])
    assert result.ended != FINISHED, "it runs no cells, and says so"


def test_a_child_imports_nothing_that_its_fork_server_could_have():
    """What every child imports for itself costs as much as all of its isolation."""
    program = (
        "import sys\n"
        "from mlsys_widgets.sandbox import fork_server, isolation\n"
        "from mlsys_widgets.sandbox.job import FunctionCall\n"
        "isolation.prepare()\n"
        "before = set(sys.modules)\n"
        "fork_server._clean_environment()\n"
        "call = FunctionCall('code', 'def f(k): return k', 'f', [1])\n"
        "fork_server.call_functions({'code.0': call}, {}, seconds=9.0, to=1)\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    told = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, check=True)
    reply, imported = told.stdout.decode().splitlines()
    assert json.loads(reply)["value"][1] == '{"value": 1}'
    assert imported == "[]"
