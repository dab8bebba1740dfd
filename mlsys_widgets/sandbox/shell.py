"""Running a notebook's cells in this very process, with IPython and without a kernel.

For the child of a process that has imported everything: what a kernel would send over several
sockets goes out on one, a line of JSON for each cell as soon as it is done, so that everything up
to a crash counts. Whatever comes out of here was in the student's hands: it is data, and nothing
about it is trusted.
"""

from __future__ import annotations

import builtins
import hashlib
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from types import FrameType
from typing import Any, Final

from comm.base_comm import BaseComm
from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.formatters import DisplayFormatter
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mlsys_widgets.sandbox.answer_data import to_data
from mlsys_widgets.sandbox.function_calling import call_functions, report, report_end
from mlsys_widgets.sandbox.job import FunctionCall
from mlsys_widgets.sandbox.shell_commands import run_command
from mlsys_widgets.sandbox.wire import receive

Output = dict[str, Any]

#: Reported when every cell but the hidden tests has run: from now on answers are settled.
ANSWERED: Final = {"answered": True}
#: Of one stream of one cell; the rest is cut off, as nbgrader does later with lines.
_LONGEST_STREAM: Final = 2_000_000
#: A line that may hold more than Python: a command, a magic, help, or a call without brackets.
_SPECIAL: Final = re.compile(r"^\s*[^#\s].*\?|=\s*[!%]|^\s*[!%?,;/]")
#: Where these are, what looks like a line of its own may be the middle of another.
_JOINED: Final = ("\\", '"""', "'''")


class CellTimeoutError(Exception):
    """A cell that took longer than it is allowed to."""


class _Outputs:
    """The outputs so far of the cell that is running, as a notebook keeps them."""

    def __init__(self) -> None:
        self.items: list[Output] = []
        self.clear_next = False

    def add(self, output: Output) -> None:
        if self.clear_next:
            self.items.clear()
            self.clear_next = False
        self.items.append(output)

    def write(self, name: str, text: str) -> None:
        if not text:
            return
        last = self.items[-1] if self.items and not self.clear_next else None
        if last is None or last.get("name") != name or last["output_type"] != "stream":
            last = {"output_type": "stream", "name": name, "text": ""}
            self.add(last)
        room = _LONGEST_STREAM - len(last["text"])
        last["text"] += text[: max(room, 0)]


class _Stream:
    """Standard output or error of cells."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: _Outputs) -> None:
        self._name, self._outputs = name, outputs

    def write(self, text: str) -> int:
        self._outputs.write(self._name, str(text))
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class _Publisher(DisplayPublisher):
    outputs: _Outputs

    def publish(  # type: ignore[override]
        self, data: Any, metadata: Any = None, *, transient: Any = None, update: bool = False,
        **_more: Any,
    ) -> None:  # fmt: skip
        shown = (transient or {}).get("display_id")
        fresh = {"data": dict(data), "metadata": dict(metadata or {})}
        if update:
            for output in self.outputs.items:
                if shown is not None and output.get("display_id") == shown:
                    output.update(fresh)
            return
        named = {} if shown is None else {"display_id": shown}
        self.outputs.add({"output_type": "display_data", **fresh, **named})

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear_next = wait
        if not wait:
            self.outputs.items.clear()


class _Hook(DisplayHook):
    outputs: _Outputs
    shell: Any

    def quiet(self) -> bool:
        """Whether a cell ends in a semicolon, looked for token by token only if it has one."""
        cells = self.shell.history_manager.input_hist_parsed
        return bool(cells) and ";" in cells[-1] and bool(super().quiet())

    def write_output_prompt(self) -> None:
        pass

    def finish_displayhook(self) -> None:
        pass  # a terminal would get an empty line here

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.outputs.add(
            {
                "output_type": "execute_result",
                "data": dict(format_dict),
                "metadata": dict(md_dict or {}),
                "execution_count": self.prompt_count,
            }
        )


class _Formatter(DisplayFormatter):
    """Asks a card or an instrument once for all its forms, where IPython asks for each again."""

    def format(self, obj: Any, include: Any = None, exclude: Any = None) -> tuple[Any, Any]:
        if not callable(getattr(type(obj), "still", None)):
            return super().format(obj, include, exclude)
        data, metadata = self.mimebundle_formatter(obj, include=include, exclude=exclude)
        # A form that cannot be made has shown its traceback; then its name has to do.
        return data or {"text/plain": repr(obj)}, metadata


class _Compiler(CachingCompiler):
    """Names cells as a kernel does: the look of a traceback depends on it."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        digest = hashlib.sha256(raw_code.encode("utf-8", "replace")).hexdigest()[:10]
        return f"/tmp/ipykernel/{digest}.py"


class _Transformers(TransformerManager):
    """Finds commands and magics token by token, but only where there may be some.

    Most cells of a lab are plain Python, and reading their tokens takes longer than running them.
    """

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        stock = len(self.token_transformers) == len(_STOCK_TRANSFORMERS)
        joined = any(sign in line for line in lines for sign in _JOINED)
        if stock and not joined and not any(map(_SPECIAL.search, lines)):
            return lines
        transformed: list[str] = super().do_token_transforms(lines)
        return transformed


_STOCK_TRANSFORMERS: Final = TransformerManager().token_transformers


class Shell(InteractiveShell):
    """IPython as a kernel has it, with outputs kept instead of sent."""

    compiler_class = _Compiler
    display_pub_class = _Publisher
    displayhook_class = _Hook

    def __init__(self, **more: Any) -> None:
        super().__init__(input_transformer_manager=_Transformers(), **more)
        self.outputs = _Outputs()
        self.own_seconds = 0.0
        for part in (self.display_pub, self.displayhook):
            setattr(part, "outputs", self.outputs)  # noqa: B010 (IPython types them as their bases)

    def init_display_formatter(self) -> None:
        """Use the formatter above."""
        formatter: Any = _Formatter(parent=self)
        self.display_formatter = formatter
        self.configurables.append(formatter)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        self.outputs.add(
            {
                "output_type": "error",
                "ename": str(getattr(etype, "__name__", etype)),
                "evalue": str(evalue),
                "traceback": [str(line) for line in stb],
            }
        )

    def should_run_async(self, raw_cell: str, **more: Any) -> bool:
        """Whether a cell awaits something, found out by compiling it only if it has the words."""
        found = "await" in raw_cell or "async" in raw_cell
        return found and bool(super().should_run_async(raw_cell, **more))

    def raw_input(self, prompt: object = "") -> str:
        """Nobody is there to answer."""
        raise StdinNotImplementedError(
            "raw_input was called, but this frontend does not support input requests."
        )

    def system_piped(self, cmd: str) -> None:
        """Run what stands behind an exclamation mark; its exit status is in ``_exit_code``."""
        if cmd.rstrip().endswith("&"):
            raise OSError("Background processes not supported.")
        self.user_ns["_exit_code"] = run_command(self.var_expand(cmd, depth=1), sys.stdout.write)

    system = system_piped

    def enable_gui(self, gui: Any = None) -> None:
        """There is no window here."""


class _Unwatched(BaseComm):
    """The channel from a widget to a browser that is not there."""

    #: Where this is `None`, ipywidgets composes no messages.
    kernel = None

    def publish_msg(self, *_arguments: Any, **_more: Any) -> None:
        pass


def _open_unwatched(widget: Any) -> None:
    """Open a widget without serializing its state, which takes a quarter of a lab's time."""
    if widget.comm is None:
        named = {} if widget._model_id is None else {"comm_id": widget._model_id}
        widget.comm = _Unwatched(target_name="jupyter.widget", **named)


def make_shell() -> Shell:
    """Make the shell, before forking: it is the same for every submission."""
    config = Config()
    config.HistoryManager.enabled = False
    shell: Shell = Shell.instance(config=config)
    shell.db = {}  # what magics such as %cd keep; IPython's own would be a folder of this user
    # IPython puts some imports off until the first cell. This one leaves nothing else behind.
    shell.run_cell("None", store_history=False)
    with suppress(ImportError):
        from ipywidgets import Widget

        Widget.open = _open_unwatched
    return shell


def run(
    shell: Shell,
    cells: Sequence[str | None],
    watched: Mapping[int, str],
    *,
    seconds: float,
    to: int,
    late: Sequence[int] = (),
    calls: Mapping[str, FunctionCall] | None = None,
) -> None:
    """Run cells in order, and report the outputs of each.

    ``watched`` names the value that is reported on the descriptor ``to`` after each cell, run or
    not. The hidden tests of ``late`` cells are missing here, because student code can read whatever
    is in this process: when all answers are reported, these cells arrive complete on the same
    descriptor and run once more, each with the answer that it had. Then ``calls`` are made, and
    each reply is an answer.
    """
    sys.stdout = _Stream("stdout", shell.outputs)
    sys.stderr = _Stream("stderr", shell.outputs)
    builtins.input = shell.raw_input
    signal.signal(signal.SIGALRM, _too_long)
    kept: dict[int, tuple[int, Any]] = {}
    values: dict[str, Any] = {}
    for number, code in enumerate(cells):
        count = shell.execution_count
        if code is not None:
            ran = _run_cell(shell, code, seconds)
            if number not in late:
                report(to, {"cell": number, **ran})
        value = shell.user_ns.get(watched.get(number, ""), ...)
        if number in watched:
            report(to, {"answer": watched[number], "value": to_data(value)})
            values[watched[number]] = value
        if number in late:
            kept[number] = count, value
            shell.execution_count = count + 1
    call_functions(calls or {}, values, seconds=seconds, to=to)
    if late:
        report(to, ANSWERED)
        with os.fdopen(to, "rb", closefd=False) as stream:
            complete = receive(stream) or {}
        for word, code in complete.items():
            number = int(word)
            shell.execution_count, value = kept[number]
            if value is not ...:
                shell.user_ns[watched[number]] = value
            report(to, {"cell": number, **_run_cell(shell, code, seconds)})
    report_end(to, shell.own_seconds)


def _run_cell(shell: Shell, code: str, seconds: float) -> dict[str, Any]:
    shell.outputs.items.clear()
    shell.outputs.clear_next = False
    began = perf_counter()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        shell.run_cell(code, store_history=True)
    except CellTimeoutError:  # it came between two lines of IPython's own
        shell.showtraceback()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    shell.own_seconds += perf_counter() - began
    outputs = [{k: v for k, v in o.items() if k != "display_id"} for o in shell.outputs.items]
    return {"outputs": outputs, "count": shell.execution_count - 1}


def _too_long(_signal: int, _frame: FrameType | None) -> None:
    raise CellTimeoutError("No reply from kernel before timeout")
