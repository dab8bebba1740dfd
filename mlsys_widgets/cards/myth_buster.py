"""Misconceptions, each met with what is the case once the student has said what they think."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Buttons, Options, Part, Prose
from mlsys_widgets.cards.task import Task
from mlsys_widgets.ledger import Ledger, State
from mlsys_widgets.physics.domain import one_of

STANCES: Final = {"believe": "I believe it", "doubt": "I doubt it"}


@dataclass(frozen=True)
class Myth:
    """A claim that many believe, and what is the case."""

    key: str
    claim: str
    reality: str


class MythBuster(Task):
    """Claims one after the other: say whether you believe it, then see what is the case.

    What was said is kept as ``<myths_id>.<key>``, once for each claim.

    Parameters
    ----------
    myths_id
        The name under which the ledger keeps what was said.
    myths
        The claims.
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
    >>> flops = Myth("flops", "Fewer FLOPs run faster.", "Not where bytes set the pace.")
    >>> myths = MythBuster("myths", [flops], ledger=led)
    >>> myths.commit("flops", "doubt")
    'Not where bytes set the pace.'
    >>> folder.cleanup()
    """

    kind = "Myths"
    tone = "red"

    def __init__(
        self,
        myths_id: str,
        myths: Iterable[Myth],
        *,
        ledger: Ledger,
        after: Gate | Iterable[Gate] = (),
        title: str = "True, or only often said?",
    ) -> None:
        super().__init__(myths_id, title, ledger=ledger, after=after)
        self._myths = {myth.key: myth for myth in myths}
        if not self._myths:
            raise ValueError(f"{myths_id} has no myths; there must be one at least")
        self.refresh()

    @property
    def stances(self) -> dict[str, str]:
        """What was said to each claim at first: believe or doubt."""
        kept = self._state.answers if self._state else {}
        found = {key: kept.get(f"{self.task_id}.{key}") for key in self._myths}
        return {key: (a.earlier or (a,))[0].value for key, a in found.items() if a is not None}

    def done(self, state: State) -> bool:
        """Whether something was said to every claim."""
        return all(f"{self.task_id}.{key}" in state.answers for key in self._myths)

    def commit(self, key: str, stance: str) -> str:
        """Say believe or doubt, once; what is the case comes back.

        Raises
        ------
        ValueError
            With a sentence that says what is allowed, or what was said before.
        NotSaved
            When the ledger could not be written: nothing is shown before it is.
        """
        self._need_gates()
        myth = self._myths[one_of("myth", key, tuple(self._myths))]
        if stance not in STANCES:
            raise ValueError("Say first whether you believe it or doubt it.")
        said = self.stances.get(key)
        if said is not None and said != stance:
            raise ValueError(f"You said already “{STANCES[said]}”; that one counts.")
        if said is None:
            self._save(lambda: self._ledger.record_answer(f"{self.task_id}.{key}", stance))
        self.show()
        return myth.reality

    def actions(self) -> Mapping[str, Action]:
        """Commit, for each claim."""
        return {f"commit-{key}": self._commits(key) for key in self._myths}

    def _commits(self, key: str) -> Action:
        def on_commit(values: Values) -> None:
            reality = self.commit(key, values.get(key) or "")
            self._say(f"What is the case: {reality}", focus=f"{key}-reality")

        return on_commit

    def parts(self) -> Sequence[Part]:
        """The claims so far, each with what is the case, and the next one."""
        said, parts = self.stances, list[Part]()
        for k, (key, myth) in enumerate(self._myths.items(), 1):
            stance = said.get(key)
            claim = f"**{k} of {len(self._myths)}.** “{myth.claim}”"
            known = stance if stance in STANCES else None
            parts.append(Options(key, claim, STANCES, known, stance is not None, inline=True))
            if stance is None:
                parts.append(Buttons(f"{key}-send", ((f"commit-{key}", "Show what is the case"),)))
                break
            tone, label = (
                ("green", "You doubted it, and you do well to.")
                if stance == "doubt"
                else ("orange", "Many believe it.")
            )
            parts.append(Prose(f"{key}-reality", myth.reality, tone=tone, label=label))
        if self.is_open:
            doubted = sum(stance == "doubt" for stance in said.values())
            words = f"You doubted {doubted} of {len(self._myths)}."
            parts.append(Prose("score", words, quiet=True))
        return parts
