"""Context and instruments cannot part: reset, undo, switches, pins and moves in any order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mlsys_widgets import ContextToggle, IronLaw, MemoryBudget, RooflineWidget, link

WHERE = ("cloud", "tiny")
#: What each instrument takes from the context. The second also has sliders that follow.
LED = (
    {"device": {"cloud": "h100-sxm", "tiny": "orin-nx"}},
    {
        "device": {"cloud": "h100-sxm", "tiny": "cortex-m7"},
        "memory": {"cloud": 80e9, "tiny": 512e3},
        "batch": {"cloud": 16, "tiny": 1},
    },
    {"device": {"cloud": "h100-sxm", "tiny": "orin-nx"}},
)


def act():
    """Three instruments behind one switch; two of them share their batch."""
    roofline = RooflineWidget(workload="llm", precision="fp8")
    instruments = (roofline, IronLaw(), MemoryBudget(batch=8))
    link(instruments[0], instruments[2], on="batch")
    toggle = ContextToggle({"cloud": "Cloud", "tiny": "Tiny"})
    for instrument, inputs in zip(instruments, LED, strict=True):
        toggle.lead(instrument, inputs)
    return toggle, instruments


def fresh(where):
    """The same, in a context from the start."""
    toggle, instruments = act()
    toggle.context = where
    return [instrument.inputs for instrument in instruments]


FRESH = {where: fresh(where) for where in WHERE}


def test_reset_undo_and_the_other_context(browser_of):
    toggle, (_, law, _) = act()
    law.set(batch=64)
    law.reset()
    assert law.batch == 16
    law.undo_reset()
    assert law.batch == 64
    toggle.context = "tiny"
    assert (law.device, law.batch) == ("cortex-m7", 1)
    law.reset()
    assert law.inputs == FRESH["tiny"][1]
    assert "Not this context" not in toggle.text()


def test_a_reset_is_not_undone_into_another_context():
    toggle, (_, law, _) = act()
    law.reset()
    assert law.can_undo_reset
    toggle.context = "tiny"
    assert not law.can_undo_reset
    law.undo_reset()
    assert law.device == "cortex-m7"


def test_another_device_is_named_and_one_click_brings_the_context_back(browser_of):
    toggle, (roofline, law, _) = act()
    page = browser_of(toggle)
    roofline.set(device="a100-sxm")
    assert f"Not this context. {roofline.title} shows something else now" in toggle.text()
    assert page.buttons == ["load"]
    law.set(batch=3)  # a slider is there to be moved
    links = page.parts["beside"]["titles"]
    assert links == [roofline.title, law.title, MemoryBudget.title]
    page.ask("load")
    assert page.buttons == []
    assert page.said == "Cloud is loaded again."
    assert (roofline.device, law.batch) == ("h100-sxm", 3)


def test_switching_back_and_forth_loses_nothing():
    """The Orin has no fp8; whoever returns and resets has it again."""
    toggle, (roofline, *_) = act()
    toggle.context = "tiny"
    assert roofline.precision != "fp8"
    toggle.context = "cloud"
    roofline.reset()
    assert roofline.inputs == FRESH["cloud"][0]


WHICH = st.integers(0, 2)
STEPS = st.one_of(
    st.tuples(st.just("switch"), st.sampled_from(WHERE)),
    st.tuples(st.sampled_from(("reset", "undo_reset", "pin", "unpin")), WHICH),
    st.tuples(st.just("move"), WHICH, st.integers(1, 64)),
    st.tuples(st.just("choose"), WHICH, st.sampled_from(("h100-sxm", "orin-nx", "a100-sxm"))),
    st.tuples(st.just("load")),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_whatever_is_done_they_agree_or_the_card_says_so(steps):
    toggle, instruments = act()
    for name, *more in steps:
        if name == "switch":
            moves = toggle.context != more[0]
            toggle.context = more[0]
            if moves:
                _all_as_led(toggle, instruments)
        elif name == "move":
            instruments[more[0]].set(batch=more[1])
        elif name == "choose":
            instruments[more[0]].set(device=more[1])
        elif name == "load":
            toggle._on_load({})
            assert not toggle._strays
        else:
            getattr(instruments[more[0]], name)()
            if name == "reset":
                assert instruments[more[0]].inputs == FRESH[toggle.context][more[0]]
        apart = [
            instrument
            for instrument, inputs in zip(instruments, LED, strict=True)
            if instrument.device != inputs["device"][toggle.context]
        ]
        assert [stray for stray, _ in toggle._strays] == apart
        assert ("Not this context" in toggle.text()) == bool(apart)
        assert instruments[0].batch == instruments[2].batch


def _all_as_led(toggle, instruments):
    for instrument, inputs in zip(instruments, LED, strict=True):
        for name, values in inputs.items():
            assert getattr(instrument, name) == values[toggle.context]
