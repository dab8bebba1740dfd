"""Commands of the system in a cell: what they print, how they end, and pip without a network."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from mlsys_widgets.sandbox.shell_commands import run_command
from tests.sandbox.children import a_sleep, is_running, report, run
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def told(command: str) -> tuple[str, int]:
    printed: list[str] = []
    status = run_command(command, printed.append)
    return "".join(printed), status


def test_a_command_prints_and_its_status_is_known():
    assert told("echo out; echo err >&2; exit 3") == ("out\nerr\n", 3)
    assert told("true") == ("", 0)
    assert told("kill -9 $$") == ("", -9)


def test_nobody_types_into_a_command():
    assert told("cat") == ("", 0)


def test_bytes_that_are_no_text_are_shown_as_such():
    assert told(r"printf 'a\303\251\377'") == ("aé\ufffd", 0)
    # A letter that comes in two pieces is still one letter.
    assert told(r"printf '\303'; sleep 0.2; printf '\251'") == ("é", 0)


def test_a_command_finds_the_interpreter_of_the_cell():
    assert told("python -c 'import sys; print(sys.prefix)'") == (f"{sys.prefix}\n", 0)


def test_what_is_interrupted_ends_with_all_it_has_started():
    sleep = a_sleep()

    def too_late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(TimeoutError):
            run_command(f"{sleep} & {sleep}", print)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    wait_for(lambda: not is_running(sleep), f"{sleep} still runs")


def test_pip_without_a_network_says_so_in_one_sentence_and_at_once():
    shown, status = told(f"{sys.executable} -m pip install no-such-package-anywhere")
    assert status != 0
    assert shown == (
        "no-such-package-anywhere is not installed: there is no network while submissions are"
        " graded, so pip can install nothing that the course has not installed already.\n"
    )
    assert "PIP_NO_INDEX" not in os.environ


def test_pip_speaks_for_itself_where_it_needs_no_network():
    shown, status = told(f"{sys.executable} -m pip install numpy")
    assert status == 0
    assert "Requirement already satisfied: numpy" in shown
    shown, status = told(f"{sys.executable} -m pip install --no-such-option")
    assert status != 0
    assert "no such option: --no-such-option" in shown


# ---- in the cell of a child


def test_commands_in_a_cell_work_as_in_a_kernel(server):
    name = "who = 'world'\n!echo hello {who}; exit 4\nprint(_exit_code)"
    lines = "x = !echo one; echo two\nprint(list(x), x.n == 'one\\ntwo')"
    shown, ended = run(server, name, lines, "!echo {1 + 1}", "%cd /tmp\n!pwd", "!nosuchcommand")
    assert shown[0] == "hello world\n4\n"
    assert shown[1] == "['one', 'two'] True\n"
    assert shown[2] == "2\n"
    assert shown[3] == "/tmp\n/tmp\n"
    assert "nosuchcommand: not found" in shown[4]
    assert ended == "finished"


def test_a_command_sees_the_files_of_the_submission(server):
    shown, _ = run(server, "!ls; cat data.txt", files={"data.txt": b"12 rows\n"})
    assert shown == ["data.txt\n12 rows\n"]


def test_a_cell_goes_on_after_pip(server):
    cell = "%pip install no-such-package-anywhere\nanswer = 42\nprint(answer)"
    (shown,), ended = run(server, cell, wall=60, cell=60)
    assert shown.startswith("no-such-package-anywhere is not installed: there is no network")
    assert shown.endswith("\n42\n")
    assert ended == "finished"


def test_a_command_that_takes_too_long_is_interrupted_and_the_next_cell_runs(server):
    shown, ended = run(server, f"!echo begun; {a_sleep()}", "print('next')", cell=1)
    assert shown == [
        "begun\nCellTimeoutError: No reply from kernel before timeout",
        "next\n",
    ]
    assert ended == "finished"


def test_a_command_that_prints_nothing_leaves_no_output(server):
    assert report(server, "!true", "!cat") == ([[], []], "finished")
