"""Claims, true and false ones, each answered with the facts once the student took a stance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Buttons, Options, Part, Prose
from mlsys_widgets.cards.task import ItemTask
from mlsys_widgets.labs import Myth, Myths
from mlsys_widgets.ledger import Ledger
from mlsys_widgets.wording.choices import one_of

STANCES: Final = {"believe": "I believe it", "doubt": "I doubt it"}
#: What is said about a stance: whether the claim is true, and whether the stance is right.
_VERDICTS: Final = {
    (True, True): "True, as you said.",
    (True, False): "This one is true.",
    (False, True): "You were right to doubt it.",
    (False, False): "Many people believe it, but it is not true.",
}


class MythBuster(ItemTask):
    """Claims one after the other: say whether you believe each one, then read the facts.

    Parameters
    ----------
    myths_id
        The name of the item; `Myths.ledger_names` says what the ledger calls each stance.
    myths
        The item, or its claims.
    ledger
        Where it is kept.
    after
        A gate, or several, that must be open first.
    title
        The heading.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="review", student="student-01")
    >>> from mlsys_widgets import Myth
    >>> flops = Myth("flops", "Fewer FLOPs run faster.", "Not where bytes set the pace.")
    >>> myths = MythBuster("myths", [flops], ledger=led)
    >>> myths.commit("flops", "doubt")
    'Not where bytes set the pace.'
    """

    kind = "Claims"
    tone = "red"

    def __init__(
        self,
        myths_id: str,
        myths: Myths | Iterable[Myth],
        *,
        ledger: Ledger,
        after: Gate | Iterable[Gate] = (),
        title: str = Myths.title,
    ) -> None:
        if not isinstance(myths, Myths):
            myths = Myths(tuple(myths), title)
        super().__init__(myths_id, myths, myths.title, ledger=ledger, after=after)
        self._myths = {myth.key: myth for myth in myths.myths}
        self._names = dict(zip(self._myths, myths.ledger_names(myths_id), strict=True))
        self.refresh()

    @property
    def stances(self) -> dict[str, str]:
        """The first stance on each claim: believe or doubt."""
        kept = self._state.answers if self._state else {}
        found = {key: kept.get(name) for key, name in self._names.items()}
        return {key: (a.earlier or (a,))[0].value for key, a in found.items() if a is not None}

    @property
    def score(self) -> tuple[int, int]:
        """How many claims were sorted correctly, and how many were sorted."""
        stances = self.stances
        return sum(self._myths[key].is_sorted(each) for key, each in stances.items()), len(stances)

    def commit(self, key: str, stance: str) -> str:
        """Believe or doubt a claim, once; returns the facts.

        Raises
        ------
        ValueError
            With a sentence that says what is allowed, or which stance you took before.
        NotSaved
            When the ledger could not be written: the facts appear only after it was.
        """
        self._need_gates()
        myth = self._myths[one_of("myth", key, tuple(self._myths))]
        if stance not in STANCES:
            raise ValueError("First say whether you believe it or doubt it.")
        before = self.stances.get(key)
        if before is not None and before != stance:
            raise ValueError(f"You already said “{STANCES[before]}”, and that counts.")
        if before is None:
            self._save(lambda: self._ledger.record_answer(self._names[key], stance))
        self.show()
        return myth.reality

    def actions(self) -> Mapping[str, Action]:
        return {f"commit-{key}": self._commits(key) for key in self._myths}

    def _commits(self, key: str) -> Action:
        def on_commit(values: Values) -> None:
            reality = self.commit(key, values.get(key) or "")
            self._say(f"The facts: {reality}", focus=f"{key}-reality")

        return on_commit

    def parts(self) -> Sequence[Part]:
        stances, parts = self.stances, list[Part]()
        for k, (key, myth) in enumerate(self._myths.items(), 1):
            stance = stances.get(key)
            claim = f"**{k} of {len(self._myths)}.** “{myth.claim}”"
            known = stance if stance in STANCES else None
            parts.append(Options(key, claim, STANCES, known, stance is not None, inline=True))
            if stance is None:
                parts.append(Buttons(f"{key}-send", ((f"commit-{key}", "Show me the facts"),)))
                break
            tone = "green" if myth.is_sorted(stance) else "orange"
            label = _VERDICTS[myth.true, myth.is_sorted(stance)]
            parts.append(Prose(f"{key}-reality", myth.reality, tone=tone, label=label))
        if self.is_open:
            right, count = self.score
            parts.append(Prose("score", f"You sorted {right} of {count} correctly.", quiet=True))
        return parts
