"""Finding numbers that a lab's text types although the core computes them.

A typed number with a unit is compared with everything of the same dimension that the core knows, at
the precision at which it is typed; one without a unit, if it has three digits or more, with all of
it at any power of a thousand. What a text claims, rightly or wrongly, is named in a comment of
``asks.py`` or ``checks.py``: ``# claims: 312 TFLOPS, 15.8 %``.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mlsys_widgets.authoring.templates import fill, names
from mlsys_widgets.authoring.text import read
from mlsys_widgets.judging import Given, NumberKey
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import Number, load
from mlsys_widgets.physics import devices, workloads

_PREFIX = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "": 1.0,
           "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}  # fmt: skip
#: Units as people write them, longest first: dimension, and which prefixes they take.
_UNITS = (
    (r"(?P<x>[kKMGTP]?)(?:FLOP/s|FLOPS|TOPS)\b", "FLOP/s"),
    (r"(?P<x>)FLOP(?:/B\b| per byte| for each byte)", "FLOP/B"),
    (r"(?P<x>[kKMGTP]?)FLOP\b", "FLOP"),
    (r"(?P<x>[kKMGTP]?)B/s", "B/s"),
    (r"(?P<x>[kKMGTP]?)B\b", "B"),
    (r"(?P<x>)bytes?\b", "B"),
    (r"(?P<x>[nµum]?)s\b", "s"),
    (r"(?P<x>)seconds?\b", "s"),
    (r"(?P<x>[m]?)W\b", "W"),
    (r"(?P<x>)(?:images?|kernels?|requests?|tokens?|elements?)\b", "count"),
)
_LITERAL = {"%": ("ratio", 0.01), "percent": ("ratio", 0.01), "×": ("ratio", 1.0),
            "times": ("ratio", 1.0), "hours": ("s", 3600.0), "hour": ("s", 3600.0)}  # fmt: skip
_NUMBER = re.compile(
    # Not a part of a name, a version, a power, a ratio such as 2:4 or a longer number.
    r"(?<![\w.,:^{/#–-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w:^⁰¹²³⁴⁵⁶⁷⁸⁹]|[.,]\d|-[a-z])"
)
_BEFORE = re.compile(r"(?:Labs?|Act|Chapters?|chapters?|act|lab|Python|batch|Batch)\s*$")
_AFTER = re.compile(r"\s*(?:–\s*\d+\s*)?(?:minutes?|points?|words?|lines?|questions?)\b")
_TEMPLATE = re.compile(r"\{\{.+?\}\}", re.S)
_SKIPPED = re.compile(r"`[^`]*`|\$\$.*?\$\$|\$(?![\d\s])[^$]*\$|https?://\S+|\]\([^)]*\)", re.S)


@dataclass(frozen=True)
class Typed:
    """A number in a text: as it stands there, its value in SI units, how exact it is."""

    words: str
    dimension: str | None
    value: float
    half: float
    digits: int

    def is_(self, dimension: str | None, value: float) -> bool:
        """Whether it is that number of the core."""
        if self.dimension is not None:
            return dimension == self.dimension and abs(value - self.value) <= self.half
        if value <= 0:
            return False
        # Without a unit, any power of a thousand could be meant.
        near = round(math.log10(self.value / value) / 3) if self.value > 0 else 0
        return any(
            abs(value * 1000.0**k - self.value) <= self.half for k in (near - 1, near, near + 1)
        )


def numbers(text: str) -> Iterator[Typed]:
    """The numbers that a text types, with their units."""
    text = _SKIPPED.sub(" § ", _TEMPLATE.sub(" § ", text))
    for match in _NUMBER.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if _BEFORE.search(before) or _AFTER.match(after) or before.endswith("$"):
            continue
        plain = match[1].replace(",", "")
        whole, _, decimals = plain.partition(".")
        digits = len((whole + decimals).lstrip("0")) if decimals else len(whole.strip("0"))
        step = 10.0 ** -len(decimals) if decimals else 10.0 ** (len(whole) - len(whole.rstrip("0")))
        dimension, scale, unit = _unit(after)
        if digits < (2 if dimension else 3):
            continue
        if dimension is None and not decimals and re.fullmatch(r"(?:19|20)\d\d", plain):
            continue  # a year
        value = float(plain)
        yield Typed(f"{match[1]}{unit}", dimension, value * scale, 0.5001 * step * scale, digits)


def _unit(after: str) -> tuple[str | None, float, str]:
    gap = re.match(r"[\s\u202f\u00a0]?", after)
    assert gap
    rest = after[gap.end() :]
    for word, (dimension, scale) in _LITERAL.items():
        if rest.startswith(word) and not rest[len(word) : len(word) + 1].isalpha():
            return dimension, scale, f"{gap[0]}{word}"
    for pattern, dimension in _UNITS:
        if found := re.match(pattern, rest):
            return dimension, _PREFIX[found["x"]], f"{gap[0]}{found[0]}"
    return None, 1.0, ""


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Where and what: prose of ``lab.py``, and the strings of the other two files."""
    for k, cell in enumerate(read(folder / "lab.py"), 1):
        if cell.kind in ("prose", "essay"):
            yield f"lab.py, cell {k}", cell.body
    for name in ("asks.py", "checks.py"):
        tree = ast.parse((folder / name).read_text("utf-8"))
        for line, text in _strings(tree):
            if " " in text:  # without, it is the name of an option
                yield f"{name}, line {line}", text


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a file; what an f-string computes stands in them as §."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                continue  # a docstring
            case ast.JoinedStr(values=parts):
                words = (p.value if isinstance(p, ast.Constant) else "§" for p in parts)
                yield node.lineno, "".join(words)
            case ast.Constant(value=str(text)):
                yield node.lineno, text
            case _:
                yield from _strings(node)


def core(folder: Path, work: Path) -> list[tuple[str, str | None, float]]:
    """What the core computes for a lab: name, dimension, value in SI units."""
    found: list[tuple[str, str | None, float]] = []
    for entry in (*devices.values(), *workloads.values()):
        for name, value, unit, _ in entry.facts():
            dimension = {"": None, "1": "ratio", "%": "ratio"}.get(unit, unit)
            found.append((f"{entry.key}: {name}", dimension, float(value)))
    lab, checks = load(folder), load_checks(folder)
    p = lab.draw("", variants=False)
    for name, item in lab.items(p).items():
        if isinstance(item, Number):
            key = checks[name](Given(p, work))
            assert isinstance(key, NumberKey)
            dimension, scale, _ = _unit(f" {item.unit}")
            for what, value in (("", key.value), *((f": {b.name}", b.value) for b in key.beliefs)):
                found.append((f"{name}{what}", dimension, float(value) * scale))
    known = names(lab, p)
    for cell in read(folder / "lab.py"):
        for template in _TEMPLATE.findall(cell.body) if cell.kind in ("prose", "essay") else ():
            for each in numbers(fill(template, known)):
                found.append((template, each.dimension, each.value))
    return found


def claims(folder: Path) -> set[str]:
    """The numbers that the lab marks as what a text claims."""
    said = set()
    for name in ("asks.py", "checks.py"):
        for line in re.findall(r"^\s*# claims: (.+)$", (folder / name).read_text("utf-8"), re.M):
            said |= {each.words for each in numbers(line)}
    return said


def typed_although_computed(folder: Path, work: Path) -> list[str]:
    """A sentence for each number that is typed although the core computes it."""
    known, claimed = core(folder, work), claims(folder)
    found = []
    for where, text in texts(folder):
        for number in numbers(text):
            names_ = [name for name, *of in known if number.is_(*of)]
            if names_ and number.words not in claimed:
                found.append(f"{where} types {number.words!r}, which is {names_[0]}")
    return found
