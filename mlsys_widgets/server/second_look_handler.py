"""Asking for a second look from a feedback page, or from the lab it belongs to.

| request | gives |
|---|---|
| ``GET mlsys/second-look?path=<page or notebook>`` | the lab's questions, and what was asked and answered |
| ``POST mlsys/second-look`` with ``path``, ``question``, ``words`` | asks, and gives the same |
"""  # noqa: E501

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any, Final

from jupyter_core.paths import jupyter_data_dir
from jupyter_server.auth.decorator import authorized
from tornado import web

from mlsys_widgets.course.exchange_place import BOX, exchange_folder, nbgrader_settings
from mlsys_widgets.files import held, write_whole
from mlsys_widgets.handin.second_look import (
    LONGEST_WORDS,
    SecondLookRequest,
    clean_words,
    new_ticket,
    put_into_box,
    read_answer,
)
from mlsys_widgets.handin.work import LabWork, read_work
from mlsys_widgets.labs.identity import student
from mlsys_widgets.server.handlers import PanelHandler

#: In Jupyter's folder for data: what this user has asked, because the file in the exchange is
#: removed once somebody who teaches has it.
_ASKED: Final = Path("mlsys", "second-looks.json")
#: Requests that are remembered, and seconds that one waits for another to be written.
_MOST_KEPT: Final = 500
_PATIENCE: Final = 5.0


def notebook_of(path: str) -> str:
    """Return the path of the notebook that a feedback page belongs to; a notebook's own stays.

    nbgrader puts feedback into ``LAB/feedback/TIME/LAB.html``.
    """
    pure = PurePosixPath(path)
    if pure.suffix == ".html" and len(pure.parts) >= 4 and pure.parts[-3] == "feedback":
        return str(pure.parents[2] / f"{pure.stem}.ipynb")
    return path


@dataclass(frozen=True)
class GradedQuestion:
    """A question that can be asked about."""

    name: str
    title: str


@dataclass(frozen=True)
class OwnRequest:
    """A request about a question; ``answer`` is what came back, if something did."""

    question: str
    title: str
    words: str
    time: str
    answer: Mapping[str, Any] | None


@dataclass(frozen=True)
class SecondLookReply:
    """The questions of a lab, and what was asked about them, the latest first."""

    lab: str
    title: str
    longest: int
    questions: Sequence[GradedQuestion]
    asked: Sequence[OwnRequest]


class SecondLookHandler(PanelHandler):
    """Says what can be asked and what was answered, and asks."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.about_lab(self.get_query_argument("path"), self.standing)

    @web.authenticated
    @authorized
    async def post(self) -> None:
        body, path = self.get_json_body(), self.path_in_body()
        if path is None:
            return
        match body:
            case {"question": str(question), "words": str(words)}:
                await self.about_lab(path, lambda work: self.ask(work, question, words))
            case _:
                self.refuse(HTTPStatus.BAD_REQUEST, "The question or your words are missing.")

    async def about_lab(self, path: str, reply: Callable[[LabWork], SecondLookReply]) -> None:
        """Answer about the lab of a page or a notebook."""

        def about(notebook: Path) -> SecondLookReply:
            try:
                return reply(read_work(notebook))
            except OSError as problem:
                why = problem.strerror or problem
                raise ValueError(f"that could not be done: {why}; try again") from None

        await self.answer(
            notebook_of(path),
            about,
            missing="The notebook of this lab is not where it was handed in from; fetch it again.",
        )

    def standing(self, work: LabWork) -> SecondLookReply:
        """Return the questions of a lab, and what was asked about them."""
        exchange = self.exchange(work)
        questions = graded_questions(work)
        with _own_requests() as own:
            own.send(exchange)
            mine = [each for each in own.requests if each.lab == work.lab]
        return SecondLookReply(
            lab=work.lab,
            title=work.title,
            longest=LONGEST_WORDS,
            questions=[GradedQuestion(name, title) for name, title in questions.items()],
            asked=[
                OwnRequest(
                    each.question,
                    questions.get(each.question, each.question),
                    each.words,
                    each.time,
                    read_answer(exchange, each.ticket),
                )
                for each in reversed(mine)
            ],
        )

    def ask(self, work: LabWork, question: str, words: str) -> SecondLookReply:
        """Ask, if it is a question of the lab and not open already."""
        cleaned = clean_words(words)
        if not cleaned:
            raise ValueError("write what should be looked at, in a sentence or two")
        if len(words.strip()) > LONGEST_WORDS:
            raise ValueError(f"your words are too long; write at most {LONGEST_WORDS} characters")
        questions = graded_questions(work)
        if question not in questions:
            raise ValueError("the lab has no such question; choose one from the list")
        exchange = self.exchange(work)
        with _own_requests() as own:
            for each in own.requests:
                same = (each.lab, each.question) == (work.lab, question)
                if same and read_answer(exchange, each.ticket) is None:
                    raise ValueError(
                        "you have asked about this question already; wait for the answer"
                    )
            moment = datetime.now(UTC).isoformat(timespec="seconds")
            own.add(
                SecondLookRequest(
                    new_ticket(), student(work.folder).name, work.lab, question, cleaned, moment
                )
            )
            own.send(exchange)
        return self.standing(work)

    def exchange(self, work: LabWork) -> Path:
        """Return the folder of the course in the exchange, with a box for requests."""
        found = exchange_folder(nbgrader_settings(self.services.root.folder, work.folder.parent))
        if found is None or not os.access(found / BOX, os.W_OK | os.X_OK):
            raise ValueError("this course takes no requests here; write to your instructor instead")
        return found


@contextmanager
def _own_requests() -> Iterator[_OwnRequests]:
    """Hold what this user has asked; others who would write it wait."""
    path = Path(jupyter_data_dir()) / _ASKED
    busy = "another request is being sent; try again"
    with held(path.with_suffix(".lock"), busy, patience=_PATIENCE):
        yield _OwnRequests(path)


class _OwnRequests:
    """The requests of this user, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.requests: list[SecondLookRequest] = []
        self._unsent: set[str] = set()
        try:
            kept = json.loads(path.read_bytes())
            self.requests = [SecondLookRequest(**each) for each in kept["requests"]]
            self._unsent = set(kept["unsent"])
        except FileNotFoundError:
            pass
        except (ValueError, LookupError, TypeError):
            # Somebody's own file, edited: what was asked is still with those who teach.
            self.requests, self._unsent = [], set()

    def add(self, request: SecondLookRequest) -> None:
        """Remember a request before it is sent, so that none is sent and forgotten."""
        self.requests = [*self.requests, request][-_MOST_KEPT:]
        self._unsent.add(request.ticket)
        self._save()

    def send(self, exchange: Path) -> None:
        """Send what was not sent yet, as after a crash; twice is as good as once."""
        waiting = [each for each in self.requests if each.ticket in self._unsent]
        for each in waiting:
            put_into_box(exchange, each)
        if waiting:
            self._unsent.clear()
            self._save()

    def _save(self) -> None:
        kept = {"requests": [asdict(r) for r in self.requests], "unsent": sorted(self._unsent)}
        write_whole(self._path, json.dumps(kept), mode=0o600)


def graded_questions(work: LabWork) -> dict[str, str]:
    """Return the graded cells of a lab by name, each with the title that its card has."""
    titles = {step.name: step.title for step in work.steps}
    cells = json.loads(work.notebook.read_bytes()).get("cells", [])
    found = {}
    for cell in cells:
        match cell:
            case {"metadata": {"nbgrader": {"grade": True, "grade_id": str(name)}}}:
                found[name] = titles.get(name) or name.replace("_", " ")
    return found
