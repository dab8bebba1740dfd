"""The card that measures the student's own machine, and says whose numbers lie beside the lab."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from mlsys_widgets.cards.card import Action, Gate, Values
from mlsys_widgets.cards.parts import Buttons, Numbers, Part, Prose, RecordedAnswer, Rows
from mlsys_widgets.cards.progress_bar import ProgressBar
from mlsys_widgets.cards.task import ItemTask, ShortForm
from mlsys_widgets.files import MEASUREMENT
from mlsys_widgets.instruments.roofline_widget import RooflineWidget
from mlsys_widgets.labs import Measurement, execution
from mlsys_widgets.ledger import Ledger, LedgerError
from mlsys_widgets.measured import ceilings
from mlsys_widgets.measured.background import BackgroundMeasurement, can_measure, refuse_unwritable
from mlsys_widgets.measured.disturbances import disturbances, product_rates
from mlsys_widgets.measured.in_page import time_in_page
from mlsys_widgets.measured.machine_file import MachineFile, read_machine_file, this_machine
from mlsys_widgets.measured.recorder import Document
from mlsys_widgets.measured.waiting import WaitingRun, waiting_runs
from mlsys_widgets.wording.units import format_quantity, in_one_unit

#: What a chart calls a measurement that is known to be the student's own.
YOURS: Final = "Your machine"
_LOOK: Final = "Look for the file"
_TIME_PAGE: Final = ("time-page", "Time WebAssembly in this page")

Chart = TypeVar("Chart", bound=RooflineWidget)

#: Measurements that run, by their file: a lab that is opened again finds the one it began.
_running: Final[dict[Path, BackgroundMeasurement]] = {}


class MeasurementCard(ItemTask):
    """Measures the machine that the kernel runs on, in a process of its own.

    The result is a file beside the notebook, and the ledger keeps which machine was measured, when,
    and the digest of the file. Numbers that this does not vouch for are never called the student's.
    Answers are graded against that file, so measuring again replaces nothing by itself: the second
    run lies beside the first until the student has chosen one of them.

    Parameters
    ----------
    task_id
        The name under which the ledger keeps what was measured.
    item
        What is measured, in words, and what the lab needs of it.
    ledger
        Where it is kept; the measurement lies in the same folder.
    after
        A gate, or several, that must be open first.

    Examples
    --------
    >>> led = Ledger.open(folder / "ledger.jsonl", lab="lab_11", student="student-01")
    >>> card = MeasurementCard("measurement", Measurement("Copies and products."), ledger=led)
    >>> card.document is None, card.is_open
    (True, False)
    """

    kind = "Measurement"
    tone = "measured"

    def __init__(
        self, task_id: str, item: Measurement, *, ledger: Ledger, after: Gate | Iterable[Gate] = ()
    ) -> None:
        super().__init__(task_id, item, item.title, ledger=ledger, after=after)
        self.item = item
        self.path = ledger.path.with_name(MEASUREMENT)
        #: A second run, until the student has chosen between the two.
        self.second_path = self.path.with_stem(f"{self.path.stem}_again")
        self._charts: list[RooflineWidget] = []
        self._drawn: tuple[str, str] | None = None
        self._run: BackgroundMeasurement | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        #: What was timed in a page, where no machine can be measured; what is being timed there.
        self._in_page: Document | None = None
        self._timing: tuple[str, float] | None = None
        running = _running.get(self.path)
        if running is not None and running.running:
            self._attach(running)
        self.refresh()

    # What lies beside the notebook.

    @property
    def file(self) -> MachineFile | None:
        """The measurement beside the notebook, whoever took it; `None` if there is none."""
        return read_machine_file(self.path)

    @property
    def document(self) -> Document | None:
        """The measurement in the file; `None` if there is none that can be used."""
        return self.file.document if self.file else None

    @property
    def second(self) -> MachineFile | None:
        """A second run that waits to be chosen or dropped; `None` if there is none to use."""
        found = read_machine_file(self.second_path)
        return found if found is not None and found.document is not None else None

    @property
    def recorded(self) -> Mapping[str, Any]:
        """Machine, time and digest of the measurement, from the ledger."""
        kept = self._state.answers.get(self.task_id) if self._state else None
        return kept.value if kept is not None and isinstance(kept.value, Mapping) else {}

    def is_yours(self, file: MachineFile) -> bool:
        """Whether a file was measured on this machine and is the one that the ledger knows."""
        return file.is_of_this_machine and self.recorded.get("digest") == file.digest

    def whose(self, file: MachineFile) -> str:
        """Where a file comes from, in a sentence."""
        if self.is_yours(file):
            numbers = _in_two_numbers(file)
            return f"Your measurement: {f'**{numbers}** on ' if numbers else ''}{file.machine}"
        if not file.is_of_this_machine and not can_measure():
            return (
                f"{self.path.name} was measured on {file.machine} at {file.date}. A web page cannot"
                " tell whether that is the machine that it runs on."
            )
        if not file.is_of_this_machine:
            return (
                f"{self.path.name} was measured on {file.machine} at {file.date}; not on this"
                f" machine, which is {this_machine()}."
            )
        change = "replaced since you measured" if self.recorded else "not taken with this card"
        return (
            f"{self.path.name} was measured on a machine like this one ({file.machine}) at"
            f" {file.date}, but it was {change}."
        )

    # Charts follow by themselves.

    def draw_on(self, chart: Chart) -> Chart:
        """Have a chart show the measurement, now and whenever there is another one."""
        self._charts.append(chart)
        chart.show_machine(self._named())
        return chart

    def _named(self) -> Document | None:
        """The document for a chart, under a name that says whose it is."""
        file = self.file
        if file is None or file.document is None:
            return None
        device = file.document["device"]
        if self.is_yours(file):
            called = YOURS
        elif file.is_of_this_machine:
            called = f"{self.path.name}, not recorded as yours"
        else:
            called = f"{device['name']}, {'not this machine' if can_measure() else 'by your file'}"
        return {**file.document, "device": {**device, "key": called}}

    def refresh(self) -> None:
        """Read the ledger and the file again, and redraw the charts if either has changed."""
        super().refresh()
        file = self.file
        seen = (file.digest, self.whose(file)) if file and file.document else ("", "")
        if seen != self._drawn:
            self._drawn = seen
            for chart in self._charts:
                chart.show_machine(self._named())

    # Measuring.

    @property
    def command(self) -> str:
        """The other way to measure, for a terminal."""
        parts = f"--sections {' '.join(self.item.sections)} " if self.item.sections else ""
        return f"mlsys measure --cpu --quick {parts}--out {MEASUREMENT}"

    def _other_way(self) -> str:
        """How a measurement comes from a terminal: besides the button, or instead of it."""
        if can_measure():
            return (
                f"Or, in a terminal in this folder: `{self.command}`. The file `{self.path.name}`"
                " is handed in with the notebook."
            )
        return (
            "Python runs inside a web page here, where it cannot tell what a processor can do: it"
            " sees neither the other cores nor the vector units nor who else is using them."
            f" Where mlsys_widgets is installed, run `{self.command}` in a terminal. Then upload"
            f" `{self.path.name}` with the file browser on the left, into the folder of this lab,"
            f" and press *{_LOOK}*. It is handed in with the notebook."
        )

    def measure(self, **options: Any) -> BackgroundMeasurement:
        """Begin to measure; the card and its charts follow.

        Raises
        ------
        ValueError
            With a sentence, if the result could not be saved, or while a measurement runs.
        """
        self._need_gates()
        if execution() != "student":
            raise ValueError("A measurement is taken by a student, not while a lab is graded.")
        if self._run is not None and self._run.running:
            raise ValueError("A measurement is running already; wait for it, or cancel it.")
        refuse_unwritable(self.path)
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        file = self.file
        counts = file is not None and file.document is not None and self.is_yours(file)
        out = self.second_path if counts else self.path
        item = self.item
        run = BackgroundMeasurement(out, sizes=item.sizes, sections=item.sections, **options)
        _running[self.path] = run
        self._attach(run)
        return run

    def adopt(self) -> None:
        """Record the file that lies beside the notebook, which was taken in another way.

        Raises
        ------
        ValueError
            When there is no file that can be used.
        """
        self._need_gates()
        file = self.file
        if file is None or file.document is None:
            problem = file.problem if file else f"There is no {self.path.name} in this folder."
            raise ValueError(f"{problem} Measure this machine first.")
        value = {"machine": file.machine, "time": file.date, "digest": file.digest}
        self._save(lambda: self._ledger.record_answer(self.task_id, value))
        self.refresh()

    def actions(self) -> Mapping[str, Action]:
        return {
            "measure": self._on_measure,
            "look": self._on_look,
            "time-page": self._on_time_page,
            "cancel": self._on_cancel,
            "adopt": self._on_adopt,
            "use-second": self._on_use_second,
            "drop-second": self._on_drop_second,
        }

    def _on_measure(self, _values: Values) -> None:
        self.measure()
        self._say(f"Measuring. It takes about {self.item.seconds} seconds.", focus="running")

    def _on_look(self, _values: Values) -> None:
        self.refresh()
        found = f"Found {self.path.name}." if self.file else f"There is no {self.path.name} yet."
        self._say(found, focus="send")

    def _on_time_page(self, _values: Values) -> None:
        """Time what there is in a page. Nothing else runs there meanwhile, and nothing is saved."""
        self._need_gates()

        def tell(doing: str, share: float) -> None:
            self._timing = doing, share
            self.show()

        try:
            self._in_page = time_in_page(tell)
        finally:
            self._timing = None
        self._say("WebAssembly was timed. Nothing was saved.", focus="page")

    def _on_cancel(self, _values: Values) -> None:
        if self._run is not None:
            self._run.cancel()
            self._say("Canceled. Nothing was saved.", focus="send")

    def _on_adopt(self, _values: Values) -> None:
        self.adopt()
        self._say("Recorded.", focus="whose")

    def use_second(self) -> None:
        """Have the second run count in place of the first.

        Raises
        ------
        ValueError
            When there is no second run.
        """
        if self.second is None:
            raise ValueError("There is no second run any more. Measure again.")
        self.second_path.replace(self.path)
        self.adopt()

    def _on_use_second(self, _values: Values) -> None:
        self.use_second()
        self._say("The second run counts now.", focus="whose")

    def _on_drop_second(self, _values: Values) -> None:
        self.second_path.unlink(missing_ok=True)
        self._say("The first run still counts.", focus="whose")

    def _attach(self, run: BackgroundMeasurement) -> None:
        self._run = run
        run.follow(self._followed)
        self.show()

    def _followed(self) -> None:
        """Something has changed; called in the thread that reads what the child tells."""
        assert self._run is not None
        if self._run.running:
            self.show()
        elif self._loop is not None and self._loop.is_running():
            # Other cards and charts follow now, and those belong to the kernel's own thread.
            self._loop.call_soon_threadsafe(self._ended)
        else:
            self._ended()

    def _ended(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        if _running.get(self.path) is run:
            del _running[self.path]
        if run.outcome == "saved" and run.out == self.second_path:
            self._say("The second run is ready. Choose which of the two counts.", focus="choose")
        elif run.outcome == "saved":
            try:
                self.adopt()
            except (LedgerError, ValueError) as problem:
                self._refused(f"The measurement is saved, but not recorded. {problem}", self.adopt)
            else:
                self._say("The measurement is saved.", focus="whose")
        elif run.outcome == "failed":
            self._refused(run.problem, lambda: self._on_measure({}))
        self.show()

    # What is seen.

    def parts(self) -> Sequence[Part]:
        item = self.item
        about = Prose("about", f"{item.about} It takes about {item.seconds} seconds.")
        if self._run is not None and self._run.running:
            doing, share = self._run.doing, self._run.share
            bar = ProgressBar(
                "running", "Progress of the measurement", f"Measuring: {doing}", share
            )
            return [about, bar, Buttons("send", (("cancel", "Cancel"),))]
        if self._timing is not None:
            doing, share = self._timing
            words = f"Timing WebAssembly: {doing}"
            return [about, ProgressBar("running", "Progress of the timing", words, share)]
        file = self.file
        other = Prose("other", self._other_way(), quiet=can_measure())
        first = ("measure", "Measure this machine") if can_measure() else ("look", _LOOK)
        # What needs a server of its own, as some sections do, does not run in a page at all.
        has_page = not can_measure() and not self.item.sections
        more = (_TIME_PAGE,) if has_page else ()
        page = _in_webassembly(self._in_page)
        if file is None:
            return [about, Buttons("send", (first, *more)), other, *page]
        if file.document is None:
            words = f"{self.path.name} cannot be used. {file.problem}"
            send = Buttons("send", (first, *more))
            return [about, Prose("whose", words, tone="red"), send, other, *page]
        yours = self.is_yours(file)
        known = self.recorded.get("digest") == file.digest
        whose: Part = Prose("whose", self.whose(file), tone="orange")
        if yours:
            whose = RecordedAnswer("whose", self.whose(file), file.date)
        buttons = [("measure", "Measure again") if yours and can_measure() else first]
        buttons += [] if known else [("adopt", "Use this file")]
        buttons += more
        second = self.second
        if second is not None:
            return [about, whose, *_numbers(file.document), *self._choice(file, second)]
        numbers = [*_numbers(file.document), *_restless(file.document)]
        send = Buttons("send", tuple(buttons), not known)
        return [about, whose, *numbers, send, other, *page]

    def fold(self) -> ShortForm | None:
        file = self.file
        if self._run is not None or self.second is not None or file is None:
            return None
        # A machine that was busy is a reason to measure again, so that stays in sight.
        link = "Show all numbers, or measure again"
        return ShortForm(("whose", "restless"), link) if self.is_yours(file) else None

    def _choice(self, first: MachineFile, second: MachineFile) -> list[Part]:
        """Two runs side by side, and the question which of them counts."""
        words = (
            "You have measured twice. Answers about this machine are graded against the run that"
            " counts, so answer them again if you change it."
        )
        return [
            Prose("choose", words, label="Which run counts?", tone="blue"),
            Rows("runs", (("First run", _in_short(first)), ("Second run", _in_short(second)))),
            Buttons(
                "send", (("use-second", "Use the second run"), ("drop-second", "Keep the first"))
            ),
        ]


def _in_webassembly(document: Document | None) -> list[Part]:
    """What was timed in a page, as what it is; nothing if nothing was."""
    if document is None:
        return []
    words = (
        "One thread of WebAssembly in this page, which is all that Python has here. It says nothing"
        " about your machine's own roof: it is neither saved nor handed in, and neither the chart"
        " nor your answers use it."
    )
    told = Prose("page", words, label="Not your machine, but WebAssembly", tone="orange")
    return [told, *_numbers(document, "page-")]


def _restless(document: Document) -> list[Part]:
    """A warning if something else was using the machine, with what was odd."""
    odd = disturbances(document)
    if not odd:
        return []
    words = f"{' '.join(odd)} Close other programs and measure again; then choose which run to use."
    return [Prose("restless", words, tone="orange", label="Was the machine busy?")]


def _in_short(file: MachineFile) -> str:
    """A run in one line: when, the two numbers that matter most, and what was odd."""
    assert file.document is not None
    odd = " ".join(disturbances(file.document)) or "Nothing was odd."
    return f"{file.date}: {_in_two_numbers(file)}. {odd}"


def _in_two_numbers(file: MachineFile) -> str:
    """The best product and the best bandwidth of a run."""
    assert file.document is not None
    for run in waiting_runs(file.document):
        mean, tail = in_one_unit("s", run.mean, run.p99)
        return f"mean {mean}, p99 {tail} in the {run.loop} loop"
    best = ceilings(file.document)
    numbers = [format_quantity(best.peaks["fp32"], "FLOP/s")] if "fp32" in best.peaks else []
    numbers += [format_quantity(best.bandwidth, "B/s")] if best.bandwidth else []
    return " and ".join(numbers)


def _numbers(document: Document, before: str = "") -> list[Part]:
    """The best of everything that was measured, each square product in fp32, and each loop."""
    best, cards = ceilings(document), []
    if "fp32" in best.peaks:
        rate = format_quantity(best.peaks["fp32"], "FLOP/s")
        cards.append(("Best fp32 product", rate, "measured", ""))
    if best.bandwidth:
        cards.append(("Best bandwidth", format_quantity(best.bandwidth, "B/s"), "measured", ""))
    rates = product_rates(document)
    rows = tuple((f"N = {n:,}", format_quantity(rate, "FLOP/s")) for n, rate in rates.items())
    parts: list[Part] = [Numbers(f"{before}best", tuple(cards))] if cards else []
    parts += [Rows(f"{before}products", rows)] if rows else []
    loops = tuple((_loop(run), _waited(run)) for run in waiting_runs(document))
    return [*parts, *([Rows("loops", loops)] if loops else [])]


def _loop(run: WaitingRun) -> str:
    """A run of a little server, as it is called."""
    return f"{run.loop.capitalize()} loop, {format_quantity(run.busy, '%')} busy"


def _waited(run: WaitingRun) -> str:
    """How long its answers took, and how close a simulation of the same requests comes."""
    mean, tail = in_one_unit("s", run.mean, run.p99)
    error = format_quantity(run.error, "%")
    return f"mean {mean}, p99 {tail}; the mean of a simulation is off by {error}"
