"""The frame of a lab: who writes to you, where your system runs, and what to take away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import traitlets

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.card import Action, Gate, LabWidget, Values
from mlsys_widgets.cards.parts import (
    BesideLinks,
    Buttons,
    NumberedList,
    Options,
    Part,
    Prose,
)
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.labs import Message, Takeaways
from mlsys_widgets.ledger import Ledger, LedgerError


class Scenario(LabWidget):
    """A message from somebody who needs an answer.

    Parameters
    ----------
    sender
        Who writes; or the whole message of a lab.
    role
        The sender's job.
    message
        What they write; blank lines separate paragraphs.
    subject
        What it is about: the heading.
    task
        What the student is asked to find out.
    after
        A gate, or several, that must be open before the message arrives.
    context
        The toggle that it follows, if the sender writes more where a context is chosen.

    Examples
    --------
    >>> print(Scenario("Ada", role="Operations", subject="Idle GPUs", message="Why?").text())
    Message: Idle GPUs
    From Ada, Operations
    Why?
    """

    kind = "Message"
    tone = "orange"
    drawn_as = "letter"

    def __init__(
        self,
        sender: str | Message,
        *,
        message: str = "",
        subject: str = "",
        role: str = "",
        task: str = "",
        after: Gate | Iterable[Gate] = (),
        context: ContextToggle | None = None,
    ) -> None:
        if not isinstance(sender, Message):
            sender = Message(sender, role, subject, message, task)
        self.item = sender
        self._context = context
        super().__init__(sender.subject, after=after)
        if context is not None and sender.in_context:
            context.observe(lambda _change: self.show(), names="context")
        self.show()

    def parts(self) -> Sequence[Part]:
        item = self.item
        sender = f"From **{item.sender}**" + (f", {item.role}" if item.role else "")
        parts: list[Part] = [Prose("sender", sender, quiet=True), Prose("message", item.message)]
        if self._context is not None and (more := item.in_context.get(self._context.context)):
            parts.append(Prose("in_context", more))
        if item.task:
            parts.append(Prose("task", item.task, tone="orange", label="Your task."))
        return parts


class KeyTakeaways(LabWidget):
    """The points to remember from a lab.

    Parameters
    ----------
    *points
        Each one sentence, or a headline and what follows it; or the takeaways of a lab.
    ahead
        What comes next.
    after
        A gate, or several, that must be open first.
    title
        The heading.

    Examples
    --------
    >>> print(KeyTakeaways(("Bytes cost", "Fusing saves traffic."), "Measure first.").text())
    Take away: What to remember
    1. Bytes cost. Fusing saves traffic.
    2. Measure first.
    """

    kind = "Take away"
    tone = "green"
    drawn_as = "ending"

    def __init__(
        self,
        *points: str | tuple[str, str] | Takeaways,
        ahead: str = "",
        after: Gate | Iterable[Gate] = (),
        title: str = Takeaways.title,
    ) -> None:
        whole = [one for one in points if isinstance(one, Takeaways)]
        pairs = [
            ("", one) if isinstance(one, str) else one
            for one in points
            if not isinstance(one, Takeaways)
        ]
        self.item = whole[0] if whole else Takeaways(pairs, ahead, title)
        super().__init__(self.item.title, after=after)
        if not self.item.points:
            raise ValueError("KeyTakeaways has no points; there must be at least one")
        self.show()

    def parts(self) -> Sequence[Part]:
        item = self.item
        ahead = [Prose("ahead", item.ahead, label="Next.", quiet=True)] if item.ahead else []
        return [NumberedList("points", tuple(item.points)), *ahead]


class ContextToggle(LabWidget):
    """Where the system of a lab runs. Other cards and instruments observe its ``context``.

    The choice is kept in the ledger as the answer ``context_id``, so it survives a restart. What
    it leads starts from the values of the context, and a reset returns to them. Whoever chooses
    another device on such an instrument may do so; the card says it and offers the way back.

    Parameters
    ----------
    contexts
        Key and words of each; cloud and edge if omitted.
    context
        What is chosen at first, if the ledger holds nothing; the first if omitted.
    about
        What each context means, by key.
    ledger
        Where it is kept; nowhere if omitted.
    context_id
        The name under which it is kept.
    title
        The heading.

    Examples
    --------
    >>> toggle = ContextToggle()
    >>> toggle.observe(lambda change: print("now", change.new), names="context")
    >>> toggle.context = "edge"
    now edge
    """

    kind = "Context"
    tone = "compute"

    context = traitlets.Unicode(help="The key of the context that is chosen.")

    def __init__(
        self,
        contexts: Mapping[str, str] | None = None,
        *,
        context: str | None = None,
        about: Mapping[str, str] | None = None,
        ledger: Ledger | None = None,
        context_id: str = "context",
        title: str = "Where does your system run?",
    ) -> None:
        super().__init__(title)
        self._contexts = dict(contexts or {"cloud": "Cloud", "edge": "Edge"})
        self._about = dict(about or {})
        self._ledger, self._id = ledger, context_id
        #: The instruments that follow, each with the values of its inputs by context.
        self._led: list[tuple[Instrument, Mapping[str, Mapping[str, Any]]]] = []
        self._restoring, self._unsaved = True, False
        try:
            self.context = next(iter(self._contexts)) if context is None else context
            if ledger is not None:
                announcements.listen(ledger, self)
                self.refresh()
        finally:
            self._restoring = False
        self.observe(self._changed, names="context")
        self.show()

    @property
    def words(self) -> str:
        """The words for what is chosen."""
        return self._contexts[self.context]

    # What follows.

    def lead(self, instrument: Instrument, inputs: Mapping[str, Mapping[str, Any]]) -> None:
        """Have an instrument follow: each input has a value for every context."""
        self._led.append((instrument, inputs))
        self._load(instrument, inputs)
        self.show()
        self.observe(lambda _change: self._load(instrument, inputs), names="context")
        instrument.observe(lambda _change: self.show(), names=_choices(instrument, inputs))

    def _load(self, instrument: Instrument, inputs: Mapping[str, Mapping[str, Any]]) -> None:
        instrument.start_from(**{name: values[self.context] for name, values in inputs.items()})

    @property
    def _strays(self) -> list[tuple[Instrument, Mapping[str, Mapping[str, Any]]]]:
        """What shows another choice than this context; sliders are there to be moved."""
        return [
            (instrument, inputs)
            for instrument, inputs in self._led
            if any(
                getattr(instrument, name) != inputs[name][self.context]
                for name in _choices(instrument, inputs)
            )
        ]

    # What a move needs.

    @property
    def inputs(self) -> dict[str, str]:
        """The present choice, by the name of the trait."""
        return {"context": self.context}

    def accepted(self, **inputs: Any) -> dict[str, str]:
        """Check a choice, or refuse it with a sentence that says what can be chosen."""
        for name, wanted in inputs.items():
            if name != "context":
                raise ValueError(f"ContextToggle has no input {name!r}; it has: context")
            if wanted not in self._contexts:
                listed = ", ".join(self._contexts)
                raise ValueError(f"context is {wanted!r}; it must be one of: {listed}")
        return inputs

    def on_move(self, then: Callable[[], None]) -> None:
        """Call back now, and with every choice."""
        self.observe(lambda _change: then(), names="context")
        then()

    @traitlets.validate("context")
    def _allowed(self, proposal: Any) -> str:
        try:
            return self.accepted(context=proposal["value"])["context"]
        except ValueError as refusal:
            raise traitlets.TraitError(str(refusal)) from None

    def refresh(self) -> None:
        """Adopt what the ledger holds, after a restart or a move of another toggle."""
        if self._ledger is not None:
            try:
                kept = self._ledger.state().answers.get(self._id)
            except LedgerError as problem:
                self._refused(str(problem), self.refresh)
            else:
                if kept is not None and kept.value in self._contexts and not self._unsaved:
                    restoring, self._restoring = self._restoring, True
                    self.context = kept.value
                    self._restoring = restoring
        self.show()

    def _changed(self, _change: Any) -> None:
        if not self._restoring:
            try:
                self._keep()
            except LedgerError as problem:
                self._refused(f"Switched, but not saved. {problem}", self._keep)
        self.show()

    def _keep(self) -> None:
        """Write the choice down, so that it survives a restart."""
        if self._ledger is None:
            return
        self._unsaved = True
        try:
            self._ledger.record_answer(self._id, self.context)
        except LedgerError as problem:
            announcements.announce(self._ledger, str(problem))
            raise
        self._unsaved = False
        self._settled()
        announcements.announce(self._ledger)

    def actions(self) -> Mapping[str, Action]:
        return {"choose": self._on_choose, "load": self._on_load}

    def _on_load(self, _values: Values) -> None:
        for stray in self._strays:
            self._load(*stray)
        self._say(f"{self.words} is loaded again.", focus="context")

    def _on_choose(self, values: Values) -> None:
        chosen = values.get("context")
        if chosen not in self._contexts:
            raise ValueError(f"Choose one of: {', '.join(self._contexts.values())}.")
        self.context = chosen
        self._say(f"{self.words} is selected.")

    def parts(self) -> Sequence[Part]:
        about = self._about.get(self.context)
        description = [Prose("about", about)] if about else []
        return [
            Options("context", "Context", self._contexts, self.context, inline=True, asks="choose"),
            *description,
            *self._apart(),
            *([BesideLinks("beside", self._titles)] if self._led else []),
        ]

    @property
    def _titles(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(instrument.title for instrument, _ in self._led))

    def _apart(self) -> list[Part]:
        titles = list(dict.fromkeys(instrument.title for instrument, _ in self._strays))
        if not titles:
            return []
        named = " and ".join(f"*{title}*" for title in titles)
        shows = "shows" if len(titles) == 1 else "show"
        words = f"{named} {shows} something else now, because it was chosen there."
        return [
            Prose("apart", words, label="Not this context.", tone="orange"),
            Buttons("load", (("load", "Load this context again"),)),
        ]


def _choices(instrument: Instrument, names: Iterable[str]) -> list[str]:
    """The names of inputs that are chosen from a menu."""
    return [name for name in names if not isinstance(instrument.controls[name], Slider)]
