"""The model on trial: verdicts on shipped measurements, and on made-up ones we know."""

from __future__ import annotations

import copy
import math
import statistics

import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured import findings, report
from mlsys_widgets.measured.fitting import Ceiling, fit_kernel
from mlsys_widgets.measured.queries import cases
from mlsys_widgets.measured.trial import hold_trial, median_error, roofs_of

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def h200():
    return hold_trial(measured.load("h200-sxm"))


def topic(trial, name):
    return next(topic for topic in trial.topics if topic.name == name)


def test_the_goal_on_cases_that_were_not_fitted(h200):
    # Issue "Real hardware beside the model": at most 15 % in the median over these topics.
    assert {t.name for t in h200.topics if t.counted} >= {
        "gemm",
        "projection",
        "elementwise",
        "dispatch",
    }
    assert median_error(h200.judged) <= 0.15
    for one in h200.topics:
        if one.counted:
            assert median_error(one.judged) <= 0.15, one.name


def test_the_extended_model_beats_the_textbook(h200):
    for name in ("gemm", "projection", "elementwise", "dispatch"):
        judged = topic(h200, name).judged
        assert median_error(judged) < median_error(judged, textbook=True)


def test_no_judged_case_was_fitted_and_none_is_lost(h200):
    for one in h200.topics:
        assert len({id(v.case) for v in one.verdicts}) == len(one.verdicts)
        assert one.judged
        share = len(one.judged) / len(one.verdicts)
        assert 0.4 <= share <= 1.0
    squares = cases(h200.document, kind="gemm", variant="graph")
    assert len(topic(h200, "gemm").verdicts) == len(squares)


def test_the_fit_does_not_see_the_judged_half(h200):
    # Spoil every judged case: what was fitted must not change.
    document = copy.deepcopy(h200.document)
    judged = {v.case.label for v in topic(h200, "gemm").judged}
    spoiled = 0
    for entry, case in zip(document["cases"], cases(document), strict=True):
        if case.kind == "gemm" and case.variant == "graph" and case.label in judged:
            for key in ("median", "q25", "q75"):
                entry["seconds"][key] *= 3
            spoiled += 1
    assert spoiled == len(judged)
    assert topic(hold_trial(document), "gemm").parameters == topic(h200, "gemm").parameters


def test_a_known_machine_is_found_again(h200):
    """Times made by the model itself, from parameters we chose, give these parameters back."""
    ceiling = Ceiling(peak=989e12, bandwidth=4.8e12, units=132)
    made = []
    for case in cases(h200.document, kind="gemm", precision="fp16", variant="graph"):
        seconds = ph.kernel_time(
            case.flops,
            case.bytes,
            ceiling.peak,
            ceiling.bandwidth,
            floor=4e-6,
            compute_efficiency=0.5,
            bandwidth_efficiency=0.25,
        ).time
        spread = type(case.seconds)(float(seconds), float(seconds), float(seconds), 9)
        made.append(type(case)(**{**vars(case), "seconds": spread}))
    found = fit_kernel(made, ceiling, waves=True)
    assert found.floor == pytest.approx(4e-6, rel=0.02)
    assert found.compute_efficiency == pytest.approx(0.5, rel=0.02)
    assert found.bandwidth_efficiency == pytest.approx(0.25, rel=0.05)
    assert not found.waves


def test_launches_are_asynchronous(h200):
    found = findings.launches(h200)
    assert found.follows == "asynchronous"
    assert found.async_error < 0.15 < found.serial_error


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


def test_the_physics_device_uses_what_was_measured(h200):
    """One number, one place: the launch overhead on record is the document's, rounded."""
    device = ph.devices["h200-sxm"]
    launch = measured.ceilings(h200.document).launch
    assert device.provenance["launch_overhead"].kind == "measured"
    assert device.launch_overhead == pytest.approx(launch, rel=0.02)


def test_a_machine_without_a_datasheet_is_judged_by_its_own_best():
    document = measured.load("cpu-2core-server")
    roofs = roofs_of(document)
    assert roofs.bandwidth == measured.ceilings(document).bandwidth
    assert "no datasheet" in roofs.source
    trial = hold_trial(document)
    assert {t.name for t in trial.topics} >= {"gemm", "elementwise"}


def test_a_document_without_roofs_says_what_to_measure():
    document = copy.deepcopy(measured.load("cpu-2core-server"))
    document["cases"] = [c for c in document["cases"] if c["kind"] != "gemm"]
    with pytest.raises(ValueError, match="measure the sections copy and gemm"):
        hold_trial(document)


def test_the_report_has_every_case_and_the_numbers_of_the_trial(h200, tmp_path):
    page = report.write(h200, tmp_path)
    text = page.read_text(encoding="utf-8")
    for one in h200.topics:
        assert ph.format_quantity(median_error(one.judged), "%") in text
        for verdict in one.verdicts:
            assert verdict.case.label in text
    errors = [abs(v.error) for v in h200.judged]
    assert ph.format_quantity(statistics.median(errors), "%") in text
    for picture in ("roofline", "gemm", "dispatch", "fusion"):
        assert f"h200-sxm-{picture}.svg" in text
        assert (tmp_path / f"h200-sxm-{picture}.svg").stat().st_size > 5000
    again = report.write(h200, tmp_path / "again")
    assert again.read_text(encoding="utf-8") == text
