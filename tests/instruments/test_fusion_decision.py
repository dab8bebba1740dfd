"""The tree that is drawn is the rule of physics, for any two operations."""

from __future__ import annotations

import itertools
from itertools import pairwise

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Blocks, Strokes
from mlsys_widgets.instruments import fusion_decision as tree
from mlsys_widgets.instruments.fusion_decision import FusionDecision
from mlsys_widgets.instruments.live_math import live_math
from mlsys_widgets.physics.fusion_rule import FUSION_ENDS, FUSION_QUESTIONS

RELATIONS = ("producer", "shared-input", "unrelated")
EVERYTHING = list(itertools.product(ph.ops, ph.ops, RELATIONS, (True, False)))


def test_every_question_and_every_end_is_drawn() -> None:
    assert set(tree._TREE.boxes) == {*FUSION_QUESTIONS, *FUSION_ENDS}


def test_everything_shown_agrees_for_every_pair() -> None:
    w = FusionDecision()
    for first, second, relation, same in EVERYTHING:
        w.set(first=first, second=second, relation=relation, same_shape=same)
        result = w.result
        assert result.verdict == ph.can_fuse(first, second, relation, same_shape=same)  # type: ignore[arg-type]
        assert result.reason in w.sentence(result)
        assert w.cards(result)[0][1] == ("fuse" if result.fusible else "keep apart")
        _, rows = w.table(result)
        path = result.verdict.path
        assert [row[1] for row in rows[:-1]] == [FUSION_QUESTIONS[key].asks for key, _ in path]
        assert [row[2] for row in rows[:-1]] == ["yes" if a else "no" for _, a in path]
        (scene,) = w.scenes(result)
        found = {mark.name: mark for mark in scene.marks}
        path, fuse, apart, boxes = (found[n] for n in ("path", "fuse", "apart", "boxes"))
        assert isinstance(path, Strokes)
        assert isinstance(fuse, Strokes)
        assert isinstance(apart, Strokes)
        assert isinstance(boxes, Blocks)
        steps = pairwise([*(key for key, _ in result.verdict.path), result.verdict.end])
        assert path.paths == tuple(tree._EDGES[step] for step in steps)
        assert (len(fuse.paths), len(apart.paths)) == ((1, 0) if result.fusible else (0, 1))
        lit = [key for key, block in zip(tree._TREE.boxes, boxes.blocks, strict=True)
               if block[4] != "gray"]  # fmt: skip
        assert set(lit) == {*(key for key, _ in result.verdict.path), result.verdict.end}


def test_the_shape_is_asked_for_where_it_matters() -> None:
    w = FusionDecision(first="relu", second="gelu")
    assert w.hidden() == set()
    w.set(same_shape=False)
    assert (w.result.kind, w.hidden()) == ("vertical", set())
    w.set(first="matmul")
    assert w.hidden() == {"same_shape"}
    w.set(relation="unrelated")
    assert w.hidden() == {"same_shape"}
    w.set(relation="producer")
    w.set(first="softmax", second="layernorm")
    assert (w.result.kind, w.hidden()) == ("barrier", set())


def test_what_fusion_saves_is_counted_by_physics() -> None:
    w = FusionDecision(first="mul", second="add")
    chain = ph.chain("mul", "add")
    before = chain.unfused_reads + chain.unfused_writes
    after = chain.fused_reads + chain.fused_writes
    assert w.cards(w.result)[-1][1] == f"{before} → {after}"
    w.set(same_shape=False)  # tensors of different sizes cannot be counted alike
    assert w.result.chain is None


def test_the_math_gives_the_answers_and_marks_the_last() -> None:
    w = FusionDecision()
    for first, second, relation, same in EVERYTHING:
        w.set(first=first, second=second, relation=relation, same_shape=same)
        path = w.result.verdict.path
        reasoning = w.explanations["Verdict"]
        steps = reasoning.derivation().steps
        assert [(step.quantity.name, step.value) for step in steps] == list(path)
        assert w.dominant(reasoning) == path[-1][0]
        assert (len(w.explanations) == 2) == (w.result.chain is not None)
    w.set(first="mul", second="add", relation="producer", same_shape=True)
    html = "".join(str(live_math(w, part)) for part in w.explanations)
    assert html.count("True)") == 1
    # Six tensors become four: 12 MB become 8 MB, 1.5 times less.
    assert "1.5×" in html
    assert "elementwise; Add, elementwise; same shape" in html


def test_hints_are_for_what_stays_apart_and_are_not_in_the_verdict() -> None:
    assert set(tree._HINTS) == {key for key, end in FUSION_ENDS.items() if not end.fusible}
    assert set(tree._LOOKS_AT) == set(FUSION_QUESTIONS)
    w = FusionDecision(first="matmul", second="softmax")
    assert "FlashAttention" in w.shown_hint
    assert "FlashAttention" not in w.sentence(w.result)
    w.set(second="relu")
    assert w.shown_hint == ""
