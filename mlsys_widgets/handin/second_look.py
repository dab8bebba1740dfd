"""A second look: what a student asks about one question, as it travels through the exchange.

A request is a small file in a folder of the exchange into which everybody may put something and
which only those who teach can list. Its name holds a ticket that the student's server has drawn;
the answer comes back under the digest of that ticket, so nobody else can find it. Whatever is in
the file was written by a stranger: it is read strictly, and its words are cleaned.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from mlsys_widgets.course.exchange_place import ANSWERS, BOX
from mlsys_widgets.files import write_whole

#: Characters and lines of what a student writes, and bytes of the file.
LONGEST_WORDS: Final = 2000
MOST_LINES: Final = 40
LARGEST_REQUEST: Final = 32_768

_TICKET: Final = re.compile(r"[0-9a-f]{32}")
_LONGEST_NAME: Final = 128


@dataclass(frozen=True)
class SecondLookRequest:
    """A student's request for a second look at a grade."""

    #: Drawn for this request; whoever knows it can read the answer.
    ticket: str
    #: Who, in which lab, and about which graded cell.
    student: str
    lab: str
    question: str
    #: What for; cleaned.
    words: str
    time: str = ""

    @property
    def file_name(self) -> str:
        """The name under which it is put into the box."""
        return f"{self.ticket}.json"

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def new_ticket() -> str:
    """Draw a ticket that nobody can guess."""
    return secrets.token_hex(16)


def read_request(content: bytes) -> SecondLookRequest:
    """Read a request that somebody has put into the box; `ValueError` when it is none."""
    try:
        request = json.loads(content)
    except (ValueError, RecursionError):
        request = None
    names = {each.name for each in fields(SecondLookRequest)}
    if not isinstance(request, dict) or set(request) != names:
        raise ValueError("the file is no request")
    if not all(isinstance(value, str) for value in request.values()):
        raise ValueError("the file is no request")
    if not _TICKET.fullmatch(request["ticket"]):
        raise ValueError("the request has no ticket")
    for name in ("student", "lab", "question"):
        if not (request[name].isprintable() and 0 < len(request[name]) <= _LONGEST_NAME):
            raise ValueError(f"the request names no {name}")
    request |= {"words": clean_words(request["words"]), "time": clean_words(request["time"])[:40]}
    if not request["words"]:
        raise ValueError("the request has no words")
    return SecondLookRequest(**request)


def clean_words(words: str) -> str:
    r"""Clean words for a terminal and a page: no control characters, and not too many."""
    whole = words[: 4 * LONGEST_WORDS].replace("\r\n", "\n").replace("\t", " ")
    lines = [
        "".join(" " if c.isspace() else c for c in line if c.isprintable() or c.isspace()).strip()
        for line in whole.split("\n")
    ]
    text = re.sub("\n{3,}", "\n\n", "\n".join(lines).strip())
    return "\n".join(text[:LONGEST_WORDS].split("\n")[:MOST_LINES]).strip()


def put_into_box(exchange: Path, request: SecondLookRequest) -> None:
    """Put a request where those who teach find it; putting it there twice changes nothing."""
    # Others may read it, as they may a submission, if they can guess a name of 128 random bits.
    write_whole(exchange / BOX / request.file_name, request.to_bytes(), mode=0o644)


def answer_file(exchange: Path, ticket: str) -> Path:
    """Return where the answer to a request is."""
    return exchange / ANSWERS / f"{hashlib.sha256(ticket.encode()).hexdigest()}.json"


def write_answer(exchange: Path, ticket: str, answer: str, time: str) -> None:
    """Let the student who has the ticket read an answer."""
    content = json.dumps({"answer": answer, "time": time})
    write_whole(answer_file(exchange, ticket), content, mode=0o644)


def read_answer(exchange: Path, ticket: str) -> dict[str, str] | None:
    """Read the answer to a request and its time; `None` if there is none yet."""
    try:
        with answer_file(exchange, ticket).open("rb") as file:
            answer: Any = json.loads(file.read(LARGEST_REQUEST))
        return {name: clean_words(str(answer[name])) for name in ("answer", "time")}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
