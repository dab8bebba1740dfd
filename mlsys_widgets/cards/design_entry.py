"""The design entry of a lab: computed from what the student did, reviewed, and saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from traitlets import TraitError

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Buttons, Numbers, Part, Prose, Rows, moment
from mlsys_widgets.cards.task import Task
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.ledger import Design, DesignForm, Ledger, State, form_of
from mlsys_widgets.physics import format_quantity

#: The ledger keeps the settings of instruments under names that begin with this.
_KEPT: Final = "design_instruments"


class DesignEntry(Task):
    """What this lab hands on to the labs that follow.

    Nothing is typed into it. Each field is a value, or a function that reads it from what the
    student did (a prediction, an instrument, a reflection) at the moment it is shown or saved.
    It can be saved any number of times; the last one stands.

    Parameters
    ----------
    fields
        The fields of the lab's form, by name; a function is called for its value.
    ledger
        Where it is kept.
    form
        Which fields there are and what each may hold; the one that the ledger's lab has declared
        if omitted.
    after
        A gate, or several, that must be open first.
    title
        The heading.
    keeps
        Instruments that the design was made with, by name. Saving keeps their settings, and a new
        kernel restores them, so a restart does not lose the design.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mlsys_widgets import DispatchWaterfall
    >>> from mlsys_widgets.ledger.designs import DesignForm, choice
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name) / "ledger.jsonl"
    >>> led = Ledger.open(path, lab="lab_02_modes", student="student-01")
    >>> fields = {"execution_mode": choice("how the model runs", "eager", "compiled")}
    >>> form = DesignForm("lab_02_modes", 2, fields)
    >>> kws = DispatchWaterfall(model="kws")
    >>> entry = DesignEntry({"execution_mode": lambda: kws.mode}, ledger=led, form=form)
    >>> entry.current
    {'execution_mode': 'eager'}
    >>> kws.set(mode="compiled")
    >>> entry.current
    {'execution_mode': 'compiled'}
    >>> folder.cleanup()
    """

    kind = "Design"
    tone = "blue"

    def __init__(
        self,
        fields: Mapping[str, Any | Callable[[], Any]],
        *,
        ledger: Ledger,
        form: DesignForm | None = None,
        after: Gate | Iterable[Gate] = (),
        title: str = "What you hand on",
        keeps: Mapping[str, Instrument] | None = None,
    ) -> None:
        if ledger.lab is None:
            raise ValueError("the ledger names no lab; open it with lab=… to save a design")
        super().__init__(ledger.lab, title, ledger=ledger, after=after)
        self._form = form_of(ledger.lab) if form is None else form
        strangers = set(fields) - set(self._form.fields)
        if strangers:
            known = ", ".join(self._form.fields)
            raise ValueError(f"{', '.join(sorted(strangers))} is not a field; there are: {known}")
        self._fields = dict(fields)
        self._keeps = dict(keeps or {})
        self.refresh()
        self._set_again()

    @property
    def current(self) -> dict[str, Any]:
        """Every field as it is now."""
        return {name: value() if callable(value) else value for name, value in self._fields.items()}

    @property
    def design(self) -> Design | None:
        """What was saved last; `None` before that."""
        return self._state.designs.get(self.task_id) if self._state else None

    def done(self, state: State) -> bool:
        """Whether it was saved."""
        return self.task_id in state.designs

    def save(self) -> Design:
        """Save the entry as it is now.

        Raises
        ------
        ValueRefused
            With a sentence that names the field, its value and what is allowed.
        NotSaved
            When the ledger could not be written.
        """
        self._need_gates()
        fields = self.current
        # Settings first, so that the instruments of a saved design can always be restored.
        for name, instrument in self._keeps.items():
            self._ledger.record_answer(f"{_KEPT}.{name}", instrument.inputs)
        saved = self._save(lambda: self._ledger.save_design(fields, self._form))
        self.show()
        return saved

    def _set_again(self) -> None:
        """Set the instruments as they were when the design was saved."""
        if self.design is None or self._state is None:
            return
        for name, instrument in self._keeps.items():
            kept = self._state.answers.get(f"{_KEPT}.{name}")
            if kept is not None:
                # An instrument whose controls have changed since keeps its defaults.
                with suppress(ValueError, TypeError, TraitError):
                    instrument.set(**kept.value)
        self.show()

    def actions(self) -> Mapping[str, Action]:
        """Save, or look again at the current values."""
        return {"save": self._on_save, "look": lambda values: self.show()}

    def _on_save(self, values: Values) -> None:
        self.save()
        self._say("Your design is saved.", focus="saved")

    def _about(self, name: str) -> str:
        about = self._form.fields[name].about
        return about[:1].upper() + about[1:]

    def parts(self) -> Sequence[Part]:
        """The fields, what was saved, and whether anything changed since then."""
        now, kept = self.current, self.design
        rows = tuple((self._about(name), _shown(value)) for name, value in now.items())
        parts: list[Part] = [
            Prose("about", "This comes from what you did in this lab. Later labs start from it."),
            Rows("fields", rows),
            Buttons("send", (("save", "Save my design"), ("look", "Refresh"))),
        ]
        if kept is not None:
            same = all(kept.fields.get(name) == value for name, value in now.items())
            words = "as shown above" if same else "something has changed since then: save again"
            tone = "green" if same else "orange"
            parts.append(Numbers("saved", (("Saved", moment(kept.time), tone, words),)))
        return parts


def _shown(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_quantity(value) if isinstance(value, int | float) else str(value)
