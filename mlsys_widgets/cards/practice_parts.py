"""What a card says in practice: whether an answer is right, why, and how it is solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.cards.parts import Buttons, FoldedProse, Part, Prose
from mlsys_widgets.files import LEDGER
from mlsys_widgets.judging import Given, Verdict
from mlsys_widgets.judging.judge_answer import judge_answer
from mlsys_widgets.judging.keys import Checks, CodeKey, Key, NumberKey
from mlsys_widgets.labs import Code, Parameters
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.function_calls import call_apart
from mlsys_widgets.labs.practice import right_by_idea
from mlsys_widgets.ledger import Ledger, LedgerError

#: How verdicts begin where they say no more than right or not; the card says that itself.
_OPENINGS = ("Right.", "Right:", "Not right:", "Not right.")
#: So many digits tell a number that may be off by such a part, or by more.
_DIGITS: Final = 4
_TELLING: Final = 0.005


@dataclass(frozen=True)
class Practice:
    """The checks of a lab, which lie beside a copy for practice, and the folder they are about."""

    checks: Checks
    folder: Path

    def judged(self, name: str, item: Checked, p: Parameters, answer: Any) -> Verdict:
        """Judge an answer; a function runs in a process of its own."""

        def replies(key: CodeKey) -> Sequence[Any]:
            assert isinstance(item, Code)
            return call_apart(answer, item.function, key.cases, key.driver)

        return judge_answer(self.checks[name], Given(p, self.folder), answer, replies)

    def _key(self, name: str, p: Parameters) -> Key | None:
        try:
            return self.checks[name](Given(p, self.folder))
        except ValueError:  # of an answer about a file that is missing or broken
            return None

    def ideas(self, name: str, p: Parameters) -> list[str]:
        """Return the ideas, shared with other questions and labs, that a question is about."""
        key = self._key(name, p)
        return sorted({each.idea for each in key.beliefs if each.idea}) if key else []

    def solution(
        self, name: str, item: Checked, p: Parameters, answer: Any, verdict: Verdict
    ) -> str:
        """Return the right answer with the student's numbers, and why; empty if nobody knows.

        What the verdict on a right answer says is not said twice. The solution is then only what
        was not answered: more digits, or another way to write a function.
        """
        if (key := self._key(name, p)) is None:
            return ""
        if isinstance(key, CodeKey):
            # Spaces that a page keeps: without them nobody sees what belongs to a loop.
            lines = (line for line in str(key.value).splitlines() if line.strip())
            value = "\n\n".join(
                f"`{chr(160) * (len(line) - len(line.lstrip()))}{line.lstrip()}`" for line in lines
            )
        else:
            said = item.in_words(_as_said(key))
            is_told = verdict.right and said == item.in_words(answer)
            value = "" if is_told else f"**{said}**"
        if verdict.right and key.says in verdict.says:
            return value
        return f"{value}\n\n{beyond_the_verdict(key.says)}".strip()


def known_elsewhere(ledger: Ledger) -> dict[str, int]:
    """Count by idea what was right at the first try in the labs beside one, by the same student."""
    found: Counter[str] = Counter()
    for path in sorted(ledger.path.absolute().parent.parent.glob(f"*/{LEDGER}")):
        if path.parent.name != ledger.lab:
            with suppress(LedgerError):
                beside = Ledger.open(path).state()
                found += right_by_idea(beside.answers if beside.student == ledger.student else {})
    return dict(found)


def _as_said(key: Key) -> Any:
    """Return the right answer, a number with no more digits than somebody would say."""
    if isinstance(key, NumberKey) and not key.absolute and key.tolerance >= _TELLING:
        return float(f"{key.value:.{_DIGITS}g}")
    return key.value


def beyond_the_verdict(says: str) -> str:
    """Return what an explanation says beyond right or not right.

    Examples
    --------
    >>> beyond_the_verdict("Right."), beyond_the_verdict("Not right: it is too high.")
    ('', 'It is too high.')
    >>> beyond_the_verdict("Launches cost time, too.")
    'Launches cost time, too.'
    """
    for opening in _OPENINGS:
        if says.startswith(opening):
            rest = says.removeprefix(opening).strip()
            return rest[:1].upper() + rest[1:]
    return says


def told(verdict: Verdict, solution: str, note: str) -> list[Part]:
    """Return what a card shows below a judged answer."""
    label, tone = ("✓ Right.", "green") if verdict.right else ("✗ Not right.", "orange")
    parts: list[Part] = [Prose("verdict", beyond_the_verdict(verdict.says), label=label, tone=tone)]
    if solution:
        heading = "The solution with your numbers"
        parts.append(FoldedProse("solution", solution, heading=heading))
    parts.append(Buttons("again", (("another", "Another one like this"),), leads=False))
    if note:
        parts.append(Prose("no-more", note, quiet=True))
    return parts
