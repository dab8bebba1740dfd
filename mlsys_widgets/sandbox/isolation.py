"""A forked child shuts itself in: nothing of this machine to write to, nobody to talk to.

Linux namespaces, entered with ctypes right after a fork: a user of its own (nobody, never root), a
root file system in memory with the system and the interpreter read-only, its own processes, no
network. Everything it writes lies in memory and is gone with it. A filter of system calls takes
away what namespaces leave: new namespaces, and memory that no limit counts. No helper program is
needed, and the child of a process that has imported everything need not import it again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mlsys_widgets.files import lay_out
from mlsys_widgets.sandbox.system_calls import filter_calls

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
_SYS_MOUNT_SETATTR: Final = 442  # the same on every architecture
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000

#: Who a child is: nobody, inside and, where root grades, outside as well.
NOBODY: Final = 65534
#: What a Python program needs of the system besides its own installation.
_SYSTEM: Final = ("usr", "bin", "sbin", "lib", "lib32", "lib64")
_ETC: Final = ("ld.so.cache", "localtime", "fonts", "alternatives", "mime.types")
_DEVICES: Final = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Parameters
    ----------
    cell
        Seconds for one cell; it is interrupted then, and the next one runs.
    wall
        Seconds for all of it; everything is ended then.
    cpu
        Seconds of processor time, for one process and for all of them together.
    memory
        Bytes of address space for one process beyond what the imports take, and of memory for all
        of them together.
    processes
        Processes and threads at a time.
    disk
        Bytes of all files together, and as many again below ``/tmp``; they lie in memory.
    output
        Bytes that come back.
    """

    cell: float = 60.0
    wall: float = 300.0
    cpu: int = 240
    memory: int = 2_000_000_000
    processes: int = 64
    disk: int = 256_000_000
    output: int = 20_000_000


def visible() -> list[Path]:
    """What of this machine can be read inside: the system, the interpreter, what is installed."""
    package = Path(__file__).resolve().parent.parent
    installed = (Path(p) for p in sys.path if p.endswith(("site-packages", "dist-packages")))
    places: list[Path] = [Path("/") / name for name in _SYSTEM]
    for place in (Path(sys.base_prefix), Path(sys.prefix), *installed, package):
        if not any(place.is_relative_to(known) for known in places):
            places.append(place)
    return places


class CannotIsolate(OSError):
    """A machine that does not let a process shut itself in."""


def why_not(root: Path) -> str | None:
    """Why children cannot be shut in on this machine; none if they can. Tries it.

    Parameters
    ----------
    root
        An empty folder.
    """
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no namespaces; isolation needs Linux"
    child = os.fork()
    if not child:
        try:
            shut_in(root, files={}, home="x", limits=Limits(), then=lambda: None)
            os._exit(0)
        except OSError as problem:
            os._exit(problem.errno or 1)
        except BaseException:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return None
    said = os.strerror(status) if status > 0 else f"signal {-status}"
    return f"the system refuses namespaces to this user ({said})"


def shut_in(
    root: Path,
    *,
    files: Mapping[str, bytes],
    home: str,
    limits: Limits,
    then: Callable[[], None],
) -> None:
    """Shut the calling process in, and call ``then`` in a child of it that can do nothing else.

    Call it right after a fork, with one thread. It returns when that child has ended.

    Parameters
    ----------
    root
        An empty folder, where the child's root file system is put together; nobody else sees it.
    files
        The submission: paths below its folder and their contents.
    home
        The submission's folder inside: ``<student>/<lab>``.
    limits
        What may be used.
    then
        What is done inside.
    """
    as_root = os.geteuid() == 0
    who = os.geteuid(), os.getegid()  # in a namespace without a map everybody is nobody
    _call("unshare", _libc.unshare(_NEW_NAMESPACES | (0 if as_root else _NEW_USER)))
    if not as_root:
        _call_oneself_nobody(*who)
    _furnish(root, files, home, limits)
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
    limit(limits)
    then()
    os._exit(0)


def _call_oneself_nobody(uid: int, gid: int) -> None:
    """Of all users there is one inside: nobody, who is this one outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {gid} 1")


def _furnish(root: Path, files: Mapping[str, bytes], home: str, limits: Limits) -> None:
    """Put together what the child will see."""
    _mount("none", "/", None, _REC | _PRIVATE)
    _mount("tmpfs", str(root), "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    for name in ("proc", "submission", "tmp"):
        (root / name).mkdir()
    owner = f"uid={NOBODY},gid={NOBODY}"
    writable = f"size={limits.disk},nr_inodes=20000,mode=700,{owner}"
    # Before what is shown: an interpreter may well be installed below /tmp.
    for name in ("submission", "tmp"):
        _mount("tmpfs", f"{root}/{name}", "tmpfs", _NOSUID | _NODEV, writable)
    for path in visible():
        _show(root, path)
    for name in _ETC:
        _show(root, Path("/etc") / name)
    for name in _DEVICES:
        _show(root, Path("/dev") / name, read_only=False)
    (root / "dev/shm").mkdir()  # what multiprocessing keeps its locks in
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text(f"student:x:{NOBODY}:{NOBODY}::/submission:/bin/sh\n")
    locks = f"size=4m,nr_inodes=200,mode=700,{owner}"
    _mount("tmpfs", f"{root}/dev/shm", "tmpfs", _NOSUID | _NODEV | _NOEXEC, locks)
    _hand_over(root / "submission", home, files)


def _hand_over(place: Path, home: str, files: Mapping[str, bytes]) -> None:
    """Write the submission, for nobody to change as they like."""
    lay_out(place / home, files)
    if os.geteuid() == 0:
        for folder, _, names in os.walk(place):
            for each in (folder, *(f"{folder}/{name}" for name in names)):
                os.chown(each, NOBODY, NOBODY)


def _show(root: Path, path: Path, *, read_only: bool = True) -> None:
    """Have a file or folder of this machine seen inside, at the same place."""
    target = Path(f"{root}{path}")
    if path.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path.readlink())
        return
    if not path.exists():
        return
    if path.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(path), str(target), None, _BIND | _REC)
    if read_only:
        _make_read_only(target)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def _make_read_only(target: Path) -> None:
    wanted = _MountAttributes(attr_set=_RDONLY | _NOSUID | _NODEV)
    done = _libc.syscall(
        _SYS_MOUNT_SETATTR, _AT_FDCWD, str(target).encode(), _AT_RECURSIVE,
        ctypes.byref(wanted), ctypes.sizeof(wanted),
    )  # fmt: skip
    if done:  # before Linux 5.12; what is mounted below stays as it is
        _mount("none", str(target), None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)


def _enter(root: Path) -> None:
    """Make what was furnished the only file system there is."""
    with suppress(OSError):  # containers may forbid it; Python gets along without
        _mount("proc", f"{root}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    os.chdir(root)
    _call("pivot_root", _libc.syscall(_pivot_root(), b".", b"."))
    _call("umount", _libc.umount2(b".", _DETACH))
    _mount("none", "/", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)
    os.chdir("/")


def _pivot_root() -> int:
    return {"x86_64": 155, "aarch64": 41}.get(os.uname().machine, 155)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def _give_up_rights() -> None:
    """Nothing may be mounted, mapped or gained any more, not in namespaces within either."""
    with suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    header = _CapabilityHeader(0x20080522, 0)
    _call("capset", _libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()))
    _call("prctl", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    filter_calls()


def limit(limits: Limits, *, alone: bool = True) -> None:
    """Set the limits that the system keeps for a process.

    Parameters
    ----------
    limits
        What may be used.
    alone
        Whether it has a user of its own, whose processes can be counted.
    """
    in_use = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        if Path("/proc/self/statm").exists()
        else 2_000_000_000
    )
    processes = ((resource.RLIMIT_NPROC, limits.processes),) if alone else ()
    for which, most in (
        *processes,
        (resource.RLIMIT_AS, in_use + limits.memory),
        (resource.RLIMIT_FSIZE, limits.disk),
        (resource.RLIMIT_NOFILE, 512),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(which, (most, most))
    # First a signal that says what it is about, then the end.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu + 2))


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
        number = ctypes.get_errno() or errno.EPERM
        raise CannotIsolate(number, f"{what}: {os.strerror(number)}")
