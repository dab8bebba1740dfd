"""System calls that a submission has no business with, refused by the kernel itself.

Namespaces hide files, processes and networks. They do not hide sockets between a virtual machine
and its host, do not count memory that belongs to no process, and can be nested to reach the
kernel's rarer corners. A seccomp filter, as containers have one, refuses these calls with an
error, as if the kernel did not know them.

It also refuses SIGKILL to the process that runs the notebook. So where that process was killed, it
was killed from outside, as by a system that is short of memory, and can fairly be run again.

A socket keeps the size that the system gives it. Whoever asks for more is told that all is well, as
the kernel itself does where the size asked for is more than it allows.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import struct
from collections.abc import Sequence
from functools import cache
from typing import Final

from mlsys_widgets.sandbox.system_call_numbers import number

_libc: Final = ctypes.CDLL(None, use_errno=True)
_PR_SET_SECCOMP, _FILTER_MODE = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
#: Where a filter finds the number of a call, the architecture and the first three arguments.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32
#: Namespaces that a clone may ask for.
_NAMESPACES: Final = 0x7E020000
_FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
#: Calls of x86-64 under a second set of numbers, with 32-bit pointers.
_X32: Final = 0x40000000
#: Architectures as a filter sees them.
_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

#: Options of a socket that say how much it may hold, by their numbers on both architectures:
#: SO_SNDBUF and SO_RCVBUF, and the two that go beyond what the system allows.
_SIZES: Final = (7, 8, 32, 33)

#: Whom nobody inside may kill: the process of the notebook, which is the second of its own world,
#: by its number and by its group, and everybody at once.
_SPARED: Final = (2, -2 & 0xFFFFFFFF, 0, -1 & 0xFFFFFFFF)

#: Refused as if the user lacked the right.
FORBIDDEN: Final = (
    # other namespaces, and other views of the file system
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot"),
    *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *("name_to_handle_at", "open_by_handle_at"),
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"),
    # signals by ways that the rule about SIGKILL does not look at
    *("pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill"),
    # memory that no limit counts
    *("shmget", "semget", "msgget", "mq_open", "memfd_secret", "add_key", "request_key", "keyctl"),
    # what others do with files that all can see, and which of these were read lately
    *("inotify_add_watch", "fanotify_mark", "mincore", "cachestat"),
    # the kernel's rarer corners
    *("bpf", "perf_event_open", "userfaultfd"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
)
#: Refused as if the kernel were too old: libraries then turn to an older call.
UNKNOWN: Final = ("clone3", "memfd_create", "preadv2")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def filter_calls() -> None:
    """Refuse these calls to this process and all its children, for good."""
    steps = filter_steps(os.uname().machine)
    program = _Program(len(steps) // 8, steps)
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0):
        problem = ctypes.get_errno()
        raise OSError(problem, f"seccomp: {os.strerror(problem)}")


@cache
def filter_steps(machine: str) -> bytes:
    """Return the filter as the kernel of an architecture reads it: steps of eight bytes.

    Each refusal is a comparison, followed by the error to answer with.
    """
    refusals = [(name, errno.EPERM) for name in FORBIDDEN]
    refusals += [(name, errno.ENOSYS) for name in UNKNOWN]
    numbers = [(number(name, machine), answer) for name, answer in refusals]
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _refuse(errno.EPERM),
        _step(_LOAD, _NUMBER),
        *((_step(_AT_LEAST, _X32, 0, 1), _refuse(errno.ENOSYS)) if machine == "x86_64" else ()),
    ]
    for call, answer in numbers:
        steps += [_step(_EQUAL, call, 0, 1), _refuse(answer)]
    steps += [
        *_refuse_kill(machine),
        *_answer(number("setsockopt", machine), (_SECOND, socket.SOL_SOCKET), (_THIRD, _SIZES), 0),
        _step(_EQUAL, number("clone", machine), 0, 4),
        _step(_LOAD, _FIRST),
        _step(_ANY_BIT, _NAMESPACES, 0, 1),
        _refuse(errno.EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, number("socket", machine), 0, len(_FAMILIES) + 2),
        _step(_LOAD, _FIRST),
        *(_step(_EQUAL, each, len(_FAMILIES) - k, 0) for k, each in enumerate(_FAMILIES)),
        _refuse(errno.EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _refuse_kill(machine: str) -> list[bytes]:
    """Refuse SIGKILL where it would end the process of the notebook."""
    kill = number("kill", machine)
    return [
        *_answer(kill, (_SECOND, signal.SIGKILL), (_FIRST, _SPARED), errno.EPERM),
        # One thread of a process; whoever means a whole process has the call above.
        _step(_EQUAL, number("tgkill", machine), 0, 4),
        _step(_LOAD, _THIRD),
        _step(_EQUAL, signal.SIGKILL, 1, 0),
        _step(_RETURN, _ALLOW),
        _refuse(errno.EPERM),
    ]


def _answer(
    call: int, must_be: tuple[int, int], one_of: tuple[int, Sequence[int]], answer: int
) -> list[bytes]:
    """Answer a call where one argument has a value, and another one of several; else allow it."""
    (argument, value), (other, values) = must_be, one_of
    return [
        _step(_EQUAL, call, 0, len(values) + 5),
        _step(_LOAD, argument),
        _step(_EQUAL, value, 0, len(values) + 1),
        _step(_LOAD, other),
        *(_step(_EQUAL, each, len(values) - k, 0) for k, each in enumerate(values)),
        _step(_RETURN, _ALLOW),
        _refuse(answer),
    ]


def _step(what: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", what, if_so, if_not, value)


def _refuse(answer: int) -> bytes:
    return _step(_RETURN, _ERROR | answer)
