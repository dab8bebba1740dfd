"""What the filter of system calls means, step by step, on each architecture."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from mlsys_widgets.sandbox.system_call_filter import FORBIDDEN, UNKNOWN, filter_steps
from mlsys_widgets.sandbox.system_call_numbers import MACHINES, number

ALLOW, ERROR = 0x7FFF0000, 0x00050000
#: Not done, and answered as if it were.
PRETENDED = -1
#: Architectures as the kernel tells them to a filter (AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64).
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: Calls without which no Python program runs, with their numbers on each architecture.
HARMLESS = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "mmap": (9, 222), "brk": (12, 214),
    "execve": (59, 221), "exit_group": (231, 94), "futex": (202, 98), "openat": (257, 56),
    "getrandom": (318, 278), "wait4": (61, 260), "kill": (62, 129), "prctl": (157, 167),
}  # fmt: skip
CLONE_NEWUSER, CLONE_NEWNS, CLONE_VM, SIGCHLD = 0x10000000, 0x00020000, 0x100, 17


def verdict(
    machine: str,
    call: int,
    first: int = 0,
    second: int = 0,
    third: int = 0,
    *,
    told: str | None = None,
) -> int:
    """Interpret the filter as the kernel does: 0, an error, or `PRETENDED`.

    Parameters
    ----------
    machine
        For which architecture the filter was made.
    call, first, second, third
        The number of a call and its arguments.
    told
        The architecture of the call, if it is another one.
    """
    about = call, ARCHITECTURES[told or machine], 0
    data = struct.pack("<IIQ6q", *about, first, second, third, 0, 0, 0)
    steps = list(struct.iter_unpack("<HBBI", filter_steps(machine)))
    at, register = 0, 0
    while True:
        what, if_so, if_not, value = steps[at]
        match what:
            case 0x20:  # load a word of the call
                (register,) = struct.unpack_from("<I", data, value)
                at += 1
                continue
            case 0x06:  # answer
                assert value == ALLOW or value & 0xFFFF0000 == ERROR
                return 0 if value == ALLOW else value & 0xFFFF or PRETENDED
            case 0x15:
                holds = register == value
            case 0x35:
                holds = register >= value
            case 0x45:
                holds = bool(register & value)
            case _:
                raise AssertionError(f"step {at} does {what:#x}")
        at += 1 + (if_so if holds else if_not)


@pytest.fixture(params=MACHINES)
def machine(request) -> str:
    return request.param


def test_the_filter_is_well_formed(machine):
    steps = filter_steps(machine)
    assert len(steps) % 8 == 0
    assert 50 < len(steps) // 8 < 200


def test_what_is_forbidden_is_refused(machine):
    assert {name: verdict(machine, number(name, machine)) for name in FORBIDDEN} == dict.fromkeys(
        FORBIDDEN, errno.EPERM
    )


def test_calls_with_an_older_sibling_look_unknown(machine):
    assert {name: verdict(machine, number(name, machine)) for name in UNKNOWN} == dict.fromkeys(
        UNKNOWN, errno.ENOSYS
    )


def test_what_every_program_needs_is_allowed(machine):
    at = MACHINES.index(machine)
    refused = {name for name, numbers in HARMLESS.items() if verdict(machine, numbers[at])}
    assert refused == set()


@pytest.mark.parametrize(
    ("flags", "answer"),
    [
        (SIGCHLD, 0),
        (CLONE_VM | SIGCHLD, 0),
        (CLONE_NEWUSER | SIGCHLD, errno.EPERM),
        (CLONE_NEWNS, errno.EPERM),
    ],
)
def test_a_clone_may_not_ask_for_namespaces(machine, flags, answer):
    assert verdict(machine, number("clone", machine), flags) == answer


@pytest.mark.parametrize(
    ("who", "which", "answer"),
    [
        (2, 9, errno.EPERM),
        (-2, 9, errno.EPERM),
        (0, 9, errno.EPERM),
        (-1, 9, errno.EPERM),
        (2 + (1 << 32), 9, errno.EPERM),  # the kernel looks at half of it
        (3, 9, 0),
        (-3, 9, 0),
        (2, 15, 0),
        (0, 0, 0),
    ],
)
def test_nobody_kills_the_notebook_from_inside(machine, who, which, answer):
    assert verdict(machine, number("kill", machine), who, which) == answer
    assert verdict(machine, number("tgkill", machine), 5, 5, which) == (
        errno.EPERM if which == 9 else 0
    )


@pytest.mark.parametrize(
    ("family", "answer"),
    [
        (socket.AF_UNIX, 0),
        (socket.AF_INET, 0),
        (socket.AF_INET6, 0),
        (16, errno.EAFNOSUPPORT),  # netlink
        (17, errno.EAFNOSUPPORT),  # raw packets
        (38, errno.EAFNOSUPPORT),  # the kernel's cryptography
        (40, errno.EAFNOSUPPORT),  # from a virtual machine to its host
    ],
)
def test_only_some_families_of_sockets_are_left(machine, family, answer):
    assert verdict(machine, number("socket", machine), family) == answer


@pytest.mark.parametrize(
    ("level", "option", "answer"),
    [
        (socket.SOL_SOCKET, socket.SO_SNDBUF, PRETENDED),
        (socket.SOL_SOCKET, socket.SO_RCVBUF, PRETENDED),
        (socket.SOL_SOCKET, 32, PRETENDED),  # SO_SNDBUFFORCE
        (socket.SOL_SOCKET, 33, PRETENDED),  # SO_RCVBUFFORCE
        (socket.SOL_SOCKET + (1 << 32), socket.SO_SNDBUF, PRETENDED),
        (socket.SOL_SOCKET, socket.SO_REUSEADDR, 0),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 0),
        (socket.IPPROTO_TCP, socket.SO_SNDBUF, 0),
    ],
)
def test_a_socket_keeps_its_size(machine, level, option, answer):
    assert verdict(machine, number("setsockopt", machine), 5, level, option) == answer


def test_calls_of_another_architecture_are_refused(machine):
    (other,) = set(MACHINES) - {machine}
    assert verdict(machine, HARMLESS["read"][0], told=other) == errno.EPERM


def test_the_second_numbering_of_x86_is_refused():
    read = HARMLESS["read"][0]
    assert verdict("x86_64", read | 0x40000000) == errno.ENOSYS
    assert verdict("x86_64", read) == 0
