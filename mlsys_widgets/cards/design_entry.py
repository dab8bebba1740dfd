"""The design entry of a lab: computed from what the student did, reviewed, and saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from traitlets import TraitError

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import (
    BesideLinks,
    Buttons,
    Numbers,
    Part,
    Prose,
    RecordedAnswer,
    Rows,
)
from mlsys_widgets.cards.task import ShortForm, Task
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.instruments.target import Lamp
from mlsys_widgets.labs.items import DESIGN
from mlsys_widgets.labs.practice import is_practice
from mlsys_widgets.labs.student_steps import DESIGN_MISSES
from mlsys_widgets.ledger import Design, DesignForm, Ledger, State, form_of
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import format_quantity

#: The ledger keeps the settings of instruments under names that begin with this.
_KEPT: Final = "design_instruments"

#: What becomes of a step whose design was saved although it misses something.
_OPEN: Final = (
    "It is recorded as a design that does not fit, so this step stays open until you save one that"
    " does."
)
_AS_IT_IS: Final = "You can hand in the lab as it is."

#: An instrument, which breaks its promise while it shows an alert, or a function that returns a
#: sentence while the promise is broken.
Promise = Instrument | Callable[[], str | None]


@dataclass(frozen=True)
class FoldedRows(Rows):
    """Lines of two columns behind a heading that unfolds them."""

    heading: str = ""

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "heading": self.heading}


class DesignEntry(Task):
    """The design that this lab hands on to the labs that follow.

    Nothing is typed into it. Each field is a value, or a function that reads it from what the
    student did (a prediction, an instrument, a reflection). The card follows the instruments, and
    shows their targets as lamps. It can be saved any number of times; the last one stands. A
    design that misses a target is saved only after a warning, and the ledger keeps what it misses.

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
        kernel restores them, so a restart does not lose the design. Their targets are the design's.
    headline
        The design in a few words, or a function that returns them; the verdicts of the targets
        complete the sentence.
    promises
        What else can be broken, by name: an instrument, which breaks it while it shows an alert, or
        a function that returns a sentence while it is broken.

    Examples
    --------
    >>> from mlsys_widgets import IronLaw, Target
    >>> from mlsys_widgets.ledger.designs import DesignForm, number
    >>> path = folder / "ledger.jsonl"
    >>> led = Ledger.open(path, lab="lab_02_service", student="student-01")
    >>> form = DesignForm("lab_02_service", 2, {"batch": number("images at once", 1)})
    >>> law = IronLaw(batch=8, targets=[Target("total", 120e-6, "answer promised in 120 µs")])
    >>> entry = DesignEntry(
    ...     {"batch": lambda: law.batch},
    ...     ledger=led,
    ...     form=form,
    ...     keeps={"law": law},
    ...     headline=lambda: f"Batch {law.batch:.0f}",
    ... )
    >>> print(entry.headline)
    Batch 8: in time.
    >>> law.set(batch=64)
    >>> print(entry.headline, *entry.misses)
    Batch 64: too late. Answer promised in 120 µs: 570.5 µs, 450.5 µs too late.
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
        title: str = "What you pass on",
        keeps: Mapping[str, Instrument] | None = None,
        headline: str | Callable[[], str] = "",
        promises: Mapping[str, Promise] | None = None,
    ) -> None:
        if ledger.lab is None:
            raise ValueError("the ledger names no lab; open it with lab=… to save a design")
        form = form_of(ledger.lab) if form is None else form
        strangers = set(fields) - set(form.fields)
        if strangers:
            known = ", ".join(form.fields)
            raise ValueError(f"{', '.join(sorted(strangers))} is not a field; there are: {known}")
        super().__init__(ledger.lab, title, ledger=ledger, after=after)
        self._form = form
        self._fields = dict(fields)
        self._keeps = dict(keeps or {})
        self._headline = headline
        self._promises = dict(promises or {})
        #: Whether the student was told what the design misses, and has not decided yet.
        self._warned = False
        #: Whether what is shown is the saved design.
        self._stands = False
        self.refresh()
        self._set_again()
        self._follow()

    def _follow(self) -> None:
        """Show every move of an instrument, once."""
        sources = (*self._keeps.values(), *self._promises.values())
        instruments = [each for each in sources if isinstance(each, Instrument)]
        seen = {id(each): each.inputs for each in instruments}

        def moved(change: Any) -> None:
            # A closed card shows nothing of the design, and moves before it is open are many.
            if self.blocked_by:
                return
            # One move may change several inputs, and each of them is reported.
            instrument = change["owner"]
            if seen[id(instrument)] != instrument.inputs:
                seen[id(instrument)] = instrument.inputs
                self.show()

        for each in instruments:
            each.observe(moved, names=list(each.inputs))

    def refresh(self) -> None:
        """Look at the ledger and at the targets again."""
        for instrument in self._keeps.values():
            # What is wrong with a target is said where the card shows it.
            with suppress(Exception):
                instrument.aim()
        super().refresh()

    @property
    def current(self) -> dict[str, Any]:
        """Every field as it is now."""
        return {name: value() if callable(value) else value for name, value in self._fields.items()}

    @property
    def design(self) -> Design | None:
        """The design that was saved last; `None` before that."""
        return self._state.designs.get(self.task_id) if self._state else None

    def done(self, state: State) -> bool:
        return self.task_id in state.designs

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (DESIGN,)

    @property
    def is_outdated(self) -> bool:
        return self.design is not None and not self._stands and not self.blocked_by

    # Targets and promises.

    @property
    def lamps(self) -> tuple[Lamp, ...]:
        """Whether each target and promise is kept; none while a gate or a lock is closed."""
        if self.blocked_by:
            return ()
        return (*(lamp for each in self._keeps.values() for lamp in each.lamps), *self._kept())

    def _kept(self) -> Iterator[Lamp]:
        for name, promise in self._promises.items():
            if not isinstance(promise, Instrument):
                problem = promise()
            elif promise.locked:
                continue
            else:
                alert = promise.alert(promise.result)
                problem = alert[0] if alert else None
            verdict = problem.removesuffix(".") if problem else "kept"
            yield Lamp(name, not problem, verdict, f"{name} {'broken' if problem else 'kept'}")

    @property
    def misses(self) -> list[str]:
        """The targets that the design misses now and by how much, a sentence each."""
        return [lamp.sentence for lamp in self.lamps if not lamp.kept]

    @property
    def saved_misses(self) -> list[str]:
        """The targets that the saved design missed when it was saved."""
        kept = self._state.answers.get(DESIGN_MISSES) if self._state and self.design else None
        misses = kept.value if kept else ()
        return [str(each) for each in misses] if isinstance(misses, list | tuple) else []

    @property
    def headline(self) -> str:
        """The design in one sentence; empty while a gate or one of its instruments is closed."""
        return self._sentence(self.lamps)

    def _sentence(self, lamps: Iterable[Lamp]) -> str:
        if self.blocked_by or any(each.locked for each in self._keeps.values()):
            return ""
        headline = self._headline() if callable(self._headline) else self._headline
        lamps = tuple(lamps)
        verdict = ", ".join(lamp.short for lamp in lamps if not lamp.kept)
        if lamps and not verdict:
            verdict = lamps[0].short if len(lamps) == 1 else "keeps all its promises"
        sentence = ": ".join(filter(None, (headline, verdict)))
        return f"{sentence}." if sentence else ""

    def save(self) -> Design:
        """Save the entry as it is now, together with what it misses.

        Raises
        ------
        ValueRefused
            With a sentence that names the field, its value and what is allowed.
        NotSaved
            When the ledger could not be written.
        """
        self._need_gates()
        fields, misses = self._form.check(self.current), self.misses
        # Settings first, so that the instruments of a saved design can always be restored.
        for name, instrument in self._keeps.items():
            self._ledger.record_answer(f"{_KEPT}.{name}", instrument.inputs)

        def write() -> Design:
            # Whichever write fails, no failing design may pass for one that fits.
            if misses:
                self._ledger.record_answer(DESIGN_MISSES, misses)
            saved = self._ledger.save_design(fields, self._form)
            if not misses:
                self._ledger.record_answer(DESIGN_MISSES, misses)
            return saved

        saved = self._save(write)
        self._warned = False
        self.show()
        return saved

    def _set_again(self) -> None:
        """Set the instruments as they were when the design was saved.

        One that was moved already, by hand or because that is how it was left, stays there.
        """
        if self.design is None or self._state is None:
            return
        # All of them first: an instrument that is linked moves with the one before it.
        unmoved = [name for name, each in self._keeps.items() if each.inputs == each.usual]
        for name in unmoved:
            kept = self._state.answers.get(f"{_KEPT}.{name}")
            if kept is not None:
                # An instrument whose controls have changed since keeps its defaults.
                with suppress(ValueError, TypeError, TraitError):
                    self._keeps[name].set(**kept.value)
        self.show()

    # What the browser asks.

    def actions(self) -> Mapping[str, Action]:
        return {"save": self._on_save, "anyway": self._on_anyway, "keep": self._on_keep}

    def _on_save(self, values: Values) -> None:
        self._need_gates()
        misses = self.misses
        if misses:
            self._warned = True
            self._say(f"Not saved yet. {' '.join(misses)}", focus="send")
        else:
            self.save()
            self._say("Your design is saved.", focus="saved")

    def _on_anyway(self, values: Values) -> None:
        misses = self.misses
        self.save()
        self._say(f"Your design is saved. {self._open if misses else ''}".strip(), focus="saved")

    def _on_keep(self, values: Values) -> None:
        self._warned = False
        self._say("Nothing was saved. Change the instruments, then save.", focus="send")

    # What is seen.

    def _about(self, name: str) -> str:
        about = self._form.fields[name].about
        return about[:1].upper() + about[1:]

    def parts(self) -> Sequence[Part]:
        self._stands = False
        now, lamps = self.current, self.lamps
        misses = [lamp.sentence for lamp in lamps if not lamp.kept]
        self._warned = self._warned and bool(misses)
        parts: list[Part] = []
        if titles := tuple(instrument.title for instrument in self._keeps.values()):
            parts.append(BesideLinks("beside", titles))
        if headline := self._sentence(lamps):
            tone = "red" if misses else "green" if lamps else ""
            parts.append(Prose("headline", f"**{headline}**", tone=tone))
        if lamps:
            rows = tuple((f"{lamp.sign} {lamp.name}", lamp.verdict) for lamp in lamps)
            parts.append(Rows("lamps", rows))
        fields = self._form.fields
        rows = tuple((self._about(n), _shown(fields[n].in_words(v))) for n, v in now.items())
        heading = f"What later labs start from: {counted(len(rows), 'field')}"
        parts.append(FoldedRows("fields", rows, heading))
        buttons: tuple[tuple[str, str], ...] = (("save", "Save my design"),)
        if self._warned:
            parts.append(self._warning(misses))
            buttons = (("keep", "Keep designing"), ("anyway", "Save it anyway"))
        self._stands = not self._warned and self._is_saved(now, misses)
        send = Buttons("send", buttons, not self._stands)
        return [*parts, send, *self._saved(headline, misses)]

    def fold(self) -> ShortForm | None:
        return ShortForm(("saved", "open"), "Show the design") if self._stands else None

    def _warning(self, misses: list[str]) -> Prose:
        what = "this" if len(misses) == 1 else f"{len(misses)} things"
        words = f"The design misses {what}: {' '.join(misses)}"
        return Prose("warning", words, tone="red", label="Not saved yet.")

    def _is_saved(self, now: Mapping[str, Any], misses: list[str]) -> bool:
        """Whether the saved design is the present one."""
        kept = self.design
        return (
            kept is not None
            and self.saved_misses == misses
            and all(kept.fields.get(name) == value for name, value in now.items())
        )

    @property
    def _open(self) -> str:
        """What becomes of the step; practice is not handed in."""
        practice = self._state is not None and is_practice(self._state.answers)
        return _OPEN if practice else f"{_OPEN} {_AS_IT_IS}"

    def _saved(self, headline: str, misses: list[str]) -> Iterator[Part]:
        """Show when it was saved, whether it fits, and whether anything changed since then."""
        kept = self.design
        if kept is None:
            return
        failed = self.saved_misses
        label = "Saved, does not fit" if failed else "Saved"
        if 0 < len(failed) < (many := len(self.lamps)):
            label = f"Saved, misses {len(failed)} of {many}"
        if self._stands:
            words = ": ".join(
                filter(None, (label, headline and f"**{headline.removesuffix('.')}**"))
            )
            yield RecordedAnswer("saved", words, kept.time)
            if failed:
                yield Prose("open", self._open, tone="orange")
            return
        changed = "something has changed since then: save again"
        yield Numbers("saved", ((label, kept.time, "red" if failed else "orange", changed),))
        if failed and failed != misses:
            yield Prose("failed", " ".join(failed), tone="red", label="The saved design misses:")


def _shown(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_quantity(value) if isinstance(value, int | float) else str(value)
