"""What a troubleshooting page quotes is what the product says.

In ``docs/*/troubleshooting.md``, a block quote holds words of the product and nothing else: one
message in each, however many lines it takes. ``…`` stands for what varies. Every sentence of it
must be one that the package, the Lab panel, a tool, the Makefile or a test of ours can say: the
words around each ``…``, in their order, to the end of one sentence. Markup in the quote does not
count. Words of somebody else (Jupyter, nbgrader, git) are not quoted this way, or have a line
``% said by: Jupyter`` right above.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*/troubleshooting.md"))
#: Stands for a value in what the sources say.
VALUE = "…"
#: A sentence of the sources with fewer letters than this around its values could be anything.
TELLING = 8

#: A tag of HTML ends a sentence, too.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|<[^<>]*>")
_SCRIPT_STRING = re.compile(r"`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_MARKUP_TEXT = re.compile(r">([^<>]+)<")
_HOLE = re.compile(r"\$?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")


def quotes(page: str) -> Iterator[tuple[int, str]]:
    """The messages that a page quotes, each with the line where it begins."""
    lines = page.splitlines()
    number = 0
    while number < len(lines):
        if not lines[number].startswith(">"):
            number += 1
            continue
        first = number
        while number < len(lines) and lines[number].startswith(">"):
            number += 1
        if not (first and lines[first - 1].startswith("<!-- said by:")):
            yield first + 1, " ".join(line.lstrip("> ") for line in lines[first:number])


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text in the form in which they are compared."""
    plain = re.sub(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`|\\n", "", text)
    for each in _SENTENCE_END.split(" ".join(plain.split())):
        if bare := each.strip(" .!?:;'\"“”").casefold():
            yield re.sub(rf"['\"]?{VALUE}+['\"]?", VALUE, bare)


def python_texts(source: str) -> Iterator[str]:
    """Every text in a module, with a sign for each value that is put into it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.JoinedStr(values=parts):
                yield "".join(str(p.value) if isinstance(p, ast.Constant) else VALUE for p in parts)
            case ast.Constant(value=str(text)):
                yield re.sub(r"%[sd]", VALUE, text)


def script_texts(source: str) -> Iterator[str]:
    """The same of TypeScript, JavaScript, style sheets, pages and the Makefile."""
    whole, end = "", -1
    for found in _SCRIPT_STRING.finditer(source):
        text = _HOLE.sub(VALUE, found[0][1:-1])
        if end >= 0 and source[end : found.start()].strip() == "+":
            whole += text
        else:
            yield whole
            whole = text
        end = found.end()
    yield whole
    for found in _MARKUP_TEXT.findall(source):
        yield _HOLE.sub(VALUE, found)


@pytest.fixture(scope="module")
def sayable() -> set[str]:
    """Every sentence that the sources can say."""
    found: set[str] = set()
    # Of the tests, those whose failures tell a contributor what to do.
    tests = [*(ROOT / "tests").glob("*.py"), *(ROOT / "tests" / "project").glob("*.py")]
    for name in ("browser/pictures.py", "server/test_labextension.py", "labs/test_committed.py"):
        tests.append(ROOT / "tests" / name)
    ours = [p for folder in ("mlsys_widgets", "tools") for p in (ROOT / folder).rglob("*.py")]
    for path in (*ours, *tests):
        if path != Path(__file__):
            for text in python_texts(path.read_text("utf-8")):
                found.update(sentences(text))
    scripts = [ROOT / "Makefile", *(ROOT / "labextension" / "style").rglob("*.css")]
    for pattern in ("*.js", "*.ts", "*.tsx"):
        scripts += (ROOT / "labextension" / "src").rglob(pattern)
    for pattern in ("*.js", "*.css", "*.html", "*.md"):
        # What was built says the same as its sources.
        built = {ROOT / "mlsys_widgets" / name for name in ("labextension", "nbextension")}
        scripts += (p for p in (ROOT / "mlsys_widgets").rglob(pattern) if not built & {*p.parents})
    for path in scripts:
        for text in script_texts(path.read_text("utf-8")):
            found.update(sentences(text))
    return {each for each in found if VALUE not in each or _letters(each) >= TELLING}


def _letters(sentence: str) -> int:
    return sum(letter.isalpha() for letter in sentence)


def says(sentence: str, known: str) -> bool:
    """Whether a sentence is one of the sources, with something in place of its values."""
    *parts, last = known.split(VALUE)
    if not parts:
        return sentence == last
    at = len(parts[0])
    if not sentence.startswith(parts[0]):
        return False
    for part in parts[1:]:
        found = sentence.find(part, at + 1)
        if found < 0:
            return False
        at = found + len(part)
    return sentence.endswith(last) and len(sentence) - len(last) > at


def holds(known: str, parts: list[str]) -> bool:
    """Whether a sentence of the sources holds parts of a quote, in their order."""
    at = 0
    for part in parts:
        found = known.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return known.endswith(parts[-1])


def is_said(sentence: str, known: set[str]) -> bool:
    """Whether the sources can say a sentence; a quote of nothing but ``…`` says nothing."""
    if sentence == VALUE or sentence in known:
        return True
    parts = [part.strip(" :;") for part in sentence.split(VALUE)]
    enough = len(parts) > 1 and _letters(sentence) >= TELLING
    if enough and any(holds(each, parts) for each in known):
        return True
    return any(says(sentence, each) for each in known if VALUE in each)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_what_is_quoted_is_what_the_product_says(page, sayable):
    found = list(quotes(page.read_text("utf-8")))
    assert found, "a page about trouble quotes what people see"
    wrong = [
        f"{page.relative_to(ROOT)}:{line}: nothing of ours says: {sentence}"
        for line, quote in found
        for sentence in sentences(quote)
        if not is_said(sentence, sayable)
    ]
    assert not wrong, "\n".join(wrong)
