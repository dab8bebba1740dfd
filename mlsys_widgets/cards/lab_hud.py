"""A student's progress in a lab at a glance, from what the ledger holds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import Gate, LabWidget
from mlsys_widgets.cards.handed_in_line import covered_by, hand_in_of
from mlsys_widgets.cards.parts import Numbers, Part, Prose, Rows
from mlsys_widgets.cards.prediction_lock import PredictionLock
from mlsys_widgets.cards.reveal import Reveal
from mlsys_widgets.cards.story import ContextToggle
from mlsys_widgets.cards.task import Task
from mlsys_widgets.cards.worked_numbers import shown_number
from mlsys_widgets.drawing import markup
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs.student_steps import (
    StepProgress,
    StudentStep,
    is_newer,
    progress,
    saved_progress,
)
from mlsys_widgets.ledger import Ledger, LedgerError, State
from mlsys_widgets.ledger.designs import Field
from mlsys_widgets.wording.units import format_quantity

#: A step of the lab, a task, or the name under which the ledger keeps something.
Item = StudentStep | Task | str

_TO_DO: Final = StepProgress("to_do", "to do", whole=False)

#: The card of something that is not to be seen yet, after its label.
_WAITS: Final = ("not yet", "gray", "")


class LabHUD(LabWidget):
    """Context, acts, predictions, constraints, decisions, numbers, and whether it is all saved.

    It follows the ledger: every card that saves tells it. Code that writes to the ledger directly,
    for example with ``ledger.save_design``, must call `refresh` afterward.

    Parameters
    ----------
    title
        The lab.
    ledger
        The ledger it shows.
    acts
        What belongs to each act: steps, tasks, or the names of what the ledger keeps.
    context
        The toggle that says where the system runs.
    constraints
        What can be violated: an instrument, each of whose targets is one, or by name an instrument,
        which violates it while it shows an alert, or a function that returns a sentence then.
    decisions
        What was decided, by label: a field of the lab's design entry, or a function.
    numbers
        Numbers of the lab, by label: words, a number, or a number with its unit; or functions
        that return them, such as ``lambda: (roof.result.mfu, "%")``. `None` is not known yet.
    reveals
        The comparisons of the lab, by prediction: what was predicted stands beside what happened
        once the student has seen it.
    gates
        What must be open before a decision or number is shown, by label.
    follows
        Instruments whose every move the numbers follow.
    deeper
        Steps beyond the core; they are optional, so no progress waits for them.
    called
        What to call things that are given by name.
    student
        Whose lab it is; a ledger of another name is never called saved.
    fields
        The fields of the lab's design entry, which say what its options are called.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_07", student="student-01")
    >>> hud = LabHUD("Lab 07", ledger=led, acts={"Act 1": ["utilization"]})
    >>> _ = led.commit_prediction("utilization", "C", confidence=4)
    >>> hud.refresh()
    >>> hud.progress
    {'Act 1': (1, 1)}
    """

    kind = "Your lab"
    tone = "gray"
    drawn_as = "note"

    def __init__(
        self,
        title: str,
        *,
        ledger: Ledger,
        acts: Mapping[str, Iterable[Item]],
        context: ContextToggle | None = None,
        constraints: Instrument | Mapping[str, Instrument | Callable[[], str | None]] | None = None,
        decisions: Mapping[str, str | Callable[[], Any]] | None = None,
        numbers: Mapping[str, Any] | None = None,
        reveals: Mapping[str, Reveal] | None = None,
        gates: Mapping[str, Gate] | None = None,
        follows: Iterable[Instrument] = (),
        deeper: Iterable[StudentStep] = (),
        called: Mapping[str, str] | None = None,
        student: str | None = None,
        fields: Mapping[str, Field] | None = None,
    ) -> None:
        super().__init__(title)
        self._ledger = ledger
        self._acts = {act: tuple(items) for act, items in acts.items()}
        self._deeper = tuple(deeper)
        self._context = context
        self._design = constraints if isinstance(constraints, Instrument) else None
        self._constraints = dict({} if self._design else constraints or {})
        self._decisions = dict(decisions or {})
        self._numbers = dict(numbers or {})
        # Not copied: a cell that is run again has a new comparison.
        self._reveals = {} if reveals is None else reveals
        self._waits_for = dict(gates or {})
        labels = {*self._decisions, *self._numbers}
        if strangers := set(self._waits_for) - labels:
            named, known = ", ".join(strangers), ", ".join(sorted(labels)) or "none"
            raise ValueError(f"gates names {named}; it can name decisions and numbers: {known}")
        self._names = dict(called or {})
        self._student = student
        self._fields = dict(fields or {})
        self._hits: set[str] = set()
        self._broken: dict[str, str] = {}
        self._computed: list[tuple[str, str, str, str]] = []
        self._state: State | None = None
        announcements.listen(ledger, self)
        if context is not None:
            context.observe(lambda _: self.refresh(), names="context")
        looked_at = [self._design, *self._constraints.values()]
        followed = [source for source in looked_at if isinstance(source, Instrument)]
        for instrument in {id(each): each for each in (*followed, *follows)}.values():
            instrument.observe(self._moved, names=list(instrument.inputs))
        for gate in self._waits_for.values():
            if not gate.is_open:
                gate.on_open(self.refresh)
        self.refresh()

    @property
    def progress(self) -> dict[str, tuple[int, int]]:
        """How much of each act is done: how many items, and of how many."""
        return {
            act: (sum(not self._status(item).is_left for item in items), len(items))
            for act, items in self._acts.items()
        }

    @property
    def broken(self) -> dict[str, str]:
        """The constraints that are violated now, each with the sentence that says so."""
        lamps = self._design.lamps if self._design else ()
        found = {lamp.name: f"{lamp.verdict}." for lamp in lamps if not lamp.kept}
        for name, source in self._constraints.items():
            try:
                words = _alert(source) if isinstance(source, Instrument) else source()
            except Exception as problem:  # one constraint must not break the others
                words = f"This constraint cannot be checked: {problem}."
            if words:
                found[name] = words
        return found

    def refresh(self) -> None:
        """Look at the ledger and the constraints again."""
        try:
            self._state = self._ledger.state()
        except LedgerError as problem:
            self._refused(str(problem), self.refresh)
        else:
            self._settled()
        self._broken = self.broken
        self._hits |= set(self._broken)
        self._computed = list(self._named())
        self.show()

    def _moved(self, _change: Any) -> None:
        """An instrument moved; most moves change neither a constraint nor a number."""
        if self.broken != self._broken or list(self._named()) != self._computed:
            self.refresh()

    def _status(self, item: Item) -> StepProgress:
        """How far along an item is."""
        if isinstance(item, Task):
            return StepProgress("done", "done") if item.is_open else _TO_DO
        if self._state is None:
            return _TO_DO
        step = StudentStep(item, "", 0, item, (item,)) if isinstance(item, str) else item
        saved = saved_progress(self._state, self._ledger.lab or "")
        return progress(step, saved, *covered_by(self._ledger))

    def _line(self, item: Item) -> tuple[str, str]:
        """An item with how far along it is."""
        if isinstance(item, str):
            name = self._names.get(item, item.replace("_", " "))
        else:
            name = item.called
        how = self._status(item)
        return f"{how.sign} {how.words.capitalize()}", name

    def parts(self) -> Sequence[Part]:
        acts: list[Part] = []
        for k, (act, (done, many)) in enumerate(self.progress.items()):
            acts.append(Prose(f"act{k}-head", f"({done} of {many})", label=act))
            acts.append(Rows(f"act{k}", tuple(self._line(item) for item in self._acts[act])))
        acts += self._beyond()
        broken = [
            Prose(f"broken-{name}", words, tone="red", label=f"{name}.")
            for name, words in self.broken.items()
        ]
        notices = [
            Prose(f"notice{k}", words, tone="orange")
            for k, words in enumerate(self._ledger.notices)
        ]
        held = tuple(self._outcomes())
        predictions: list[Part] = []
        if held:
            predictions = [Prose("held-head", "", label="Your predictions"), Rows("held", held)]
        cards = Numbers("cards", tuple(self._cards()))
        return [cards, *acts, *predictions, *broken, *notices]

    def _beyond(self) -> list[Part]:
        """What was begun beyond the core; whoever stays in the core is told of one line only."""
        if not self._deeper:
            return []
        begun = [step for step in self._deeper if self._status(step).state != "to_do"]
        many = f"({len(begun)} of {len(self._deeper)}, optional)"
        head = Prose("deeper-head", many, label="Deeper")
        return [head, *([Rows("deeper", tuple(map(self._line, begun)))] if begun else [])]

    def _outcomes(self) -> Iterable[tuple[str, str]]:
        """Each sealed prediction beside what happened, once the student has compared them."""
        for reveal in self._reveals.values():
            if not reveal.is_sealed:
                continue
            about = reveal.about.removeprefix("Prediction: ")
            try:
                outcome = reveal.outcome
            except Exception as problem:  # a function of the author; its card says so, too
                yield "○ Unknown", f"{about}: {problem}"
                continue
            if outcome is None:
                yield "○ Not compared yet", about
            else:
                words = {True: "✓ Held", False: "✗ Did not hold", None: "● Compared"}[outcome.held]
                stop = "" if about.endswith(("?", ".", "!", "…")) else "."
                yield words, f"{about}{stop} You predicted {outcome.predicted}; {outcome.actual}."

    def _cards(self) -> Iterable[tuple[str, str, str, str]]:
        counts = self.progress.values()
        done, all_ = (sum(count) for count in zip(*counts, strict=True)) if counts else (0, 0)
        yield "Steps done", f"{done} of {all_}", "green" if done == all_ else "gray", ""
        if self._context is not None:
            yield "Context", markup.plain(self._context.words), "compute", ""
        yield "Predictions sealed", *self._sealed()
        yield from self._held()
        if promises := len(self._constraints) + len(self._design.targets if self._design else ()):
            now, earlier = len(self.broken), len(self._hits - set(self.broken))
            tone = "red" if now else "green"
            note = f"{earlier} broken earlier" if earlier else ""
            yield "Promises broken now", f"{now} of {promises}", tone, note
        for label, source in self._decisions.items():
            yield label, *(_WAITS if self._waits(label) else self._decided(source))
        yield from self._named()
        yield "Save status", *self._saved()
        yield from self._handed_in()

    def _handed_in(self) -> Iterable[tuple[str, str, str, str]]:
        """Whether the lab was handed in, and whether that is still all of it."""
        note = hand_in_of(self._ledger)
        if note is None or self._state is None:
            return
        steps = [i for items in self._acts.values() for i in items if isinstance(i, StudentStep)]
        steps += self._deeper
        saved = saved_progress(self._state, self._ledger.lab or "")
        newer = is_newer(steps, saved, note.covers(self._ledger.events()))
        label = "Handed in" if note.file is None else "File to hand in"
        since = "you have recorded something since; hand in again" if newer else "all of it"
        yield label, note.time, "orange" if newer else "blue", since

    def _waits(self, label: str) -> bool:
        gate = self._waits_for.get(label)
        return gate is not None and not gate.is_open

    def _named(self) -> Iterable[tuple[str, str, str, str]]:
        """The numbers that the lab names."""
        for label, source in self._numbers.items():
            if self._waits(label):
                yield label, *_WAITS
                continue
            try:
                number = source() if callable(source) else source
                shown = None if number is None else shown_number(number)
            except Exception as problem:  # as above
                yield label, "unknown", "red", str(problem)
            else:
                yield (label, *_WAITS) if shown is None else (label, shown[0], "blue", shown[1])

    def _held(self) -> Iterable[tuple[str, str, str, str]]:
        """How many of the predictions that were compared have held."""
        held = []
        for reveal in self._reveals.values():
            with contextlib.suppress(Exception):  # its own line says what is wrong
                outcome = reveal.outcome
                if outcome is not None and outcome.held is not None:
                    held.append(outcome.held)
        if held:
            yield "Predictions that held", f"{sum(held)} of {len(held)}", "prediction", ""

    def _sealed(self) -> tuple[str, str, str]:
        kept = self._state.predictions if self._state else {}
        items = [item for items in self._acts.values() for item in items]
        names = {item.task_id for item in items if isinstance(item, PredictionLock)}
        names |= {item for item in items if isinstance(item, str) and item in kept}
        names |= {i.name for i in items if isinstance(i, StudentStep) and i.kind == "prediction"}
        # Optional ones count once they are there, as they do among those that held.
        names |= {step.name for step in self._deeper if step.name in kept}
        return f"{sum(name in kept for name in names)} of {len(names)}", "prediction", ""

    def _decided(self, source: str | Callable[[], Any]) -> tuple[str, str, str]:
        if callable(source):
            try:
                return _shown(source()), "blue", "as it stands"
            except Exception as problem:  # as above
                return "unknown", "red", str(problem)
        lab = self._ledger.lab
        design = self._state.designs.get(lab) if self._state and lab else None
        if design is None or source not in design:
            return "not decided yet", "gray", ""
        field = self._fields.get(source)
        value = field.in_words(design[source]) if field else design[source]
        return _shown(value), "blue", "in your design"

    def _saved(self) -> tuple[str, str, str]:
        """Whether everything is on the disk, and since when."""
        if problem := announcements.last_problem(self._ledger):
            return "Not saved", "red", problem
        if self._trouble:
            return "Unknown", "red", "the ledger cannot be read"
        owner = self._ledger.student
        if self._student is not None and owner not in (None, self._student):
            return "Not yours", "red", f"the ledger beside the notebook is that of {owner}"
        events = self._ledger.events()
        name = self._ledger.path.name
        if not events:
            return "Nothing yet", "gray", f"{name} is created with your first commit"
        if not self._ledger.path.exists():
            return "File gone", "red", f"{name} has disappeared: put it back beside the notebook"
        many = "1 event" if len(events) == 1 else f"{len(events)} events"
        return "Saved", "green", f"{many}, last {events[-1].time}"


def _alert(instrument: Instrument) -> str | None:
    """Return what an instrument warns about; one that is still locked gives nothing away."""
    alert = None if instrument.locked else instrument.alert(instrument.result)
    return alert[0] if alert else None


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool | int | float):
        return format_quantity(value)
    return str(value)
