"""Instruments stand where they were left: what comes back, and what is left alone."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from mlsys_widgets import DispatchWaterfall, IronLaw, RooflineWidget, Target, link
from mlsys_widgets.cards.design_entry import DesignEntry
from mlsys_widgets.cards.settings_keeper import SettingsKeeper
from mlsys_widgets.cards.story import ContextToggle
from mlsys_widgets.files import SETTINGS
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.ledger.designs import number

LAB = "lab_02_service"


@pytest.fixture
def led(tmp_path):
    made = Ledger.open(tmp_path / "ledger.jsonl", lab=LAB, student="ada")
    made.record_answer("busy", 3.0)
    return made


@pytest.fixture
def kernel(led):
    """A new kernel: it opens the ledger itself, and follows what its cells show."""

    def started(*instruments, cell="one"):
        keeper = SettingsKeeper(Ledger.open(led.path, lab=LAB, student="ada"))
        for each in instruments:
            keeper.after_cell(SimpleNamespace(result=each, info=SimpleNamespace(cell_id=cell)))
        return keeper

    return started


def kept(led):
    path = led.path.with_name(SETTINGS)
    return json.loads(path.read_text())["instruments"] if path.exists() else None


def test_what_was_moved_comes_back_and_a_reset_still_goes_to_the_defaults(led, kernel):
    roof = RooflineWidget(n=512)
    kernel(roof)
    assert kept(led) is None
    roof.set(n=4096)
    roof.set(device="orin-nx")
    again = RooflineWidget(n=512)
    kernel(again)
    assert again.inputs == roof.inputs
    again.reset()
    assert again.n == 512
    # Where a reset leads, nothing is kept: the next kernel starts there.
    assert kept(led) == {}
    third = RooflineWidget(n=512)
    kernel(third)
    assert third.n == 512


def test_a_prediction_stays_about_the_settings_that_the_instrument_was_made_with(kernel):
    def made():
        return DispatchWaterfall(prediction=0.4)

    first = made()
    kernel(first)
    assert first.prediction is not None
    first.set(kernels=first.kernels * 2)
    assert first.prediction is None
    again = made()
    kernel(again)
    assert again.kernels == first.kernels
    assert again.prediction is None
    assert "other settings" in again.prediction_elsewhere
    again.reset()
    assert again.prediction is not None


def test_a_context_and_a_link_lead_as_before(led, kernel):
    def made():
        roof, other = RooflineWidget(workload="llm"), RooflineWidget(workload="llm", title="Two")
        toggle = ContextToggle(ledger=led)
        toggle.lead(roof, {"device": {"cloud": "h100-sxm", "edge": "orin-nx"}})
        return toggle, roof, other

    toggle, roof, other = made()
    link(roof, other, on="batch")
    kernel(roof, other)
    toggle.context = "edge"
    assert kept(led) is None or "Roofline" not in kept(led), "a context is no setting of its own"
    roof.set(batch=32, device="a100-sxm")
    toggle, again, two = made()
    kernel(again)
    # Linked after the first was set as it was left: a reset must not lead there.
    link(again, two, on="batch")
    kernel(two)
    assert (toggle.context, again.device, again.batch, two.batch) == ("edge", "a100-sxm", 32, 32)
    two.reset()
    assert again.batch == two.batch == RooflineWidget(workload="llm").batch
    again.reset()
    assert again.device == "orin-nx"


def test_a_design_that_was_changed_after_it_was_saved_comes_back_as_it_was_left(led, kernel):
    form = DesignForm(LAB, 2, {"batch": number("images at once", 1)})

    def made():
        law = IronLaw(batch=8, targets=[Target("total", 1, "answer promised in 1 s")])
        return law, kernel(law)

    def entry(law):
        fields = {"batch": lambda: law.batch}
        return DesignEntry(fields, ledger=led, form=form, keeps={"law": law})

    law, _ = made()
    card = entry(law)
    law.set(batch=16)
    card.save()
    law.set(batch=32)
    law, _ = made()
    card = entry(law)
    assert law.batch == 32
    assert card.design["batch"] == 16
    assert card.is_outdated
    # Without the file, the design is what is left.
    led.path.with_name(SETTINGS).unlink()
    law, _ = made()
    entry(law)
    assert law.batch == 16


def test_a_lab_that_is_begun_again_starts_from_the_defaults(led, kernel):
    roof = RooflineWidget()
    kernel(roof)
    roof.set(n=4096)
    led.begin_again()
    again = RooflineWidget()
    kernel(again)
    assert again.n == RooflineWidget().n


def test_an_instrument_of_another_cell_is_left_as_it_was_made(led, kernel):
    roof = RooflineWidget()
    keeper = kernel(roof)
    roof.set(n=4096)
    own = RooflineWidget(n=100)
    keeper.follow(own, "scratch")
    assert own.n == 100
    own.set(n=200)
    assert kept(led)["Roofline"]["n"] == 4096
    # The lab's cell, run again, makes a new one.
    new = RooflineWidget()
    keeper.follow(new, "one")
    assert new.n == 4096


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{", '{"ledger": "", "instruments": []}',
        '{"ledger": "", "instruments": {"Roofline": {"n": "toast"}}}',
        '{"ledger": "", "instruments": {"Roofline": {"toaster": 3}}}',
        '{"ledger": "", "instruments": {"Roofline": {"n": 1e400}}}',
        '{"ledger": "", "instruments": {"Roofline": 5}}',
    ],
)  # fmt: skip
def test_a_file_that_somebody_edited_changes_nothing(led, kernel, content):
    led.path.with_name(SETTINGS).write_text(content)
    roof = RooflineWidget()
    kernel(roof)
    assert roof.inputs == RooflineWidget().inputs
    roof.set(n=4096)
    assert kept(led)["Roofline"]["n"] == 4096


def test_a_folder_that_cannot_be_written_stops_nobody(led, kernel):
    led.path.with_name(SETTINGS).mkdir()
    roof = RooflineWidget()
    kernel(roof)
    roof.set(n=4096)
    assert roof.n == 4096
