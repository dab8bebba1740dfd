"""The derivation that follows its instrument."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.instruments.iron_law_widget import IronLaw
from mlsys_widgets.instruments.magnitude_landscape import MagnitudeLandscape
from mlsys_widgets.instruments.memory_budget import MemoryBudget
from mlsys_widgets.instruments.physics_panel import PhysicsPanel
from mlsys_widgets.instruments.roofline_widget import RooflineWidget
from mlsys_widgets.physics import notation
from tests.instruments.locks import Lock

VIEW = "application/vnd.jupyter.widget-view+json"


def opened(panel: PhysicsPanel) -> dict[str, Any]:
    """What a panel shows."""
    panel._repr_mimebundle_()
    readout: dict[str, Any] = panel.steps._open().panel.readout
    return readout


@pytest.mark.parametrize("kind", [IronLaw, MemoryBudget, MagnitudeLandscape, RooflineWidget])
def test_every_part_and_quantity_can_be_derived(kind: type[Instrument]) -> None:
    instrument = kind()
    panel = PhysicsPanel(instrument)
    for part, result in instrument.explanations.items():
        panel.set(part=part)
        assert str(panel.derivation) == str(result.derivation())
        for name in result.outputs():
            panel.set(quantity=name)
            assert str(panel.derivation) == str(result.derivation(name))
            readout = opened(panel)
            assert readout["html"] == panel.derivation.to_html(notation.MATHML)
            last = panel.derivation.steps[-1]
            assert [card[1] for card in readout["cards"]] == [last.shown]
            assert last.shown in readout["sentence"]
            _, rows = panel.steps.shown_table
            assert [row[3] for row in rows] == [step.shown for step in panel.derivation.steps]
        panel.set(quantity="all")


def test_it_follows_its_instrument() -> None:
    law = IronLaw()
    hidden, shown = PhysicsPanel(law), PhysicsPanel(law, quantity="total")
    before = opened(shown)["html"]
    law.set(batch=16, efficiency=0.5)
    assert hidden.derivation == law.result.derivation()
    assert shown.derivation.steps[-1].value == law.result.total
    after = shown.steps._open().panel.readout["html"]
    assert after != before
    assert after == law.result.derivation("total").to_html(notation.MATHML)
    law.batch = 32  # assigned, not set
    assert shown.derivation.steps[-1].value == law.result.total


def test_it_keeps_what_was_chosen_while_the_instrument_moves() -> None:
    law = IronLaw()
    panel = PhysicsPanel(law, part="Memory", quantity="fill")
    opened(panel)
    law.set(device="cortex-m7", overlapped=True)
    assert panel.steps.inputs == {"part": "Memory", "quantity": "fill"}
    assert round(panel.derivation.steps[-1].value) == 195  # 195× too large


def test_another_part_starts_with_all_its_steps() -> None:
    panel = PhysicsPanel(MemoryBudget(), quantity="kv_cache")
    panel.set(part="Prefill, textbook")
    assert panel.steps.quantity == "all"
    options = [key for key, _ in opened(panel)["options"]["quantity"]]
    assert options == ["all", *MemoryBudget().prefill.outputs()]


def test_a_single_part_is_no_choice() -> None:
    assert PhysicsPanel(MagnitudeLandscape()).steps.hidden() == {"part"}
    assert PhysicsPanel(MemoryBudget()).steps.hidden() == set()


def test_a_closed_panel_follows_no_longer() -> None:
    law = IronLaw()
    panel = PhysicsPanel(law)
    opened(panel)
    panel.close()
    before = panel.derivation
    law.set(batch=64)
    assert panel.derivation is before


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({"part": "Energy"}, "Part is 'Energy'; it must be one of: Time, Memory"),
        ({"quantity": "joules"}, "Derive is 'joules'"),
        ({"part": ["Time"]}, r"Part is \['Time'\]"),
        ({"color": "red"}, "has no input 'color'"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(inputs: dict[str, Any], named: str) -> None:
    panel = PhysicsPanel(IronLaw(), quantity="total")
    before = panel.derivation
    with pytest.raises(ValueError, match=named):
        panel.set(**inputs)
    assert panel.steps.inputs == {"part": "Time", "quantity": "total"}
    assert panel.derivation == before


def test_an_instrument_that_cannot_explain_itself_is_refused() -> None:
    class Mute(IronLaw):
        @property
        def explanations(self) -> dict[str, Any]:
            return {"Nothing": 42}

    with pytest.raises(ValueError, match="'Nothing' of Mute is of type int, which cannot derive"):
        PhysicsPanel(Mute())


def test_the_panel_has_a_still_twin_and_its_code() -> None:
    panel = PhysicsPanel(IronLaw(batch=8), quantity="compute_time")
    bundle = panel._repr_mimebundle_()
    assert VIEW in bundle
    assert panel.derivation.to_html() in bundle["text/html"]
    assert panel.derivation.to_text() in bundle["text/plain"]
    again = eval(panel.steps.code, {"PhysicsPanel": PhysicsPanel, "IronLaw": IronLaw})
    assert again.derivation == panel.derivation


def test_a_lock_covers_the_panel_too() -> None:
    lock = Lock()
    law = IronLaw(lock=lock)
    panel = PhysicsPanel(law)
    bundle = panel._repr_mimebundle_()
    assert "text/html" not in bundle
    assert "29.9" not in bundle["text/plain"]
    assert "How many?" in panel.steps.children[0].value
    lock.open()
    assert panel.steps.children == (panel.steps._open().board,)
    assert "29.9" in panel._repr_mimebundle_()["text/plain"]


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "device": st.sampled_from(sorted(ph.devices)),
                "batch": st.integers(1, 1024),
                "latency": st.sampled_from([0.0, 1e-5, 1.0]),
                "overlapped": st.booleans(),
            },
        ),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=25)
def test_random_walks_of_the_instrument_stay_explained(walk: list[dict[str, Any]]) -> None:
    law = IronLaw()
    panel = PhysicsPanel(law)
    opened(panel)
    for move in walk:
        law.set(**move)
        typeset = law.result.derivation().to_html(notation.MATHML)
        assert panel.steps._open().panel.readout["html"] == typeset
        assert all(math.isfinite(step.value) for step in panel.derivation.steps)
