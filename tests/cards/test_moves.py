"""Moves come before a comparison: they tick as they are made, survive a restart, stop no grader."""

from __future__ import annotations

import os
from typing import Any

import pytest
from nbclient import NotebookClient

from mlsys_widgets import ContextToggle, DispatchWaterfall, Move, PredictionLock, RooflineWidget
from mlsys_widgets.cards.moves import Exploration
from tests.made_notebooks import notebook_of

GPT2, LARGE = "Choose the GPT-2-like model", "Raise N above 4,096"


@pytest.fixture
def lock(led):
    return PredictionLock("act1", question="How busy?", unit="%", ledger=led)


class Bench:
    """A lock, two instruments behind it, and a reveal that asks for a move on each."""

    def __init__(self, lock: PredictionLock) -> None:
        self.lock = lock
        self.waterfall = DispatchWaterfall(lock=lock)
        self.roofline = RooflineWidget(lock=lock)
        self.reveal = lock.reveal(
            model=0.321,
            moves=[
                Move(GPT2, self.waterfall, model="gpt2-layer"),
                Move(LARGE, self.roofline, lambda r: r.n > 4096),
            ],
        )


@pytest.fixture
def bench(lock):
    return Bench(lock)


def test_a_reveal_waits_for_its_moves_and_ticks_each(bench, browser_of, led):
    page = browser_of(bench.reveal)
    assert GPT2 not in page.sent  # the prediction comes first
    bench.lock.commit("70%", 4)
    assert "[ ] " + GPT2 in bench.reveal.text()
    assert page.parts["compare"]["buttons"] == [
        ["compare", "Compare with the model (2 things to try first)"]
    ]
    page.ask("compare")
    assert page.trouble == (
        f"The comparison opens after a little exploring. Still to try: {GPT2}; {LARGE}."
    )
    assert not bench.reveal.shown

    bench.waterfall.set(model="gpt2-layer")
    assert page.trouble is None
    assert page.said == f"Done: {GPT2}. Still to try: {LARGE}."
    assert "[x] " + GPT2 in bench.reveal.text()
    assert "[ ] " + LARGE in bench.reveal.text()
    bench.waterfall.set(model="kws")  # a move that was made stays made
    bench.roofline.n = 4096
    assert bench.reveal.missing == [LARGE]
    with pytest.raises(ValueError, match=f"Still to try: {LARGE}"):
        bench.reveal.compare()
    bench.roofline.n = 8192
    assert page.said == f"Done: {LARGE}. You can compare now."
    assert not bench.reveal.shown  # nothing opens by itself
    page.ask("compare")
    assert bench.reveal.shown
    assert "37.9 percentage points above the model" in page.said
    assert led.state().answers["moves.act1"].value == (GPT2, LARGE)
    assert led.verify().ok


def test_a_panel_makes_a_move_as_python_does(bench):
    bench.lock.commit("70%", 4)
    bench.roofline._open().panel.typed = {"name": "n", "text": "8192"}
    bench.waterfall._open().panel.moved = {"model": ["gpt2-layer", 1.0]}
    assert bench.reveal.missing == []


def test_moves_before_the_commit_do_not_count(lock, led):
    free = RooflineWidget()
    moves = [Move("Choose N = 64", free, n=64), Move(LARGE, free, lambda r: r.n > 4096)]
    reveal = lock.reveal(model=0.3, moves=moves)
    free.set(n=64)
    free.set(n=8192)
    assert not led.events()
    lock.commit("70%", 4)
    assert reveal.missing == ["Choose N = 64"]  # where the instrument is when it opens does


def test_a_cell_that_is_run_again_sees_where_the_instruments_are(lock):
    roof = RooflineWidget(lock=lock)
    lock.commit("70%", 4)
    roof.set(n=8192)
    asked = [Move(LARGE, roof, lambda r: r.n > 4096), Move("Choose N = 64", roof, n=64)]
    assert lock.reveal(model=0.3, moves=asked).missing == ["Choose N = 64"]
    roof.set(n=64)
    assert lock.reveal(model=0.3, moves=asked).shown


def test_a_new_kernel_remembers_and_goes_on(bench, led, open_ledger):
    bench.lock.commit("70%", 4)
    bench.waterfall.set(model="gpt2-layer")
    again = Bench(PredictionLock("act1", question="How busy?", unit="%", ledger=open_ledger()))
    assert again.reveal.missing == [LARGE]
    assert not again.reveal.shown
    again.roofline.set(n=8192)
    # The first kernel hears of it when its student asks.
    bench.reveal.compare()
    third = Bench(PredictionLock("act1", question="How busy?", unit="%", ledger=open_ledger()))
    assert third.reveal.shown  # run after everything, the cell compares at once
    kept = [event.id for event in led.events() if event.kind == "answer"]
    assert kept == ["moves.act1", "moves.act1", "explored.act1", "compared.act1"]


def test_where_a_lab_waits_the_comparison_is_asked_for_once(lock, led, open_ledger, read_only):
    roof = RooflineWidget(lock=lock)
    asked = {"model": 0.3, "moves": [Move(LARGE, roof, lambda r: r.n > 4096)], "waits": True}
    first = lock.reveal(**asked)
    lock.commit("70%", 4)
    assert "explored.act1" not in led.state().answers
    roof.set(n=8192)
    assert led.state().answers["explored.act1"].value is True
    # A kernel that was restarted in between shows the button, so that nobody misses it.
    assert not lock.reveal(**asked).shown
    with read_only():
        first.compare()
        assert first.shown
        assert "You can compare, but that is not saved." in first.text()
    first.compare()
    assert "not saved" not in first.text()
    assert lock.reveal(**asked).shown
    assert [event.id for event in led.events()].count("compared.act1") == 1


def test_two_kernels_do_not_undo_each_other(bench, open_ledger):
    bench.lock.commit("70%", 4)
    other = Bench(PredictionLock("act1", question="How busy?", unit="%", ledger=open_ledger()))
    other.roofline.set(n=8192)
    bench.waterfall.set(model="gpt2-layer")
    assert open_ledger().state().answers["moves.act1"].value == (GPT2, LARGE)


@pytest.mark.parametrize("who", ["autograde", "validate"])
def test_nobody_explores_while_nbgrader_works(lock, monkeypatch, who, led):
    lock.commit("70%", 4)
    monkeypatch.setenv("NBGRADER_EXECUTION", who)
    reveal = Bench(lock).reveal
    assert reveal.shown
    assert len(led.events()) == 2


def test_the_context_of_a_lab_can_be_a_move(lock, led):
    toggle = ContextToggle(ledger=led)
    reveal = lock.reveal(model=0.3, moves=[Move("Switch to the edge", toggle, context="edge")])
    lock.commit("70%", 4)
    assert reveal.missing == ["Switch to the edge"]
    toggle.context = "edge"
    assert reveal.missing == []
    with pytest.raises(ValueError, match="context is 'moon'; it must be one of: cloud, edge"):
        Move("Fly", toggle, context="moon")
    with pytest.raises(ValueError, match="ContextToggle has no input 'place'; it has: context"):
        Move("Fly", toggle, place="moon")


def test_markup_is_shown_and_the_ledger_keeps_words(lock, led, browser_of):
    roof = RooflineWidget(lock=lock)
    reveal = lock.reveal(model=0.3, moves=[Move("Choose the **Orin**.", roof, device="orin-nx")])
    lock.commit("70%", 4)
    page = browser_of(reveal)
    assert page.parts["moves"]["groups"][0][3] == [["Choose the <strong>Orin</strong>.", False]]
    roof.set(device="orin-nx")
    assert page.said == "Done: Choose the Orin. You can compare now."
    assert led.state().answers["moves.act1"].value == ("Choose the Orin.",)


def test_values_and_a_function_must_both_hold():
    roof = RooflineWidget()
    move = Move("A large N on the Orin", roof, lambda r: r.n > 4096, device="orin-nx")
    roof.set(n=8192)
    assert not move.is_made
    roof.set(device="orin-nx")
    assert move.is_made
    # A hand sets a slider to three digits.
    near = Move("N = 4,096", roof, n=4096)
    for n, made in ((4096, True), (4100, True), (4200, False)):
        roof.set(n=n)
        assert near.is_made is made


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "names no state; give inputs"),
        ({"size": 3}, "cannot be made: RooflineWidget has no input 'size'; it has: "),
        ({"device": "toaster"}, "cannot be made: Device is 'toaster'; it must be one of: "),
        ({"n": 1e9}, "cannot be made: .* is 1,000,000,000; it must be"),
    ],
)
def test_a_move_that_nobody_can_make_is_refused(values, why):
    with pytest.raises(ValueError, match=f"“Go” {why}"):
        Move("Go", RooflineWidget(), **values)


def test_a_function_that_fails_keeps_nobody_out(lock):
    roof = RooflineWidget(lock=lock)
    broken = Move("Try it", roof, lambda r: r.no_such_thing)
    reveal = lock.reveal(model=0.3, moves=[broken, Move(LARGE, roof, lambda r: r.n > 4096)])
    lock.commit("70%", 4)
    assert reveal.missing == [LARGE]


def test_a_move_that_cannot_be_saved_counts_and_is_saved_later(bench, browser_of, read_only, led):
    bench.lock.commit("70%", 4)
    page = browser_of(bench.reveal)
    with read_only():
        bench.waterfall.set(model="gpt2-layer")
        assert bench.waterfall.model == "gpt2-layer"
        assert page.trouble.startswith("What you tried counts, but it is not saved. ")
        assert page.can_retry
        page.ask("retry")
        assert page.can_retry
    page.ask("retry")
    assert page.trouble is None
    assert led.state().answers["moves.act1"].value == (GPT2,)


def test_what_the_ledger_says_of_other_moves_does_not_count(led):
    led.record_answer("moves.act1", ["A move of another edition", GPT2])
    waterfall = DispatchWaterfall()
    made: list[Any] = []
    explored = Exploration(
        "act1", [Move(GPT2, waterfall, model="gpt2-layer"), Move("More", waterfall, model="kws")],
        ledger=led, counts=lambda: False, then=made.append,
    )  # fmt: skip
    assert explored.lines == ((GPT2, True), ("More", False))
    for odd in ("not a list", [{"a": 1}, ["nested"]]):
        led.record_answer("moves.act1", odd)
        explored.recall()
    assert explored.missing == ["More"]
    assert made == []


CELLS = [
    """\
from mlsys_widgets import Move, PredictionLock, RooflineWidget
from mlsys_widgets.ledger import Ledger
led = Ledger.open("ledger.jsonl", lab="lab_07_kernel_fusion", student="student-01")
lock = PredictionLock("act1", question="How busy?", unit="%", ledger=led)
roof = RooflineWidget(lock=lock)""",
    'lock.reveal(model=0.321, moves=[Move("Raise N above 4,096", roof, lambda r: r.n > 4096)])',
]


@pytest.mark.long
def test_real_kernels_remember_what_was_tried(lock, tmp_path, monkeypatch):
    """A kernel in which nothing was tried, one for a grader, one that tries, and one after it."""

    def run(*more: str) -> str:
        book = notebook_of(*CELLS, *more)
        resources = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(book, timeout=60, resources=resources).execute()
        return str(book.cells[1].outputs[-1].data["text/plain"])

    compared = "37.9 percentage points above the model"
    lock.commit("70%", 4)
    assert "[ ] Raise N above 4,096" in run()
    with monkeypatch.context() as grading:
        grading.setitem(os.environ, "NBGRADER_EXECUTION", "autograde")
        assert compared in run()
    assert compared not in run("roof.set(n=8192)")
    assert compared in run()
