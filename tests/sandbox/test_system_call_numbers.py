"""The table of system calls, held against the system's own headers."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from mlsys_widgets.sandbox.system_call_numbers import MACHINES, NUMBERS, number

HERE = os.uname().machine
#: Where the kernel's headers may define the numbers of this machine, or of another one.
HEADERS = {
    "x86_64": ("asm/unistd_64.h",),
    "aarch64": ("asm/unistd_64.h", "asm-generic/unistd.h"),
}


def defined(machine: str) -> dict[str, int]:
    """The numbers in the headers of a machine that are installed here; empty without."""
    triple = f"{machine}-linux-gnu"
    folders = [Path("/usr") / triple / "include", Path("/usr/include") / triple]
    folders += [Path("/usr/include")] if machine == HERE else []
    for name in HEADERS[machine]:
        for folder in folders:
            if (folder / name).is_file():
                found = re.findall(
                    r"^#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", (folder / name).read_text(), re.M
                )
                if found:
                    return {call: int(digits) for call, digits in found}
    return {}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_headers(machine):
    known = defined(machine)
    if not known:
        pytest.skip(f"the kernel's headers for {machine} are not installed (linux-libc-dev)")
    mine = {call: numbers[machine] for call, numbers in NUMBERS.items()}
    # A header that is older than a call does not list it.
    assert {call: known.get(call, mine[call]) for call in mine} == mine
    assert len(mine.keys() & known.keys()) > len(mine) / 2


def test_no_two_calls_share_a_number():
    for machine in MACHINES:
        assert len({numbers[machine] for numbers in NUMBERS.values()}) == len(NUMBERS)


def test_calls_added_since_2019_have_one_number_everywhere():
    """From 424 on, Linux numbers new calls alike on every architecture."""
    for call, numbers in NUMBERS.items():
        if max(numbers.values()) >= 424:
            assert len(set(numbers.values())) == 1, call


def test_an_architecture_that_is_not_listed_is_refused():
    with pytest.raises(OSError, match="the system calls of riscv64 are not listed") as refused:
        number("pivot_root", "riscv64")
    assert refused.value.errno == errno.ENOSYS
