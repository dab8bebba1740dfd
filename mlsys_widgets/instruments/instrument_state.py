"""The state of an instrument: its controls, its result, and what it says about that result.

It needs no browser. The view (``view.py``) shows it, and ``Instrument`` is both together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Final, Protocol

import traitlets

from mlsys_widgets.drawing.film import Film
from mlsys_widgets.drawing.scene import Handle, Scene
from mlsys_widgets.instruments.controls import Control, Select, Slider, controls_of
from mlsys_widgets.instruments.pin import Pin, values_of
from mlsys_widgets.instruments.predicted import Predicted, given, is_same
from mlsys_widgets.instruments.target import Lamp, LimitedQuantity, Target, with_lines
from mlsys_widgets.wording.choices import one_of
from mlsys_widgets.wording.units import format_quantity

#: How many settings a sentence names.
_MOST_NAMED: Final = 3
#: How many numbers are shown large.
_LEADING: Final = 2
#: One number on a card: (label, value, tone).
NumberCard = tuple[str, str, str]
#: (header, rows) of the table that gives the numbers of the plot.
Table = tuple[Sequence[str], Sequence[Sequence[str]]]
#: Targets, or a function that returns those of now: of the context that is chosen, for example.
Targets = Sequence[Target] | Callable[[], Sequence[Target]]


class Opens(Protocol):
    """Anything that opens once: a gate for hints, or a lock."""

    @property
    def is_open(self) -> bool:
        """Whether it is open."""

    def on_open(self, then: Any) -> None:
        """Call back when it opens."""


class Lock(Opens, Protocol):
    """A lock as instruments need it: whether it is open, and a call when it opens."""

    @property
    def question(self) -> str:
        """The prediction that is asked for."""

    @property
    def predicted(self) -> Predicted | None:
        """The prediction, if one opened the lock."""

    def record_use(self, instrument: str) -> None:
        """Note that somebody used an instrument behind this lock."""


class InstrumentState(traitlets.HasTraits):
    """Inputs, a result, and what can be said about it; ``Instrument`` has the parameters."""

    title = "Instrument"
    #: The quantities of which a prediction can be drawn, each with its unit; the first is the one
    #: that ``prediction=`` is about.
    predictable: ClassVar[Mapping[str, str]] = {}
    #: The inputs on which each of these quantities depends, by name; all of them if none is named.
    #: A prediction is drawn while these are as its question says, or else as they were at first.
    depends: ClassVar[Mapping[str, Sequence[str]]] = {}
    #: The number that the instrument is about: the name of an output of its result. The math says
    #: which input moves it most.
    headline: ClassVar[str] = ""
    #: What to call each plot where a low window shows one at a time.
    plot_names: ClassVar[Sequence[str]] = ()
    #: The quantities that a target may limit, by name: an output of the result, or an input.
    quantities: ClassVar[Mapping[str, LimitedQuantity]] = {}
    #: The one or two controls that a page without a kernel lets a visitor move, by name; if none
    #: is named, the page takes the control that changes the headline most.
    showcase: ClassVar[Sequence[str]] = ()
    #: The labels of the two numbers that are shown large, without what follows a comma; the first
    #: two cards if none is named, or one of them is not there now.
    leading: Sequence[str] = ()
    #: The measurements that its formulas are judged by: topics of ``measured.trial`` by the start
    #: of their name, ``"fusion"`` or ``"break-even"``.
    evidence: ClassVar[Sequence[str]] = ()

    def __init__(
        self,
        *,
        lock: Lock | None = None,
        prediction: float | Mapping[str, float] | None = None,
        hints: Opens | None = None,
        pinned: Mapping[str, Any] | None = None,
        targets: Targets = (),
        title: str = "",
        leading: Sequence[str] = (),
        **inputs: Any,
    ) -> None:
        super().__init__()
        if title:
            self.title = title
        self.controls: dict[str, Control[Any]] = controls_of(type(self))
        self.lock = lock
        self._hints = hints
        self._given: Predicted | None = None
        if prediction is not None:
            self._given = self._prediction_of(prediction)
        self._before_reset: dict[str, Any] | None = None
        #: The state that was pinned.
        self.pinned: Pin | None = None
        #: The handle that a hand holds, and the result when it took it.
        self._held: tuple[str, Any] | None = None
        self._result: Any = None
        self._settling = False
        self._targets: Targets = ()
        #: The targets that are on the screen.
        self._aimed: tuple[Target, ...] = ()
        self.set(**inputs)
        self._first = self.inputs
        if leading:
            self.leading = self._existing(leading)
        #: The inputs of the place where it stands now, as of a context; a reset keeps them.
        self._place: dict[str, Any] = {}
        self.targets = targets
        if pinned is not None:
            now = self.inputs
            self.set(**pinned)
            self.pin()
            self.set(**now)
        self.observe(self._changed, names=list(self.controls))
        if lock is not None and not lock.is_open:
            lock.on_open(self._unlock)
        if hints is not None and not hints.is_open:
            hints.on_open(self._show)

    def _prediction_of(self, given_as: float | Mapping[str, float]) -> Predicted:
        if not self.predictable:
            raise ValueError(f"{type(self).__name__} draws no prediction")
        main = next(iter(self.predictable))
        named = given_as if isinstance(given_as, Mapping) else {main: given_as}
        if len(named) != 1:
            raise ValueError(f"prediction names {len(named)} quantities; it must name one")
        ((name, value),) = named.items()
        quantity = one_of("prediction", name, self.predictable)
        return given(value, quantity, self.predictable[quantity])

    def _existing(self, leading: Sequence[str]) -> tuple[str, ...]:
        """The numbers to show large, if the instrument has them."""
        name, labels = type(self).__name__, [label for label, *_ in self.cards(self.result)]
        if isinstance(leading, str) or len(leading) > _LEADING:
            raise ValueError(f"leading is {leading!r}; it must name at most {_LEADING} numbers")
        for wanted in leading:
            if not any(_is_called(label, wanted) for label in labels):
                known = ", ".join(labels) or "none"
                raise ValueError(f"{name} has no number {wanted!r} to show large; it has: {known}")
        return tuple(leading)

    # What an instrument says about itself; subclasses answer.

    def compute(self) -> Any:
        """Return the result of physics for the current inputs."""
        raise self._lacks("compute()", "the result for the current inputs")

    def scenes(self, result: Any) -> tuple[Scene, ...]:
        """Return the scenes to draw, one for each plot."""
        raise self._lacks("scenes(result)", "a tuple of Scene, one for each plot")

    def cards(self, result: Any) -> Sequence[NumberCard]:
        """Return the numbers that matter most."""
        raise self._lacks("cards(result)", "a list of (label, value, tone)")

    def sentence(self, result: Any) -> str:
        """Return the plot in words."""
        raise self._lacks("sentence(result)", "the picture in words")

    def remark(self, result: Any) -> str:
        """Return what is said below the two large numbers: what neither they nor the controls say.

        It stands in sight of the plot; the sentence is for whoever cannot see that.
        """
        return self.sentence(result)

    def table(self, result: Any) -> Table:
        """Return the plot in numbers."""
        raise self._lacks("table(result)", "a header and rows with the numbers of the picture")

    def _lacks(self, method: str, gives: str) -> NotImplementedError:
        name = type(self).__name__
        return NotImplementedError(f"{name} needs a method {method} that returns {gives}")

    def alert(self, result: Any) -> tuple[str, str] | None:
        """Return a state that needs attention (out of memory, never pays off), with its tone."""
        return None

    def dominant(self, result: Any) -> str:
        """Return the name of the output that decides a result now; the math marks it."""
        return ""

    def hint(self, result: Any) -> str:
        """Return what would help, and what comes next: nothing that an alert may say."""
        return ""

    def film(self, result: Any) -> Film | None:
        """Return what happens over time as a film; `None` where time is not the subject."""
        return None

    def dragged(self, handle: Handle, x: float, y: float) -> dict[str, Any]:
        """Return the inputs for which a handle lies at a place; by default, its place."""
        return {handle.control: y if handle.along == "y" else x}

    def html(self, result: Any) -> str:
        """Return more to show below the sentence, as safe HTML."""
        return ""

    def hidden(self) -> AbstractSet[str]:
        """Return the controls that have no effect now and are not shown."""
        return set()

    def adjust(self, inputs: dict[str, Any], changed: AbstractSet[str]) -> dict[str, Any]:
        """Make inputs that depend on each other consistent; called before they are checked."""
        return inputs

    # Inputs and result.

    @property
    def inputs(self) -> dict[str, Any]:
        """The current value of every control."""
        return {name: getattr(self, name) for name in self.controls}

    @property
    def result(self) -> Any:
        """The result of physics for the current inputs; it needs no browser."""
        if self._result is None:
            self._result = self.compute()
        return self._result

    @property
    def explanations(self) -> dict[str, Any]:
        """The results that the math derives, by title; empty if ``result`` derives nothing."""
        return {self.title: self.result} if hasattr(self.result, "derivation") else {}

    def predicted(self, quantity: str) -> float | None:
        """Return the number that was predicted for a quantity; `None` if there is none."""
        found = self.prediction
        return found.value if found is not None and found.quantity == quantity else None

    @property
    def prediction(self) -> Predicted | None:
        """The prediction that was made before this instrument opened, if it is about what it shows.

        With other settings than those of its question it would be compared with the wrong number,
        so there it is not shown at all.
        """
        found = self._made
        return None if found is None or self._other_settings(found) else found

    @property
    def _made(self) -> Predicted | None:
        """The prediction, whatever the settings; `None` if this cannot draw such a one."""
        found = self._given
        if self.lock is not None and self.lock.is_open and self.lock.predicted is not None:
            found = self.lock.predicted
        if found is None or found.value is None or found.quantity not in self.predictable:
            return None
        return found if set(found.settings) <= set(self.controls) else None

    def _other_settings(
        self, found: Predicted, inputs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The inputs, present ones if none are given, that a prediction wants to be otherwise."""
        given = self.inputs if inputs is None else inputs
        needed = dict.fromkeys((*found.settings, *self.depends.get(found.quantity, self.controls)))
        asked = {name: found.settings.get(name, self._first[name]) for name in needed}
        wanted = self.in_one_form(asked)
        here = self.in_one_form({name: given[name] for name in asked})
        return {name: value for name, value in wanted.items() if not is_same(value, here[name])}

    def in_one_form(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return inputs so that those with the same meaning for a prediction are the same."""
        return inputs

    @property
    def prediction_elsewhere(self) -> str:
        """Where a prediction is drawn that is not drawn now; empty if it is, or there is none.

        One that was never about this instrument, not even as it started, is none of its business.
        """
        found = self._made
        if found is None or found.value is None or self._other_settings(found, self._first):
            return ""
        other = self._other_settings(found)
        if not other:
            return ""
        unit = self.predictable[found.quantity]
        # A number without a unit says what it counts.
        counted = "" if unit else f"{found.quantity.replace('_', ' ')} "
        value = counted + format_quantity(found.value, unit)
        named = [f"{self.controls[n].label}: {self._in_words(n, v)}" for n, v in other.items()]
        what = f"({', '.join(named)})" if len(named) <= _MOST_NAMED else ""
        return f"Your prediction of {value} is about other settings {what}".rstrip() + "."

    def _in_words(self, name: str, value: Any) -> str:
        """The value of an input as people read it."""
        control = self.controls[name]
        if isinstance(control, Select):
            return str(control.options(self).get(value, value))
        return control.shown(value)

    def anchor(self, *handles: str) -> Any:
        """Return the result for which to choose the axes along which handles are dragged.

        It is the present one, but while a hand holds one of the handles it stays that of the
        moment at which the hand took it: an axis that changed would pull the handle away.
        """
        if self._held is not None and self._held[0] in handles:
            return self._held[1]
        return self.result

    def drag(self, name: str, x: float, y: float, *, held: bool = False) -> None:
        """Move a handle of the picture to a place, as far as its input allows.

        With ``held`` the hand keeps holding it, and its axes stay as they are until it lets go.
        """
        handles = [h for scene in self.scenes(self.result) for h in scene.handles]
        found = next((each for each in handles if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in handles) or "none"
            raise ValueError(f"{type(self).__name__} has no handle {name!r}; it has: {known}")
        if held and (self._held is None or self._held[0] != name):
            self._held = (name, self.result)
        wanted = self.dragged(found, x, y)
        for each, value in wanted.items():
            control = self.controls[each]
            if isinstance(control, Slider):
                wanted[each] = control.snap(float(value))
        if not held:
            self._held = None
        self._set(wanted)

    # What a design has to keep.

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets as they are now."""
        wanted = self._targets
        found = tuple(wanted() if callable(wanted) else wanted)
        for target in found:
            if target.quantity not in self.quantities:
                known = ", ".join(self.quantities) or "none"
                raise ValueError(
                    f"{type(self).__name__} has no quantity {target.quantity!r} to set a target "
                    f"for; it has: {known}"
                )
        return found

    @targets.setter
    def targets(self, wanted: Targets) -> None:
        before, self._targets = self._targets, wanted
        try:
            self.aim()
        except ValueError:
            self._targets = before
            raise

    def aim(self) -> None:
        """Look at the targets again; call it when a function that gives them has changed."""
        now = self.targets
        if now != self._aimed:
            self._aimed = now
            self._show()

    def _measure(self, quantity: str) -> float:
        result = self.result
        return float(getattr(result if hasattr(result, quantity) else self, quantity))

    @property
    def lamps(self) -> tuple[Lamp, ...]:
        """Whether each target is kept; none of them is lit before the lock is open."""
        if self.locked:
            return ()
        return tuple(
            target.lamp(self._measure(target.quantity), self.quantities[target.quantity])
            for target in self.targets
        )

    @property
    def misses(self) -> list[str]:
        """The targets that are missed now, a sentence each."""
        return [lamp.sentence for lamp in self.lamps if not lamp.kept]

    def drawn(self, result: Any) -> tuple[Scene, ...]:
        """Return the scenes with the lines of the targets."""
        scenes: Any = self.scenes(result)
        if not isinstance(scenes, tuple) or not all(isinstance(each, Scene) for each in scenes):
            name = type(self).__name__
            raise ValueError(f"{name}.scenes gives {type(scenes).__name__}, not a tuple of Scene")
        return with_lines(scenes, self.targets, self.quantities)

    # A state to compare with.

    def pin(self) -> None:
        """Keep the present state as a ghost, to compare what follows with it."""
        result = self.result
        self.pinned = Pin(self.inputs, self.scenes(result), values_of(self.cards(result)))
        self._show()

    def unpin(self) -> None:
        """Let the pinned state go."""
        self.pinned = None
        self._show()

    def leads(self, cards: Sequence[NumberCard]) -> list[int]:
        """Return the places of the cards that are shown large, the first one first."""
        named = [
            k
            for wanted in self.leading
            for k, (label, *_) in enumerate(cards)
            if _is_called(label, wanted)
        ]
        return list(dict.fromkeys([*named, *range(len(cards))]))[:_LEADING]

    @property
    def shown_hint(self) -> str:
        """The hint, once it may be seen."""
        if self._hints is not None and not self._hints.is_open:
            return ""
        return self.hint(self.result)

    @property
    def shown_table(self) -> Table:
        """The table, with a row for the prediction."""
        header, rows = self.table(self.result)
        if self.prediction is None:
            return header, rows
        blank = ("",) * (len(header) - 2)
        return header, [*rows, ("Your prediction", self.prediction.words, *blank)]

    def set(self, **inputs: Any) -> None:
        """Change several inputs at once; either all of them are accepted or none.

        Raises
        ------
        ValueError
            With a sentence that names the input, its value and what is allowed.
        """
        self._known(inputs)
        self._held = None
        self._set(inputs)

    def accepted(self, **inputs: Any) -> dict[str, Any]:
        """Return inputs as they would be kept, each checked by itself; nothing changes.

        Raises
        ------
        ValueError
            With a sentence that names the input, its value and what is allowed.
        """
        self._known(inputs)
        return {name: self.controls[name].plausible(self, v) for name, v in inputs.items()}

    def _known(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.controls:
                known = ", ".join(self.controls)
                raise ValueError(f"{type(self).__name__} has no input {name!r}; it has: {known}")

    def on_move(self, then: Callable[[], None]) -> None:
        """Call back with every change of the inputs; first now, or when the lock opens."""

        def look(_change: Any = None) -> None:
            if not self.locked:
                then()

        self.observe(look, names=list(self.controls))
        if self.locked:
            assert self.lock is not None
            self.lock.on_open(look)
        else:
            then()

    def _set(self, inputs: dict[str, Any]) -> None:
        before = self.inputs
        self._settle(before, {**before, **inputs}, set(inputs))

    def _changed(self, change: Any) -> None:
        """One trait was assigned from Python."""
        if not self._settling:
            self._held = None
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
                        wanted[name] = self.controls[name].plausible(self, wanted[name])
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
        self._show()

    def _show(self) -> None:
        """Show the present state, where somebody looks."""

    def _unlock(self) -> None:
        """Show the view in place of the lock's card."""

    def _assign(self, inputs: dict[str, Any]) -> None:
        # In the order of declaration: the options of a control may depend on those before it.
        for name in self.controls:
            setattr(self, name, inputs[name])

    def start_from(self, **inputs: Any) -> None:
        """Change several inputs at once, and have a reset return to them from now on.

        A reset from before is not undone any longer: it would lead back to where the instrument
        stood then.
        """
        checked, before = self.accepted(**inputs), self._place
        self.forget_reset()
        # First, so that whoever watches the inputs knows already where a reset leads.
        self._place = {**before, **checked}
        try:
            self.set(**inputs)
        except ValueError:
            self._place = before
            raise

    @property
    def usual(self) -> dict[str, Any]:
        """The inputs that a reset returns to: the initial ones, in the place where it stands."""
        return self.adjust({**self._first, **self._place}, set(self._place))

    def reset(self) -> None:
        """Return to the initial inputs, in the place where it stands; ``undo_reset`` reverts it."""
        self._before_reset = self.inputs
        self.set(**self.usual)

    def undo_reset(self) -> None:
        """Revert the last reset."""
        if self._before_reset is not None:
            before, self._before_reset = self._before_reset, None
            self.set(**before)

    @property
    def can_undo_reset(self) -> bool:
        """Whether nothing was moved by hand since the last reset."""
        return self._before_reset is not None

    def forget_reset(self) -> None:
        """Offer no undo any longer: a hand moves on."""
        self._before_reset = None

    def record_use(self) -> None:
        """Tell the lock, so that the ledger shows whether the prediction came first."""
        if self.lock is not None:
            self.lock.record_use(type(self).__name__)

    @property
    def code(self) -> str:
        """A line of Python that recreates this instrument in its current state."""
        inputs = self.inputs
        usual = {name: control.default_value for name, control in self.controls.items()}
        named = {name: value for name, value in inputs.items() if value != usual[name]}
        # One input may set others: name those too that would not get their current value.
        made = self.adjust({**usual, **named}, set(named))
        shown = (
            f"{name}={_literal(value)}"
            for name, value in inputs.items()
            if name in named or made[name] != value
        )
        return f"{type(self).__name__}({', '.join((*shown, *self._code_beyond_inputs()))})"

    def _code_beyond_inputs(self) -> list[str]:
        """The arguments of ``code`` that are no inputs: what was predicted, and the pin."""
        more = []
        drawn, main = self.prediction, next(iter(self.predictable), "")
        if drawn is not None and drawn.value is not None:
            value = _literal(drawn.value)
            if drawn.quantity != main:
                value = f"{{{drawn.quantity!r}: {value}}}"
            more.append(f"prediction={value}")
        if self.pinned is not None:
            now = self.inputs
            other = {n: v for n, v in self.pinned.inputs.items() if v != now[n]}
            more.append(
                f"pinned={{{', '.join(f'{n!r}: {_literal(v)}' for n, v in other.items())}}}"
            )
        return more

    @property
    def locked(self) -> bool:
        """Whether a prediction must be committed first."""
        return self.lock is not None and not self.lock.is_open


def _is_called(label: str, name: str) -> bool:
    """Whether a card is meant by a name: after a comma its label says which form it is from."""
    return name in (label, label.partition(",")[0])


def _literal(value: Any) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e7 else f"{value:.6g}"
    return repr(value)
