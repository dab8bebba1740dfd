"""One visual language: colors, dashes and symbols that tell things apart without color too.

The palette is Okabe and Ito's, with each tone shifted so that it has contrast on white and on the
dark theme alike: marks keep their color when the theme changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

TONES: Final = {
    "blue": "#2a7fc4",
    "orange": "#d17f00",
    "green": "#12936b",
    "red": "#d4522a",
    "purple": "#b0609f",
    "gray": "#808890",
    "ink": "#7a828a",
    "text": "#333333",
    "memory": "#d17f00",
    "compute": "#2a7fc4",
    "dispatch": "#d4522a",
    "prediction": "#b0609f",
    "model": "#2a7fc4",
    "measured": "#12936b",
    "textbook": "#808890",
}

#: What the screen uses instead of a tone that must follow the theme.
LIVE: Final = {"text": "var(--jp-ui-font-color1, #333333)"}

#: What a still picture has on dark paper in place of the colors of white paper. Tones stay.
DARK: Final = {
    "#ffffff": "#15181b",
    "#fff": "#15181b",
    "#333": "#e6e9ec",
    "#333333": "#e6e9ec",
    "#e0e0e0": "#353b41",
    "#9e9e9e": "#7a828a",
}

#: Dashes by name, as SVG writes them; bqplot knows the same names.
DASHES: Final = {"solid": "", "dashed": "10,6", "dotted": "2,5", "dash_dotted": "10,4,2,4"}


def color(tone: str) -> str:
    """The color of a tone.

    Examples
    --------
    >>> color("blue")
    '#2a7fc4'
    """
    if tone not in TONES:
        raise ValueError(f"{tone!r} is not a tone; the tones are: {', '.join(TONES)}")
    return TONES[tone]


def design() -> str:
    """The sizes, widths and colors of the design as a style sheet, for a page that stands alone."""
    return Path(__file__).with_name("design.css").read_text("utf-8")
