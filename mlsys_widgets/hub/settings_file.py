"""Reads a small TOML file of settings that ``mlsys hub`` is given by name."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any


def read_settings_file(
    path: Path, option: str, *, known: Collection[str], needed: Collection[str]
) -> dict[str, Any]:
    """Read a file of settings that an option of the command names; else say why in one sentence."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no {path} ({option})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path} is not TOML: {problem}") from None
    if other := sorted(values.keys() - known):
        raise ValueError(f"{path} has {other[0]}; it can have: {', '.join(sorted(known))}")
    for name in needed:
        if not values.get(name):
            raise ValueError(f"{path} lacks {name}")
    return values
