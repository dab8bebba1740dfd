"""How well the words of a plot can be told from what is behind them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Locator

#: Every word in the plots of an instrument that can be seen: what it says, its color, its place.
_WORDS = """board => {
  const edge = board.getBoundingClientRect();
  const opacity = node => {
    let product = 1;
    for (let each = node; each && each !== board; each = each.parentElement) {
      const style = getComputedStyle(each);
      product *= Number(style.opacity);
      if (each === node) product *= Number(style.fillOpacity);
    }
    return product;
  };
  return [...board.querySelectorAll('.mlsys-plot svg:not(.mlsys-sign) text')]
    .filter(node => node.textContent.trim())
    .filter(node => getComputedStyle(node).visibility !== 'hidden' && opacity(node) > 0)
    .map(node => [node, node.getBoundingClientRect()])
    .filter(([, box]) => box.width && box.height)
    .map(([node, box]) => ({
      text: node.textContent.trim(), opacity: opacity(node),
      fill: getComputedStyle(node).fill.match(/[\\d.]+/g).slice(0, 3).map(Number),
      box: [box.left - edge.left, box.top - edge.top, box.right - edge.left, box.bottom - edge.top],
    }));
}"""
#: Hide the words and what moves over them, or show them again.
_HIDE = """(board, hidden) => board.classList.toggle('mlsys-test-wordless', hidden)"""
_STYLE = """.mlsys-test-wordless :is(.mlsys-plot text, .mlsys-handles) { visibility: hidden; }"""


def luminance(color: NDArray[np.float64]) -> NDArray[np.float64]:
    """The relative luminance of colors from 0 to 255, as WCAG defines it."""
    part = np.asarray(color, dtype=float) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    weighted: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return weighted


def ratio(one: Any, other: Any) -> float:
    """The contrast of two colors, from 1 to 21.

    >>> ratio((0, 0, 0), (255, 255, 255)), ratio((119, 119, 119), (255, 255, 255)) > 4.47
    (21.0, True)
    """
    light, dark = sorted((float(luminance(one)), float(luminance(other))), reverse=True)
    return round((light + 0.05) / (dark + 0.05), 3)


def contrasts(board: Locator) -> list[tuple[float, str]]:
    """The contrast of every word of the plots of an instrument, the lowest first.

    What is behind a word is the color of most of its pixels in a picture without words: a thin
    line that crosses it does not count.
    """
    page = board.page
    page.add_style_tag(content=_STYLE)
    words = board.evaluate(_WORDS)
    board.evaluate(_HIDE, True)
    picture = np.asarray(Image.open(BytesIO(board.screenshot())).convert("RGB"), dtype=float)
    board.evaluate(_HIDE, False)
    found = []
    for word in words:
        left, top, right, bottom = (round(each) for each in word["box"])
        behind = picture[max(top, 0) : bottom, max(left, 0) : right].reshape(-1, 3)
        if not behind.size:
            continue  # it stands outside of its instrument, which another test forbids
        common = np.median(behind, axis=0)
        seen = word["opacity"] * np.array(word["fill"]) + (1 - word["opacity"]) * common
        found.append((ratio(seen, common), word["text"]))
    return sorted(found)
