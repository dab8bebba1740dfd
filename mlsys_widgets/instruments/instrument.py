"""The base of all instruments: inputs, a result, and a view that follows the result.

An instrument declares its controls and says three things about a result: what to draw
(``scenes``), what to say (``cards``, ``sentence``, ``table``), and how to compute it
(``compute``). The rest is here and in ``InstrumentState``: validation, updates, the lock, reset,
code, the still twin.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

import ipywidgets
import traitlets

from mlsys_widgets.drawing import markup, picture
from mlsys_widgets.instruments import still_pages
from mlsys_widgets.instruments.instrument_state import (
    InstrumentState,
    Lock,
    NumberCard,
    Opens,
    Table,
)
from mlsys_widgets.instruments.lazy_widget import LazyBox
from mlsys_widgets.wording.choices import one_of

if TYPE_CHECKING:
    from mlsys_widgets.instruments.view import View

#: What the module of an instrument needs.
__all__ = ["Instrument", "Lock", "NumberCard", "Opens", "Table"]


class Instrument(InstrumentState, LazyBox):
    """Base of the instruments.

    Parameters
    ----------
    lock
        A lock that must be opened first; until then, a card takes the place of the view. The
        prediction that opened it is drawn from then on, while the settings are those it was about.
    prediction
        A prediction to draw where no lock brings one: a number, or the name of a quantity with its
        number, such as ``{"mfu": 0.4}``. It is about the settings that the instrument starts with.
    hints
        When remedies and outlooks may be seen: when this gate is open. Without a gate they are
        there from the start, folded away.
    pinned
        Inputs of a state to compare with; what is not named has its present value.
    targets
        What a design made with this instrument has to keep: a line on each axis that shows the
        quantity, and a lamp with the readouts. They can be set later, too:
        ``instrument.targets = …``.
    title
        The heading; a lab calls an instrument as its text does.
    leading
        The labels of the one or two numbers that are shown large, where an act is about others than
        the instrument usually is.
    **inputs
        Values of the controls, by name.

    Examples
    --------
    An instrument of one's own: how long a ring of GPUs takes to add up a gradient.

    >>> from mlsys_widgets import physics as ph
    >>> from mlsys_widgets.drawing.scene import Axis, Handle, Points, Scene, from_zero
    >>> from mlsys_widgets.instruments.controls import Slider
    >>> class Ring(Instrument):
    ...     title = "Ring all-reduce"
    ...     gpus = Slider("GPUs", default=8, low=2, high=64, whole=True, help="In the ring.")
    ...
    ...     def compute(self):  # each GPU sends 2 (n - 1) / n of 1 GB, at 400 GB/s
    ...         return 2 * (self.gpus - 1) / self.gpus * 1e9 / 400e9
    ...
    ...     def scenes(self, time):
    ...         now = Points("now", (self.gpus,), (time,), "blue")
    ...         end = Handle("now", "gpus", self.gpus, time)
    ...         axes = Axis("GPUs", 0, 64), from_zero("Time", 5e-3, "s")
    ...         return (Scene(*axes, (now,), handles=(end,)),)
    ...
    ...     def cards(self, time):
    ...         return [("Time", ph.format_quantity(time, "s"), "blue")]
    ...
    ...     def sentence(self, time):
    ...         return f"{self.gpus:.0f} GPUs take {ph.format_quantity(time, 's')}."
    ...
    ...     def table(self, time):
    ...         return ("GPUs", "Time"), [(f"{self.gpus:.0f}", ph.format_quantity(time, "s"))]
    >>> ring = Ring(gpus=4)
    >>> print(ring.text())
    Ring all-reduce. 4 GPUs take 3.75 ms.
    Time: 3.75 ms
    Ring(gpus=4)
    >>> ring.drag("now", 16.2, 0)
    >>> ring.sentence(ring.result)
    '16 GPUs take 4.69 ms.'
    >>> ring.set(gpus=2.5)
    Traceback (most recent call last):
    ValueError: GPUs is 2.5; it must be a whole number between 2 and 64
    """

    _view: View | None = None

    @traitlets.default("_dom_classes")
    def _css_classes(self) -> tuple[str, ...]:
        return ("mlsys-instrument",)

    @property
    def marks(self) -> dict[str, Any]:
        """The marks on the screen, by name; created if nothing has been displayed yet."""
        return self._open().marks

    def _open(self) -> View:
        if self._view is None:
            from mlsys_widgets.instruments.view import View

            self._view = View(self)
        return self._view

    def _show(self) -> None:
        if self._view is not None:
            self._view.show()
        still_pages.changed(self)

    def _unlock(self) -> None:
        if self.has_face:
            self.children = self.face()
        still_pages.changed(self)

    def face(self) -> tuple[ipywidgets.Widget, ...]:
        """The view, or a card while it is locked."""
        if self.locked:
            assert self.lock is not None
            return (_locked_card(self.title, self.lock.question),)
        return (self._open().board,)

    def __repr__(self) -> str:
        # The default writes out every trait of every child, each time a cell is shown.
        return f"<{type(self).__name__}: {self.title}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {**super()._repr_mimebundle_(**options), **still_pages.follow(self)}

    def still(self) -> dict[str, str]:
        """Return what is shown without a kernel: the words, and the picture once it is open."""
        page = {"text/plain": self.text()}
        if not self.locked:
            # The picture has to give the numbers as well.
            page["image/svg+xml"] = self._picture((self.sentence(self.result), self._numbers))
        return page

    def figure(
        self, format: Literal["svg", "png"] = "svg", *, theme: picture.Theme = "light"
    ) -> str | bytes:
        """Return the picture for a paper or a slide: SVG as text, or PNG as bytes."""
        drawn = self._picture(theme=theme)
        return drawn if one_of("format", format, ("svg", "png")) == "svg" else picture.png(drawn)

    def _picture(self, caption: tuple[str, ...] = (), *, theme: picture.Theme = "light") -> str:
        title = f"{self.title}. {self.sentence(self.result)}"
        return picture.svg(self.drawn(self.result), title, caption, theme=theme)

    @property
    def _numbers(self) -> str:
        return "; ".join(f"{label}: {value}" for label, value, _ in self.cards(self.result))

    def text(self) -> str:
        """Return what the instrument says, in plain text."""
        if self.locked:
            return f"{self.title}: locked until a prediction is committed."
        lamps = "".join(f"{lamp.sign} {lamp.sentence}\n" for lamp in self.lamps)
        words = f"{self.sentence(self.result)} {self.prediction_elsewhere}".rstrip()
        return f"{self.title}. {words}\n{lamps}{self._numbers}\n{self.code}"


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
