"""Channels between submissions through what all of them can see: tried on the kernel that is here.

Hidden tests and keys never reach a submission, so two of them have nothing to tell each other that
matters; docs/administrators/threat_model.md says so. Yet what the kernel lets us close is closed,
and what it does not is named here, so that a change of either is noticed.
"""

from __future__ import annotations

import sys
import threading

import pytest

from mlsys_widgets.sandbox.fork_client import ForkServer
from tests.sandbox.children import run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")

CALL = (
    "import ctypes, mmap, os\nfrom mlsys_widgets.sandbox.system_call_numbers import number\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "import json.tool as tool\npath = tool.__file__\n"
)
#: Each prints what the kernel says to it; "refused" where it cannot be used.
CLOSED = {
    "inotify": "fd = libc.inotify_init1(0)\n"
    "print('watches' if libc.inotify_add_watch(fd, path.encode(), 0xfff) >= 0 else 'refused')",
    "fanotify": "fd = libc.syscall(300, 0, 0)\n"
    "said = libc.syscall(number('fanotify_mark'), fd, 1, 0x20, -100, path.encode())\n"
    "print('watches' if said >= 0 else 'refused')",
    "residency by mincore": "file = open(path, 'rb')\n"
    "held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
    "libc.mmap.restype = ctypes.c_void_p\n"
    "at = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, file.fileno(), ctypes.c_long(0))\n"
    "told = ctypes.create_string_buffer(1)\n"
    "said = libc.mincore(ctypes.c_void_p(at), ctypes.c_size_t(4096), told)\n"
    "print('tells' if said == 0 else 'refused')",
    "residency by cachestat": "fd = os.open(path, os.O_RDONLY)\n"
    "place, told = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()\n"
    "said = libc.syscall(number('cachestat'), fd, place, told, 0)\n"
    "print('tells' if said == 0 else 'refused')",
    "residency by a read that does not wait": "fd = os.open(path, os.O_RDONLY)\n"
    "try:\n    os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT)\n    print('tells')\n"
    "except OSError:\n    print('refused')",
    "leases": "import fcntl\nfd = os.open(path, os.O_RDONLY)\n"
    "try:\n    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)\n    print('tells')\n"
    "except OSError:\n    print('refused')",
    "marks on files": "try:\n    os.utime(path)\n    print('tells')\n"
    "except OSError:\n    print('refused')",
    "shared queues": "said = [libc.syscall(number(name), 0x4D4C, 4096, 0o1666) for name in\n"
    "        ('shmget', 'semget', 'msgget')]\n"
    "print('tells' if max(said) >= 0 else 'refused')",
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_by_the_kernel(server, name):
    (printed,), ended = run(server, CALL + CLOSED[name])
    assert (printed, ended) == ("refused\n", "finished")


@pytest.mark.parametrize("name", ["inotify", "residency by mincore"])
def test_open_without_the_filter(name):
    """A check that could not fail would say nothing: outside, the same lines get an answer."""
    import subprocess

    code = CALL + CLOSED[name]
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout in ("watches\n", "tells\n")


def test_locks_on_files_that_all_can_see_stay_open():
    """One submission can tell another a bit while both run; the ledger itself needs such locks.

    It is harmless: neither knows anything that the other must not have.
    """
    begin = CALL + (
        "import fcntl, json.decoder, time\n"
        "one, two = open(path), open(json.decoder.__file__)\n"
        "def is_free(file):\n"
        "    try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "    except OSError: return False\n"
        "    fcntl.flock(file, fcntl.LOCK_UN)\n    return True\n"
    )
    # Each waits for the other's lock, so that neither can be too early or too late.
    hold = begin + "fcntl.flock(one, fcntl.LOCK_EX)\nwhile is_free(two): time.sleep(0.05)"
    ask = begin + (
        "while is_free(one): time.sleep(0.05)\n"
        "fcntl.flock(two, fcntl.LOCK_EX)\nfcntl.flock(one, fcntl.LOCK_EX)\nprint('a lock')"
    )
    patient = {"cell": 120, "wall": 120}
    first, second = ForkServer(), ForkServer()
    try:
        holder = threading.Thread(target=run, args=(first, hold), kwargs=patient)
        holder.start()
        (printed,), _ = run(second, ask, **patient)
        holder.join(120)
    finally:
        first.close()
        second.close()
    assert printed == "a lock\n"


def test_nothing_that_one_leaves_is_there_for_the_next(server):
    """Files, environment, processes, names of sockets: each child begins with nothing."""
    leave = (
        "import os, socket\nfrom pathlib import Path\n"
        "for place in ('/tmp', '/dev/shm', '.', os.environ['HOME']):\n"
        "    try: (Path(place) / 'left').write_text('x')\n    except OSError: pass\n"
        "line = socket.socket(socket.AF_UNIX); line.bind('\\0left'); line.listen()\n"
        "if os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(60)"
    )
    look = (
        "import os, socket\nfrom pathlib import Path\n"
        "found = [place for place in ('/tmp', '/dev/shm', '.', os.environ['HOME'])\n"
        "         if (Path(place) / 'left').exists()]\n"
        "try:\n    socket.socket(socket.AF_UNIX).connect('\\0left'); found.append('socket')\n"
        "except OSError: pass\n"
        "found += [each for each in os.listdir('/proc') if each.isdigit() and int(each) > 2]\n"
        "print(found)"
    )
    run(server, leave)
    (printed,), ended = run(server, look)
    assert (printed, ended) == ("[]\n", "finished")
