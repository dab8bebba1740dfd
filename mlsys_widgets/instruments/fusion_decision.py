"""Can two operations become one kernel? The decision as a tree, with the path that was taken.

The physics core decides: its rule is a tree of questions about the kinds of the two operations, how
they are related, and whether their shapes agree. This instrument lays that tree out and draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.diagram import Box, Diagram
from mlsys_widgets.drawing.scene import Blocks, Scene, Strokes, Words
from mlsys_widgets.instruments.controls import Select, Switch
from mlsys_widgets.instruments.instrument import Instrument, NumberCard, Table
from mlsys_widgets.physics import notation
from mlsys_widgets.physics.derivation import Derivation, Quantity, Step
from mlsys_widgets.physics.fusion_rule import FUSION_ENDS, FUSION_QUESTIONS, Relation


@dataclass(frozen=True)
class Decision:
    """The verdict of the physics core on two operations, and what it changes."""

    first: ph.Op
    second: ph.Op
    verdict: ph.FusionVerdict
    #: What two kernels and one kernel move, where all tensors have one size.
    chain: ph.Chain | None

    @property
    def kind(self) -> str:
        """The kind of fusion, or what prevents it."""
        return self.verdict.kind

    @property
    def fusible(self) -> bool:
        """Whether one kernel can do both."""
        return self.verdict.fusible

    @property
    def reason(self) -> str:
        """Why."""
        return self.verdict.reason


_KINDS = {
    "elementwise": "elementwise",
    "row-reduction": "reduces each row",
    "reduction": "reduces the whole tensor",
    "matmul": "matrix product",
}
_RELATIONS: dict[Relation, str] = {
    "producer": "The second reads the first's result",
    "shared-input": "Both read the same tensor",
    "unrelated": "They share no data",
}
#: A verdict in words: on the tree, and on a card.
_WORDS = {
    "pointwise": ("Pointwise", "pointwise fusion"),
    "vertical": ("Vertical", "vertical fusion"),
    "horizontal": ("Horizontal", "horizontal fusion"),
    "epilogue": ("Epilogue", "epilogue fusion"),
    "barrier": ("Barrier", "barrier"),
    "none": ("Apart", "no fusion"),
}
_OPTIONS = {
    key: op.name if op.kind == "matmul" else f"{op.name}, {_KINDS[op.kind]}"
    for key, op in ph.ops.items()
}

#: What each question looks at: the relation, the two operations, their shapes.
_LOOKS_AT = {
    "reads": ("relation",),
    "reduction": ("first",),
    "into product": ("second",),
    "out of product": ("first", "second"),
    "product": ("first",),
    "elementwise": ("first", "second", "shapes"),
    "rows": ("first", "second", "shapes"),
    "shares": ("relation",),
    "one product": ("first", "second"),
}
#: What would help where two operations stay apart, by the end of the tree.
_HINTS = {
    "reduced": "If the whole tensor fits on chip, one kernel can keep it there for both.",
    "reread": "Some compilers apply a cheap elementwise operation while the product loads its "
    "tiles, so that its result is never written.",
    "tiled": "An algorithm that corrects its result as further tiles arrive needs no whole rows: "
    "FlashAttention does this for softmax.",
    "other rows": "If both reduced over the same rows, one kernel could keep a row on chip for "
    "both.",
    "nothing shared": "On a GPU with room for both, they can run side by side in two streams.",
    "tiled apart": "If the second kernel follows at once, it may find the shared tensor in the "
    "cache.",
}
#: The size for which the math counts data.
_EXAMPLE = 1e6


@dataclass(frozen=True)
class Reasoning:
    """The answers that lead to a verdict, as the steps of a derivation."""

    first: ph.Op
    second: ph.Op
    relation: Relation
    same_shape: bool
    path: tuple[tuple[str, bool], ...]

    def derivation(self) -> Derivation:
        """Each question that was asked, with what it looks at and the answer."""
        facts = {
            "relation": _RELATIONS[self.relation],
            "first": _OPTIONS[self.first.key],
            "second": _OPTIONS[self.second.key],
            "shapes": "same shape" if self.same_shape else "different shapes",
        }
        steps = []
        for k, (key, answer) in enumerate(self.path, 1):
            asks = FUSION_QUESTIONS[key].asks
            seen = "; ".join(facts[name] for name in _LOOKS_AT[key])
            written = {
                notation.TEXT: seen,
                notation.LATEX: rf"\text{{{seen}}}",
                notation.HTML: notation.HTML.quantity(seen),
                notation.MATHML: notation.MATHML.quantity(seen),
            }
            about = asks[:1].lower() + asks[1:]
            steps.append(Step(Quantity(key, f"q_{k}", "", about), written, written, answer))
        return Derivation(tuple(steps))


# The layout of the tree: two trunks of questions, with their ends on the outer sides.
_PITCH = 68.0
_LABELS = {
    "reduction": ("First reduces", "everything?"),
    "into product": ("Is the second a", "matrix product?"),
    "out of product": ("Product, then", "elementwise?"),
    "product": ("Is the first a", "matrix product?"),
    "elementwise": ("Elementwise,", "same shape?"),
    "rows": ("Both reduce,", "other rows?"),
    "shares": ("Do both read", "one tensor?"),
    "one product": ("Is only one a", "matrix product?"),
}
_TRUNKS = {
    36.0: ("reduction", "into product", "out of product", "product", "elementwise", "rows"),
    65.0: ("shares", "one product"),
}


def _boxes() -> dict[str, Box]:
    boxes = {
        "reads": Box(50.5, 22.0, 56.0, 42.0, ("Does the second read", "what the first writes?"))
    }
    for x, trunk in _TRUNKS.items():
        for k, key in enumerate(trunk, 1):
            y = 26.0 + k * _PITCH
            boxes[key] = Box(x, y, 27.0, 42.0, _LABELS[key])
            for end in (FUSION_QUESTIONS[key].yes, FUSION_QUESTIONS[key].no):
                if end in FUSION_ENDS:
                    side = 10.5 if x < 50 else 89.5
                    boxes[end] = Box(side, y + 34.0, 20.0, 28.0, _end_label(end))
        last = FUSION_QUESTIONS[trunk[-1]].no
        boxes[last] = Box(x, 26.0 + (len(trunk) + 1) * _PITCH, 27.0, 28.0, _end_label(last))
    return boxes


def _end_label(end: str) -> tuple[str, ...]:
    reached = FUSION_ENDS[end]
    return (f"{'✓' if reached.fusible else '✗'} {_WORDS[reached.kind][0]}",)


_TREE = Diagram(height=538, boxes=_boxes())
#: Where the line straight down from a question leads.
_DOWN = {key: FUSION_QUESTIONS[key].no for trunk in _TRUNKS.values() for key in trunk}
_DOWN["shares"] = FUSION_QUESTIONS["shares"].yes


def _edge(start: str, end: str) -> tuple[tuple[float, float], ...]:
    beside = start != "reads" and _DOWN[start] != end
    return _TREE.aside(start, end) if beside else _TREE.arrow(start, end)


_EDGES = {
    (key, end): _edge(key, end) for key, q in FUSION_QUESTIONS.items() for end in (q.yes, q.no)
}


def _answers() -> tuple[Words, Words]:
    """Yes and no: next to the lines that go down, and above those that go sideways."""
    down = [(38.5, 58.0, "yes"), (67.5, 58.0, "no")]
    aside = []
    for key, below in _DOWN.items():
        box = _TREE.boxes[key]
        word, other = ("yes", "no") if FUSION_QUESTIONS[key].yes == below else ("no", "yes")
        down.append((box.x + 2.5, box.y + box.height / 2 + 11.0, word))
        aside.append((17.0 if box.x < 50 else 83.5, box.y - 10.0, other))
    return (
        _TREE.words("answers below", down, "start"),
        _TREE.words("answers beside", aside, "middle"),
    )


_ALL_EDGES = Strokes("lines", tuple(_EDGES.values()), "gray", width=1.2)
_ALL_HEADS = _TREE.heads("heads", (end for _, end in _EDGES), "gray")
_CAPTIONS = _TREE.captions("questions")
_ANSWERS = _answers()


class FusionDecision(Instrument):
    """Whether two operations can become one kernel, how, and why.

    A compiler fuses by rules, not by taste. Choose two operations and follow the questions it has
    to ask: does the second read what the first writes, does one of them need everything before it
    can begin, and do their shapes agree?

    Examples
    --------
    >>> FusionDecision(first="matmul", second="relu").result.kind
    'epilogue'
    >>> w = FusionDecision(first="sum", second="mul")
    >>> w.result.fusible, w.result.verdict.end
    (False, 'reduced')
    """

    title = "Fusion decision"
    showcase = ("first", "second")

    first = Select(
        "First", default="matmul", options=_OPTIONS, help="The operation that runs first."
    )
    second = Select("Second", default="relu", options=_OPTIONS, help="The operation after it.")
    relation = Select[Relation](
        "How they are related",
        default="producer",
        options=_RELATIONS,
        help="Fusion saves traffic only where data is shared.",
    )
    same_shape = Switch(
        "Both work on the same shape",
        default=True,
        help="Whether all their tensors have the same shape; asked only where it matters.",
    )

    def hidden(self) -> AbstractSet[str]:
        """The shape, where nothing depends on it."""
        same, other = self._decide(True), self._decide(False)
        alike = (same.verdict, same.chain) == (other.verdict, other.chain)
        return {"same_shape"} if alike else set()

    def compute(self) -> Decision:
        return self._decide(self.same_shape)

    def _decide(self, same_shape: bool) -> Decision:
        first, second = ph.ops[self.first], ph.ops[self.second]
        verdict = ph.can_fuse(first, second, self.relation, same_shape=same_shape)
        # Tensors can be counted only where they all have one size.
        counted = (
            verdict.fusible
            and self.relation == "producer"
            and same_shape
            and ph.chainable(first)
            and ph.chainable(second)
        )
        chain = ph.chain(self.first, self.second) if counted else None
        return Decision(first, second, verdict, chain)

    @property
    def explanations(self) -> dict[str, Any]:
        result: Decision = self.result
        found: dict[str, Any] = {
            "Verdict": Reasoning(
                result.first, result.second, self.relation, self.same_shape, result.verdict.path
            )
        }
        if result.chain is not None:
            title = f"Data moved, with {ph.format_quantity(_EXAMPLE)} fp16 elements in each tensor"
            found[title] = ph.fuse(result.chain, _EXAMPLE).traffic_reduction
        return found

    def dominant(self, result: Any) -> str:
        """The last question that was asked."""
        return result.path[-1][0] if isinstance(result, Reasoning) else ""

    def hint(self, result: Decision) -> str:
        return _HINTS.get(result.verdict.end, "")

    # What it says.

    def cards(self, result: Decision) -> Sequence[NumberCard]:
        tone = "green" if result.fusible else "red"
        cards = [
            ("Verdict", "fuse" if result.fusible else "keep apart", tone),
            ("Kind", _WORDS[result.kind][1], tone),
            ("Kernels", "2 → 1" if result.fusible else "2", "gray"),
        ]
        if result.chain is not None:
            chain = result.chain
            before, after = (
                ph.format_quantity(reads + writes)
                for reads, writes in (
                    (chain.unfused_reads, chain.unfused_writes),
                    (chain.fused_reads, chain.fused_writes),
                )
            )
            cards.append(("Tensors read and written", f"{before} → {after}", "memory"))
        return cards

    def sentence(self, result: Decision) -> str:
        first, second = result.first.name, result.second.name
        verdict = "fuse" if result.fusible else "do not fuse"
        return f"{first} and {second} {verdict} ({_WORDS[result.kind][1]}). {result.reason}"

    def remark(self, result: Decision) -> str:
        return result.reason

    def table(self, result: Decision) -> Table:
        rows = [
            (ph.format_quantity(k), FUSION_QUESTIONS[key].asks, ph.format_quantity(answer))
            for k, (key, answer) in enumerate(result.verdict.path, 1)
        ]
        last = ph.format_quantity(len(rows) + 1)
        return ("Step", "Question", "Answer"), [
            *rows,
            (last, "Can they become one kernel?", _WORDS[result.kind][1]),
        ]

    # What it draws.

    def scenes(self, result: Decision) -> tuple[Scene, ...]:
        asked = [key for key, _ in result.verdict.path]
        end = result.verdict.end
        taken = [*asked, end]
        steps = pairwise(taken)
        verdict = "green" if result.fusible else "red"
        tones = dict.fromkeys(asked, "blue") | {end: verdict}
        marks = (
            _ALL_EDGES,
            _ALL_HEADS,
            Strokes("path", tuple(_EDGES[step] for step in steps), "blue", width=3.5),
            _TREE.heads("heads of the path", taken[1:], "blue"),
            Blocks(
                "boxes", tuple(_TREE.block(key, tones.get(key, "gray")) for key in _TREE.boxes), 0.2
            ),
            Strokes("asked", tuple(_TREE.outline(key) for key in asked), "blue", width=1.5),
            Strokes("fuse", _outline(end, result.fusible), "green", width=3.0),
            Strokes("apart", _outline(end, not result.fusible), "red", "dashed", 3.0),
            _CAPTIONS,
            *_ANSWERS,
        )
        legend = (
            ("Path taken", "blue", "solid"),
            ("✓ One kernel", "green", "solid"),
            ("✗ Two kernels", "red", "dashed"),
        )
        return (_TREE.scene(marks, legend),)


def _outline(end: str, shown: bool) -> tuple[Any, ...]:
    return (_TREE.outline(end),) if shown else ()
