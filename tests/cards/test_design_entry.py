"""The design entry: read from what was done, checked, saved, and handed on."""

from __future__ import annotations

import pytest

from mlsys_widgets import DesignEntry, DispatchWaterfall, PredictionLock
from mlsys_widgets import physics as ph
from mlsys_widgets.ledger import DesignForm, Ledger, declare, earlier_design
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
    assert "as shown above" in entry._repr_mimebundle_()["text/plain"]
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
    assert "as shown above" in again.text()


def test_the_entry_of_a_lab_of_your_own(tmp_path):
    led = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_98_mine", student="student-01")
    with pytest.raises(ValueError, match=r"declares no design entry; give its fields in asks\.py"):
        DesignEntry({"tile": 64}, ledger=led)
    form = declare(DesignForm("lab_98_mine", 98, {"tile": number("side of the tile", 1)}))
    entry = DesignEntry({"tile": 64}, ledger=led)
    assert "Side of the tile: 64" in entry.text()
    assert dict(entry.save()) == {"tile": 64}
    assert DesignEntry({"tile": 64}, ledger=led, form=form).is_open
