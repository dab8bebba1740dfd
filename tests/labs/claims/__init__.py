"""What a lab claims, sentence by sentence, and how each claim is evaluated for many students.

A file per lab, named like the lab, holds three lists:

``QUANTITIES``
    Numbers that the lab's texts may say: name, dimension, and a function of a student's
    parameters. Write them from the definition and not by calling what the lab calls, so that a
    wrong formula of the lab does not agree with itself. Parameters, devices and workloads are
    known without being listed.
``CLAIMS``
    Comparisons, generalizations and morals. The words are a part of the sentence with ``#`` for
    every number and its unit; ``holds`` says whether it is true for a student. A ``Reading`` is
    also given the numbers as they are printed, in SI units, and answers for them. A sentence that
    a claim is about is evaluated even if none of its words compares.
``NOT_EVALUATED``
    What no machine can evaluate, by the words of the sentence, each with the reason.

and, if the lab has materials that put something into words,

``MATERIALS``
    Arguments with which each of them is called, so that all of its sentences are read.

Options are what somebody may believe, questions ask, and instructions ("Make the tensor larger")
tell what to do: none of them claims anything. What a question gives is checked for its numbers.

A sentence is *covered* when each of its numbers is a known quantity at the precision at which it is
printed, and, if it compares, when a claim is about it or a machine can read the comparison
(``tests.labs.read_claims``). Sentences that are neither covered nor named fail
``tests/labs/test_claims.py``, and so do words that no sentence has any more.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import ModuleType

from mlsys_widgets.labs import Parameters
from mlsys_widgets.physics import devices, workloads
from tests.labs.read_claims import false_claims, is_read, without_code
from tests.labs.shown_numbers import NUMBER, Shown, numbers_in, unit_of


@dataclass(frozen=True)
class Quantity:
    """A number that texts of the lab may say; several of a kind may share a name."""

    name: str
    #: As ``tests.labs.shown_numbers`` names it: ``"s"``, ``"B"``, ``"ratio"``, ``"count"`` …
    dimension: str
    values: Callable[[Parameters], float | Sequence[float]]

    def of(self, p: Parameters) -> tuple[float, ...]:
        """Its values for a student."""
        found = self.values(p)
        return tuple(map(float, found if isinstance(found, Sequence) else (found,)))


@dataclass(frozen=True)
class Claim:
    """What a sentence says beyond its numbers, and whether that is true for a student."""

    words: str
    holds: Callable[[Parameters], object]


@dataclass(frozen=True)
class Reading:
    """What a sentence says about the numbers that are printed in it, in SI units."""

    words: str
    holds: Callable[[Parameters, Sequence[float]], object]


@dataclass(frozen=True)
class ClaimsFile:
    """The claims of one lab."""

    quantities: tuple[Quantity, ...]
    claims: tuple[Claim | Reading, ...]
    not_evaluated: Mapping[str, str]
    #: Materials that put something into words, and the arguments of the calls that are read.
    materials: Mapping[str, Sequence[tuple[object, ...]]] = field(default_factory=dict)

    def about(self, sentence: str) -> list[Claim | Reading]:
        """The claims about a sentence."""
        words = unnumbered(sentence)
        if words not in self._about:
            self._about[words] = [each for each in self.claims if each.words in words]
        return self._about[words]

    @cached_property
    def _about(self) -> dict[str, list[Claim | Reading]]:
        """What was found before: most sentences are the same for everybody."""
        return {}

    def excuse(self, sentence: str) -> str:
        """Why a sentence is not evaluated, or nothing."""
        words = unnumbered(sentence)
        return next((why for each, why in self.not_evaluated.items() if each in words), "")


def claims_of(lab: str) -> ClaimsFile | None:
    """The claims of a lab, if somebody has written them down."""
    try:
        found: ModuleType = importlib.import_module(f"{__name__}.{lab}")
    except ModuleNotFoundError:
        return None
    materials = getattr(found, "MATERIALS", {})
    return ClaimsFile(
        tuple(found.QUANTITIES), tuple(found.CLAIMS), dict(found.NOT_EVALUATED), materials
    )


# Sentences, and which of them claim something.

#: Options are what somebody may believe, and a question asks; an example shows a form.
_NO_CLAIM = re.compile(r"\.(?:options|blanks|values|settings|claim)\b|\.(?:title|task)$")
_EXAMPLE = re.compile(r"\bas in [\d,.]+\d\b|\bsuch as [\d,.]+\d\b")
_NAMES = re.compile(
    r"\b[A-Za-z]+-\d\w*(?:[.-]\w+)*|\b(?:Labs?|Acts?|Day|Chapter) \d+|\bf?p?int?\d+\b"
    r"|\bfp\d+\b|\b2:4\b"
)
_ENDS = re.compile(r"(?<=[.!?])[\s)”]+(?=[A-Z“(§])|\n\s*\n|\n(?=\s*[|*#-])|(?<=\|)\s")
_UNIT = re.compile(
    r"\s?(?:%|×|[nµm]?s\b|minutes?\b|hours?\b|days?\b|[kKMGT]?B(?:/s)?\b|[kKMGT]?FLOP(?:S|/s|/B)?\b"
    r"|TOPS\b|(?:million|billion|thousand)\b)"
)
_COMPARES = re.compile(
    r"\b(?:than|more|less|fewer|larger|smaller|(?<!no )longer|shorter|faster|slower|higher|lower"
    r"|greater|cheaper|busier|sooner|(?:above|below) (?=(?:the|a|an|its|all|every)\b|\d)|beyond"
    r"|exceeds?|most|least|largest|smallest|longest|shortest|fastest|half|twice|double|third"
    r"|quarter|as (?:fast|long|much|many|large|often)|nearly"
    r"|hardly|never|always|next to nothing|too (?:little|few|much|many|long|short)"
    r"|far (?:left|right)|left of|right of)\b"
)


#: The first words of an instruction.
_INSTRUCTS = re.compile(
    r"\(?(?:Add|Answer|Choose|Commit|Compare|Compile|Count|Divide|Drag|Enlarge|Find|Give|Ignore|Leave"
    r"|Look|Make|Mark|Move|Please|Put|Raise|Read|Select|Set|Switch|Take|Then|Try|Use|Watch|Write)\b"
)
#: Where a question says what is given.
_GIVEN = re.compile(r"\.(?:ask|question|hint)$")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, without formulas and code."""
    for sentence in _ENDS.split(without_code(text).replace("**", "")):
        if plain := " ".join(sentence.split()):
            yield plain


@lru_cache(65536)
def numbers_of(sentence: str) -> tuple[Shown, ...]:
    """The numbers that a sentence states; those of names and examples are none."""
    return numbers_in(_masked(sentence))


def _masked(sentence: str) -> str:
    """The sentence with letters for the digits of names and examples."""
    for pattern in (_NAMES, _EXAMPLE):
        sentence = pattern.sub(lambda found: re.sub(r"\d", "x", found[0]), sentence)
    return sentence


@lru_cache(65536)
def unnumbered(sentence: str) -> str:
    """The sentence with ``#`` for each number and its unit, so that it is one for everybody.

    Examples
    --------
    >>> unnumbered("ResNet-50 takes 690 µs of 1.2 ms, 57%, in 1,000 kernels.")
    'ResNet-50 takes # of #, #, in # kernels.'
    """
    found, end = [], 0
    for number in NUMBER.finditer(_masked(sentence)):
        unit = _UNIT.match(sentence, number.end())
        found.append(f"{sentence[end : number.start()]}#")
        end = unit.end() if unit else number.end()
    return "".join(found) + sentence[end:]


@lru_cache(65536)
def claims_something(where: str, sentence: str) -> bool:
    """Whether a sentence has a number or a comparison that can be false."""
    if _NO_CLAIM.search(where) or sentence.endswith("?"):
        return False
    return bool(numbers_of(sentence) or compares(where, sentence))


def compares(where: str, sentence: str) -> str:
    """The first word that compares, in a sentence that claims something; or nothing."""
    if _GIVEN.search(where) or _INSTRUCTS.match(sentence) or _EXAMPLE.search(sentence):
        return ""
    found = _COMPARES.search(sentence)
    return found[0] if found else ""


# Whether a sentence is covered, and whether it is true.


class Student:
    """The quantities and claims of a lab, for the parameters of one student."""

    def __init__(self, file: ClaimsFile, parameters: Parameters, units: Mapping[str, str]) -> None:
        self._file, self._p = file, parameters
        self._known: list[tuple[str, float]] = [*_catalog()]
        for name, unit in units.items():
            value = getattr(parameters, name)
            if isinstance(value, int | float):
                dimension, size = unit_of(unit)
                # A question often names the unit once, and then gives a bare number.
                self._known += [(dimension, value * size), ("count", value)]
        for quantity in file.quantities:
            self._known += [(quantity.dimension, value) for value in quantity.of(parameters)]

    def unknown(self, sentence: str) -> list[str]:
        """The numbers of a sentence that are no known quantity."""
        if any(isinstance(each, Reading) for each in self._file.about(sentence)):
            return []
        return [each.words for each in numbers_of(sentence) if not self._knows(each)]

    def _knows(self, number: Shown) -> bool:
        plain = ("count", "ratio")
        return any(
            abs(value - number.value) <= number.half
            for dimension, value in self._known
            if dimension == number.dimension or (dimension in plain and number.dimension in plain)
        )

    def uncovered(self, where: str, sentence: str) -> str:
        """Why a sentence is not covered, or nothing."""
        if self._file.excuse(sentence):
            return ""
        if unknown := self.unknown(sentence):
            return f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} no known quantity"
        word = compares(where, sentence)
        if word and not self._file.about(sentence) and not is_read(sentence):
            return f"nothing evaluates “{word}”"
        return ""

    def false(self, sentence: str) -> list[str]:
        """What is false about a sentence."""
        found = list(false_claims(sentence))
        for claim in self._file.about(sentence):
            values = [each.value for each in numbers_of(sentence)]
            true = (
                claim.holds(self._p, values) if isinstance(claim, Reading) else claim.holds(self._p)
            )
            if not true:
                found.append(claim.words)
        return found


@lru_cache(1)
def _catalog() -> tuple[tuple[str, float], ...]:
    """Every fact of the devices and workloads of the course."""
    return tuple(
        (unit_of(unit)[0] if unit else "count", float(value))
        for entry in (*devices.values(), *workloads.values())
        for _, value, unit, _ in entry.facts()
    )
