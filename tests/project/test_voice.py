"""Words and spellings that the project has retired, and what to write instead.

Everything people read is meant to be idiomatic American English: documentation, docstrings,
comments, messages, help texts, the Lab panel. A pattern here is as narrow as it has to be, so that
a legitimate use of the same word passes; a file that must use one says why in ``EXEMPT``.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest


class Retired(NamedTuple):
    """A way of saying something, what to write instead, and samples of both."""

    pattern: re.Pattern[str]
    instead: str
    found: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    case: bool = False  # whether capitals count; if not, the pattern is all small letters


def retired(
    pattern: str, instead: str, *, found: str, passed: str = "", case: bool = False
) -> Retired:
    """``found`` and ``passed`` are samples, separated by ``|``."""
    samples = (tuple(filter(None, each.split("|"))) for each in (found, passed))
    return Retired(re.compile(pattern), instead, *samples, case=case)


#: "one function a picture": a rate without a unit of time wants "per".
_COUNTED = (
    "picture|step|cell|line|lines|student|submission|file|lab|mark|message|room|kernel|question|row|"
    "worker|thread|core|process|slot|machine|section|node|child"
)
_NO_NOUN = "(?:is|was|has|in|as|for|of|to|with|from|at|by|gives|makes|that)"

#: Words of a dialect of our own.
DIALECT = [
    retired(
        r"\b(?:un)?mend(?:s|ed|ing)?\b",
        "fix",
        found="how to mend it|was mended|mends itself",
        passed="recommended|amendment|Mendel",
    ),
    retired(r"\banew\b", "again, or: from scratch", found="built anew", passed="a new one"),
    # People read names in code too, so these three are found inside of them.
    retired(
        r"nurser(?:y|ies)",
        "fork server",
        found="its nursery|The nurseries|class NurseryClient",
        passed="fork server|nurse",
    ),
    retired(
        r"desk(?!top)",
        "control panel, or: request handler",
        found="the desk of an instrument|class LabDesk|.mlsys-desk",
        passed="desktop",
    ),
    retired(r"errand", "task, job or request", found="runs errands", passed="errant"),
    retired(
        r"\bshut(?:s|ting)?(?: (?!down|off|up)\w+){0,2} in\b",
        "isolate",
        found="shuts itself in|shut in|shutting a child in|shut them in",
        passed="shut down in a minute|shutdown in",
    ),
    retired(
        r"shut_in|ShutIn",
        "isolate",
        found="shut_in(root)|class ExecuteShutIn",
        case=True,
    ),
    retired(
        r"\bwhich share (?:of|is|was)\b",
        "what fraction",
        found="which share of the time",
        passed="things which share a folder",
    ),
    retired(
        r"\bwhat (?:it|he|she|they|that|each|everything) (?:came|comes) to\b",
        "the result",
        found="what it came to",
        passed="what it takes to",
    ),
    retired(
        r"\bwhat is the case\b|\bas is the case\b",
        "the facts",
        found="tells what is the case",
        passed="which is the case of interest",
    ),
    retired(
        rf"\b(?:one|two|three|four|five|\d+) (?!{_NO_NOUN}\b)\w+ an? (?:{_COUNTED})\b",
        "per (one function per picture)",
        found="one function a picture|one line a step|two rows a student",
        passed="one function per picture|one is a picture|20 moves a second",
    ),
    retired(r"\bsurer than right\b", "overconfident", found="they are surer than right"),
    retired(r"\bshall\b", "must, or: will", found="it shall wake up", passed="shallow"),
    retired(r"\bnone of nothing\b", "`None` if empty", found="none of nothing"),
    retired(
        r"\bof nothing there is none\b",
        "there is none for an empty one",
        found="of nothing there is none",
    ),
    retired(r"\bput back, ", "once restored, or: restored,", found="put back, the file is there"),
    retired(r"\bis gone on with\b", "continues", found="the file is gone on with"),
    retired(
        r"\bSo many \w+",
        "say how many, with a verb",
        found="So many images it did",
        passed="in so many words",
        case=True,
    ),
    retired(
        r"\bsurer\b",
        "more certain",
        found="the surer one",
        passed="treasurer",
    ),
    retired(
        r"\bas of `",
        "as in `",
        found="as of `Ledger`",
        passed="as of 2026",
    ),
    retired(
        r";\s+none (?:if|when|where|unless)\b",
        "; `None` if",
        found="the path; none if it is not there",
        passed="the path; `None` if it is missing|the path; None if it is missing",
        case=True,
    ),
    retired(r"\bgoes on where\b|\bwent on where\b", "resumes where", found="goes on where it was"),
]

#: British spellings as patterns, wherever they occur, and the American form.
BRITISH = {
    r"behaviour": "behavior",
    r"colour": "color",
    r"neighbour": "neighbor",
    r"favour": "favor",
    r"honour": "honor",
    r"labour": "labor",
    r"flavour": "flavor",
    r"rumour": "rumor",
    r"\brecognis": "recogniz…",
    r"organis(?:e|ed|es|er|ing|ation)": "organiz…",
    r"utilis": "utiliz…",
    r"quantis": "quantiz…",
    r"normalis": "normaliz…",
    r"optimis(?:e|ed|es|er|ing|ation)": "optimiz…",
    r"initialis": "initializ…",
    r"serialis": "serializ…",
    r"synchronis": "synchroniz…",
    r"sanitis": "sanitiz…",
    r"summaris": "summariz…",
    r"generalis": "generaliz…",
    r"specialis": "specializ…",
    r"visualis": "visualiz…",
    r"minimis(?:e|ed|es|ing)\b": "minimiz…",
    r"maximis(?:e|ed|es|ing)\b": "maximiz…",
    r"emphasis(?:e|ed|ing)\b": "emphasiz…",
    r"\brealis(?:e|ed|es|ing|ation)\b": "realiz…",
    r"\bapologis": "apologiz…",
    r"\banalys(?:e|ed|er|ing)\b": "analyz…",
    r"\bparallelis(?:e|ed|es|ing|ation)\b": "paralleliz…",
    r"\bcent(?:re|res|red|ring)\b": "center",
    r"\b(?:kilo|centi|milli)?metres?\b": "meter",
    r"\bfibres?\b": "fiber",
    r"\bcatalogu(?:e|es|ed|ing)\b": "catalog",
    r"\bdefence\b": "defense",
    r"\bcancell(?:ed|ing)\b": "canceled",
    r"\blabell(?:ed|ing)\b": "labeled",
    r"\bmodell(?:ed|ing)\b": "modeled",
    r"\btravell(?:ed|ing)\b": "traveled",
    r"\bgrey(?:s|ed|ish)?\b": "gray",
    r"\bprogrammes?\b": "program",
    r"\bjudgement\b": "judgment",
    r"\bafterwards\b|\btowards\b": "afterward, toward",
    r"\bwhilst\b|\bamongst\b": "while, among",
    r"\blearnt\b|\bspelt\b": "learned, spelled",
}

PATTERNS = [
    *DIALECT,
    *(Retired(re.compile(stem), american) for stem, american in BRITISH.items()),
]

#: Folders and files that are not read, each with the reason.
LEFT_OUT = {
    "assignments/": "the texts of the labs, which have an issue of their own",
    "source/": "generated from assignments/",
    "release/": "generated from assignments/",
    "mlsys_widgets/labextension/static/": "generated from labextension/",
    "mlsys_widgets/measured/data/": "documents as they were measured; their keys are history",
    "docs/_static/sizing.json": "a measurement as it was taken",
    "tests/project/test_voice.py": "this list itself",
}

#: Lines that must use a retired word: a pattern of the path, one of the line, and the reason.
EXEMPT = [
    (r".*", r"asyncio|CancelledError|\.cancelled\(|cancelled\b.*Future", "a name of asyncio"),
    (r".*\.(css|js|ts|svg|py|html|md)", r"text-align: cent|currentColo", "a value of CSS"),
    (r".*", r"""["'`]normalisation["'`]|normalisation=""", "a key of measured documents"),
    (r"LICENSE", r".*", "the words of the license"),
    (
        r"mlsys_widgets/grading/preprocessor\.py|tests/.*",
        r"ExecuteShutIn",
        "courses have this name in their settings",
    ),
]


def line_is_exempt(path: str, line: str) -> bool:
    return any(re.fullmatch(where, path) and re.search(what, line) for where, what, _ in EXEMPT)


def read_texts(root: Path) -> Iterator[tuple[str, str]]:
    """Every text that is tracked or about to be, and meant to be read by people."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing is tracked")
    for name in sorted(set(filter(None, listed.stdout.decode().split("\0")))):
        path = root / name
        if name.startswith(tuple(LEFT_OUT)) or not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            text = content.decode()
            if name == "CHANGELOG.md":
                text = text.partition("\n## 0.1.0")[0]  # what was released stays as it was said
            yield name, text


def hits(name: str, text: str) -> Iterator[str]:
    # Small letters and patterns of small letters are much faster than re.IGNORECASE.
    small = text.lower()
    wanted = [each for each in PATTERNS if each.pattern.search(text if each.case else small)]
    for number, line in enumerate(text.splitlines() if wanted else (), start=1):
        for each in wanted:
            for match in each.pattern.finditer(line if each.case else line.lower()):
                if not line_is_exempt(name, line):
                    yield f"{name}:{number}: “{match[0]}”; write: {each.instead}"


def test_no_retired_word_is_left(root):
    found = [hit for name, text in read_texts(root) for hit in hits(name, text)]
    folders = Counter("/".join(hit.split(":")[0].split("/")[:-1][:2]) or "." for hit in found)
    summary = ", ".join(f"{folder} {count}" for folder, count in sorted(folders.items()))
    assert not found, "\n".join([f"{len(found)} retired words ({summary}):", *found])


@pytest.mark.parametrize("each", DIALECT, ids=lambda each: each.found[0])
def test_a_pattern_finds_its_word_and_no_other(each):
    for sample in each.found:
        assert list(hits("page.md", sample)), sample
    for sample in each.passed:
        assert not list(hits("page.md", sample)), sample


@pytest.mark.parametrize(
    "word",
    [
        "behaviour", "colours", "neighbouring", "recognised", "utilisation", "quantised",
        "optimiser", "centre", "grey", "catalogue", "analyse", "realised", "judgement",
        "serialised", "emphasised",
    ],
)  # fmt: skip
def test_a_british_spelling_is_found(word):
    assert list(hits("page.md", word))


@pytest.mark.parametrize(
    "word",
    [
        "behavior", "color", "neighbor", "hour", "four", "optimism", "optimistic", "analysis",
        "analyses", "emphasis", "emphases", "realistic", "parallelism", "organism", "center",
        "meter", "parameter", "minimum", "greyhound", "dialog", "programmer", "organist",
    ],
)  # fmt: skip
def test_an_american_spelling_passes(word):
    assert not list(hits("page.md", word))


def test_what_is_left_out_exists(root):
    assert not [name for name in LEFT_OUT if not (root / name).exists()]
