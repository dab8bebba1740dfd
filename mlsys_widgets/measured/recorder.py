"""Collects the cases of a measurement as they are taken, so that one failure costs one case.

Every section of a measurement gets the `Recorder`. What it measures becomes a case, what it cannot
measure becomes a `skipped` entry with the reason, and `Recorder.document` is all of it as plain
data.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

Document = dict[str, Any]
Value = float | int | bool | str

SCHEMA = "mlsys-measurement"
VERSION = 1


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of repeated timings of one call, in seconds."""

    median: float
    q25: float
    q75: float
    repetitions: int


def spread(samples: Sequence[float]) -> Spread:
    """Median and quartiles of timings.

    They must be positive and finite.
    """
    if not samples or not all(math.isfinite(s) and s > 0 for s in samples):
        raise ValueError(f"samples must be positive finite seconds, got {list(samples)[:5]!r}")
    q25, median, q75 = (float(q) for q in np.percentile(samples, [25, 50, 75]))
    return Spread(median, q25, q75, len(samples))


_PATH = re.compile(r"~?(?:/[A-Za-z0-9_.@+-]+){2,}/?|[A-Za-z]:\\\S*")


def one_line(text: object, limit: int = 240) -> str:
    """Return the first line of a text, without paths and short enough for a document."""
    if isinstance(text, BaseException):
        text = f"{type(text).__name__}: {text}"
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    first = _PATH.sub("(path)", lines[0] if lines else "no reason given")
    return first if len(first) <= limit else first[: limit - 1] + "…"


class Skip(Exception):
    """Raised inside `Recorder.attempt` to leave a case out, with the reason as its text."""


class OutOfTime(Skip):
    """The time set aside for the measurement is spent."""


@dataclass
class Recorder:
    """The measurement so far."""

    device: Mapping[str, Any]
    software: Mapping[str, str]
    method: Mapping[str, Any]
    status: str = "complete"  # the status of a finished document: ``complete`` or ``dry``
    #: Called with a few words about what is being done.
    say: Callable[[str], None] = lambda text: None
    budget: float = math.inf  # seconds after which no further case starts
    section: str = "start"
    cases: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    sections: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    date: str = field(
        default_factory=lambda: datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    )
    _reserve: float = 0.0
    _seen: set[str] = field(default_factory=set)

    def left(self) -> float:
        """Return the seconds that the current section may still use."""
        return self.budget - self._reserve - (time.monotonic() - self.began)

    def need(self, seconds: float = 0.0) -> None:
        """Raise `OutOfTime` unless about this many seconds are left; every case asks this first."""
        if self.left() < seconds:
            raise OutOfTime(f"{self.budget:.0f} s were set aside and too few of them are left")

    @contextlib.contextmanager
    def within(self, section: str, reserve: float = 0.0) -> Iterator[None]:
        """Run a section; a failure is noted and the rest continues. Leave `reserve` seconds."""
        self.section, self._reserve = section, reserve
        began = time.monotonic()
        self.say(section)
        try:
            yield
        except Exception as error:  # as in `attempt`: the other sections continue
            self.skip("the whole section", str(error) if isinstance(error, Skip) else error)
        finally:
            self._reserve = 0.0
            self.sections.append({"name": section, "seconds": round(time.monotonic() - began, 3)})

    @contextlib.contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """Run one case: an exception becomes a `skipped` entry."""
        try:
            self.say(f"{self.section}: {what}")
            yield
        except Exception as error:  # the point of this block: one failure never costs the run
            self.skip(what, str(error) if isinstance(error, Skip) else error)

    def skip(self, what: str, reason: object) -> None:
        """Note that something was not measured, and why."""
        entry = {"section": self.section, "what": one_line(what), "reason": one_line(reason)}
        if entry not in self.skipped:
            self.skipped.append(entry)

    def add(
        self,
        kind: str,
        variant: str,
        precision: str | None,
        shape: Mapping[str, Value],
        seconds: Spread,
        *,
        flops: float | None = None,
        bytes: float | None = None,
        traffic: float | None = None,
        kernels: int | None = None,
        enqueue: Spread | None = None,
        latency: Spread | None = None,
        gpu_busy: float | None = None,
        compile_seconds: float | None = None,
        throughput: float | None = None,
        error: float | None = None,
        memory: Mapping[str, float] | None = None,
        energy: Mapping[str, float | bool] | None = None,
        timeline: Mapping[str, Mapping[str, Sequence[float]]] | None = None,
    ) -> None:
        """Record one case. If it was measured before, it is noted as skipped."""
        identity = repr((kind, variant, precision, sorted(shape.items())))
        if identity in self._seen:
            self.skip(f"{kind} {variant} {precision} {dict(shape)}", "measured already")
            return
        case: dict[str, Any] = {
            "section": self.section,
            "kind": kind,
            "variant": variant,
            "precision": precision,
            "shape": dict(shape),
            "flops": flops,
            "bytes": bytes,
            "traffic": bytes if traffic is None else traffic,
            "kernels": kernels,
            "seconds": asdict(seconds),
            "gpu_busy": gpu_busy,
            "compile_seconds": compile_seconds,
            "throughput": throughput,
        }
        optional = {
            "enqueue": enqueue and asdict(enqueue),
            "latency": latency and asdict(latency),
            "error": error,
            "memory": memory and dict(memory),
            "energy": energy and dict(energy),
            "timeline": timeline and {part: dict(rows) for part, rows in timeline.items()},
        }
        case |= {name: value for name, value in optional.items() if value is not None}
        wrong = [name for name, value in case.items() if _not_finite(value)]
        if wrong:
            self.skip(f"{kind} {variant} {precision} {dict(shape)}", f"{wrong[0]} is not finite")
            return
        self._seen.add(identity)
        self.cases.append(case)

    def document(self, status: str | None = None) -> Document:
        """Return the measurement so far as plain data."""
        method = dict(self.method)
        if self.notes:
            method["notes"] = [one_line(note, 2000) for note in self.notes]
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "status": status or self.status,
            "date": self.date,
            "device": dict(self.device),
            "software": dict(self.software),
            "method": method,
            "sections": list(self.sections),
            "cases": list(self.cases),
            "skipped": list(self.skipped),
        }


def _not_finite(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_not_finite(v) for v in value.values())
    if isinstance(value, list | tuple):
        return any(_not_finite(v) for v in value)
    return isinstance(value, float) and not math.isfinite(value)
