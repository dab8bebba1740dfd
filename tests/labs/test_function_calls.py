"""A student's function is called once per case; whatever it does, a reply is data or a sentence."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from mlsys_widgets.labs import function_calls
from mlsys_widgets.labs.function_calls import Failure, agree, call, call_apart, read_reply


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(function_calls, "MOST_STEPS", 20_000)


def reply(body: str, *arguments, before: str = ""):
    return read_reply(call(f"{before}\ndef f(*a):\n    {body}", "f", arguments))


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return sum(a)", 6),
        ("return None", None),
        ("return [True, 'ü', 0.5, {'k': (1, 2)}]", [True, "ü", 0.5, {"k": [1, 2]}]),
        ("import numpy as np; return np.float32(0.5)", 0.5),
        ("import numpy as np; return {'a': np.arange(3)}", {"a": [0, 1, 2]}),
        ("print('x' * 100); return 1", 1),
        ("import warnings; warnings.warn('x'); return '\\d'", "\\d"),
        ("return sum(range(10_000_000 // 1000))", 49995000),
    ],
)
def test_plain_results_come_back(body, value):
    assert reply(body, 1, 2, 3) == value


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return 1 / 0", "line 3: ZeroDivisionError: division by zero"),
        ("return undefined", "line 3: NameError: name 'undefined' is not defined"),
        ("raise ValueError", "line 3: ValueError"),
        ("import sys; sys.exit(0)", "line 3: it ends the program; return a value instead"),
        ("raise KeyboardInterrupt", "it was interrupted"),
        ("return f(*a)", "line 2: it calls itself without end"),
        ("raise MemoryError", "line 3: it needs more memory than there is"),
        ("return float('nan')", "it returns a number that is not finite, or far too large"),
        ("return [1, float('inf')]", "it returns a number that is not finite, or far too large"),
        ("return 10 ** 400", "it returns a number that is not finite, or far too large"),
        ("return [0] * 100_000", "it returns more than can be read"),
        ("return 'x' * 100_000", "it returns more than can be read"),
        ("x = []; x.append(x); return x", "it returns more than can be read"),
        ("return {1: 2}", "it returns a dict;"),
        ("return f", "it returns a function;"),
        ("return object()", "it returns a object;"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(body, why):
    found = reply(body)
    assert isinstance(found, Failure)
    assert found.why.startswith(why)


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "for _ in iter(int, 1): pass",
        "return [0 for _ in iter(int, 1)]",
        "return any(False for _ in iter(int, 1))",
        "x = 0\n    while True:\n        try: x += 1\n        except Exception: pass",
    ],
)
def test_a_loop_without_end_is_stopped_by_a_count_and_not_by_a_clock(body):
    assert reply(body).why == "it was stopped after 20,000 steps, probably in a loop without end"


def test_steps_of_a_library_are_not_counted():
    many = "import json; return len(json.dumps(list(range(30_000)), indent=1)) > 0"
    assert reply(many) is True


def test_the_source_runs_again_for_every_call_and_arguments_are_copies():
    source = "seen = []\ndef f(x):\n    x.append(1); seen.append(1)\n    return len(x) + len(seen)"
    mine = [0]
    assert [read_reply(call(source, "f", [mine])) for _ in range(2)] == [3, 3]
    assert mine == [0]


def test_a_trace_that_was_set_is_set_again():
    def trace(*_):
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for body in ("return 1", "while True: pass", "import sys; sys.settrace(None); return 1"):
            reply(body)
            assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_an_error_whose_text_is_hostile_has_its_name():
    raising = "class E(Exception):\n    def __str__(self): raise E\n"
    assert reply("raise E", before=raising).why == "line 5: E"
    long = reply("raise ValueError('\\ud800' * 10_000)").why
    assert len(long) < 300
    long.encode()


@pytest.mark.parametrize("source", ["def f(:", "x = (", "", "g = 1", "\0", "(" * 5000])
def test_a_source_that_cannot_be_called_is_a_sentence(source):
    assert isinstance(read_reply(call(source, "f", [])), Failure)


@pytest.mark.parametrize(
    "told",
    [
        None, 7, "", "garbage", "{}", "[1]", '{"value": NaN}', '{"value": 1e999}', '{"value": 1} x',
        '{"value": 1, "error": "x"}', '{"error": 3}', "[" * 5000, '{"value": ' + "9" * 8000 + "}",
        '{"value": "' + "x" * 10_000 + '"}',
    ],
)  # fmt: skip
def test_a_forged_reply_is_nothing(told):
    assert read_reply(told) == Failure("it gave nothing that can be read")


def test_a_long_error_is_cut_and_has_whole_characters():
    why = read_reply('{"error": "\\ud800' + "x" * 5000 + '"}').why
    assert len(why) <= 400
    why.encode()


def test_results_agree_up_to_rounding_and_never_across_kinds():
    assert agree(0.3, 0.1 + 0.2)
    assert agree((1, [2.0, None]), [1, [2, None]])
    assert agree({"a": 1}, {"a": 1.0})
    for expected, found in (
        (1, True), (0, None), (1, "1"), (1, 1.001), ([1], [1, 2]), ({"a": 1}, {"b": 1}),
        (10**300, 10**320), (1, Failure("x")), ([1], Failure("x")),
    ):  # fmt: skip
        assert not agree(expected, found), (expected, found)
    assert not agree(np.inf, 10**320)


HEAD = "import os, sys, json\ndef f(k):\n    "


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("return 2 * k", [0, 2, 4]),
        ("os.write(1, b'garbage\\n'); print('x'); return k", [0, 1, 2]),
        ("sys.stdin.read(); return k", [0, 1, 2]),
        ("os._exit(0) if k == 1 else None; return k", [0, None, None]),
        ("json.dumps = lambda *a, **m: 'x'; return k", [None, None, None]),
        ("return 'x' in str(os.environ.get('HOME', 'x'))", [True, True, True]),
    ],
)
def test_apart_a_function_spoils_its_own_replies_only(body, values):
    replies = call_apart(HEAD + body, "f", [[0], [1], [2]])
    found = [read_reply(each) for each in [*replies, None, None, None][:3]]
    assert [None if isinstance(each, Failure) else each for each in found] == values


def test_apart_there_is_nothing_of_this_process():
    look = "import gc\ndef f(word):\n    return any(word in str(o) for o in gc.get_objects())"
    look += "\n    # the key of this very test"
    secret = "".join(["the key", " is 295"])
    (told,) = call_apart(look, "f", [["no such word anywhere"]])
    assert secret not in told
    modules = "import sys\ndef f(): return [m for m in sys.modules if 'mlsys' in m or 'numpy' in m]"
    assert read_reply(call_apart(modules, "f", [[]])[0]) == []
