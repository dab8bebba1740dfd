"""The math of an instrument with its present numbers in it: formula, substitution, result.

The step that decides the result is marked, and one line says which input moves it most.
"""

from __future__ import annotations

from html import escape
from typing import Any

from mlsys_widgets import physics as ph


def math_html(instrument: Any) -> str:
    """The derivations of an instrument's results as HTML that needs no script."""
    parts = []
    explanations = instrument.explanations
    for title, result in explanations.items():
        if len(explanations) > 1:
            parts.append(f"<h4 class='mlsys-part'>{escape(title)}</h4>")
        parts.append(result.derivation().to_html(marked=instrument.dominant(result)))
    said = matters_most(instrument)
    if said:
        parts.append(f"<p class='mlsys-sentence'>{escape(said)}</p>")
    return "".join(parts)


def matters_most(instrument: Any) -> str:
    """Which input moves the instrument's headline most now; empty where nothing does."""
    result, name = instrument.result, instrument.headline
    if not name:
        return ""
    try:
        return ph.sensitivity(result, name).sentence()
    except ValueError:
        # The headline is zero or infinite, so that a percentage of it means nothing.
        return ""
