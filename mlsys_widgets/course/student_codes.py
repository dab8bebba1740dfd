"""A code for each student, from which numbers can be drawn without the secret of the course.

A page without a server must draw, and everybody can read what it carries. So where numbers are
drawn by code, the secret makes a code for each login, and the code makes the numbers: graders have
the secret and know every code, a student has one.

Examples
--------
>>> code = code_of("by code 2027 5f0c9a", "ann")
>>> code
'KT3K-ES7S-M6WV-TC'
>>> drawn_from("by code 2027 5f0c9a", "ann") == drawn_from("by code", "ann", code)
True
>>> drawn_from("2027", "ann")
'2027'
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final

#: Begins an edition of which each student draws with a code; alone, it has no secret behind it.
BY_CODE: Final = "by code"
#: Characters of a code that the secret makes, and those that tell a slip of the pen.
_MADE, _CHECKED = 12, 2


class CodeRefused(ValueError):
    """A code that is missing or belongs to somebody else; the sentence says what to do."""


def code_of(edition: str, student: str) -> str:
    """Return the code of a student in a course whose edition has the secret in it."""
    return _written(_digits(_MADE, edition, student), student)


def checked_code(code: str, student: str) -> str:
    """Return a code as it is written, whatever was typed between its characters.

    Examples
    --------
    >>> checked_code("kt3k es7s m6wv tc", "ann")
    'KT3K-ES7S-M6WV-TC'
    >>> checked_code("KT3K-ES7S-M6WV-TC", "bob")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mlsys_widgets.course.student_codes.CodeRefused: That code is not one of 'bob'. Check both: ...
    """
    plain = re.sub(r"[^A-Z2-7]", "", code.upper())
    if len(plain) != _MADE + _CHECKED or _written(plain[:_MADE], student) != _grouped(plain):
        raise CodeRefused(
            f"That code is not one of {student!r}. Check both: the name is your login as your"
            f" course writes it, and the code has {_MADE + _CHECKED} letters and digits."
        )
    return _grouped(plain)


def drawn_from(edition: str, student: str, code: str = "") -> str:
    """Return the edition that the numbers of a student are drawn from.

    A ``code`` counts where the edition has no secret; `CodeRefused` where one is needed and
    missing.
    """
    if not edition.startswith(BY_CODE):
        return edition
    return checked_code(code, student) if edition == BY_CODE else code_of(edition, student)


def _written(made: str, student: str) -> str:
    return _grouped(made + _digits(_CHECKED, "check", made, student))


def _digits(count: int, *names: str) -> str:
    digest = hashlib.sha256("\x00".join(("student code", *names)).encode()).digest()
    return base64.b32encode(digest).decode("ascii")[:count]


def _grouped(plain: str) -> str:
    return "-".join(plain[at : at + 4] for at in range(0, len(plain), 4))
