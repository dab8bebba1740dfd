"""The design entry: read from what was done, checked, saved, and handed on."""

from __future__ import annotations

import pytest

from mlsys_widgets import (
    DesignEntry,
    DispatchWaterfall,
    IronLaw,
    MemoryBudget,
    PredictionLock,
    Target,
)
from mlsys_widgets import physics as ph
from mlsys_widgets.labs.practice import PRACTICE, WAY
from mlsys_widgets.labs.student_steps import DESIGN_MISSES, saved_progress
from mlsys_widgets.ledger import DesignForm, Ledger, NotSaved, declare, earlier_design
from mlsys_widgets.ledger.designs import number
from tests.ledger.making import form_of_lab


@pytest.fixture
def kws():
    return DispatchWaterfall(model="kws", device="a100-sxm")


def fields(lock, kws):
    """Every required field of Lab 07, computed from widgets and physics."""
    eager, compiled = (ph.run("kws", "a100-sxm", mode=m) for m in ("eager", "compiled"))
    deployed = ph.deployment(30, 1450, 2150, per_day=1e7, days=30)
    return {
        "context": "cloud",
        "execution_mode": lambda: kws.mode,
        "fusion_enabled": lambda: kws.mode == "compiled",
        "compilation_roi_positive": lambda: deployed.roi_positive,
        "breakeven_inferences": lambda: float(deployed.break_even),
        "kws_utilization_eager_pct": lambda: 100 * float(eager.utilization),
        "kws_utilization_compiled_pct": lambda: 100 * float(compiled.utilization),
        "act1_prediction": lambda: lock.value,
        "act1_correct": None,
        "act2_result": lambda: float(deployed.break_even),
        "act2_decision": lambda: kws.mode,
        "constraint_hit": lambda: not deployed.roi_positive,
    }


@pytest.fixture
def lock(led):
    options = {"A": "90%", "C": "33%"}
    lock = PredictionLock("act1", question="How busy?", options=options, ledger=led)
    lock.commit("C", 4)
    return lock


def test_what_is_saved_is_what_was_done(led, lock, kws):
    entry = DesignEntry(fields(lock, kws), form=form_of_lab(), ledger=led)
    missing = {n for n, f in form_of_lab().fields.items() if f.required} - set(entry.current)
    assert missing == set()
    assert not entry.is_open
    kws.set(mode="compiled")
    saved = entry.save()
    assert entry.is_open
    assert saved["execution_mode"] == "compiled"
    assert saved["kws_utilization_compiled_pct"] == pytest.approx(66.667, abs=1e-3)
    assert "Saved." in entry._repr_mimebundle_()["text/plain"]
    kws.set(mode="eager")
    assert "something has changed" in entry._repr_mimebundle_()["text/plain"]


def test_a_fresh_kernel_finds_it_and_the_next_lab_starts_from_it(kws, tmp_path):
    name = "lab_07_kernel_fusion"
    (tmp_path / name).mkdir()
    path = tmp_path / name / "ledger.jsonl"
    led = Ledger.open(path, lab=name, student="student-01")
    lock = PredictionLock("act1", question="How busy?", unit="%", ledger=led)
    lock.commit("33%", 4)
    DesignEntry(fields(lock, kws), form=form_of_lab(), ledger=led).save()
    again = Ledger.open(path, lab=name, student="student-01")
    assert DesignEntry(fields(lock, kws), form=form_of_lab(), ledger=again).is_open
    later = tmp_path / "lab_11_roofline" / "ledger.jsonl"
    handed = earlier_design(name, beside=later, default={"execution_mode": "compiled"})
    assert handed.found
    assert handed.fields["execution_mode"] == "eager"


def test_a_field_that_does_not_fit_is_named_and_nothing_is_saved(led, lock, kws):
    wrong = {**fields(lock, kws), "kws_utilization_eager_pct": 3330.0}
    entry = DesignEntry(wrong, form=form_of_lab(), ledger=led)
    with pytest.raises(ValueError, match="kws_utilization_eager_pct is 3330"):
        entry.save()
    assert not entry.is_open
    with pytest.raises(ValueError, match="color is not a field; there are: "):
        DesignEntry({"color": "red"}, form=form_of_lab(), ledger=led)


def test_a_new_kernel_sets_the_instruments_as_the_design_was_saved(led, lock):
    def entry() -> tuple[DispatchWaterfall, DesignEntry]:
        kws = DispatchWaterfall(model="kws", device="a100-sxm")
        return kws, DesignEntry(
            fields(lock, kws), form=form_of_lab(), ledger=led, keeps={"kws": kws}
        )

    kws, first = entry()
    kws.set(mode="compiled")
    assert entry()[0].mode == "eager"  # nothing was saved yet
    first.save()
    kws, again = entry()
    assert kws.mode == "compiled"
    assert again.current == first.current
    assert "Saved." in again.text()


def test_the_entry_of_a_lab_of_your_own(tmp_path):
    led = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_98_mine", student="student-01")
    with pytest.raises(ValueError, match=r"declares no design entry; give its fields in asks\.py"):
        DesignEntry({"tile": 64}, ledger=led)
    form = declare(DesignForm("lab_98_mine", 98, {"tile": number("side of the tile", 1)}))
    entry = DesignEntry({"tile": 64}, ledger=led)
    assert "Side of the tile: 64" in entry.text()
    assert dict(entry.save()) == {"tile": 64}
    assert DesignEntry({"tile": 64}, ledger=led, form=form).is_open


FORM = DesignForm("lab_07_kernel_fusion", 7, {"batch": number("images at once", 1)})


def service(led, **more):
    """A design with a promise: batch 8 keeps it, batch 64 does not."""
    law = IronLaw(batch=8, targets=[Target("total", 120e-6, "answer promised in 120 µs")])
    more = {"keeps": {"law": law}, "headline": lambda: f"Cloud, batch {law.batch:.0f}", **more}
    return law, DesignEntry({"batch": lambda: law.batch}, ledger=led, form=FORM, **more)


def press(entry, action):
    entry._asked(entry._card, {"action": action, "values": {}, "stamp": 1}, [])
    return entry._card.view


def buttons(view):
    return [
        words for part in view["parts"] if part["key"] == "send" for _, words in part["buttons"]
    ]


def kept(led):
    return list(led.state().answers[DESIGN_MISSES].value)


def test_the_card_follows_the_instruments(led):
    law, entry = service(led)
    assert "Cloud, batch 8: in time." in entry.text()
    sent = []
    entry._card.observe(lambda change: sent.append(change["new"]), names="view")
    law.set(batch=64)
    assert len(sent) == 1  # one move, one message
    assert "Cloud, batch 64: too late." in entry.text()
    assert "✗ Answer promised in 120 µs: 570.5 µs, 450.5 µs too late" in entry.text()
    # Several inputs of one move are one change, too.
    law.set(workload="llama31-8b")
    assert len(sent) == 2


def test_a_saved_design_is_a_line_until_something_is_moved(led):
    law, entry = service(led)
    assert entry._card.view["fold"] is None
    assert not entry._card.view["item"]["outdated"], "nothing is saved yet"
    press(entry, "save")
    assert entry._card.view["fold"]["stays"] == ["saved", "open", "handed-in"]
    assert "Saved: Cloud, batch 8: in time." in entry.text()
    assert not entry._card.view["item"]["outdated"]
    law.set(batch=4)
    assert entry._card.view["fold"] is None
    assert entry._card.view["item"]["outdated"], "the panel says so before handing in"
    law.set(batch=8)
    assert entry._card.view["fold"] is not None


def test_a_failing_design_is_saved_only_after_a_warning_and_recorded_as_such(led):
    law, entry = service(led)
    law.set(batch=64)
    view = press(entry, "save")
    assert entry.design is None
    assert buttons(view) == ["Keep designing", "Save it anyway"]
    assert "Not saved yet. The design misses this: Answer promised in 120 µs: 570.5" in entry.text()
    assert buttons(press(entry, "keep")) == ["Save my design"]
    assert entry.design is None
    assert DESIGN_MISSES not in led.state().answers

    press(entry, "save")
    press(entry, "anyway")
    assert entry.design.fields["batch"] == 64
    assert kept(led) == ["Answer promised in 120 µs: 570.5 µs, 450.5 µs too late."]
    assert "Saved, does not fit" in entry.text()
    assert "this step stays open until you save one that does. You can hand in" in entry.text()
    led.record_answer(WAY, PRACTICE)
    entry.refresh()
    assert "until you save one that does." in entry.text()
    assert "hand in" not in entry.text()
    assert not saved_progress(led.state(), led.lab)["design"].right
    # It keeps saying so, while a better design is on its way and in a new kernel.
    law.set(batch=8)
    assert "The saved design misses: Answer promised in 120 µs: 570.5" in entry.text()
    assert "Saved, does not fit" in service(led)[1].text()

    assert buttons(press(entry, "save")) == ["Save my design"]
    assert kept(led) == []
    assert "does not fit" not in entry.text()
    assert saved_progress(led.state(), led.lab)["design"].right
    # What was saved before stays in the history.
    recorded = [event.value["value"] for event in led.events() if event.id == DESIGN_MISSES]
    assert [len(each) for each in recorded] == [1, 0]


def test_a_warning_goes_away_with_what_it_warns_of(led):
    law, entry = service(led)
    law.set(batch=64)
    press(entry, "save")
    law.set(batch=8)
    assert buttons(entry._card.view) == ["Save my design"]
    law.set(batch=64)
    assert buttons(entry._card.view) == ["Save my design"]


def test_a_promise_that_is_no_target(led):
    plan = MemoryBudget(batch=8, sequence=512)
    captured = {"said": "The graph is wrong without saying so."}
    promises = {"memory": plan, "capture": lambda: captured["said"]}
    _, entry = service(led, promises=promises)
    assert entry.misses == ["Capture: The graph is wrong without saying so."]
    assert entry.headline == "Cloud, batch 8: capture broken."
    press(entry, "save")
    press(entry, "anyway")
    assert "Saved, misses 1 of 3: Cloud, batch 8: capture broken" in entry.text()
    captured["said"] = None
    entry.refresh()
    assert entry.misses == []
    plan.set(batch=1024, sequence=131072)
    assert entry.misses[0].startswith("Memory: Out of memory")
    assert "✗ Memory" in str(entry._card.view)


def test_nothing_of_a_locked_instrument_is_shown(led):
    lock = PredictionLock("act2", question="How many?", unit="images", ledger=led)
    law = IronLaw(lock=lock, targets=[Target("total", 120e-6, "answer promised in 120 µs")])
    _, entry = service(led, keeps={"law": law}, promises={"law": law})
    assert (entry.headline, entry.lamps) == ("", ())
    assert "promised" not in entry.text()
    lock.commit("16", 3)
    assert entry.headline == "Cloud, batch 8: keeps all its promises."


def test_a_failed_save_leaves_no_failing_design_that_passes_for_a_good_one(led, monkeypatch):
    law, entry = service(led)
    law.set(batch=64)
    entry.save()
    law.set(batch=8)

    def full(*_):
        raise NotSaved("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(type(led), "save_design", full)
        with pytest.raises(NotSaved):
            entry.save()
    assert kept(led) != []
    entry.save()
    assert kept(led) == []
