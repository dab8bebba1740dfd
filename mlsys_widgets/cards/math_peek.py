"""Governing equations that a student can unfold, typeset where LaTeX can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

import ipywidgets
import traitlets

from mlsys_widgets import physics as ph
from mlsys_widgets.cards.card import Gate
from mlsys_widgets.drawing import markup
from mlsys_widgets.instruments.lazy_widget import LazyWidget
from mlsys_widgets.physics import notation

_STYLE = (
    "<style>"
    ".widget-htmlmath-content:has(>.mlsys-peek){flex:1 1 auto}"
    ".mlsys-peek{border:1px solid var(--mlsys-rule,#d0d0d0);border-radius:var(--mlsys-radius,8px);"
    "padding:8px 16px;max-width:var(--mlsys-column,680px);box-sizing:border-box;"
    "line-height:var(--mlsys-line-height,1.55);font-size:var(--mlsys-text,16px);"
    "color:var(--mlsys-ink,#212121);white-space:normal}"
    ".mlsys-peek summary{cursor:pointer;font-weight:var(--mlsys-strong,600)}"
    ".mlsys-peek summary:focus-visible{outline:2px solid var(--mlsys-focus,#2a7fc4);"
    "outline-offset:2px}"
    ".mlsys-peek h4{margin:16px 0 4px;font-size:var(--mlsys-text,16px)}"
    ".mlsys-peek ol,.mlsys-peek ul{margin:6px 0;padding-left:22px}"
    ".mlsys-peek li{margin:0 0 8px}"
    ".mlsys-peek .mlsys-about{display:block;font-size:var(--mlsys-note,13px);"
    "color:var(--mlsys-quiet,#616161)}"
    ".mlsys-peek table{border-collapse:collapse;margin:6px 0}"
    ".mlsys-peek th,.mlsys-peek td{text-align:left;padding:3px 12px 3px 0;"
    "border-bottom:1px solid var(--mlsys-rule,#d0d0d0)}"
    "</style>"
)

#: Text, a result, a derivation, or several of them, by heading if they have one.
Equations = Any


class MathPeek(LazyWidget, ipywidgets.HTMLMath):
    """Governing equations that open on a click or a key, typeset where LaTeX can be.

    Parameters
    ----------
    title
        The words on the closed panel.
    equations
        Markdown with LaTeX between dollar signs; a result, whose derivation is shown; a list of
        them; or a mapping from headings to them.
    numbers
        Whether a derivation also shows its numbers; otherwise only formulas and their symbols.
    opened
        Whether it is open at first.
    after
        A gate, or several, that must be open before the panel shows more than its title.

    Examples
    --------
    >>> law = ph.iron_law(data=100e6, operations=4e9, device="h100-sxm")
    >>> peek = MathPeek("The iron law", ["Three terms: $T = D/BW + O/R + L$", law])
    >>> print(peek.text())
    The iron law
    Three terms: $T = D/BW + O/R + L$
    t_memory = D / BW = 100 MB / 3.35 TB/s = 29.9 µs   (time to move the data)
    t_compute = b × O / (R × η) = 1 × 4 GFLOP / (989 TFLOPS × 100%) = 4.04 µs   (time to compute)
    T = t_memory + t_compute + L = 29.9 µs + 4.04 µs + 0 s = 33.9 µs   \
(time of the batch, one term after the other)
    ratio = t_memory / t_compute = 29.9 µs / 4.04 µs = 7.38×   \
(memory time as a multiple of compute time)
    b* = b × ratio = 1 × 7.38× = 7.38   (batch size at which compute takes as long as memory)
    """

    def __init__(
        self,
        title: str = "Governing equations",
        equations: Equations = (),
        *,
        numbers: bool = True,
        opened: bool = False,
        after: Iterable[Gate] = (),
    ) -> None:
        super().__init__()
        self._title, self._numbers, self._opened = title, numbers, opened
        self._parts = list(_parts(equations))
        if not self._parts:
            raise ValueError(
                "equations is empty; give Markdown with LaTeX, a result, or several of them"
            )
        self._gates = tuple(after)
        for gate in self._gates:
            if not gate.is_open:
                gate.on_open(self._look_again)

    @traitlets.default("value")
    def _first_look(self) -> str:
        return self._page(notation.MATHML)

    @traitlets.default("layout")
    def _whole_width(self) -> ipywidgets.Layout:
        return ipywidgets.Layout(width="100%")

    def _look_again(self) -> None:
        if self.trait_has_value("value"):
            self.value = self._page(notation.MATHML)

    @property
    def _closed(self) -> str:
        """How to open the panel; empty if it is open."""
        gate = next((gate for gate in self._gates if not gate.is_open), None)
        return f"Opens after you {gate.to_open}." if gate else ""

    def html(self) -> str:
        """The panel as self-contained HTML: it opens without any script.

        Its formulas are in the tags of text, which pages keep that take out all others.
        """
        return self._page(notation.HTML)

    def _page(self, how: notation.Notation) -> str:
        body = []
        if closed := self._closed:
            return (
                f"{_STYLE}<details class='mlsys-peek'><summary>{escape(self._title)}</summary>"
                f"<p>{escape(closed)}</p></details>"
            )
        for heading, part in self._parts:
            if heading:
                body.append(f"<h4>{escape(heading)}</h4>")
            body.append(markup.page(part) if isinstance(part, str) else self._derived(part, how))
        return (
            f"{_STYLE}<details class='mlsys-peek'{' open' if self._opened else ''}>"
            f"<summary>{escape(self._title)}</summary>{''.join(body)}</details>"
        )

    def _derived(self, part: Any, how: notation.Notation) -> str:
        if self._numbers:
            return _derivation(part).to_html(how)
        rows = "".join(
            f"<li><span class='mlsys-about'>{escape(step.title)}</span> "
            f"<span class='mlsys-equation'>{step.symbolic(how)}</span></li>"
            for step in _derivation(part).steps
        )
        symbols = "".join(
            f"<li>{how.chain([('', how.symbol(each.symbol))])}: {escape(_measured(each))}</li>"
            for each in _inputs(part)
        )
        where = f"<p>Where</p><ul>{symbols}</ul>" if symbols else ""
        return f"<ol class='mlsys-derivation'>{rows}</ol>{where}"

    def text(self) -> str:
        """The panel as plain text."""
        lines = [self._title]
        if closed := self._closed:
            return "\n".join([*lines, closed])
        for heading, part in self._parts:
            lines += [heading] if heading else []
            if isinstance(part, str):
                lines.append(part.strip())
            elif self._numbers:
                lines.append(_derivation(part).to_text())
            else:
                lines += [
                    f"{step.symbolic(notation.TEXT)}   ({step.quantity.about})"
                    for step in _derivation(part).steps
                ]
                lines += [f"{quantity.symbol}: {_measured(quantity)}" for quantity in _inputs(part)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        # The one of ipywidgets writes out all traits, the page included.
        return f"<{type(self).__name__}: {self._title}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**options)
        return {**bundle, "text/plain": self.text(), "text/html": self.html()}


def _parts(equations: Equations) -> Iterator[tuple[str, Any]]:
    """Pairs of a heading, if there is one, and text or something with a derivation."""
    if isinstance(equations, str) or _explains(equations):
        yield "", equations
    elif isinstance(equations, Mapping):
        for heading, part in equations.items():
            for k, (_, inner) in enumerate(_parts(part)):
                yield "" if k else str(heading), inner
    elif isinstance(equations, Iterable):
        for part in equations:
            yield from _parts(part)
    else:
        raise ValueError(
            f"equations holds {equations!r}; it may hold Markdown with LaTeX, and results that "
            "can derive themselves"
        )


def _explains(part: Any) -> bool:
    return isinstance(part, ph.Derivation) or callable(getattr(part, "derivation", None))


def _derivation(part: Any) -> ph.Derivation:
    derived: ph.Derivation = part if isinstance(part, ph.Derivation) else part.derivation()
    return derived


def _inputs(part: Any) -> list[ph.Quantity]:
    """Return the inputs of a result, for the list of symbols."""
    inputs = getattr(part, "inputs", None)
    return list(inputs().values()) if callable(inputs) else []


def _measured(quantity: ph.Quantity) -> str:
    return f"{quantity.about} ({quantity.unit})" if quantity.unit else quantity.about
