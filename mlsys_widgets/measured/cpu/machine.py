"""The computer that is measured: the cores, memory and caches it may use.

On a hub a container is often given less than the machine has, so limits of the control group count.
"""

from __future__ import annotations

import math
import os
import platform
import sys
from pathlib import Path
from typing import Any

ASSUMED_CACHE = 32 << 20
#: What Python runs on in a web page: nothing there says which processor that is, or how busy.
WEBASSEMBLY = "WebAssembly in a web page"
_SYSTEM = Path("/sys")
_PROCESSES = Path("/proc")


def is_page() -> bool:
    """Whether Python runs in WebAssembly, which has one thread and starts no processes."""
    return sys.platform in {"emscripten", "wasi"}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def size_in_bytes(text: str) -> int:
    """Read a size, in the form in which Linux writes it, as bytes.

    Examples
    --------
    >>> size_in_bytes("307200K"), size_in_bytes("32M"), size_in_bytes("what")
    (314572800, 33554432, 0)
    """
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    unit = units.get(text[-1:].upper(), 1)
    digits = text[:-1] if unit > 1 else text
    return int(digits) * unit if digits.isdigit() else 0


def _group() -> Path:
    """Return the folder of this process's control group; in a container, that of the container."""
    root = _SYSTEM / "fs/cgroup"
    lines = _read(_PROCESSES / "self/cgroup").splitlines()
    own = next((line[4:] for line in lines if line.startswith("0::/")), "")
    return root / own if (root / own / "memory.max").exists() else root


def cores() -> int:
    """Cores this process may use: those it may run on, and no more than its quota."""
    if is_page():
        return 1
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:
        count = os.cpu_count() or 1
    quota, _, period = _read(_group() / "cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit() and int(period):
        count = min(count, max(1, math.ceil(int(quota) / int(period))))
    return max(1, count)


def last_cache() -> tuple[int, bool]:
    """Return the bytes of the largest last-level cache, and whether that was read or assumed."""
    best = (0, 0)
    for index in sorted((_SYSTEM / "devices/system/cpu/cpu0/cache").glob("index*")):
        if _read(index / "type") in ("Unified", "Data"):
            level = _read(index / "level")
            size = size_in_bytes(_read(index / "size"))
            best = max(best, (int(level) if level.isdigit() else 0, size))
    return (best[1], True) if best[1] else (ASSUMED_CACHE, False)


def _memory_field(name: str) -> int:
    for line in _read(_PROCESSES / "meminfo").splitlines():
        field, _, rest = line.partition(":")
        if field == name:
            return size_in_bytes(rest.replace("kB", "").strip() + "K")
    return 0


def memory() -> int:
    """Return the bytes of memory this process may have."""
    try:
        total = _memory_field("MemTotal") or os.sysconf("SC_PAGE_SIZE") * os.sysconf(
            "SC_PHYS_PAGES"
        )
    except (ValueError, OSError, AttributeError):
        total = 2 << 30
    limit = _read(_group() / "memory.max")
    return min(total, int(limit)) if limit.isdigit() else total


def free_memory() -> int:
    """Return the bytes of memory that can be allocated now without swapping."""
    free = _memory_field("MemAvailable") or memory() // 2
    limit = _read(_group() / "memory.max")
    if limit.isdigit():
        used = _read(_group() / "memory.current")
        free = min(free, max(0, int(limit) - (int(used) if used.isdigit() else 0)))
    return free


def name() -> str:
    """Return the name that the processor reports."""
    if is_page():
        return WEBASSEMBLY
    for line in _read(_PROCESSES / "cpuinfo").splitlines():
        field, _, rest = line.partition(":")
        if field.strip() == "model name" and rest.strip():
            return rest.strip()
    return platform.processor() or platform.machine() or "unknown processor"


def describe(key: str | None = None) -> dict[str, Any]:
    """Describe the computer for a document: its parts, never its host name."""
    count = cores()
    return {
        "key": key or f"cpu-{count}core",
        "name": name(),
        "kind": "cpu",
        "units": count,
        "memory_bytes": memory(),
        "last_cache_bytes": last_cache()[0],
        "driver": None,
    }


def load_note() -> str:
    """Return the load of this machine as a note of a measurement; empty where nobody counts it.

    All cores count, not only those this process may use: the load is that of the whole machine.
    """
    if is_page():
        return ""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):
        return ""
    return f"Load before: {load:.2f} on {os.cpu_count() or 1} cores."
