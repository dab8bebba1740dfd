"""Lab 07 agrees with itself: verdicts hold on its instruments, its entry says what was done."""

from __future__ import annotations

import pytest

from mlsys_widgets import BreakEvenTimeline, DispatchWaterfall
from mlsys_widgets import physics as ph
from mlsys_widgets.judging import Given
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.labs import load
from mlsys_widgets.labs.items import DESIGN
from tests.labs import test_lab_designs, test_lab_instruments
from tests.labs.rehearsal import ROOT

opened = test_lab_instruments.opened
LAB = "lab_07_kernel_fusion"
HOME = ROOT / "assignments" / LAB
STUDENTS = [f"student-{k}" for k in range(200)]


def timelines(p):
    """Both deployments as a student would set them, the pass at the edge read off the waterfall."""
    box = DispatchWaterfall(device="orin-nx")
    cloud = BreakEvenTimeline(
        compile_time=p.compile_s,
        eager_rate=p.eager_rate,
        gain=p.compiled_rate / p.eager_rate - 1,
        per_day=p.server_images,
        days=1 / p.deploys,
    )
    edge = BreakEvenTimeline(
        compile_time=p.kws_compile_s,
        eager_rate=1 / float(box.result.total),
        gain=p.kws_gain,
        per_day=24 * p.per_hour,
        days=p.service_hours / 24,
    )
    return cloud, edge


def test_the_verdict_is_what_the_timeline_shows():
    lab, check = load(HOME), load_checks(HOME)["where_to_compile"]
    words = {(1, 1): "both", (1, 0): "cloud", (0, 1): "edge", (0, 0): "neither"}
    for student in STUDENTS:
        p = lab.draw(student)
        cloud, edge = timelines(p)
        pays = tuple(dict(c[:2] for c in w.cards(w.result))["Compiling"] == "pays off"
                     for w in (cloud, edge))  # fmt: skip
        assert check(Given(p, HOME)).value == words[pays], student


def test_both_limits_are_where_the_timeline_turns():
    lab, checks = load(HOME), load_checks(HOME)
    for student in STUDENTS[:50]:
        p = lab.draw(student)
        cloud, edge = timelines(p)
        limit = checks["deploys_per_day_limit"](Given(p, HOME)).value
        requests = checks["edge_requests_per_hour"](Given(p, HOME)).value
        if p.deploys_per_day_limit == "server_images_million":
            cloud.set(per_day=1e6 * limit)
            limit = p.deploys
        for less, pays in ((0.99, True), (1.01, False)):
            cloud.set(days=1 / (less * limit))
            assert bool(cloud.result.roi_positive) is pays
            edge.set(per_day=24 * requests / less)
            assert bool(edge.result.roi_positive) is pays


def test_the_promised_utilization_is_reached_at_both_budgets():
    lab, checks = load(HOME), load_checks(HOME)
    for student in STUDENTS[:50]:
        p = lab.draw(student)
        found = checks["launch_budget_us"](Given(p, HOME)).value
        pair = {
            "launch_budget_us": (p.kernel_us, found),
            "shortest_kernel_us": (found, p.launch_us),
        }[p.launch_budget_us]
        serial = ph.forward_pass(p.kernels, *(1e-6 * each for each in pair))
        assert 100 * serial.utilization == pytest.approx(p.goal_pct)
        left = checks["kernels_left"](Given(p, HOME)).value
        work = p.kernels * p.kernel_us * 1e-6
        ahead = ph.forward_pass(left, work / left, p.launch_us * 1e-6, launch="async")
        assert left < p.kernels
        assert 100 * ahead.utilization == pytest.approx(p.goal_pct, rel=0.01)


def test_the_entry_says_whether_the_chain_was_fused(opened):
    begun = opened(LAB)
    begun.open("act2_one_product")
    test_lab_designs.run_reveals(begun)
    entry, fusion = begun.lab.card(DESIGN), begun.names["fusion"]
    apart = entry.current
    assert not apart["fusion_enabled"]
    fusion.set(fused=True)
    fused = entry.current
    assert fused["fusion_enabled"]
    assert fused["arithmetic_intensity"] == pytest.approx(3 * apart["arithmetic_intensity"])
    fusion.set(step2="none", step3="none")
    assert not entry.current["fusion_enabled"], "one operation has nothing to fuse with"


def test_an_entry_that_contradicts_itself_says_so(opened):
    begun = opened(LAB)
    begun.open("act2_one_product")
    test_lab_designs.run_reveals(begun)
    entry, plan = begun.lab.card(DESIGN), begun.names["plan"]
    begun.lab.answer("where_to_compile", "neither")
    plan.set(preset="resnet50-cloud")
    assert entry.current["compilation_roi_positive"]
    assert "by the timeline, although compiling would pay there" in entry.headline
    # 30 s over what an image saves, 1 / 1,450 s - 1 / 2,150 s, is 133,607.1 images.
    assert entry.current["breakeven_inferences"] == entry.current["act2_result"] == 133_608
    plan.set(preset="ci-run")
    assert "compiling would pay" not in entry.headline


def test_the_context_decides_the_utilization_that_is_handed_on(opened):
    begun = opened(LAB)
    begun.open("act2_one_product")
    test_lab_designs.run_reveals(begun)
    entry, toggle = begun.lab.card(DESIGN), begun.names["context"]
    found = {}
    for place, device in (("cloud", "a100-sxm"), ("edge", "orin-nx")):
        toggle.context = place
        found[place] = entry.current
        for mode in ("eager", "compiled"):
            wanted = 100 * ph.run("kws", device, mode).utilization
            assert found[place][f"kws_utilization_{mode}_pct"] == pytest.approx(wanted)
    edge, cloud = found["edge"], found["cloud"]
    assert edge["kws_utilization_eager_pct"] < cloud["kws_utilization_eager_pct"] / 4
    assert edge["breakeven_inferences"] < cloud["breakeven_inferences"]
