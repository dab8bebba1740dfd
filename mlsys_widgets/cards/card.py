"""The base of all cards of a lab: it shows parts, and does what its buttons ask for.

A card says what it shows now (``parts``) and what its buttons do (``actions``). The rest is here:
messages from the browser, refusals as sentences, retries, gates, and the still version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets
import traitlets

from mlsys_widgets.cards.parts import Part, Prose, in_words, on_a_page
from mlsys_widgets.drawing import markup
from mlsys_widgets.drawing.theme import TONES
from mlsys_widgets.instruments import still_pages
from mlsys_widgets.instruments.browser_widget import BrowserWidget
from mlsys_widgets.instruments.lazy_widget import LazyBox
from mlsys_widgets.ledger import LedgerError, NotSaved
from mlsys_widgets.wording.local_time import with_local_times

#: What the browser sends with an action: the value of every input of the card, by name.
Values = Mapping[str, Any]
Action = Callable[[Values], None]


class Gate(Protocol):
    """Something that opens once, as a prediction does when it is committed."""

    @property
    def is_open(self) -> bool:
        """Whether it is open."""

    @property
    def to_open(self) -> str:
        """How to open it, as the end of "Opens after you …"."""

    def on_open(self, then: Callable[[], None]) -> None:
        """Call back when it opens, or right away if it is open."""


class Card(BrowserWidget):
    """The card in the browser. Python writes ``view``; actions arrive as messages."""

    SHOWN = "view"
    _model_name = traitlets.Unicode("CardModel").tag(sync=True)
    _view_name = traitlets.Unicode("CardView").tag(sync=True)

    #: What is shown: title, parts, trouble, and what a screen reader should say now. Under a number
    #: that grows when any of it changes.
    view = traitlets.Dict().tag(sync=True)

    @traitlets.validate("view")
    def _numbered(self, proposal: Any) -> dict[str, Any]:
        number = self.view.get("number", 0)
        same = {**proposal["value"], "number": number} == self.view
        return self.view if same else {**proposal["value"], "number": number + 1}


class LabWidget(LazyBox):
    """Base of the cards of a lab.

    Parameters
    ----------
    title
        The heading of the card.
    after
        A gate, or several, that must be open before this shows more than its title.
    """

    #: A word above the title that says what kind of card this is, and its color.
    kind = "Lab"
    tone = "gray"
    #: How it is drawn: a ``"task"`` in a box, because one acts on it; a ``"letter"``, a ``"note"``,
    #: the ``"cover"`` or the ``"ending"`` of a lab without one.
    drawn_as = "task"
    #: What the title ends with in brackets, drawn smaller: what it is worth.
    aside = ""

    def __init__(self, title: str, *, after: Gate | Iterable[Gate] = ()) -> None:
        super().__init__()
        self.title = title
        self._gates = tuple(after) if isinstance(after, Iterable) else (after,)
        self._trouble: tuple[str, bool] | None = None
        self._again: Callable[[], None] | None = None
        self._said = ""
        self._focus = ""
        self.add_class("mlsys-lab")
        for gate in self._gates:
            if not gate.is_open:
                gate.on_open(self.refresh)

    # What a card says about itself; subclasses answer.

    def parts(self) -> Sequence[Part]:
        """Return what is on the card now."""
        raise NotImplementedError

    def actions(self) -> Mapping[str, Action]:
        """Return what the buttons of the card do."""
        return {}

    def refresh(self) -> None:
        """Update everything this shows; called when another card has saved something."""
        self.show()

    # Gates.

    @property
    def blocked_by(self) -> Gate | None:
        """The first gate before this one that is still closed."""
        return next((gate for gate in self._gates if not gate.is_open), None)

    def _need_gates(self) -> None:
        if gate := self.blocked_by:
            raise ValueError(f"{self.title} is still closed. It opens after you {gate.to_open}.")

    def _shown(self) -> Sequence[Part]:
        if gate := self.blocked_by:
            words = f"Opens after you {gate.to_open}."
            return [Prose("closed", words, label="Closed.", quiet=True)]
        try:
            return self.parts()
        except Exception as problem:  # a function of the author, most likely; never a traceback
            why = str(problem) or type(problem).__name__
            return [Prose("unshown", f"This cannot be shown: {why}.", tone="red")]

    # What the browser asks.

    def _asked(self, _card: Any, content: Any, _buffers: Any) -> None:
        """Do what a button asks for; whatever happens, the student sees a sentence."""
        name, values = content.get("action"), content.get("values") or {}
        again, self._again, self._trouble = self._again, None, None
        self._said = self._focus = ""

        def do() -> None:
            if name == "retry" and again is not None:
                again()
            else:
                self.actions()[name](values)

        try:
            do()
        except NotSaved as problem:
            self._refused(str(problem), do)
        except (LedgerError, ValueError) as problem:
            self._refused(str(problem))
        except Exception as problem:  # never a traceback in front of a student
            why = str(problem) or type(problem).__name__
            self._refused(f"That did not work: {why}. Nothing you entered is lost, so try again.")
        self.show()
        # With the refusal: the state that shows it may be lost, and what was entered must stay.
        self._card.send({"answered": content.get("stamp"), "refusal": self._refusal})

    @property
    def _refusal(self) -> str:
        return self._trouble[0] if self._trouble else ""

    def _refused(self, sentence: str, again: Callable[[], None] | None = None) -> None:
        """Show why something was not done, and offer a retry where that makes sense."""
        self._trouble, self._again = (sentence, again is not None), again

    def _settled(self) -> None:
        self._trouble = self._again = None

    def _say(self, words: str, focus: str = "") -> None:
        """Have a screen reader say something, and move the keyboard focus to a part."""
        self._said, self._focus = markup.plain(words), focus

    # What is seen.

    def show(self) -> None:
        """Bring the card in the browser up to date, if it is in one."""
        if self.has_face:
            card = self._card
            card.view = self._seen()
            self.children = (card, *self.below())
        still_pages.changed(self)

    def face(self) -> tuple[ipywidgets.Widget, ...]:
        card = Card(view=self._seen())
        card.on_msg(self._asked)
        return (card, *self.below())

    def below(self) -> tuple[ipywidgets.Widget, ...]:
        """Return what stands below the card: a plot, or a box of its own."""
        return ()

    def picture_below(self) -> str:
        """Return the same for a page without a kernel, as SVG or HTML."""
        return ""

    def figure_words(self) -> str:
        """Describe the plot to those who cannot see it; empty without a plot."""
        return ""

    @property
    def _card(self) -> Card:
        card = self.children[0]
        assert isinstance(card, Card)
        return card

    def _seen(self) -> dict[str, Any]:
        """Return what the browser draws the card from."""
        parts, trouble, figure = self._shown(), self._trouble, self.figure_words()
        return {
            "kind": self.kind,
            "look": self.drawn_as,
            "closed": self.blocked_by is not None,
            "tone": TONES[self.tone],
            "title": self._drawn_title(),
            "label": f"{self.kind}: {markup.plain(self.title)}",
            "parts": [part.spec() for part in parts],
            "trouble": {"words": trouble[0], "retry": trouble[1]} if trouble else None,
            "said": self._said,
            "focus": self._focus,
            **({"figure": figure} if figure else {}),
            **self._record(),
        }

    def _drawn_title(self) -> str:
        aside = f" ({self.aside})"
        if not self.aside or not self.title.endswith(aside):
            return markup.inline(self.title)
        return (
            f"{markup.inline(self.title.removesuffix(aside))} <small>({escape(self.aside)})</small>"
        )

    def _record(self) -> dict[str, Any]:
        """Return what the browser needs to keep drafts; nothing on a card that records nothing."""
        return {}

    def text(self) -> str:
        """Return what the card says, in plain text."""
        return self._in_words(self._shown())

    def html(self) -> str:
        """Return the card as it appears on a page without a kernel."""
        return self._on_a_page(self._shown())

    def _in_words(self, parts: Sequence[Part]) -> str:
        lines = [f"{self.kind}: {markup.plain(self.title)}", in_words(parts)]
        trouble = [with_local_times(self._trouble[0])] if self._trouble else []
        return "\n".join([*lines, *trouble])

    def _on_a_page(self, parts: Sequence[Part]) -> str:
        problem = with_local_times(self._trouble[0]) if self._trouble else ""
        trouble = f"<p><strong>{escape(problem)}</strong></p>" if problem else ""
        return (
            '<div style="border:1px solid #bbb;border-radius:8px;padding:8px 16px;max-width:680px">'
            f"<small>{escape(self.kind)}</small><h4>{markup.inline(self.title)}</h4>"
            f"{on_a_page(parts)}{trouble}</div>{self.picture_below()}"
        )

    def __repr__(self) -> str:
        # The one of ipywidgets writes out all traits of everything inside, for every cell shown.
        return f"<{type(self).__name__}: {self.title}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        self.refresh()
        return {**super()._repr_mimebundle_(**options), **still_pages.follow(self)}

    def still(self) -> dict[str, str]:
        """Return what is shown where widgets are not live."""
        parts = self._shown()
        return {"text/plain": self._in_words(parts), "text/html": self._on_a_page(parts)}
