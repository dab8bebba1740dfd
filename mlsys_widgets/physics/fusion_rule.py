"""Which two operations can become one kernel: the one rule, as a tree of questions.

``can_fuse`` answers the questions from the top and reports the end it reaches, so whoever shows
the decision shows the path that led to the verdict and not a second rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from mlsys_widgets.physics.operations import Op, ops
from mlsys_widgets.wording.choices import one_of

Relation = Literal["producer", "shared-input", "unrelated"]
FusionKind = Literal["pointwise", "vertical", "horizontal", "epilogue", "barrier", "none"]


@dataclass(frozen=True)
class OpPair:
    """Two operations, how they are related, and whether they work on one shape."""

    first: Op
    second: Op
    relation: Relation
    same_shape: bool


@dataclass(frozen=True)
class FusionQuestion:
    """A fork of the tree: what is asked, how it is answered, and where each answer leads."""

    asks: str
    answer: Callable[[OpPair], bool]
    yes: str
    no: str


@dataclass(frozen=True)
class FusionEnd:
    """An end of the tree: the kind of verdict, and the reason for a pair that arrives there."""

    kind: FusionKind
    reason: Callable[[OpPair], str]

    @property
    def fusible(self) -> bool:
        """Whether one kernel can do both."""
        return self.kind not in ("barrier", "none")


@dataclass(frozen=True)
class FusionVerdict:
    """Whether two operations can become one kernel, how, why, and by which answers.

    ``can_fuse`` returns one.
    """

    #: ``"pointwise"``, ``"vertical"``, ``"horizontal"`` or ``"epilogue"`` if they fuse;
    #: ``"barrier"`` or ``"none"`` if not.
    kind: FusionKind
    reason: str  #: Why, in a sentence about these two operations.
    end: str  #: The end of the tree, a key of ``FUSION_ENDS``.
    #: The questions that were asked, keys of ``FUSION_QUESTIONS``, each with its answer.
    path: tuple[tuple[str, bool], ...]

    @property
    def fusible(self) -> bool:
        """Whether one kernel can do both."""
        return FUSION_ENDS[self.end].fusible


#: In the order in which they are asked, each branch from the top.
FUSION_QUESTIONS: Final[dict[str, FusionQuestion]] = {
    "reads": FusionQuestion(
        "Does the second read what the first writes?",
        lambda pair: pair.relation == "producer",
        "reduction",
        "shares",
    ),
    "reduction": FusionQuestion(
        "Does the first reduce the whole tensor?",
        lambda pair: pair.first.kind == "reduction",
        "reduced",
        "into product",
    ),
    "into product": FusionQuestion(
        "Is the second a matrix product?",
        lambda pair: pair.second.kind == "matmul",
        "reread",
        "out of product",
    ),
    "out of product": FusionQuestion(
        "Is the first a matrix product and the second elementwise?",
        lambda pair: (pair.first.kind, pair.second.kind) == ("matmul", "elementwise"),
        "epilogue",
        "product",
    ),
    "product": FusionQuestion(
        "Is the first a matrix product?",
        lambda pair: pair.first.kind == "matmul",
        "tiled",
        "elementwise",
    ),
    "elementwise": FusionQuestion(
        "Are both elementwise and of the same shape?",
        lambda pair: {pair.first.kind, pair.second.kind} == {"elementwise"} and pair.same_shape,
        "pointwise",
        "rows",
    ),
    "rows": FusionQuestion(
        "Do both reduce, over different rows?",
        lambda pair: (
            pair.first.kind == "row-reduction"
            and pair.second.kind in ("row-reduction", "reduction")
            and not pair.same_shape
        ),
        "other rows",
        "vertical",
    ),
    "shares": FusionQuestion(
        "Do both read the same tensor?",
        lambda pair: pair.relation == "shared-input",
        "one product",
        "nothing shared",
    ),
    "one product": FusionQuestion(
        "Is exactly one of them a matrix product?",
        lambda pair: (pair.first.kind == "matmul") != (pair.second.kind == "matmul"),
        "tiled apart",
        "horizontal",
    ),
}


def _vertical(pair: OpPair) -> str:
    if pair.first.kind == "row-reduction":
        return (
            f"{pair.first.name} reduces one row at a time; while the row is on chip, "
            f"{pair.second.name} continues with it. A row too long for on-chip memory brings the "
            "barrier back."
        )
    return (
        f"{pair.second.name} consumes each value of {pair.first.name} as it is produced: nothing "
        "between them is written to memory."
    )


FUSION_ENDS: Final[dict[str, FusionEnd]] = {
    "reduced": FusionEnd(
        "barrier",
        lambda pair: (
            f"{pair.first.name} must see every element before {pair.second.name} can start with "
            f"the first: the whole tensor is read once for the {pair.first.key} and once more for "
            "what follows."
        ),
    ),
    "reread": FusionEnd(
        "none",
        lambda pair: (
            f"A matrix product reads each of its inputs many times: computing {pair.first.name} "
            "again for every read would cost more than writing it once."
        ),
    ),
    "epilogue": FusionEnd(
        "epilogue",
        lambda pair: (
            f"{pair.second.name} is applied to each output of the product while it is still in "
            "registers, before it is written."
        ),
    ),
    "tiled": FusionEnd(
        "barrier",
        lambda pair: (
            f"{pair.second.name} needs whole rows, and a product computes its output tile by tile."
        ),
    ),
    "pointwise": FusionEnd(
        "pointwise",
        lambda pair: (
            f"{pair.first.name} and {pair.second.name} work element by element on the same shape: "
            "the value between them stays in a register."
        ),
    ),
    "other rows": FusionEnd(
        "barrier",
        lambda pair: (
            f"{pair.first.name} and {pair.second.name} reduce over different rows, so the first "
            "must finish."
        ),
    ),
    "vertical": FusionEnd("vertical", _vertical),
    "nothing shared": FusionEnd(
        "none",
        lambda pair: (
            f"{pair.first.name} and {pair.second.name} share no data, so fusing them saves no "
            "traffic."
        ),
    ),
    "tiled apart": FusionEnd(
        "none",
        lambda pair: (
            f"{pair.first.name} and {pair.second.name} read the same tensor, but a matrix product "
            "tiles it in its own way and would have to wait for the other."
        ),
    ),
    "horizontal": FusionEnd(
        "horizontal",
        lambda pair: (
            f"{pair.first.name} and {pair.second.name} read the same tensor: one kernel reads it "
            "once for both."
        ),
    ),
}


def can_fuse(
    first: Op | str, second: Op | str, relation: Relation = "producer", *, same_shape: bool = True
) -> FusionVerdict:
    """Decide whether two operations can become one kernel.

    Parameters
    ----------
    first, second : Op or str
        Operations, or their keys in ``ops``.
    relation : {"producer", "shared-input", "unrelated"}
        ``"producer"`` if the second reads what the first writes, ``"shared-input"`` if both
        read the same tensor, ``"unrelated"`` otherwise.
    same_shape : bool
        Whether both work on tensors of the same shape.

    Examples
    --------
    Can GELU be computed by the product before it, and what was asked to find out?

    >>> from mlsys_widgets import physics as ph
    >>> verdict = ph.can_fuse("matmul", "gelu")
    >>> verdict.fusible, verdict.kind
    (True, 'epilogue')
    >>> verdict.path
    (('reads', True), ('reduction', False), ('into product', False), ('out of product', True))
    >>> print(ph.can_fuse("gelu", "matmul").reason)
    A matrix product reads each of its inputs many times: computing GELU again for every read \
would cost more than writing it once.
    """
    pair = OpPair(
        ops[first] if isinstance(first, str) else first,
        ops[second] if isinstance(second, str) else second,
        one_of("relation", relation, get_args(Relation)),
        same_shape,
    )
    path, place = [], next(iter(FUSION_QUESTIONS))
    while place in FUSION_QUESTIONS:
        question = FUSION_QUESTIONS[place]
        answer = question.answer(pair)
        path.append((place, answer))
        place = question.yes if answer else question.no
    end = FUSION_ENDS[place]
    return FusionVerdict(end.kind, end.reason(pair), place, tuple(path))


def chainable(op: Op | str) -> bool:
    """Whether a chain of operations can continue through this one: two of it in a row fuse.

    It is an operation of ``ops``, or its key.

    Examples
    --------
    >>> [key for key in ops if not chainable(key)]
    ['sum', 'max', 'matmul']
    """
    return can_fuse(op, op).fusible
