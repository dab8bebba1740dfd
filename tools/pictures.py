"""Draws the pictures of the README with the instruments themselves.

A test fails if a picture differs from what its instrument draws today; run this script then.
"""

from __future__ import annotations

from pathlib import Path

import mlsys_widgets as mw

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_static"


def pictures() -> dict[str, str]:
    """File name -> SVG."""
    roofline = mw.RooflineWidget(device="h200-sxm", n=2048, measured=True)
    waterfall = mw.DispatchWaterfall(model="kws", device="a100-sxm")
    drawn = {"roofline.svg": roofline.figure(), "dispatch.svg": waterfall.figure()}
    return {name: str(picture) + "\n" for name, picture in drawn.items()}


if __name__ == "__main__":
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, "utf-8")
        print(f"Wrote {name}.")
