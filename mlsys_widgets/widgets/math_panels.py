"""The mathematics beside an instrument: governing equations to open, and the live derivation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from html import escape
from typing import Any

import ipywidgets
import traitlets
from markdown_it import MarkdownIt

from mlsys_widgets import physics as ph
from mlsys_widgets.physics import notation
from mlsys_widgets.widgets.controls import Choice
from mlsys_widgets.widgets.instrument import Card, Instrument, Table
from mlsys_widgets.widgets.lab_card import Gate
from mlsys_widgets.widgets.scene import Scene

#: Text between these is LaTeX and not for Markdown to read.
_LATEX = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\$[^\s$](?:[^$\n]*[^\s$])?\$", re.S)
# Stands for a piece of LaTeX while Markdown is read; nobody types it.
_HOLDER = "\ue000{}\ue001"
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_STYLE = (
    "<style>"
    ".widget-htmlmath-content:has(>.mlsys-peek){flex:1 1 auto}"
    ".mlsys-peek{border:1px solid var(--jp-border-color2,#d0d0d0);border-radius:8px;"
    "padding:8px 14px;max-width:1280px;line-height:1.5;font-size:14px;"
    "color:var(--jp-ui-font-color1,#212121);white-space:normal}"
    ".mlsys-peek summary{cursor:pointer;font-weight:600}"
    ".mlsys-peek summary:focus-visible{outline:2px solid #2a7fc4;outline-offset:2px}"
    ".mlsys-peek h4{margin:12px 0 4px;font-size:14px}"
    ".mlsys-peek ol,.mlsys-peek ul{margin:6px 0;padding-left:22px}"
    ".mlsys-peek li{margin:0 0 6px}"
    ".mlsys-peek .mlsys-about{display:block;font-size:12.5px;"
    "color:var(--jp-ui-font-color2,#616161)}"
    ".mlsys-peek table{border-collapse:collapse;margin:6px 0}"
    ".mlsys-peek th,.mlsys-peek td{text-align:left;padding:3px 12px 3px 0;"
    "border-bottom:1px solid var(--jp-border-color2,#e0e0e0)}"
    "</style>"
)

#: Text, a result, a derivation, or several of them, by heading if they have one.
Equations = Any


class MathPeek(ipywidgets.HTMLMath):
    """Governing equations that open on a click or a key, typeset where LaTeX can be.

    Parameters
    ----------
    title
        What stands on the closed panel.
    equations
        Markdown with LaTeX between dollar signs; a result, whose derivation is shown; a list of
        them; or a mapping from headings to them.
    numbers
        Whether a derivation also shows its numbers; without, it shows formulas and their symbols.
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
(how many times longer memory takes than compute)
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
        super().__init__(layout={"width": "100%"})
        self._title, self._numbers, self._opened = title, numbers, opened
        self._parts = list(_parts(equations))
        if not self._parts:
            raise ValueError(
                "equations is empty; give Markdown with LaTeX, a result, or several of them"
            )
        self._gates = tuple(after)
        self.value = self.html()
        for gate in self._gates:
            if not gate.is_open:
                gate.on_open(self._look_again)

    def _look_again(self) -> None:
        self.value = self.html()

    @property
    def _closed(self) -> str:
        """What opens the panel; empty if it is open."""
        gate = next((gate for gate in self._gates if not gate.is_open), None)
        return f"Opens after you {gate.to_open}." if gate else ""

    def html(self) -> str:
        """The panel as HTML that stands alone: it opens without any script."""
        body = []
        if closed := self._closed:
            return (
                f"{_STYLE}<details class='mlsys-peek'><summary>{escape(self._title)}</summary>"
                f"<p>{escape(closed)}</p></details>"
            )
        for heading, part in self._parts:
            if heading:
                body.append(f"<h4>{escape(heading)}</h4>")
            body.append(_markdown(part) if isinstance(part, str) else self._derived(part))
        return (
            f"{_STYLE}<details class='mlsys-peek'{' open' if self._opened else ''}>"
            f"<summary>{escape(self._title)}</summary>{''.join(body)}</details>"
        )

    def _derived(self, part: Any) -> str:
        if self._numbers:
            return _derivation(part).to_html()
        rows = "".join(
            f"<li><span class='mlsys-about'>{escape(_about(step))}</span> "
            f"<span class='mlsys-equation'>{_formula(step, notation.HTML)}</span></li>"
            for step in _derivation(part).steps
        )
        symbols = "".join(
            f"<li>{notation.HTML.symbol(quantity.symbol)}: {escape(_measured(quantity))}</li>"
            for quantity in _inputs(part)
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
                    f"{_formula(step, notation.TEXT)}   ({step.quantity.about})"
                    for step in _derivation(part).steps
                ]
                lines += [f"{quantity.symbol}: {_measured(quantity)}" for quantity in _inputs(part)]
        return "\n".join(lines)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options) or {})
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
    """What a result was given, for the list of symbols."""
    inputs = getattr(part, "inputs", None)
    return list(inputs().values()) if callable(inputs) else []


def _measured(quantity: ph.Quantity) -> str:
    return f"{quantity.about} ({quantity.unit})" if quantity.unit else quantity.about


def _about(step: ph.Step) -> str:
    return step.quantity.about[:1].upper() + step.quantity.about[1:]


def _formula(step: ph.Step, how: notation.Notation) -> str:
    """A formula in symbols; a verdict follows from a comparison and is not equal to it."""
    sign = ": " if isinstance(step.value, bool) else " = "
    return how.symbol(step.quantity.symbol) + sign + step.formula[how]


def _markdown(text: str) -> str:
    """Markdown as HTML, its LaTeX left as it is for MathJax; HTML in it is shown, not obeyed."""
    kept: list[str] = []

    def hold(found: re.Match[str]) -> str:
        kept.append(escape(found[0], quote=False))
        return _HOLDER.format(len(kept) - 1)

    html: str = _MARKDOWN.render(_LATEX.sub(hold, text))
    for k, latex in enumerate(kept):
        html = html.replace(_HOLDER.format(k), latex)
    return html


#: Instead of one quantity.
_ALL = "all"


def _titles(panel: Any) -> dict[str, str]:
    return {title: title for title in panel.explained}


def _quantities(panel: Any) -> dict[str, str]:
    outputs = panel.explained[panel.part].outputs()
    words = {name: f"{q.about[:1].upper()}{q.about[1:]}" for name, q in outputs.items()}
    return {_ALL: "All of them, in order", **words}


class PhysicsSteps(Instrument):
    """The desk of a physics panel: an instrument without a plot, over another instrument."""

    part = Choice("Part", default="", options=_titles, help="Which result is derived.")
    quantity = Choice(
        "Derive",
        default=_ALL,
        options=_quantities,
        help="Shows the steps to this quantity, those it rests on first.",
    )

    def __init__(self, instrument: Instrument, chosen: dict[str, Any]) -> None:
        self._followed = instrument
        self._seen: Any = None
        self._explained: tuple[Any, dict[str, Any]] = (None, {})
        self.title = f"Derivation: {instrument.title}"
        for title, result in self.explained.items():
            if not (callable(getattr(result, "outputs", None)) and _explains(result)):
                raise ValueError(
                    f"{type(instrument).__name__} gives a {type(result).__name__} as {title!r}, "
                    "which cannot derive itself; a physics panel needs a result of physics"
                )
        super().__init__(lock=instrument._lock, **chosen)
        instrument.observe(self._follow, names=list(instrument.inputs))
        self._following = True

    @traitlets.default("part")
    def _first_part(self) -> str:
        return next(iter(self.explained))

    @property
    def explained(self) -> dict[str, Any]:
        """The results of the instrument that can be derived, by title."""
        now = self._followed.result
        if self._explained[0] is not now:
            self._explained = (now, self._followed.explanations)
        return self._explained[1]

    def stop(self) -> None:
        """Follow the instrument no longer."""
        if self._following:
            self._following = False
            self._followed.unobserve(self._follow, names=list(self._followed.inputs))

    def _follow(self, _: Any) -> None:
        # Several inputs may change at once, and each says so: one answer is enough.
        if self._followed.result is self._seen:
            return
        if self._view is None:
            self._result = None  # computed again when somebody looks
        else:
            self.set()

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep to parts and quantities that there are."""
        parts = self.explained
        if "part" not in changed and inputs["part"] not in parts:
            inputs["part"] = next(iter(parts))
        chosen = parts.get(inputs["part"]) if isinstance(inputs["part"], str) else None
        if (
            chosen is not None
            and "quantity" not in changed
            and inputs["quantity"] not in chosen.outputs()
        ):
            inputs["quantity"] = _ALL
        return inputs

    def hidden(self) -> AbstractSet[str]:
        """No choice where there is one part."""
        return {"part"} if len(self.explained) == 1 else set()

    def compute(self) -> ph.Derivation:
        """The steps to what is chosen."""
        self._seen = self._followed.result
        names = () if self.quantity == _ALL else (self.quantity,)
        derived: ph.Derivation = self.explained[self.part].derivation(*names)
        return derived

    def scenes(self, result: ph.Derivation) -> tuple[Scene, ...]:
        """Nothing is drawn."""
        return ()

    def cards(self, result: ph.Derivation) -> Sequence[Card]:
        """What comes out."""
        if self.quantity == _ALL:
            return []
        return [(_about(result.steps[-1]), result.steps[-1].shown, "blue")]

    def sentence(self, result: ph.Derivation) -> str:
        """How many steps, and to what."""
        count = len(result.steps)
        steps = "1 step" if count == 1 else f"{count} steps"
        if self.quantity == _ALL:
            return f"{steps} from the inputs of {self._followed.title}, as it stands now."
        last = result.steps[-1]
        return f"{_about(last)} is {last.shown}: {steps} from the inputs."

    def table(self, result: ph.Derivation) -> Table:
        """One row a step."""
        rows = [
            (
                _about(step),
                _formula(step, notation.TEXT),
                step.substitution[notation.TEXT],
                step.shown,
            )
            for step in result.steps
        ]
        return ("Step", "Formula", "With numbers", "Value"), rows

    def html(self, result: ph.Derivation) -> str:
        """The steps, written so that no script is needed."""
        return result.to_html()

    def text(self) -> str:
        """The steps as plain text."""
        if self.locked:
            return super().text()
        return f"{self.title}\n{self.result.to_text()}"

    @property
    def code(self) -> str:
        """A line of Python that makes the instrument and its panel."""
        chosen = "".join(f", {name}={value!r}" for name, value in self.inputs.items())
        return f"PhysicsPanel({self._followed.code}{chosen})"


class PhysicsPanel(ipywidgets.VBox):
    """How the current numbers of an instrument come about, step by step, live.

    Parameters
    ----------
    instrument
        The instrument to explain; the panel follows it.
    part, quantity
        What is shown at first: one of the results of the instrument, and one of its quantities
        or ``"all"``. Both can be chosen on the panel.

    Examples
    --------
    >>> from mlsys_widgets.widgets.iron_law import IronLaw
    >>> law = IronLaw(batch=8)
    >>> panel = PhysicsPanel(law, quantity="compute_time")
    >>> print(panel.derivation)
    t_compute = b × O / (R × η) = 8 × 4 GFLOP / (989 TFLOPS × 100%) = 32.4 µs   (time to compute)
    >>> law.set(efficiency=0.5)
    >>> print(panel.derivation)
    t_compute = b × O / (R × η) = 8 × 4 GFLOP / (989 TFLOPS × 50%) = 64.7 µs   (time to compute)
    """

    def __init__(
        self, instrument: Instrument, *, part: str | None = None, quantity: str = _ALL
    ) -> None:
        super().__init__()
        chosen = {"quantity": quantity} if part is None else {"part": part, "quantity": quantity}
        self.steps = PhysicsSteps(instrument, chosen)

    @property
    def derivation(self) -> ph.Derivation:
        """The steps that are shown."""
        shown: ph.Derivation = self.steps.result
        return shown

    def set(self, **inputs: Any) -> None:
        """Choose ``part`` and ``quantity``."""
        self.steps.set(**inputs)

    def close(self) -> None:
        """Stop following the instrument, and take the panel down."""
        self.steps.stop()
        super().close()

    def text(self) -> str:
        """The panel as plain text."""
        return self.steps.text()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        self.steps._arrange()
        self.children = (self.steps,)
        bundle = dict(super()._repr_mimebundle_(**options) or {})
        bundle["text/plain"] = self.text()
        if not self.steps.locked:
            title = escape(self.steps.title)
            bundle["text/html"] = f"<h4>{title}</h4>{self.derivation.to_html()}"
        return bundle
