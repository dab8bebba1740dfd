"""A checklist to be ticked honestly, with a score and what to do about the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Buttons, Checks, Numbers, Part, Points, Prose, moment
from mlsys_widgets.cards.task import Task
from mlsys_widgets.ledger import Ledger, State

#: (lowest score, assessment, advice), from the highest to the lowest.
Band = tuple[int, str, str]


class SelfAssessment(Task):
    """What can you do? Tick it, and see what to look at again.

    It can be saved as often as wanted; the last one stands.

    Parameters
    ----------
    assessment_id
        The name under which the ledger keeps what was ticked.
    items
        What a student should be able to do, key and words.
    bands
        ``(lowest score, assessment, advice)`` of each band; one must begin at 0.
    review
        Where to look each item up again, by key.
    ledger
        Where it is kept.
    after
        A gate, or several, that must be open first.
    title
        The heading.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> led = Ledger.open(Path(folder.name) / "ledger.jsonl", lab="review", student="student-01")
    >>> can = SelfAssessment(
    ...     "can",
    ...     {"ridge": "find a ridge", "fuse": "fuse kernels"},
    ...     bands=[(2, "Ready", "Go on."), (0, "Not yet", "Read again.")],
    ...     ledger=led,
    ... )
    >>> can.save(["ridge"])
    (0, 'Not yet', 'Read again.')
    >>> folder.cleanup()
    """

    kind = "Checklist"
    tone = "green"

    def __init__(
        self,
        assessment_id: str,
        items: Mapping[str, str],
        *,
        bands: Iterable[Band],
        ledger: Ledger,
        review: Mapping[str, str] | None = None,
        after: Gate | Iterable[Gate] = (),
        title: str = "I can …",
    ) -> None:
        super().__init__(assessment_id, title, ledger=ledger, after=after)
        self._items, self._review = dict(items), dict(review or {})
        self._bands = sorted(bands, reverse=True)
        if not self._bands or self._bands[-1][0] != 0 or self._bands[0][0] > len(self._items):
            raise ValueError(
                f"bands of {assessment_id} begin at {[band[0] for band in self._bands]}; the lowest"
                f" must begin at 0 and none above {len(self._items)}, the number of items"
            )
        self.refresh()

    @property
    def ticked(self) -> tuple[str, ...] | None:
        """What was ticked when it was saved last; none before that."""
        kept = self._state.answers.get(self.task_id) if self._state else None
        return None if kept is None else tuple(key for key in self._items if key in kept.value)

    @property
    def band(self) -> Band | None:
        """The band of the score that was saved."""
        if self.ticked is None:
            return None
        return next(band for band in self._bands if len(self.ticked) >= band[0])

    def done(self, state: State) -> bool:
        """Whether it was saved."""
        return self.task_id in state.answers

    def save(self, ticked: Iterable[str]) -> Band:
        """Save what is ticked; the band of the score comes back.

        Raises
        ------
        ValueError
            With a sentence that names what is no item.
        NotSaved
            When the ledger could not be written.
        """
        self._need_gates()
        wanted = list(ticked)
        for key in wanted:
            if key not in self._items:
                listed = ", ".join(self._items)
                raise ValueError(f"ticked names {key!r}; it can name: {listed}")
        chosen = [key for key in self._items if key in wanted]
        self._save(lambda: self._ledger.record_answer(self.task_id, chosen))
        self.show()
        assert self.band is not None
        return self.band

    def actions(self) -> Mapping[str, Action]:
        """Save."""
        return {"save": self._on_save}

    def _on_save(self, values: Values) -> None:
        ticked: Any = values.get("items") or []
        _, words, advice = self.save(ticked)
        self._say(f"{len(ticked)} of {len(self._items)}. {words}. {advice}", focus="advice")

    def parts(self) -> Sequence[Part]:
        """The list; score, advice and what to look at again once it was saved."""
        ticked, band = self.ticked, self.band
        parts: list[Part] = [
            Checks("items", "Tick what you could explain to a colleague without notes.",
                   self._items, self._review, ticked or ()),
            Buttons("send", (("save", "Save and see my score"),)),
        ]  # fmt: skip
        if ticked is None or band is None:
            return parts
        assert self._state is not None
        time = moment(self._state.answers[self.task_id].time)
        tone = "green" if band == self._bands[0] else "orange"
        score = f"{len(ticked)} of {len(self._items)}"
        parts.append(Numbers("score", (("Score", score, tone, f"saved {time}"),)))
        parts.append(Prose("advice", band[2], tone=tone, label=f"{band[1]}."))
        again = [
            (words, self._review.get(key, ""))
            for key, words in self._items.items()
            if key not in ticked
        ]
        if again:
            parts.append(Prose("again", "Look at these again:"))
            parts.append(Points("gaps", tuple(again)))
        return parts
