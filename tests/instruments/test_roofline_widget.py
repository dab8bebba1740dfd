"""The roofline: kernels under the roof of a device, overlays, and inputs that hang together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.drawing.scene import Line, Points
from mlsys_widgets.instruments.roofline_widget import RooflineWidget
from mlsys_widgets.measured import points

show = ph.format_quantity


def mark(w: RooflineWidget, name: str) -> Any:
    (scene,) = w.scenes(w.result)
    return next(one for one in scene.marks if one.name == name)


def legend(w: RooflineWidget) -> list[str]:
    (scene,) = w.scenes(w.result)
    return [words for words, _, _ in scene.legend]


def test_the_reference_kernel_of_the_course() -> None:
    w = RooflineWidget(device="h100-sxm", precision="fp16", n=512)
    assert w.result.mfu == pytest.approx(0.578, abs=5e-4)
    assert dict(card[:2] for card in w.cards(w.result))["Regime"] == "memory-bound"
    assert "left of the ridge at 295.2 FLOP/B" in w.sentence(w.result)


@settings(max_examples=40)
@given(st.sampled_from(sorted(ph.devices)), st.integers(1, 32768), st.booleans(), st.data())
def test_plot_cards_sentence_and_table_agree(
    device: str, n: int, llm: bool, data: st.DataObject
) -> None:
    w = RooflineWidget(device=device, n=n, workload="llm" if llm else "gemm")
    w.set(precision=data.draw(st.sampled_from(ph.devices[device].precisions)))
    result = w.result
    first = w.operations[0]
    point = mark(w, first.name)
    assert (point.x, point.y) == ((result.intensity,), (result.attainable,))
    assert mark(w, "drop").x[0] == result.intensity
    cards = dict(card[:2] for card in w.cards(result))
    assert cards["Attainable"] == show(result.attainable, "FLOP/s", pad=True)
    assert show(result.mfu, "%") in w.sentence(result)
    _, rows = w.table(result)
    assert [row[0] for row in rows] == [op.name for op in w.operations]
    assert [row[4] for row in rows] == [show(o.roof.attainable, "FLOP/s") for o in w.operations]
    roof = mark(w, "roof")
    assert roof.x[1] == pytest.approx(result.ridge)
    assert max(roof.y) == result.peak


def test_a_square_stays_square_whichever_side_moves() -> None:
    w = RooflineWidget()
    w.set(k=1024)
    assert (w.m, w.n, w.k) == (1024, 1024, 1024)
    w.set(square=False)
    w.set(k=64)
    assert (w.m, w.n, w.k) == (1024, 1024, 64)
    assert "m" not in w.hidden()


def test_a_precision_that_the_device_lacks_gives_way_unless_it_was_asked_for() -> None:
    w = RooflineWidget(device="h100-sxm", precision="fp8")
    w.set(device="cortex-m7")
    assert w.precision == "fp32"
    with pytest.raises(ValueError, match="Precision is 'fp8'; it must be one of: fp32"):
        w.set(precision="fp8")
    assert (w.device, w.precision) == ("cortex-m7", "fp32")


def test_sparsity_is_offered_where_both_peaks_are_known() -> None:
    w = RooflineWidget(device="h100-sxm", sparse=True)
    assert w.result.peak == ph.devices["h100-sxm"].peak("fp16", sparse=True)
    w.set(device="mobile-npu")
    assert (w.sparse, "sparse" in w.hidden()) == (False, True)
    w.set(device="orin-nx", precision="int8")  # known only with sparsity
    assert (w.sparse, "sparse" in w.hidden()) == (True, True)
    assert "with 2:4 sparsity" in w.sentence(w.result)


def test_fusion_raises_the_elementwise_kernels_and_not_the_projection() -> None:
    apart, fused = (RooflineWidget(workload="llm", fusion=f).operations for f in ("none", "full"))
    assert apart[0].roof == fused[0].roof
    assert fused[1].roof.attainable > apart[1].roof.attainable


def test_other_roofs_are_drawn_where_the_precision_is_known() -> None:
    w = RooflineWidget(precision="fp8", compare=("h200-sxm", "a100-sxm", "h100-sxm"))
    assert len(mark(w, "roof of h200-sxm").x) == 3
    assert mark(w, "roof of a100-sxm").x == ()  # it has no fp8
    assert mark(w, "roof of h100-sxm").x == ()  # it is the device itself
    assert any(words.startswith("H200 SXM, ") for words in legend(w))


def test_measured_products_are_those_of_the_document() -> None:
    w = RooflineWidget(device="h200-sxm", measured=True)
    shown = mark(w, "measured")
    found = [p for p in points("h200-sxm", "fp16", "gemm") if p.variant != "eager"]
    assert isinstance(shown, Points)
    assert len(shown.x) == len(found) > 0
    assert w.alert(w.result) is None
    w.set(device="a100-sxm")
    assert mark(w, "measured").x == ()
    assert "No fp16 matrix products were measured on the A100 SXM" in w.alert(w.result)[0]  # type: ignore[index]


def test_a_prediction_is_a_line() -> None:
    w = RooflineWidget(prediction=312e12)
    line = mark(w, "prediction")
    assert isinstance(line, Line)
    assert set(line.y) == {312e12}
    assert "Your prediction, 312 TFLOPS" in legend(w)
    assert mark(RooflineWidget(), "prediction").x == ()


def test_a_machine_of_ones_own_has_its_own_roof() -> None:
    w = RooflineWidget(machine="cpu-2core-server", precision="fp32", device="cortex-m7")
    roof, own = mark(w, "your machine"), mark(w, "your products")
    assert len(roof.x) == 3
    assert len(own.x) > 0
    assert "Its measured products" in legend(w)
    assert mark(RooflineWidget(), "your machine").x == ()
