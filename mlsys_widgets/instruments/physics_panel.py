"""The live derivation next to an instrument: formulas with the current numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from html import escape
from typing import Any

import ipywidgets
import traitlets

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments.controls import Select
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.instruments.lazy_widget import LazyBox
from mlsys_widgets.physics import notation

#: Instead of one quantity.
_ALL = "all"


def _titles(panel: PhysicsSteps) -> dict[str, str]:
    return {title: title for title in panel.explained}


def _quantities(panel: PhysicsSteps) -> dict[str, str]:
    outputs = panel.explained[panel.part].outputs()
    words = {name: f"{q.about[:1].upper()}{q.about[1:]}" for name, q in outputs.items()}
    return {_ALL: "Everything, in order", **words}


class PhysicsSteps(Instrument):
    """The content of a physics panel: an instrument without a plot that follows another one."""

    part = Select("Part", default="", options=_titles, help="Which result is derived.")
    quantity = Select(
        "Derive",
        default=_ALL,
        options=_quantities,
        help="Shows the steps to this quantity, starting with those it depends on.",
    )

    def __init__(self, instrument: Instrument, chosen: dict[str, Any]) -> None:
        self._followed = instrument
        self._seen: Any = None
        self._explained: tuple[Any, dict[str, Any]] = (None, {})
        self.title = f"Derivation: {instrument.title}"
        for title, result in self.explained.items():
            if not all(callable(getattr(result, name, None)) for name in ("outputs", "derivation")):
                raise ValueError(
                    f"{title!r} of {type(instrument).__name__} is of type {type(result).__name__}, "
                    "which cannot derive itself; a physics panel needs a result of physics"
                )
        super().__init__(lock=instrument.lock, **chosen)
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
        """Stop following the instrument."""
        if self._following:
            self._following = False
            self._followed.unobserve(self._follow, names=list(self._followed.inputs))

    def _follow(self, _: Any) -> None:
        # Several inputs may change at once, and each reports it: one update is enough.
        if self._followed.result is self._seen:
            return
        if self._view is None:
            self._result = None  # computed again when it is read
        else:
            self.set()

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Keep to parts and quantities that exist."""
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
        """The part, where there is only one."""
        return {"part"} if len(self.explained) == 1 else set()

    def compute(self) -> ph.Derivation:
        self._seen = self._followed.result
        names = () if self.quantity == _ALL else (self.quantity,)
        derived: ph.Derivation = self.explained[self.part].derivation(*names)
        return derived

    @property
    def explanations(self) -> dict[str, Any]:
        """Nothing: it is the explanation."""
        return {}

    def scenes(self, result: ph.Derivation) -> tuple[Scene, ...]:
        return ()

    def cards(self, result: ph.Derivation) -> Sequence[NumberCard]:
        if self.quantity == _ALL:
            return []
        return [(result.steps[-1].title, result.steps[-1].shown, "blue")]

    def sentence(self, result: ph.Derivation) -> str:
        steps = ph.counted(len(result.steps), "step")
        if self.quantity == _ALL:
            return self.remark(result)
        last = result.steps[-1]
        return f"{last.title} is {last.shown}: {steps} from the inputs."

    def remark(self, result: ph.Derivation) -> str:
        steps = ph.counted(len(result.steps), "step")
        return f"{steps} from the current inputs of {self._followed.title}."

    def table(self, result: ph.Derivation) -> Table:
        rows = [
            (step.title, step.symbolic(notation.TEXT), step.substitution[notation.TEXT], step.shown)
            for step in result.steps
        ]
        return ("Step", "Formula", "With numbers", "Value"), rows

    def html(self, result: ph.Derivation) -> str:
        return result.to_html(notation.MATHML)

    def text(self) -> str:
        if self.locked:
            return super().text()
        return f"{self.title}\n{self.result.to_text()}"

    @property
    def code(self) -> str:
        chosen = "".join(f", {name}={value!r}" for name, value in self.inputs.items())
        return f"PhysicsPanel({self._followed.code}{chosen})"


class PhysicsPanel(LazyBox):
    """Live derivation of the current numbers of an instrument, step by step.

    Parameters
    ----------
    instrument
        The instrument to explain; the panel follows it.
    part, quantity
        What is shown at first: one of the results of the instrument, and one of its quantities
        or ``"all"``. Both can be chosen on the panel.

    Examples
    --------
    >>> from mlsys_widgets.instruments.iron_law_widget import IronLaw
    >>> law = IronLaw(batch=8)
    >>> panel = PhysicsPanel(law, quantity="compute_time")
    >>> print(panel.derivation)
    t_compute = b × O / (R × η) = 8 × 8.2 GFLOP / (989 TFLOPS × 100%) = 66.3 µs   (time to compute)
    >>> law.set(efficiency=0.5)
    >>> print(panel.derivation)
    t_compute = b × O / (R × η) = 8 × 8.2 GFLOP / (989 TFLOPS × 50%) = 132.7 µs   (time to compute)
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
        """Stop following the instrument, and close the panel."""
        steps: PhysicsSteps | None = getattr(self, "steps", None)
        if steps is not None:  # otherwise the instrument was refused
            steps.stop()
        super().close()

    def face(self) -> tuple[ipywidgets.Widget, ...]:
        return (self.steps,)

    def text(self) -> str:
        """The panel as plain text."""
        return self.steps.text()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**options)
        bundle["text/plain"] = self.text()
        if not self.steps.locked:
            title = escape(self.steps.title)
            bundle["text/html"] = f"<h4>{title}</h4>{self.derivation.to_html()}"
        return bundle
