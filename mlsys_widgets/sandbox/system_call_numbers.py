"""Numbers of Linux system calls, by name and by architecture.

Most calls have a function in the C library. The ones listed here either have none or are compared
by number in `system_call_filter`, and their numbers differ from one architecture to the next.
"""

from __future__ import annotations

import errno
import os
from typing import Final

#: The architectures, in the order of the numbers below.
MACHINES: Final = ("x86_64", "aarch64")
_NUMBERS: Final = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "cachestat": (451, 451),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "fanotify_mark": (301, 263),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "inotify_add_watch": (254, 27),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mincore": (27, 232),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "preadv2": (327, 286),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "semget": (64, 190),
    "setns": (308, 268),
    "setsockopt": (54, 208),
    "shmget": (29, 194),
    "socket": (41, 198),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
#: By name, then by architecture.
NUMBERS: Final = {name: dict(zip(MACHINES, each, strict=True)) for name, each in _NUMBERS.items()}


def number(name: str, machine: str | None = None) -> int:
    """Look up the number of a system call.

    ``machine`` is the architecture as ``uname -m`` names it. `OSError` where its numbers are not
    listed here.
    """
    machine = machine or os.uname().machine
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"the system calls of {machine} are not listed")
    return NUMBERS[name][machine]
