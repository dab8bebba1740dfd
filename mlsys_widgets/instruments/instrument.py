"""The base of all instruments: inputs, a result, and a view that follows the result.

An instrument declares its controls and says three things about a result: what to draw
(``scenes``), what to say (``cards``, ``sentence``, ``table``), and how to compute it
(``compute``). The rest is here: validation, updates, the lock, reset, code, the still twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from html import escape
from typing import Any, Literal, Protocol

import ipywidgets
import traitlets

from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.drawing.theme import TONES
from mlsys_widgets.instruments.control_panel import ControlPanel
from mlsys_widgets.instruments.controls import Control, controls_of
from mlsys_widgets.physics.domain import one_of

#: One number on a card: (label, value, tone).
NumberCard = tuple[str, str, str]
#: (header, rows) of the table that gives the numbers of the plot.
Table = tuple[Sequence[str], Sequence[Sequence[str]]]


class Lock(Protocol):
    """What an instrument needs from a lock: whether it is open, and a call when it opens."""

    @property
    def is_open(self) -> bool:
        """Whether the prediction is committed."""

    @property
    def question(self) -> str:
        """What must be predicted first."""

    def on_open(self, then: Any) -> None:
        """Call back when the lock opens."""

    def record_use(self, instrument: str) -> None:
        """Note that somebody used an instrument behind this lock."""


class Instrument(ipywidgets.VBox):
    """Base of the instruments.

    Parameters
    ----------
    lock
        A lock that must be opened first; until then, a card takes the place of the view.
    **inputs
        Values of the controls, by name.
    """

    title = "Instrument"
    children: tuple[ipywidgets.Widget, ...]

    def __init__(self, *, lock: Lock | None = None, **inputs: Any) -> None:
        super().__init__()
        self.add_class("mlsys-instrument")
        self._controls: dict[str, Control[Any]] = controls_of(type(self))
        self._view: _View | None = None
        self._lock = lock
        self._before_reset: dict[str, Any] | None = None
        self._result: Any = None
        self._settling = False
        self.set(**inputs)
        self._first = self.inputs
        self.observe(self._changed, names=list(self._controls))
        if lock is not None and not lock.is_open:
            lock.on_open(self._unlock)

    # What an instrument says about itself; subclasses answer.

    def compute(self) -> Any:
        """The result of physics for the current inputs."""
        raise NotImplementedError

    def scenes(self, result: Any) -> tuple[Scene, ...]:
        """What to draw."""
        raise NotImplementedError

    def cards(self, result: Any) -> Sequence[NumberCard]:
        """The numbers that matter most."""
        raise NotImplementedError

    def sentence(self, result: Any) -> str:
        """The plot in words."""
        raise NotImplementedError

    def table(self, result: Any) -> Table:
        """The plot in numbers."""
        raise NotImplementedError

    def alert(self, result: Any) -> tuple[str, str] | None:
        """A state that needs attention (out of memory, never pays off), with its tone."""
        return None

    def html(self, result: Any) -> str:
        """Anything more to show below the sentence, as safe HTML."""
        return ""

    def hidden(self) -> AbstractSet[str]:
        """Controls that have no effect with the current inputs and are not shown."""
        return set()

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Make inputs that depend on each other consistent; called before they are checked."""
        return inputs

    # Inputs and result.

    @property
    def inputs(self) -> dict[str, Any]:
        """The current value of every control."""
        return {name: getattr(self, name) for name in self._controls}

    @property
    def result(self) -> Any:
        """What physics says about the current inputs. Needs no browser."""
        if self._result is None:
            self._result = self.compute()
        return self._result

    @property
    def explanations(self) -> dict[str, Any]:
        """The results that a physics panel can derive, by title."""
        return {self.title: self.result}

    def set(self, **inputs: Any) -> None:
        """Change several inputs at once; either all of them are accepted or none.

        Raises
        ------
        ValueError
            With a sentence that names the input, its value and what is allowed.
        """
        for name in inputs:
            if name not in self._controls:
                known = ", ".join(self._controls)
                raise ValueError(f"{type(self).__name__} has no input {name!r}; it has: {known}")
        before = self.inputs
        self._settle(before, {**before, **inputs}, set(inputs))

    def _changed(self, change: Any) -> None:
        """One trait was assigned from Python."""
        if not self._settling:
            before = {**self.inputs, change["name"]: change["old"]}
            self._settle(before, self.inputs, {change["name"]})

    def _settle(
        self, before: dict[str, Any], wanted: dict[str, Any], changed: AbstractSet[str]
    ) -> None:
        """Accept new inputs, compute and show them, or leave everything as it was."""
        self._settling = True
        try:
            with self.hold_trait_notifications():
                try:
                    for name in changed:
                        wanted[name] = self._controls[name].plausible(self, wanted[name])
                    self._assign(self.adjust(wanted, changed))
                    self._result = self.compute()
                except Exception as refusal:
                    # Whatever went wrong, the instrument returns to its last state and still works.
                    self._assign(before)
                    self._result = None
                    if isinstance(refusal, traitlets.TraitError):
                        raise ValueError(str(refusal)) from None
                    raise
        finally:
            self._settling = False
        if self._view is not None:
            self._view.show()

    def _assign(self, inputs: dict[str, Any]) -> None:
        # In the order of declaration: the options of a control may depend on those before it.
        for name in self._controls:
            setattr(self, name, inputs[name])

    def reset(self) -> None:
        """Return to the initial inputs; ``undo_reset`` reverts this."""
        self._before_reset = self.inputs
        self.set(**self._first)

    def undo_reset(self) -> None:
        """Revert the last reset."""
        if self._before_reset is not None:
            before, self._before_reset = self._before_reset, None
            self.set(**before)

    @property
    def code(self) -> str:
        """A line of Python that recreates this instrument in its current state."""
        inputs = self.inputs
        usual = {name: control.default_value for name, control in self._controls.items()}
        named = {name: value for name, value in inputs.items() if value != usual[name]}
        # One input may set others: name those too that would not get their current value.
        made = self.adjust({**usual, **named}, set(named))
        shown = (
            f"{name}={_literal(value)}"
            for name, value in inputs.items()
            if name in named or made[name] != value
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    # The view.

    @property
    def locked(self) -> bool:
        """Whether a prediction must be committed first."""
        return self._lock is not None and not self._lock.is_open

    @property
    def marks(self) -> dict[str, Any]:
        """The marks on the screen, by name; created if nothing has been displayed yet."""
        return self._open().marks

    def _open(self) -> _View:
        if self._view is None:
            self._view = _View(self)
        return self._view

    def _unlock(self) -> None:
        if self.children:
            self.children = (self._open().board,)

    def _arrange(self) -> None:
        """Fill the widget for display: the view, or a card while it is locked."""
        if self.locked:
            assert self._lock is not None
            self.children = (_locked_card(self.title, self._lock.question),)
        else:
            self.children = (self._open().board,)

    def __repr__(self) -> str:
        # The default writes out every trait of every child, each time a cell is shown.
        return f"<{type(self).__name__}: {self.title}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        self._arrange()
        bundle = dict(super()._repr_mimebundle_(**options) or {})
        bundle["text/plain"] = self.text()
        if not self.locked:
            # Where widgets are not live, the picture has to give the numbers as well.
            bundle["image/svg+xml"] = self._picture((self.sentence(self.result), self._numbers))
        return bundle

    def figure(self, format: Literal["svg", "png"] = "svg") -> str | bytes:
        """The picture for a paper or a slide: SVG as text, or PNG as bytes."""
        drawn = self._picture()
        return drawn if one_of("format", format, ("svg", "png")) == "svg" else picture.png(drawn)

    def _picture(self, caption: tuple[str, ...] = ()) -> str:
        title = f"{self.title}. {self.sentence(self.result)}"
        return picture.svg(self.scenes(self.result), title, caption)

    @property
    def _numbers(self) -> str:
        return "; ".join(f"{label}: {value}" for label, value, _ in self.cards(self.result))

    def text(self) -> str:
        """What the instrument says, in plain text."""
        if self.locked:
            return f"{self.title}: locked until a prediction is committed."
        return f"{self.title}. {self.sentence(self.result)}\n{self._numbers}\n{self.code}"


class _View:
    """Control panel and plots of an instrument, built once."""

    def __init__(self, instrument: Instrument) -> None:
        from mlsys_widgets.instruments.plot import Plot

        self._instrument = instrument
        self._errors: dict[str, str] = {}
        #: The last move of each control with its stamp: the browser waits for our answer to it.
        self._heard: dict[str, Any] = {}
        result = instrument.result
        self._plots = [Plot(scene) for scene in instrument.scenes(result)]
        controls = instrument._controls.values()
        self.panel = ControlPanel(
            spec={
                "title": instrument.title,
                "controls": [control.spec(instrument) for control in controls],
            },
            readout=self._readout(result),
        )
        self.panel.observe(self._moved, names=["moved"])
        self.panel.observe(self._typed, names=["typed"])
        self.panel.observe(self._command, names=["command"])
        self.board = ipywidgets.VBox([self.panel, *(plot.figure for plot in self._plots)])
        self.board.add_class("mlsys-board")

    @property
    def marks(self) -> dict[str, Any]:
        return {name: mark for plot in self._plots for name, mark in plot.marks.items()}

    def show(self) -> None:
        """Update panel and plots to the current result."""
        self._errors = {}
        result = self._instrument.result
        for plot, scene in zip(self._plots, self._instrument.scenes(result), strict=True):
            plot.update(scene)
        self.panel.readout = self._readout(result)

    def _readout(self, result: Any) -> dict[str, Any]:
        instrument = self._instrument
        inputs, controls = instrument.inputs, instrument._controls
        header, rows = instrument.table(result)
        alert = instrument.alert(result)
        return {
            "heard": {name: sent[1] for name, sent in self._heard.items()},
            "values": inputs,
            "shown": {name: controls[name].shown(value) for name, value in inputs.items()},
            "options": {
                name: control.spec(instrument)["options"]
                for name, control in controls.items()
                if control.varies
            },
            "hidden": sorted(instrument.hidden()),
            "errors": self._errors,
            "cards": [[word, value, TONES[tone]] for word, value, tone in instrument.cards(result)],
            "sentence": instrument.sentence(result),
            "alert": [alert[0], TONES[alert[1]]] if alert else None,
            "html": instrument.html(result),
            "legend": [
                [words, TONES[tone], kind]
                for plot in self._plots
                for words, tone, kind in plot.scene.legend
            ],
            "table": {"header": list(header), "rows": [list(row) for row in rows]},
            "code": instrument.code,
            "undo": instrument._before_reset is not None,
        }

    def _try(self, name: str, action: Any) -> None:
        """Do what the browser asked for; a refusal is shown next to its control."""
        try:
            action()
        except Exception as problem:  # whatever it is, the student sees a sentence
            self._errors = {name: str(problem) or type(problem).__name__}
            self.panel.readout = self._readout(self._instrument.result)

    def _moved(self, change: Any) -> None:
        moved = self.panel.since(change)
        self._heard = change["new"]
        self._instrument._before_reset = None
        for name in list(moved)[:1]:
            self._try(name, lambda: self._instrument.set(**moved))
        self._used()

    def _typed(self, change: Any) -> None:
        name, text = change["new"]["name"], change["new"]["text"]
        control = self._instrument._controls[name]
        self._instrument._before_reset = None
        self._try(
            name, lambda: self._instrument.set(**{name: control.read(self._instrument, text)})
        )
        self._used()

    def _used(self) -> None:
        """Tell the lock, so that the ledger shows whether the prediction came first."""
        lock = self._instrument._lock
        if lock is not None:
            self._try("", lambda: lock.record_use(type(self._instrument).__name__))

    def _command(self, change: Any) -> None:
        actions = {"reset": self._instrument.reset, "undo": self._instrument.undo_reset}
        self._try("", actions[change["new"]["name"]])


def table_html(table: Table, label: str, marked: str = "") -> str:
    """A table for ``html``; the keyboard can scroll it, and one row may be marked."""
    header, rows = table
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in header)
    body = ""
    for first, *rest in rows:
        name = f"<strong>{escape(first)}</strong>" if first == marked else escape(first)
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        body += f"<tr><th scope='row'>{name}</th>{cells}</tr>"
    return (
        f"<div class='mlsys-scroll' tabindex='0' role='region' aria-label='{escape(label)}'>"
        f"<table class='mlsys-table'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        "</div>"
    )


# Drawn, because not every machine has a font with a padlock.
_PADLOCK = (
    "<svg width='13' height='15' viewBox='0 0 13 15' aria-hidden='true'>"
    "<path d='M3.2 7V4.4a3.3 3.3 0 0 1 6.6 0V7' fill='none' stroke='currentColor'"
    " stroke-width='1.7'/><rect x='1' y='6.6' width='11' height='8' rx='1.6' fill='currentColor'/>"
    "</svg>"
)


def _locked_card(title: str, question: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(
        "<div class='mlsys-locked' role='note'>"
        f"<strong>{_PADLOCK} {escape(title)}</strong><br>"
        f"Locked until you commit your prediction: {escape(markup.question_in(question))}</div>"
    )


def _literal(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e7 else f"{value:.6g}"
    return repr(value)
