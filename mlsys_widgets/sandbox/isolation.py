"""A forked child isolates itself: it can write to nothing of this machine and talk to nobody.

Linux namespaces, entered with ctypes right after a fork, give it a user of its own (nobody, never
root), a root file system in memory with the system and the interpreter read-only, its own processes
and no network. Everything it writes lies in memory and is gone with it. A filter of system calls
takes away what namespaces leave: new namespaces, and memory that no limit counts. No helper program
is needed, and the child of a process that has imported everything need not import it again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mlsys_widgets.files import lay_out
from mlsys_widgets.sandbox.limits import Limits, enforce
from mlsys_widgets.sandbox.system_call_filter import filter_calls, filter_steps
from mlsys_widgets.sandbox.system_call_numbers import number

_libc: Final = ctypes.CDLL(None, use_errno=True)

_NEW_USER: Final = 0x10000000
_NEW_NAMESPACES: Final = (
    0x00020000  # mounts
    | 0x04000000  # host name
    | 0x08000000  # interprocess communication
    | 0x20000000  # processes
    | 0x40000000  # network
)
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT = 1, 2, 4, 8, 32
_BIND, _REC, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 1, 38, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_CAPABILITY_VERSION_3: Final = 0x20080522

#: Who a child is: nobody, inside and, where root grades, outside as well.
NOBODY: Final = 65534
#: What a Python program needs of the system besides its own installation.
_SYSTEM: Final = ("usr", "bin", "sbin", "lib", "lib32", "lib64")
_ETC: Final = ("ld.so.cache", "localtime", "fonts", "alternatives", "mime.types")
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")


def visible() -> list[Path]:
    """List what can be read inside: the system, the interpreter, what is installed."""
    package = Path(__file__).resolve().parent.parent
    installed = (Path(p) for p in sys.path if p.endswith(("site-packages", "dist-packages")))
    places: list[Path] = [Path("/") / name for name in _SYSTEM]
    for named in (Path(sys.base_prefix), Path(sys.prefix), *installed, package):
        # An environment may be a link: both the link and its target are needed then.
        for place in (named, named.resolve()) if named.is_symlink() else (named,):
            if not any(place.is_relative_to(known) for known in places):
                places.append(place)
    return places


class CannotIsolate(OSError):
    """A machine that does not let a process isolate itself."""


def why_not(root: Path) -> str | None:
    """Say why children cannot be isolated on this machine; `None` if they can. Tries it."""
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no namespaces; isolation needs Linux"
    child = os.fork()
    if not child:
        try:
            isolate(root, files={}, home="x", limits=Limits(), then=lambda: None)
            os._exit(0)
        except OSError as problem:
            os._exit(problem.errno or 1)
        except BaseException:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return None
    reason = os.strerror(status) if status > 0 else f"signal {-status}"
    return f"the system refuses namespaces to this user ({reason})"


def isolate(
    root: Path,
    *,
    files: Mapping[str, bytes],
    home: str,
    limits: Limits,
    then: Callable[[], None],
) -> None:
    """Isolate the calling process, and call ``then`` in a child of it that can do nothing else.

    Call it right after a fork, with one thread. It returns when that child has ended. ``root`` is
    an empty folder that nobody else sees, where the child's root file system is put together, and
    ``files`` are the paths and contents of the submission.
    """
    as_root = os.geteuid() == 0
    who = os.geteuid(), os.getegid()  # in a namespace without a map everybody is nobody
    _call("unshare", _libc.unshare(_NEW_NAMESPACES | (0 if as_root else _NEW_USER)))
    if not as_root:
        _call_oneself_nobody(*who)
    _build_file_system(root, files, home, limits)
    init = os.fork()
    if init:
        os._exit(_exit_code(init))
    # The first process of its own world: when it ends, everything in there ends.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _enter(root)
    worker = os.fork()
    if worker:
        os._exit(_reap(worker))
    if as_root:
        # Not in name only: limits on processes do not hold for root, whatever it is called.
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # or /proc/self would belong to root
        _call("unshare", _libc.unshare(_NEW_USER))
        _call_oneself_nobody(NOBODY, NOBODY)
    os.setsid()  # a signal to its own group reaches nobody outside
    os.chdir(f"/submission/{home}")
    _give_up_rights()
    enforce(limits)
    then()
    os._exit(0)


def prepare() -> None:
    """Work out what is the same for every child, in the process that will fork them."""
    _all_shown()
    filter_steps(os.uname().machine)


def _call_oneself_nobody(uid: int, gid: int) -> None:
    """Leave one user inside: nobody, who is this one outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {gid} 1")


def _build_file_system(root: Path, files: Mapping[str, bytes], home: str, limits: Limits) -> None:
    """Put together the file system that the child will see."""
    _mount("none", "/", None, _REC | _PRIVATE)
    _mount("tmpfs", str(root), "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    for name in ("proc", "submission", "tmp"):
        (root / name).mkdir()
    owner = f"uid={NOBODY},gid={NOBODY}"
    writable = f"size={limits.disk},nr_inodes=20000,mode=700,{owner}"
    # These come first, because an interpreter may be installed below /tmp.
    for name in ("submission", "tmp"):
        _mount("tmpfs", f"{root}/{name}", "tmpfs", _NOSUID | _NODEV, writable)
    for each in _all_shown():
        _show(root, each)
    (root / "dev/shm").mkdir()  # what multiprocessing keeps its locks in
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text(f"student:x:{NOBODY}:{NOBODY}::/submission:/bin/sh\n")
    locks = f"size=4m,nr_inodes=200,mode=700,{owner}"
    _mount("tmpfs", f"{root}/dev/shm", "tmpfs", _NOSUID | _NODEV | _NOEXEC, locks)
    _hand_over(root / "submission", home, files)


def _hand_over(place: Path, home: str, files: Mapping[str, bytes]) -> None:
    """Write the submission so that its user, nobody, can change it."""
    lay_out(place / home, files)
    if os.geteuid() == 0:
        for folder, _, names in os.walk(place):
            for each in (folder, *(f"{folder}/{name}" for name in names)):
                os.chown(each, NOBODY, NOBODY)


@dataclass(frozen=True)
class _Shown:
    """A file or folder of this machine that is shown inside, at the same place."""

    path: str
    #: Where it leads to, if it is a link.
    target: str
    is_folder: bool
    read_only: bool = True


@cache
def _all_shown() -> tuple[_Shown, ...]:
    """Look once at what is shown: a look at each path takes as long as showing it."""
    places = [(path, True) for path in (*visible(), *(Path("/etc") / name for name in _ETC))]
    places += [(Path("/dev") / name, False) for name in _DEVICES]
    return tuple(
        _Shown(str(path), str(path.resolve()) if path.is_symlink() else "", path.is_dir(), closed)
        for path, closed in places
        if path.is_symlink() or path.exists()
    )


def _show(root: Path, each: _Shown) -> None:
    place = Path(f"{root}{each.path}")
    if each.target:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(each.target)
        return
    if each.is_folder:
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    _mount(each.path, str(place), None, _BIND | _REC)
    if each.read_only:
        _make_read_only(str(place))


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def _make_read_only(target: str) -> None:
    wanted = _MountAttributes(attr_set=_RDONLY | _NOSUID | _NODEV)
    done = _libc.syscall(
        number("mount_setattr"), _AT_FDCWD, target.encode(), _AT_RECURSIVE,
        ctypes.byref(wanted), ctypes.sizeof(wanted),
    )  # fmt: skip
    if done:  # before Linux 5.12; what is mounted below stays as it is
        _mount("none", target, None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)


def _enter(root: Path) -> None:
    """Make this file system the only one there is."""
    with suppress(OSError):  # containers may forbid it; Python gets along without
        _mount("proc", f"{root}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    os.chdir(root)
    _call("pivot_root", _libc.syscall(number("pivot_root"), b".", b"."))
    _call("umount", _libc.umount2(b".", _DETACH))
    _mount("none", "/", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)
    os.chdir("/")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def _give_up_rights() -> None:
    """Give up mounting, mapping and gaining rights, in nested namespaces too."""
    with suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    _call("capset", _libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()))
    _call("prctl", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    filter_calls()


def _exit_code(pid: int) -> int:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status if status >= 0 else 128 - status


def _reap(worker: int) -> int:
    """Be the parent of orphans until the worker ends."""
    while True:
        pid, status = os.wait()
        if pid == worker:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind, data)]
    _call(f"mount {target}", _libc.mount(*words[:3], ctypes.c_ulong(flags), words[3]))


def _call(what: str, outcome: int) -> None:
    if outcome:
        problem = ctypes.get_errno() or errno.EPERM
        raise CannotIsolate(problem, f"{what}: {os.strerror(problem)}")
