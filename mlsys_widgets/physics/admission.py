"""Who is let into a serving engine: a policy decides, step by step, and a replay finds what it did.

An engine in pages asks a policy in every step in which somebody waits how many of them it reads
now. Too few leave pages empty; too many run out of pages later, and the engine reads them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mlsys_widgets.physics.serving_simulation import (
    Admission,
    ServedTrace,
    ServingRequest,
    StepTimes,
    simulate_serving,
)

#: Decisions in one run; from then on nobody is let in. They leave a process as one short text.
MOST_DECISIONS: Final = 900


class ImpossibleAdmission(ValueError):
    """A decision that no engine can follow."""


@dataclass(frozen=True, eq=False)
class AdmissionOutcome:
    """The outcome of decisions: what was served, and how many promises were kept."""

    served: ServedTrace  # what happened to each request
    shown: Sequence[Any]  # what the policy was shown before each decision
    #: Answers whose first token came as promised, and those that were completed without a pause
    #: longer than promised.
    in_time: int
    flowing: int
    kept: int  # answers that keep both promises


@dataclass(frozen=True)
class AdmissionRun:
    """Requests, and the engine that they come to, as plain data."""

    #: Arrival in seconds, and tokens of prompt and of answer; in the order of their arrival.
    requests: Sequence[Sequence[float]]
    pages: int  # pages of the cache, and tokens of each
    block: int
    read: Sequence[float]  # seconds to read a prompt: at least, and for each token
    #: Seconds to write a token for everybody: at least, for each sequence, and for each token in
    #: the cache.
    write: Sequence[float]
    #: What users were promised: how long after a request the first token of its answer comes at the
    #: latest, and how long each other after the one before.
    first: float
    pause: float

    def serve(self, admit: Admission | None = None) -> ServedTrace:
        """Serve them with a policy; without one, the engine lets in as many as fit.

        `ImpossibleAdmission` if it lets in whom the engine cannot take.
        """

        def checked(free: int, running: list[list[int]], waiting: list[list[float]]) -> int:
            # Before the policy has them: it may change what it is shown.
            pages = [-(-int(tokens) // self.block) for tokens, _ in waiting]
            assert admit
            count = admit(free, running, waiting)
            if type(count) is not int:
                raise ImpossibleAdmission(f"it returns {count!r:.60}; return a whole number")
            if not 0 <= count <= len(pages):
                raise ImpossibleAdmission(f"it lets {count} in where {len(pages)} wait")
            needed = sum(pages[:count])
            if needed > free:
                raise ImpossibleAdmission(
                    f"it lets {count} in whose prompts need {needed} pages, and {free} are free"
                )
            return count

        at_least, a_token = self.read
        a_step, a_sequence, cached = self.write
        return simulate_serving(
            [
                ServingRequest(arrival, int(prompt), int(answer))
                for arrival, prompt, answer in self.requests
            ],
            StepTimes(
                lambda tokens: at_least + a_token * tokens,
                lambda batch, tokens: a_step + a_sequence * batch + cached * tokens,
            ),
            slots=1,
            room=self.pages * self.block,
            policy="paged",
            block=self.block,
            admit=checked if admit else None,
        )

    def came_of(self, served: ServedTrace, shown: Sequence[Any] = ()) -> AdmissionOutcome:
        """Hold what happened against the promises."""
        in_time = served.wait <= self.first
        flowing = (served.pause <= self.pause) & np.isfinite(served.ended)
        return AdmissionOutcome(
            served, shown, int(in_time.sum()), int(flowing.sum()), int((in_time & flowing).sum())
        )


def play(policy: Admission, run: Mapping[str, Any]) -> list[Any]:
    """Let a policy decide, and return what it decided; an impossible decision is the last."""
    decided: list[Any] = []

    def noted(free: int, running: list[list[int]], waiting: list[list[float]]) -> int:
        if len(decided) == MOST_DECISIONS:
            return 0
        decided.append(policy(free, running, waiting))
        count: int = decided[-1]
        return count

    with suppress(ImpossibleAdmission):  # a replay says what was impossible
        AdmissionRun(**run).serve(noted)
    return decided


def replay(decided: Sequence[Any], run: Mapping[str, Any]) -> AdmissionOutcome:
    """Find out what came of decisions.

    `ImpossibleAdmission` if no engine can have followed them.
    """
    shown: list[Any] = []

    def next_one(free: int, running: list[list[int]], waiting: list[list[float]]) -> int:
        if len(shown) == MOST_DECISIONS:
            return 0
        if len(shown) == len(decided):
            raise ImpossibleAdmission(f"it decided {len(decided)} times, and was asked once more")
        shown.append([free, running, waiting])
        count: int = decided[len(shown) - 1]
        return count

    engine = AdmissionRun(**run)
    served = engine.serve(next_one)
    if len(shown) < len(decided):
        raise ImpossibleAdmission(f"it was asked {len(shown)} times, and decided more often")
    return engine.came_of(served, shown)
