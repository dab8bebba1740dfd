"""The model on trial: verdicts on shipped measurements, and on made-up ones we know."""

from __future__ import annotations

import copy

import pytest

from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.measured.calibrating import calibrate, device_of
from mlsys_widgets.measured.queries import Case, cases
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.trial import (
    ENERGY,
    MEMORY,
    POWER,
    CaseVerdict,
    Errors,
    Goal,
    Topic,
    Trial,
    hold_trial,
    roofs_of,
)

pytest.importorskip("scipy")

#: What the model must reach on cases of the H200 that were not fitted.
GOALS = {
    "all cases, mean": 0.08,
    "all cases, nine in ten": 0.20,
    "all cases, worst": 0.40,
    "one layer, prefill, fp16, mean": 0.10,
    "one layer, decode, fp16, mean": 0.10,
    "whole model, prefill, fp16, mean": 0.10,
    "whole model, prefill, bf16, mean": 0.10,
    "whole model, decode, fp16, mean": 0.10,
    "whole model, decode, bf16, mean": 0.10,
    "memory of training steps, mean": 0.05,
    "power, mean": 0.08,
}
#: Goals of the table above, or 10 % in a topic, that are missed; none of them may get worse.
#: Whoever reaches one takes it off this list.
MISSED = {
    "all cases, worst": 0.514,
    "products, int8, mean": 0.1165,
    "attention over a cache, bf16, mean": 0.1445,
    "launches of whole models, mean": 0.1442,
    "training steps, bf16, mean": 0.1105,
}
#: Topics to which nothing is fitted, or only the cost of a launch.
SUMS = (
    "launches of whole models", "naive attention", "one layer", "whole model", "training steps",
    MEMORY, POWER, ENERGY, "replays",
)  # fmt: skip


def topic(trial: Trial, name: str) -> Topic:
    return next(topic for topic in trial.topics if topic.name == name)


def test_the_goals_are_those_that_were_set(h200: Trial) -> None:
    limits = {goal.what: goal.limit for goal in h200.goals}
    assert limits.items() >= GOALS.items()
    # No topic and no precision is outside the goals.
    assert {f"{topic.name}, mean" for topic in h200.topics} == set(limits) - set(list(GOALS)[:3])
    assert {limit for what, limit in limits.items() if what not in GOALS} == {0.10}


def test_goals_are_met_but_for_those_listed(h200: Trial) -> None:
    missed = {goal.what for goal in h200.goals if not goal.met}
    assert missed == set(MISSED)


@pytest.mark.parametrize("what", MISSED)
def test_a_goal_that_is_missed_does_not_get_worse(h200: Trial, what: str) -> None:
    goal = next(goal for goal in h200.goals if goal.what == what)
    assert goal.limit < goal.reached <= MISSED[what]


def test_the_calibrated_model_beats_the_textbook(h200: Trial) -> None:
    overall, textbook = Errors.of(h200.judged), Errors.of(h200.judged, textbook=True)
    assert overall.mean < textbook.mean / 3
    for one in h200.topics:
        model, plain = Errors.of(one.judged), Errors.of(one.judged, textbook=True)
        # The textbook's cost of a graph node is a measured one already, and as good as a fit.
        slack = 0.02 if one.name == "graph replay" else 0.0
        assert model.mean < plain.mean + slack, one.name


def test_the_calibrated_model_is_never_faster_than_the_textbook(h200: Trial) -> None:
    for one in h200.topics:
        for verdict in one.verdicts:
            if verdict.family:
                assert verdict.modeled >= verdict.textbook * (1 - 1e-9), verdict.case.label


def test_about_half_of_the_kernels_and_most_sums_are_judged(h200: Trial) -> None:
    for one in h200.topics:
        share = len(one.judged) / len(one.verdicts)
        if one.name.startswith(SUMS):
            assert 0.6 <= share <= 1.0, one.name
        elif len(one.verdicts) > 10:
            assert 0.45 <= share <= 0.55, one.name
        else:
            assert one.judged, one.name


def test_no_case_is_judged_twice_and_none_is_lost(h200: Trial) -> None:
    verdicts = [(one.name, verdict) for one in h200.topics for verdict in one.verdicts]
    keys = [
        # A replay is judged by two times: its end, and how long its users waited on average.
        (verdict.case.label, verdict.unit, name if name.startswith("replays") else "")
        for name, verdict in verdicts
    ]
    assert len(set(keys)) == len(keys)
    judged = {label for label, unit, _ in keys if unit == "s"}

    def lost(**query: str) -> list[Case]:
        return [c for c in cases(h200.document, **query) if c.label not in judged]

    for kind in ("projection", "decode_attention", "attention", "softmax", "rmsnorm", "layernorm"):
        assert lost(kind=kind, variant="graph") == [], kind
    for kind in ("layer", "serving", "training"):
        assert lost(kind=kind) == [], kind
    # A handful of unaligned products in bf16 is too few to fit half of them.
    few = lost(kind="gemm", variant="graph")
    assert {case.precision for case in few} == {"bf16"}
    assert len(few) < 6


def test_memory_is_judged_in_bytes(h200: Trial) -> None:
    for verdict in topic(h200, MEMORY).verdicts:
        assert verdict.unit == "B"
        assert verdict.case.memory
        assert verdict.measured == verdict.case.memory["peak"]
        assert verdict.textbook < verdict.modeled  # states alone, without activations


def made(measured_value: float, textbook: float, modeled: float) -> CaseVerdict:
    case = cases("h200-sxm", kind="gemm")[0]
    return CaseVerdict(case, measured_value, textbook, modeled, fitted=False)


def test_errors_are_relative_and_count_both_ways() -> None:
    verdicts = [made(1.0, 0.5, 1.0 + off) for off in (-0.1, 0.2, -0.3, 0.0)]
    errors = Errors.of(verdicts)
    assert errors.mean == pytest.approx(0.15)
    assert errors.median == pytest.approx(0.15)
    assert errors.worst == pytest.approx(0.3)
    assert errors.tenth == pytest.approx(0.27)
    assert Errors.of(verdicts, textbook=True).worst == pytest.approx(0.5)


def test_a_goal_is_met_up_to_its_limit() -> None:
    assert Goal("some", 0.1, 0.1).met
    assert not Goal("some", 0.1, 0.1001).met


def test_the_physics_device_uses_what_was_measured(h200: Trial) -> None:
    """One number, one place: the launch overhead on record is that of the stream in Lab 07."""
    device = ph.devices["h200-sxm"]
    (stream,) = measured.cases(
        h200.document, kind="dispatch", variant="eager", length="tiny", launches=1000
    )
    assert device.provenance["launch_overhead"].kind == "measured"
    assert device.launch_overhead == float(f"{stream.seconds.median / stream.kernels:.3g}")


def test_the_machine_of_the_example_is_judged_by_its_own_best(cpu: Trial) -> None:
    found = roofs_of(cpu.document)
    assert found.bandwidth == measured.ceilings(cpu.document).bandwidth
    assert found.source == "the best of this measurement"
    assert {t.name for t in cpu.topics} >= {
        "products, fp32", "products, fp64", "small kernels, fp32",
    }  # fmt: skip
    assert all(topic.judged for topic in cpu.topics)


def renamed(document: Document, *sections: str) -> Document:
    """A document of a device that nobody knows, with some of its sections only."""
    other = copy.deepcopy(document)
    other["device"].update(key="another-gpu", name="Another GPU")
    other["cases"] = [
        case for case in other["cases"] if not sections or case["section"] in sections
    ]
    return other


@pytest.mark.slow
def test_an_unknown_device_is_judged_in_every_topic(h200: Trial) -> None:
    trial = hold_trial(renamed(h200.document))
    assert [topic.name for topic in trial.topics] == [topic.name for topic in h200.topics]
    assert Errors.of(trial.judged).mean < 0.1


@pytest.fixture(scope="module")
def products(h200: Trial) -> ph.DeviceCalibration:
    """What is fitted to the products of a device that nobody knows, once for all tests of it."""
    document = renamed(h200.document, "copy", "gemm")
    return ph.read_calibration(calibrate(document), device_of(document))


@pytest.mark.parametrize(
    ("section", "names"),
    [
        ("serving", {"products, fp16"}),
        ("training", {"products, fp16", MEMORY}),  # memory needs no law of a kernel
        ("dispatch", {"products, fp16", "dispatch"}),
    ],
)
def test_a_document_of_some_sections_is_judged_by_what_it_holds(
    h200: Trial, products: ph.DeviceCalibration, section: str, names: set[str]
) -> None:
    document = renamed(h200.document, "copy", "gemm", section)
    trial = hold_trial(document, calibration=products)
    assert (trial.roofs.key, trial.roofs.source) == ("another-gpu", "the best of this measurement")
    assert {topic.name for topic in trial.topics} == names


def test_a_document_without_roofs_says_what_to_measure(small_document: Document) -> None:
    document = copy.deepcopy(small_document)
    document["cases"] = [c for c in document["cases"] if c["kind"] != "gemm"]
    with pytest.raises(ValueError, match="measure the sections copy and gemm"):
        hold_trial(document)


def test_a_document_with_too_few_cases_says_so(small_document: Document) -> None:
    document = copy.deepcopy(small_document)
    products = [c for c in document["cases"] if c["kind"] == "gemm"]
    document["cases"] = [c for c in document["cases"] if c not in products[3:]]
    with pytest.raises(ValueError, match="no family of kernels has 6 cases or more"):
        hold_trial(document)
