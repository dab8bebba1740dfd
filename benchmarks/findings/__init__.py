"""What benchmarks found, kept beside this file: pages quote it, and nobody types a number."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def conditions() -> dict[str, Any]:
    """The day, the machine, and how busy it is; ask before the measurement makes it so."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
    }


def keep(
    name: str,
    part: str,
    found: Mapping[str, Any],
    under: Mapping[str, Any],
    folder: Path = FOLDER,
) -> None:
    """Keep one part of what a benchmark found; its other parts stay as they are."""
    path = folder / f"{name}.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[part] = {**under, **found}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")


def found(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """All parts of what a benchmark found."""
    known: dict[str, Any] = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return known


def fill(page: str, parts: Mapping[str, str]) -> str:
    """Fill in the parts of a page that come from data; the prose around them stays.

    A part stands between ``<!-- name -->`` and ``<!-- end -->``.
    """
    for name, text in parts.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        page, times = marks.subn(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)
        if times != 1:
            raise ValueError(f"the page must have one part <!-- {name} -->, and has {times}")
    return page
