"""A checklist to check off honestly, with a score and advice about the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Buttons, Checkboxes, NumberedList, Numbers, Part, Prose
from mlsys_widgets.cards.task import ItemTask, ShortForm
from mlsys_widgets.labs import Checklist
from mlsys_widgets.labs.items import Band
from mlsys_widgets.ledger import Ledger


class SelfAssessment(ItemTask):
    """A list of skills to check off, with advice on what to look at again.

    It can be saved any number of times; the last one stands.

    Parameters
    ----------
    assessment_id
        The name under which the ledger keeps what was checked.
    items
        A checklist, or what a student should be able to do, key and words.
    bands
        ``(lowest score, assessment, advice)`` of each band; one must begin at 0. Part of a
        checklist, like ``review`` and ``title``.
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
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="review", student="student-01")
    >>> can = SelfAssessment(
    ...     "can",
    ...     {"ridge": "find a ridge", "fuse": "fuse kernels"},
    ...     bands=[(2, "Ready", "Continue."), (0, "Not yet", "Read again.")],
    ...     ledger=led,
    ... )
    >>> can.save(["ridge"])
    (0, 'Not yet', 'Read again.')
    """

    kind = "Checklist"
    tone = "green"
    record_action = "save"

    def __init__(
        self,
        assessment_id: str,
        items: Checklist | Mapping[str, str],
        *,
        ledger: Ledger,
        bands: Iterable[Band] = (),
        review: Mapping[str, str] | None = None,
        after: Gate | Iterable[Gate] = (),
        title: str = Checklist.title,
    ) -> None:
        if not isinstance(items, Checklist):
            items = Checklist(items, tuple(bands), review or {}, title)
        self.item = items
        super().__init__(assessment_id, items, items.title, ledger=ledger, after=after)
        self.refresh()

    @property
    def ticked(self) -> tuple[str, ...] | None:
        """The skills that were checked when it was last saved; `None` before that."""
        kept = self._state.answers.get(self.task_id) if self._state else None
        return None if kept is None else tuple(key for key in self.item.skills if key in kept.value)

    @property
    def band(self) -> Band | None:
        """The band of the score that was saved."""
        return None if self.ticked is None else self.item.band(len(self.ticked))

    def save(self, ticked: Iterable[str]) -> Band:
        """Save what is checked; returns the band of the score.

        Raises
        ------
        ValueError
            With a sentence that names what is not on the list.
        NotSaved
            When the ledger could not be written.
        """
        self._need_gates()
        wanted = list(ticked)
        for key in wanted:
            if key not in self.item.skills:
                listed = ", ".join(self.item.skills)
                raise ValueError(f"ticked names {key!r}; it can name: {listed}")
        chosen = [key for key in self.item.skills if key in wanted]
        self._save(lambda: self._ledger.record_answer(self.task_id, chosen))
        self.show()
        assert self.band is not None
        return self.band

    def actions(self) -> Mapping[str, Action]:
        return {"save": self._on_save}

    def _on_save(self, values: Values) -> None:
        ticked: Any = values.get("items") or []
        _, words, advice = self.save(ticked)
        self._say(f"{len(ticked)} of {len(self.item.skills)}. {words}. {advice}", focus="advice")

    def fold(self) -> ShortForm | None:
        return ShortForm(("score", "advice", "again", "gaps")) if self.ticked is not None else None

    def parts(self) -> Sequence[Part]:
        """The list; and once it was saved, the score, advice, and what to look at again."""
        ticked, band = self.ticked, self.band
        parts: list[Part] = [
            Checkboxes("items", "Check everything you could explain to a colleague without notes.",
                       self.item.skills, self.item.review, ticked or ()),
            Buttons("send", (("save", "Save and see my score"),)),
        ]  # fmt: skip
        if ticked is None or band is None:
            return parts
        assert self._state is not None
        time = self._state.answers[self.task_id].time
        tone = "green" if band == self.item.bands[0] else "orange"
        score = f"{len(ticked)} of {len(self.item.skills)}"
        parts.append(Numbers("score", (("Score", score, tone, f"saved {time}"),)))
        parts.append(Prose("advice", band[2], tone=tone, label=f"{band[1]}."))
        again = [
            (words, self.item.review.get(key, ""))
            for key, words in self.item.skills.items()
            if key not in ticked
        ]
        if again:
            parts.append(Prose("again", "Look at these again:"))
            parts.append(NumberedList("gaps", tuple(again)))
        return parts
