"""The one rule for fusion: every pair gets a verdict, and the path leads to it."""

from __future__ import annotations

import itertools

import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics.fusion_rule import FUSION_ENDS, FUSION_QUESTIONS

RELATIONS = ("producer", "shared-input", "unrelated")
EVERYTHING = list(itertools.product(ph.ops, ph.ops, RELATIONS, (True, False)))


@pytest.mark.parametrize(
    ("first", "second", "relation", "same_shape", "kind"),
    [
        # Day 14, the fusion decision: one row for each leaf of the tree
        ("relu", "sigmoid", "producer", True, "pointwise"),
        ("add", "mul", "producer", False, "vertical"),
        ("matmul", "relu", "producer", True, "epilogue"),
        ("matmul", "matmul", "producer", True, "none"),
        ("relu", "add", "shared-input", True, "horizontal"),
        ("matmul", "matmul", "shared-input", True, "horizontal"),
        ("matmul", "relu", "shared-input", True, "none"),
        ("relu", "gelu", "unrelated", True, "none"),
        # Day 14, question 7: x / x.sum()
        ("sum", "mul", "producer", False, "barrier"),
        ("sum", "max", "producer", True, "barrier"),
        # A reduction takes its elementwise producer along; work on a row on chip continues
        ("mul", "sum", "producer", True, "vertical"),
        ("layernorm", "dropout", "producer", True, "vertical"),
        ("matmul", "softmax", "producer", True, "barrier"),
        ("gelu", "matmul", "producer", True, "none"),
        ("softmax", "layernorm", "producer", False, "barrier"),
    ],
)
def test_verdict(first: str, second: str, relation: str, same_shape: bool, kind: str) -> None:
    verdict = ph.can_fuse(first, second, relation, same_shape=same_shape)  # type: ignore[arg-type]
    assert verdict.kind == kind
    assert verdict.fusible == (kind not in ("barrier", "none"))
    assert verdict.reason.endswith(".")


def test_every_pair_gets_a_verdict_that_names_an_operation() -> None:
    for first in ph.ops.values():
        for second in ph.ops.values():
            for relation in ("producer", "shared-input", "unrelated"):
                reason = ph.can_fuse(first, second, relation).reason
                assert first.name in reason or second.name in reason


def test_the_path_ends_at_the_verdict_for_every_pair() -> None:
    reached = set()
    for first, second, relation, same in EVERYTHING:
        verdict = ph.can_fuse(first, second, relation, same_shape=same)  # type: ignore[arg-type]
        assert FUSION_ENDS[verdict.end].kind == verdict.kind, (first, second, relation, same)
        reached.add(verdict.end)
        # Each answer leads to the next question, and the last one to the end.
        place = "reads"
        for asked, answer in verdict.path:
            assert asked == place
            place = FUSION_QUESTIONS[asked].yes if answer else FUSION_QUESTIONS[asked].no
        assert place == verdict.end
    assert reached == set(FUSION_ENDS)  # no end of the tree is decoration


def test_two_pairs_at_one_end_have_one_reason() -> None:
    """An end stands for one rule: up to the names of the operations its reasons are the same."""
    reasons: dict[str, set[str]] = {}
    for first, second, relation, same in EVERYTHING:
        one, two = ph.ops[first], ph.ops[second]
        verdict = ph.can_fuse(first, second, relation, same_shape=same)  # type: ignore[arg-type]
        end, reason = verdict.end, verdict.reason
        for name, letter in sorted(((one.name, "A"), (two.name, "B")), key=lambda x: -len(x[0])):
            reason = reason.replace(name, letter)
        reasons.setdefault(end, set()).add(
            reason.replace(one.key, "a").replace("B", "A")  # an operation may stand on both sides
        )
    counts = {end: len(found) for end, found in reasons.items()}
    # Vertical fusion has two reasons: value by value, and row by row.
    assert counts == {**dict.fromkeys(FUSION_ENDS, 1), "vertical": 2}


def test_the_tree_is_a_tree() -> None:
    children = [
        end for question in FUSION_QUESTIONS.values() for end in (question.yes, question.no)
    ]
    assert sorted(children) == sorted({*FUSION_QUESTIONS, *FUSION_ENDS} - {"reads"})


def test_a_chain_may_hold_what_fuses_with_anything_of_a_chain() -> None:
    held = [key for key in ph.ops if ph.chainable(key)]
    assert {ph.ops[key].kind for key in held} == {"elementwise", "row-reduction"}
    assert all(ph.can_fuse(first, second).fusible for first in held for second in held)
