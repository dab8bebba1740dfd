"""What the shipped measurement says about the questions of the labs."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import pytest

from mlsys_widgets.measured import cases, findings, report

pytest.importorskip("scipy")


def test_launches_are_asynchronous(h200):
    found = findings.launches(h200)
    assert found.follows == "asynchronous"
    assert found.async_error < 0.15 < found.serial_error
    assert found.launch.endswith("s")


def test_streams_that_contradict_each_other_are_found(h200):
    assert findings.disturbed_streams(h200.document) == []
    document = copy.deepcopy(h200.document)
    tiny = next(
        entry for entry in document["cases"]
        if (entry["kind"], entry["variant"]) == ("dispatch", "eager")
        and (entry["shape"]["length"], entry["shape"]["launches"]) == ("tiny", 1000)
    )  # fmt: skip
    for key in ("median", "q25", "q75"):
        tiny["seconds"][key] *= 1.5
    ((short, long),) = findings.disturbed_streams(document)
    assert (short.shape["length"], long.shape["length"]) == ("tiny", "5us")
    assert short.shape["launches"] == long.shape["launches"] == 1000
    shown = report.disturbed(replace(h200, document=document))
    assert shown.startswith(
        "The host was disturbed while streams were timed: 1,000 kernels took 12"
    )
    assert "(1 such pair)" in shown


def test_shortfalls_multiply_to_the_share(h200):
    rows = findings.shortfalls(h200)
    assert [row.n for row in rows] == sorted(row.n for row in rows)
    for row in rows:
        assert row.floor * row.waves * row.rest == pytest.approx(row.share)
        assert 0 < row.share < 1
    assert rows[0].share < 0.05  # the smallest product is all floor
    assert rows[-1].floor > 0.95  # the largest one has left it behind


def test_nothing_is_above_a_roof(h200):
    assert findings.above_a_roof(h200.document, h200.roofs) == []


def test_something_above_a_roof_is_found(h200):
    document = copy.deepcopy(h200.document)
    entry = next(e for e in document["cases"] if e["kind"] == "gemm" and e["shape"]["n"] == 8192)
    for key in ("median", "q25", "q75"):
        entry["seconds"][key] /= 10
    (case, excess), *others = findings.above_a_roof(document, h200.roofs)
    assert not others
    assert case.shape["n"] == 8192
    assert excess > 1


def test_break_evens_are_the_physics_of_the_measured_rates(h200):
    found = findings.break_evens(h200.document)
    assert {f.model for f in found} == {"ds-cnn", "resnet50", "gpt2-layer"}
    for f in found:
        if f.compiled_rate <= f.eager_rate:
            assert f.break_even == math.inf
        else:
            saved = 1 / f.eager_rate - 1 / f.compiled_rate
            assert f.break_even == pytest.approx(f.compile_time / saved)


def test_fusion_is_reported_beside_the_claim(h200):
    found = findings.fusions(h200.document, h200.roofs)
    assert len(found) >= 4
    for f in found:
        assert set(f.wall) == {"compiled", "compiled_graph", "triton"}
        assert f.traffic in (2.0, 3.0)


def test_the_model_of_fusion_is_close_to_the_kernel_written_by_hand(h200):
    """For the chain of the labs, at every size that ships: 2.92, 2.49, 2.32 and 2.51×."""
    ours = [
        f
        for f in findings.fusions(h200.document, h200.roofs)
        if f.chain == "layernorm_dropout_relu"
    ]
    errors = [f.modeled / f.wall["triton"] - 1 for f in ours]
    assert len(errors) == 4
    assert max(abs(error) for error in errors) < 0.2
    # The arithmetic of the model is never longer than the whole kernel that was measured.
    for f in ours:
        (case,) = cases(h200.document, kind="fusion", variant="triton", chain=f.chain, rows=f.rows)
        assert case.flops / h200.roofs.peaks["fp32"] < case.seconds.median
