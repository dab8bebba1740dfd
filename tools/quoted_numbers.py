"""Writes what benchmarks found into the pages that quote it, so that nobody types a number.

Benchmarks keep what they find in benchmarks/findings (``--publish``). The parts of a page between
``<!-- name -->`` and ``<!-- end -->`` are made from that; the prose around them stays. ``make
docs`` runs this, and a test fails if a page is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

# The benchmarks are no package.
import findings  # noqa: E402

Found = Mapping[str, Any]

#: Where goals are missed, the page says so: times stock nbgrader, seconds, and milliseconds.
_GOAL_RUN, _GOAL_RECORD, _GOAL_MANY = 20, 45, 30
_GOAL_BEYOND_MS, _GOAL_START, _GOAL_REGRADING = 70, 3, 10


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _conditions(of: Found) -> str:
    return (
        f"{of['cores']} cores of {of['machine']}, load before it {of['load_before']}, {of['date']}"
    )


def _against(seconds: float, stock: float, goal: int) -> str:
    times = stock / seconds
    return f"{times:.0f}×" + ("" if times >= goal else f"; the goal of {goal}× is not reached")


def _missed(found: float, goal: int, unit: str, by: str = "") -> str:
    """Return a sentence about a goal; nothing if it is reached."""
    return "" if found <= goal else f" The goal of {goal} {unit} is not reached{by}."


def _stock(found: Found) -> str:
    of = found["stock"]
    stock = of["stock_s"]
    rows = [
        ("`nbgrader autograde`", f"{stock:.1f}", "1"),
        (
            "the same with our `ExecuteIsolated`",
            f"{of['stock_isolated_s']:.1f}",
            f"{stock / of['stock_isolated_s']:.1f}×",
        ),
        ("`mlsys grade --run`", f"{of['run_s']:.1f}", _against(of["run_s"], stock, _GOAL_RUN)),
        (
            "`mlsys grade --audit 0%`, all of them by record",
            f"{of['by_record_s']:.1f}",
            _against(of["by_record_s"], stock, _GOAL_RECORD),
        ),
    ]
    if "audited_s" in of:
        audited = f"{of['audited_s']:.1f}"
        rows.append(("the same with its audit", audited, f"{stock / of['audited_s']:.0f}×"))
    header = (f"{of['students']} submissions", "seconds", "against stock")
    return f"{_table(header, rows)}\n\n{_conditions(of)}."


def _one(found: Found) -> str:
    of = found["overhead"]
    beyond = of["isolation_ms"] + of["reading_ms"] + of["writing_ms"]
    first = found["start"]["first_runs_s"]
    return (
        f"Of the {of['cells_ms'] + beyond:.0f} ms that a submission takes with `--run`, the"
        f" student's own cells account for {of['cells_ms']:.0f}. The other {beyond:.0f} ms are"
        f" {of['isolation_ms']:.0f} ms for fork and isolation, {of['reading_ms']:.0f} for reading,"
        f" judging and the notebook, and {of['writing_ms']:.0f} for gradebook and files"
        f" ({_conditions(of)}).{_missed(beyond, _GOAL_BEYOND_MS, 'ms for these')} The first"
        f" submission runs {first:.1f} s after the command.{_missed(first, _GOAL_START, 's')}"
    )


def _many(found: Found) -> str:
    of = found["many"]
    shown = [of["curve"][0], *of["curve"][2::2]]
    took = of["curve"][-1][1]
    table = _table(
        ("graded, by record", *(f"{number:,}" for number, _, _ in shown)),
        [
            ("seconds", *(f"{at:.1f}" for _, at, _ in shown)),
            ("coordinator, MiB", *(f"{memory:.0f}" for _, _, memory in shown)),
        ],
    )
    return f"{table}\n\n{_conditions(of)}.{_missed(took, _GOAL_MANY, 's')}"


def _profile(found: Found) -> str:
    of = found["profile"]
    phases = sorted(of["phases_ms"].items(), key=lambda each: -each[1])
    rows = [(phase, f"{took:.1f}") for phase, took in phases]
    rows.append(("a submission", f"{of['submission_ms']:.1f}"))
    start = (
        f"Before the first submission, importing the command takes {of['imports_s']:.1f} s and"
        f" reading lab, gradebook and settings {of['ready_s']:.1f} s."
    )
    header = ("processor time of one submission, by record", "ms")
    return f"{_table(header, rows)}\n\n{start} {_conditions(of)}."


def _how_long(found: Found) -> str:
    of = found["class"]
    return (
        f"**How long it takes.** About {of['show_s']:.0f} s to show {of['students']:,} submissions"
        f" and about {of['apply_s']:.0f} s to apply it: see [the numbers](#measured)."
    )


def _regrading(found: Found) -> str:
    of = found["class"]
    header = (f"{of['students']:,} submissions, {of['changed']} of which change", "seconds")
    rows = [
        ("`mlsys regrade LAB`, to show it", f"{of['show_s']:.1f}"),
        ("`mlsys regrade LAB --apply --reason WORDS`", f"{of['apply_s']:.1f}"),
        ("`mlsys regrade LAB` again, when nothing changes", f"{of['show_again_s']:.1f}"),
        ("`mlsys history LAB`", f"{of['history_s']:.1f}"),
    ]
    missed = _missed(of["apply_s"], _GOAL_REGRADING, "s", by=" by `--apply`")
    return f"{_table(header, rows)}\n\n{_conditions(of)}.{missed}"


def _another_gpu(found: Found) -> str:
    of = found["verdicts"]

    def row(each: Mapping[str, Any]) -> tuple[str, ...]:
        numbers = (each[name] for name in ("mean", "tenth", "worst", "textbook_mean"))
        return each["name"], str(each["cases"]), *(f"{100 * number:.1f}" for number in numbers)

    header = (
        "topic",
        "cases",
        "mean, %",
        "nine in ten within, %",
        "worst, %",
        "textbook's mean, %",
    )
    missed = "; ".join(of["missed"])
    return (
        f"{_table(header, map(row, of['topics']))}\n\nAn {of['device']}, measured {of['date']},"
        f" held against parameters of {of['fitted']}. Of {of['goals']} goals, {len(of['missed'])}"
        f" are missed: {missed}."
    )


def _course(found: Found) -> str:
    of = found["course"]
    return (
        f"With {of['students']} students, `init` took {of['init_s']:.0f} s, the doctor"
        f" {of['doctor_s']:.0f} s and the release {of['release_s']:.0f} s ({_conditions(of)}). How"
        " long the installation takes depends on your network."
    )


def _hub(found: Found) -> str:
    of = found["hub"]
    servers = of["server_s"]
    rows = [
        (
            f"a first start from a bundle, {of['students']} students, `env/` and proxy in place",
            f"{of['first_start_s']:.0f} s",
        ),
        (
            "a student's server, from the login until it answers",
            f"{min(servers):.0f} to {max(servers):.0f} s",
        ),
        (f"stopping with {len(servers)} servers running", f"{of['stop_s']:.0f} s"),
        ("the next start", f"{of['next_start_s']:.0f} s"),
        (
            "`env/` and `proxy/` on disk",
            f"{of['environment_mb']:.0f} MB and {of['proxy_mb']:.0f} MB",
        ),
    ]
    if "environment_s" in of:
        rows.insert(0, ("making `env/`, nearly all of it pip", f"{of['environment_s']:.0f} s"))
    return f"{_table(('what', 'took'), rows)}\n\n{_conditions(of)}."


def _speed(found: Found) -> str:
    """Return the row of the comparison that was measured."""
    of = found["stock"]
    return (
        f"| seconds to grade {of['students']} submissions of Lab 07 on {of['cores']} cores |"
        f" {of['by_record_s']:.1f} from records, {of['run_s']:.1f} when all are run, sandboxed |"
        f" nothing to grade | {of['stock_s']:.0f} | not measured | not measured |"
    )


#: Page -> part -> the benchmark, and what makes the part from it.
PARTS: Final[dict[str, dict[str, tuple[str, Callable[[Found], str]]]]] = {
    "docs/instructors/grading_speed.md": {
        "stock": ("grading", _stock),
        "one": ("grading", _one),
        "many": ("grading", _many),
        "profile": ("grading", _profile),
    },
    "docs/instructors/regrading.md": {
        "how-long": ("regrading", _how_long),
        "regrading": ("regrading", _regrading),
    },
    "docs/instructors/course.md": {"course": ("first_day", _course)},
    "docs/administrators/hub.md": {"hub": ("first_day", _hub)},
    "docs/physics/model_on_trial.md": {"another": ("another_gpu", _another_gpu)},
}
#: The comparison, and the rows of it that the README shows: they change only on their page.
COMPARISON: Final = "docs/compare.md"
QUOTING: Final = "README.md"
QUOTED: Final = (
    "| labs on", "| a student needs", "| where its numbers", "| every student", "| grades",
    "| seconds to grade",
)  # fmt: skip


def pages(root: Path = ROOT) -> dict[str, str]:
    """Path -> text of every page that quotes numbers, as it should be."""
    made = {}
    for path, parts in PARTS.items():
        texts = {name: make(findings.found(of)) for name, (of, make) in parts.items()}
        made[path] = findings.fill((root / path).read_text("utf-8"), texts)
    row = _speed(findings.found("grading"))
    page = (root / COMPARISON).read_text("utf-8")
    lines = [row if line.startswith("| seconds to grade") else line for line in page.split("\n")]
    if row not in lines:
        raise ValueError(f"{COMPARISON} has no row “seconds to grade …”")
    made[COMPARISON] = "\n".join(lines)
    head = [line for line in lines if line.startswith("|")][:2]
    table = "\n".join([*head, *(line for line in lines if line.startswith(QUOTED))])
    made[QUOTING] = findings.fill((root / QUOTING).read_text("utf-8"), {"comparison": table})
    return made


if __name__ == "__main__":
    for name, text in pages().items():
        if (ROOT / name).read_text("utf-8") != text:
            (ROOT / name).write_text(text, "utf-8")
            print(f"Wrote {name}.")
