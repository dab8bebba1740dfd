"""Comparing what a browser drew with a picture that somebody has looked at."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from PIL import Image

REFERENCES = Path(__file__).parent / "references"
#: A channel may be off by this much: fonts are smoothed a little differently from run to run.
_SAME = 40
#: Share of the pixels that may differ by more.
_MAY_DIFFER = 0.02


def difference(picture: Path, name: str) -> str:
    """How a picture differs from its reference, in words; nothing if it does not.

    ``UPDATE_PICTURES=1 make test`` keeps the new pictures as references. Look at them before you
    commit them.
    """
    reference = REFERENCES / f"{name}.png"
    now = Image.open(picture).convert("RGB")
    if os.environ.get("UPDATE_PICTURES"):
        REFERENCES.mkdir(exist_ok=True)
        # A palette is enough to compare with, and keeps the repository small.
        now.quantize(64).save(reference, optimize=True)
        return ""
    if not reference.exists():
        return f"there is no {reference.name}: run with UPDATE_PICTURES=1 and look at it"
    said = differing_pixels(now, Image.open(reference))
    return f"{picture} against {name}: {said}" if said else ""


def differing_pixels(now: Image.Image, then: Image.Image, may_differ: float = _MAY_DIFFER) -> str:
    """How two pictures differ, in words; nothing if they do not."""
    now, then = now.convert("RGB"), then.convert("RGB")
    if now.width != then.width or abs(now.height - then.height) > 4:
        return f"it is {now.size}, and was {then.size}"
    height = min(now.height, then.height)
    a, b = (np.asarray(p, dtype=int)[:height] for p in (now, then))
    differ = float(np.mean(np.abs(a - b).max(axis=2) > _SAME))
    return f"{differ:.1%} of the pixels differ" if differ > may_differ else ""
