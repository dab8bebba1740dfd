"""Names out of what a person grades: a graded notebook shows a pseudonym, and feedback the name.

Formgrader hides names, but a lab says whose it is, and an output may say so again. In the notebook
that graders read, the student's login is replaced by a pseudonym that belongs to this submission.
It keeps a grader from knowing by accident; it is no secret from somebody who looks into folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from hashlib import sha256
from typing import Any, Final

from mlsys_widgets.ledger.carried_record import take_out
from mlsys_widgets.notebooks.cell_metadata import text_of

#: Kinds of output that are text.
_TEXTS: Final = ("text/plain", "text/html", "text/markdown", "text/latex")
#: Where the package itself says whose something is.
_WHOSE: Final = r"((?:lab|ledger|that) of (?:\*\*|<[a-z]+>|“)?)"


def pseudonym(student: str, lab: str) -> str:
    """Return what a submission is called where its author must not be known."""
    return f"submission-{sha256(f'{lab}/{student}'.encode()).hexdigest()[:10]}"


def make_blind(book: Any, student: str, lab: str) -> None:
    """Replace a student's name in what a notebook shows and in what is written in it.

    A name that the lab itself uses as a word, such as ``student``, is replaced only where a card
    says whose lab it is: elsewhere it is just that word.
    """
    take_out(book)  # it names the student, and the ledger beside the notebook has it all
    hidden = pseudonym(student, lab)
    whose = re.compile(rf"{_WHOSE}{re.escape(student)}(?!\w)")
    changes = [(student, whose, lambda found: f"{found[1]}{hidden}")]
    ordinary = re.compile(rf"(?<!\w){re.escape(student)}(?!\w)", re.I)
    # Cells that students cannot edit are the lab's own words.
    own = [text_of(c["source"]) for c in book["cells"] if _is_locked(c)]
    if not any(ordinary.search(text) for text in own if student.lower() in text.lower()):
        for name, other in _spellings(student, hidden).items():
            word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            changes.append((name, word, lambda _, other=other: other))  # type: ignore[misc]

    def replaced(text: str) -> str:
        for name, pattern, change in changes:
            if name in text:  # hardly ever, and looking is much cheaper than the pattern
                text = pattern.sub(change, text)
        return text

    _each_text(book, replaced)


def unmake_blind(book: Any, student: str, lab: str) -> None:
    """Put the name back, for the page that the student gets."""
    back = {other: name for name, other in _spellings(student, pseudonym(student, lab)).items()}

    def replaced(text: str) -> str:
        for other, name in back.items():
            text = text.replace(other, name)
        return text

    _each_text(book, replaced)


def _spellings(student: str, hidden: str) -> dict[str, str]:
    """Return how people spell a login, each with a spelling of the pseudonym for the way back.

    Examples
    --------
    >>> _spellings("ann", "submission-1")
    {'ann': 'submission-1', 'Ann': 'Submission-1', 'ANN': 'SUBMISSION-1'}
    """
    pairs = (
        (student, hidden),
        (student.capitalize(), hidden.capitalize()),
        (student.upper(), hidden.upper()),
    )
    found: dict[str, str] = {}
    for name, other in pairs:
        found.setdefault(name, other)
    return found


def _each_text(book: Any, change: Any) -> None:
    """Change every text that a page shows, except for code, which names nobody."""
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            if not _is_locked(cell):
                cell["source"] = change(text_of(cell["source"]))
            continue
        for output in cell.get("outputs", ()):
            for holder, name in _texts_of(output):
                value = holder[name]
                if isinstance(value, str):
                    holder[name] = change(value)
                elif isinstance(value, list):
                    holder[name] = [change(line) for line in map(str, value)]


def _texts_of(output: Any) -> Iterator[tuple[MutableMapping[str, Any], str]]:
    for name in ("text", "evalue", "traceback"):
        if name in output:
            yield output, name
    data = output.get("data")
    if isinstance(data, MutableMapping):
        for kind in _TEXTS:
            if kind in data:
                yield data, kind


def _is_locked(cell: Mapping[str, Any]) -> bool:
    about = cell.get("metadata", {}).get("nbgrader", {})
    return isinstance(about, Mapping) and about.get("locked") is True
