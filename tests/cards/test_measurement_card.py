"""The card that measures: a bar that follows, a chart that follows, and whose numbers they are."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import threading

import pytest

from mlsys_widgets import RooflineWidget
from mlsys_widgets.cards import measurement_card
from mlsys_widgets.cards.measurement_card import MeasurementCard
from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.labs import Measurement
from mlsys_widgets.ledger import NotSaved
from mlsys_widgets.measured import ceilings, load, machine_file
from mlsys_widgets.measured.background import BackgroundMeasurement
from tests.measured.test_waiting import with_runs
from tests.waiting import wait_for

DOCUMENT = load("cpu-2core-server")
ITEM = Measurement("Copies and products.", sizes=(64, 256))


@pytest.fixture
def on_its_machine(monkeypatch):
    """Have this machine be the one that the shipped document was measured on."""
    monkeypatch.setattr(machine_file, "name", lambda: DOCUMENT["device"]["name"])
    monkeypatch.setattr(machine_file, "cores", lambda: DOCUMENT["device"]["units"])


@pytest.fixture
def card(led):
    return MeasurementCard("measurement", ITEM, ledger=led)


def put(card, document=DOCUMENT):
    content = json.dumps(document).encode()
    card.path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


class Quick:
    """In place of the child: a measurement that a test moves along."""

    def __init__(self, out, *, sizes, sections, **_options):
        self.out, self.sizes, self.sections = out, sizes, sections
        self.outcome, self.share, self.doing, self.problem = "running", 0.0, "starting", ""
        self.listeners = []

    @property
    def running(self):
        return self.outcome == "running"

    def follow(self, listener):
        self.listeners.append(listener)

    def now(self, **changes):
        for name, value in changes.items():
            setattr(self, name, value)
        for listener in list(self.listeners):
            listener()

    def cancel(self):
        self.now(outcome="canceled")


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(measurement_card, "BackgroundMeasurement", Quick)


def test_before_anything_is_measured(card, browser_of):
    page = browser_of(card)
    assert page.buttons == ["measure"]
    assert "about 12 seconds" in page.parts["about"]["html"]
    assert "mlsys measure --cpu --quick --out machine.json" in page.parts["other"]["html"]
    assert card.document is None
    assert not card.is_open
    assert "best" not in page.parts


def test_the_bar_follows_and_the_result_is_recorded(card, browser_of, led, quick, on_its_machine):
    page = browser_of(card)
    page.ask("measure")
    run = card._run
    assert run.sizes == (64, 256)
    assert page.said == "Measuring. It takes about 12 seconds."
    assert page.buttons == ["cancel"]
    run.now(share=0.4, doing="gemm: gemm fp32 N = 256")
    assert page.parts["running"]["share"] == 0.4
    assert "gemm fp32 N = 256" in page.parts["running"]["words"]
    digest = put(card)
    run.now(outcome="saved", share=1.0)
    assert led.state().answers["measurement"].value["digest"] == digest
    assert DOCUMENT["device"]["name"] in led.state().answers["measurement"].value["machine"]
    assert card.is_open
    assert "Your measurement" in page.parts["whose"]["html"]
    assert page.buttons == ["measure"]
    assert page.trouble is None
    assert not measurement_card._running


def test_a_lab_may_ask_for_one_part_alone(led, browser_of, quick, on_its_machine):
    item = Measurement("A little server.", sections=("waiting",), seconds=18)
    card = MeasurementCard("measurement", item, ledger=led)
    page = browser_of(card)
    command = "mlsys measure --cpu --quick --sections waiting --out machine.json"
    assert command in page.parts["other"]["html"]
    page.ask("measure")
    assert card._run.sections == ("waiting",)
    put(card, with_runs(service=3.75e-3))
    card._run.now(outcome="saved")
    assert "mean 12.8 ms, p99 58 ms" in page.parts["whose"]["html"]
    loops = dict(page.parts["loops"]["rows"])
    assert loops["Open loop, 80% busy"].startswith("mean 12.8 ms, p99 58 ms; the mean of a simu")
    assert loops["Closed loop, 80% busy"].startswith("mean 2.6 ms")
    assert "had to wait for the processor" in page.parts["restless"]["html"]


def test_a_recorded_measurement_is_a_line_until_it_is_taken_again(
    card, browser_of, quick, on_its_machine
):
    put(card)
    card.refresh()
    page = browser_of(card)
    assert card._card.view["fold"] is None  # not recorded as this student's
    page.ask("adopt")
    assert card._card.view["fold"]["stays"][0] == "whose"
    page.ask("measure")
    assert card._card.view["fold"] is None
    page.ask("cancel")
    assert card._card.view["fold"] is not None


def test_where_no_process_can_be_started_a_file_is_looked_for(card, browser_of, monkeypatch, led):
    monkeypatch.setattr("sys.platform", "emscripten")
    page = browser_of(card)
    assert page.buttons == ["look", "time-page"]
    assert "run <code>mlsys measure --cpu --quick" in page.parts["other"]["html"]
    page.ask("look")
    assert page.said == "There is no machine.json yet."
    digest = put(card)
    page.ask("look")
    assert page.said == "Found machine.json."
    assert "A web page cannot tell whether" in page.parts["whose"]["html"]
    assert page.buttons == ["look", "adopt", "time-page"]
    page.ask("adopt")
    assert led.state().answers["measurement"].value["digest"] == digest
    assert card.is_open
    assert page.buttons == ["look", "time-page"]
    chart = card.draw_on(RooflineWidget(precision="fp32"))
    assert f"{DOCUMENT['device']['name']}, by your file, as measured" in chart.text()


def test_a_page_times_webassembly_and_takes_it_for_no_machine(
    card, browser_of, monkeypatch, led, tmp_path
):
    monkeypatch.setattr("sys.platform", "emscripten")
    chart = card.draw_on(RooflineWidget(precision="fp32"))
    page = browser_of(card)
    before, told = chart.text(), []
    real = measurement_card.time_in_page

    def timed(tell):
        def listen(doing, share):
            tell(doing, share)
            told.append(page.parts["running"])

        return real(listen)

    monkeypatch.setattr(measurement_card, "time_in_page", timed)
    page.ask("time-page")
    assert len(told) == 5
    assert page.said == "WebAssembly was timed. Nothing was saved."
    assert "says nothing about your machine" in page.parts["page"]["html"]
    rows = dict(page.parts["page-products"]["rows"])
    assert list(rows) == ["N = 64", "N = 128", "N = 256", "N = 512"]
    assert all(rate.endswith("FLOPS") for rate in rows.values())
    # Neither drawn nor recorded nor saved, and it opens nothing.
    assert chart.text() == before
    assert "measurement" not in led.state().answers
    assert not card.path.exists()
    assert not card.is_open
    assert card._in_page["device"]["name"] == "WebAssembly in a web page"


def test_what_needs_a_server_is_not_timed_in_a_page(led, browser_of, monkeypatch):
    monkeypatch.setattr("sys.platform", "emscripten")
    item = Measurement("A little server.", sections=("waiting",), seconds=18)
    assert browser_of(MeasurementCard("measurement", item, ledger=led)).buttons == ["look"]


def test_charts_follow_by_themselves(card, browser_of, quick, on_its_machine):
    chart = card.draw_on(RooflineWidget(precision="fp32"))
    assert "as measured" not in chart.text()
    browser_of(card).ask("measure")
    put(card)
    card._run.now(outcome="saved")
    assert "Your machine, as measured" in chart.text()
    assert chart.overlays.own.bandwidth == ceilings(DOCUMENT).bandwidth
    card.path.unlink()
    card.refresh()
    assert "as measured" not in chart.text()


def test_one_that_is_canceled_or_fails_leaves_what_was_there(card, browser_of, quick, led):
    page = browser_of(card)
    page.ask("measure")
    page.ask("cancel")
    assert page.said == "Canceled. Nothing was saved."
    assert page.buttons == ["measure"]
    page.ask("measure")
    card._run.now(outcome="failed", problem="The disk is full.")
    assert page.trouble == "The disk is full."
    assert page.can_retry
    page.ask("retry")
    assert card._run.running
    assert page.trouble is None
    assert "measurement" not in led.state().answers


def test_another_machine_is_never_called_yours(card, browser_of, monkeypatch, led):
    """Not before it is recorded, and not after it either."""
    put(card)
    monkeypatch.setattr(machine_file, "name", lambda: "A laptop")
    chart = card.draw_on(RooflineWidget(precision="fp32"))
    card.refresh()
    page = browser_of(card)
    assert page.buttons == ["measure", "adopt"]
    for _ in range(2):
        shown = page.parts["whose"]["html"]
        assert "was measured on" in shown
        assert "not on this machine, which is A laptop" in shown
        assert "Your machine" not in chart.text()
        assert f"{DOCUMENT['device']['name']}, not this machine, as measured" in chart.text()
        assert "our measurement" not in page.sent
        card.adopt()
    assert card.is_open
    assert page.buttons == ["measure"]


def test_a_file_that_was_replaced_is_not_yours(card, browser_of, on_its_machine):
    put(card)
    card.refresh()
    page = browser_of(card)
    chart = card.draw_on(RooflineWidget(precision="fp32"))
    assert "but it was not taken with this card" in page.parts["whose"]["html"]
    assert "machine.json, not recorded as yours" in chart.text()
    page.ask("adopt")
    assert "Your measurement" in page.parts["whose"]["html"]
    assert "Your machine, as measured" in chart.text()
    put(card, {**DOCUMENT, "date": "2026-01-01T10:00:00Z"})
    card.refresh()
    assert "but it was replaced since you measured" in page.parts["whose"]["html"]
    assert "not recorded as yours" in chart.text()
    assert page.buttons == ["measure", "adopt"]


def test_a_file_that_cannot_be_used_is_named(card, browser_of):
    card.path.write_text("{")
    card.refresh()
    page = browser_of(card)
    assert "machine.json cannot be used" in page.parts["whose"]["html"]
    assert page.buttons == ["measure"]
    page.ask("adopt")
    assert "Measure this machine first" in page.trouble
    card.path.unlink()
    with pytest.raises(ValueError, match=r"There is no machine\.json"):
        card.adopt()


def test_a_folder_that_cannot_be_written_is_named_before_it_begins(
    card, browser_of, monkeypatch, quick
):
    def full(_path):
        raise ValueError("The disk is full, so machine.json could not be saved.")

    monkeypatch.setattr(measurement_card, "refuse_unwritable", full)
    page = browser_of(card)
    page.ask("measure")
    assert page.trouble.startswith("The disk is full")
    assert card._run is None


def test_a_result_that_the_ledger_cannot_take_is_offered_again(
    card, browser_of, quick, led, monkeypatch, on_its_machine
):
    page = browser_of(card)
    page.ask("measure")
    put(card)
    keep = led.record_answer

    def full(*_arguments, **_options):
        raise NotSaved("The disk is full.", OSError(errno.ENOSPC, "full"))

    monkeypatch.setattr(led, "record_answer", full)
    card._run.now(outcome="saved")
    assert "saved, but not recorded" in page.trouble
    assert page.can_retry
    monkeypatch.setattr(led, "record_answer", keep)
    page.ask("retry")
    assert page.trouble is None
    assert card.is_open


def test_a_machine_that_was_busy_is_told_so(card, browser_of):
    put(card)
    card.refresh()
    page = browser_of(card)
    assert "restless" not in page.parts
    slow = json.loads(json.dumps(DOCUMENT))
    for case in slow["cases"]:
        if case["kind"] == "gemm" and case["shape"]["n"] > 512:
            for name in ("median", "q25", "q75"):
                case["seconds"][name] *= 3
    put(card, slow)
    card.refresh()
    assert "slower than a small one" in page.parts["restless"]["html"]


def test_a_second_run_counts_only_if_the_student_says_so(
    card, browser_of, quick, led, on_its_machine
):
    page = browser_of(card)
    page.ask("measure")
    first = put(card)
    card._run.now(outcome="saved")
    for choice, count in (("drop-second", 1), ("use-second", 2)):
        page.ask("measure")
        assert card._run.out == card.second_path
        again = {**DOCUMENT, "date": "2026-11-17T12:00:00Z"}
        card.second_path.write_text(json.dumps(again))
        card._run.now(outcome="saved")
        assert page.said == "The second run is ready. Choose which of the two counts."
        assert page.buttons == ["use-second", "drop-second"]
        assert "Nothing was odd." in page.parts["runs"]["rows"][1][1]
        assert led.state().answers["measurement"].value["digest"] == first
        page.ask(choice)
        assert page.buttons == ["measure"]
        assert not card.second_path.exists()
        assert led.state().answers["measurement"].attempts == count
    assert card.is_yours(card.file)
    assert card.file.date == "2026-11-17T12:00:00Z"
    page.ask("use-second")
    assert page.trouble == "There is no second run any more. Measure again."


def test_a_second_run_that_cannot_be_used_is_not_offered(card, browser_of, on_its_machine):
    put(card)
    card.adopt()
    card.second_path.write_text("{")
    card.refresh()
    assert browser_of(card).buttons == ["measure"]


def test_a_lab_that_is_opened_again_finds_the_measurement_that_runs(card, browser_of, quick, led):
    card.measure()
    run = card._run
    again = MeasurementCard("measurement", ITEM, ledger=led)
    run.now(share=0.5)
    assert browser_of(again).parts["running"]["share"] == 0.5
    with pytest.raises(ValueError, match="running already"):
        again.measure()
    run.cancel()
    assert browser_of(again).buttons == ["measure"]


def test_nothing_is_measured_while_a_lab_is_graded(card, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(ValueError, match="not while a lab is graded"):
        card.measure()


def test_the_end_comes_in_the_kernels_own_thread(card, quick, on_its_machine, monkeypatch):
    """Cards and charts belong to the loop in which the button was pressed."""
    threads = []
    adopt = card.adopt
    monkeypatch.setattr(card, "adopt", lambda: (threads.append(threading.get_ident()), adopt()))

    async def press():
        card.measure()
        put(card)
        await asyncio.to_thread(card._run.now, outcome="saved")
        await asyncio.sleep(0.05)

    asyncio.run(press())
    assert threads == [threading.get_ident()]
    assert card.is_open


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_real_measurement_becomes_yours(card, led):
    chart = card.draw_on(RooflineWidget(precision="fp32"))
    run = card.measure(budget=60, longest=200)
    assert isinstance(run, BackgroundMeasurement)
    assert run.wait(200) == "saved", run.problem
    wait_for(lambda: card.is_open)
    assert card.is_yours(card.file)
    assert "Your machine, as measured" in chart.text()
    kept = led.state().answers["measurement"].value
    assert kept["digest"] == hashlib.sha256(card.path.read_bytes()).hexdigest()
    assert card.path.name == MEASUREMENT
