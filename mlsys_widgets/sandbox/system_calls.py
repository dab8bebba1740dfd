"""System calls that a submission has no business with, refused by the kernel itself.

Namespaces hide files, processes and networks. They do not hide sockets between a virtual machine
and its host, do not count memory that belongs to no process, and can be nested to get at the
kernel's rarer corners. A seccomp filter, as containers have one, refuses these calls with an
error, as if the kernel did not know them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from typing import Final

_libc: Final = ctypes.CDLL(None, use_errno=True)
_PR_SET_SECCOMP, _FILTER_MODE = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
#: Where a filter finds the number of a call, the kind of machine and the first argument.
_NUMBER, _MACHINE, _FIRST = 0, 4, 16
#: Namespaces that a clone may ask for.
_NAMESPACES: Final = 0x7E020000
_FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
#: Calls of x86-64 in another dress, with 32-bit pointers.
_X32: Final = 0x40000000

#: Numbered alike everywhere: io_uring, the newer calls to mount, pidfd_getfd, memfd_secret.
_NEW: Final = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447)
_CLONE3: Final = 435
_REFUSED: Final = {
    # unshare, setns, mount, umount2, pivot_root, chroot; ptrace, process_vm_readv and writev;
    # add_key, request_key, keyctl; bpf, perf_event_open, userfaultfd; shmget, semget, msgget,
    # mq_open; name_to_handle_at, open_by_handle_at
    "x86_64": (
        *(272, 308, 165, 166, 155, 161, 101, 310, 311, 248, 249, 250, 321, 298, 323),
        *(29, 64, 68, 240, 303, 304),
    ),
    "aarch64": (
        *(97, 268, 40, 39, 41, 51, 117, 270, 271, 217, 218, 219, 280, 241, 282),
        *(194, 190, 186, 180, 264, 265),
    ),
}
#: The machine as the kernel names it, then memfd_create, clone and socket.
_OTHERS: Final = {"x86_64": (0xC000003E, 319, 56, 41), "aarch64": (0xC00000B7, 279, 220, 198)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def filter_calls() -> None:
    """Refuse these calls to this process and all that come of it, for good.

    On machines other than x86-64 and 64-bit ARM nothing is filtered: namespaces and limits hold.
    """
    machine = os.uname().machine
    if machine not in _REFUSED:
        return
    steps = _steps(machine)
    program = _Program(len(steps) // 8, steps)
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _steps(machine: str) -> bytes:
    """The filter as the kernel reads it: each refusal is a comparison and what to answer."""
    kind, memfd_create, clone, make_socket = _OTHERS[machine]
    steps = [
        _step(_LOAD, _MACHINE),
        _step(_EQUAL, kind, 1, 0),
        _refuse(errno.EPERM),
        _step(_LOAD, _NUMBER),
        *((_step(_AT_LEAST, _X32, 0, 1), _refuse(errno.ENOSYS)) if machine == "x86_64" else ()),
    ]
    for number in (*_REFUSED[machine], *_NEW):
        steps += [_step(_EQUAL, number, 0, 1), _refuse(errno.EPERM)]
    # These have older siblings, to which libraries turn when the kernel is too old for them.
    for number in (_CLONE3, memfd_create):
        steps += [_step(_EQUAL, number, 0, 1), _refuse(errno.ENOSYS)]
    steps += [
        _step(_EQUAL, clone, 0, 4),
        _step(_LOAD, _FIRST),
        _step(_ANY_BIT, _NAMESPACES, 0, 1),
        _refuse(errno.EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, make_socket, 0, len(_FAMILIES) + 2),
        _step(_LOAD, _FIRST),
        *(_step(_EQUAL, each, len(_FAMILIES) - k, 0) for k, each in enumerate(_FAMILIES)),
        _refuse(errno.EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _step(what: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", what, if_so, if_not, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _ERROR | number)
