"""Writes docs/instruments: a gallery, and a page for every instrument of the package.

Nothing about a single instrument is written here. Its picture, controls, formulas and sentences
come from the instrument, its errors from the trial of the model, and its uses from the notebooks
in source/. So an instrument that gets a public name gets a page. ``make docs`` runs this.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

import labs_at_a_glance as glance
from instrument_states import Showcase, SweptControl

import mlsys_widgets as mw
from mlsys_widgets import measured
from mlsys_widgets import physics as ph
from mlsys_widgets.instruments.controls import Control, Select, Several, Slider, controls_of
from mlsys_widgets.instruments.instrument import Instrument
from mlsys_widgets.instruments.live_math import matters_most
from mlsys_widgets.measured import findings, report, trial
from mlsys_widgets.physics import notation
from mlsys_widgets.wording.plurals import counted
from mlsys_widgets.wording.units import format_quantity

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = ROOT / "docs" / "instruments"
#: Pictures and states, where the builder of the pages copies them from as they are.
STATES: Final = ROOT / "docs" / "_static" / "live"
#: From a page of an instrument to what is copied.
_STATIC: Final = "../_static"

Kind = type[Instrument]


def instruments() -> dict[str, Kind]:
    """Return every instrument with a public name."""
    found = ((name, getattr(mw, name)) for name in dir(mw))
    kinds = {n: c for n, c in found if inspect.isclass(c) and issubclass(c, Instrument)}
    return {name: kind for name, kind in kinds.items() if kind is not Instrument}


_SHOWCASES: dict[Kind, Showcase] = {}


def showcase(kind: Kind) -> Showcase:
    """Return the states of an instrument, which page and gallery share."""
    if kind not in _SHOWCASES:
        _SHOWCASES[kind] = Showcase(kind)
    return _SHOWCASES[kind]


# One page.


def page(kind: Kind, labs: Sequence[glance.BuiltLab]) -> str:
    """Return the page of an instrument, as Markdown."""
    instrument = kind()
    sections: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
        ("Controls", lambda: _controls(instrument)),
        ("Formulas", lambda: _formulas(instrument)),
        ("Measured", lambda: _measured(kind)),
        ("Keyboard and dragging", lambda: _keyboard(instrument)),
        ("Make it", lambda: _code(instrument)),
        ("In the labs", lambda: _uses(kind, labs)),
    )
    parts = [f"# {kind.__name__}", *_about(kind), *live(showcase(kind))]
    for title, write in sections:
        parts += [f"## {title}", *write()]
    return "\n\n".join(parts) + "\n"


def _about(kind: Kind) -> list[str]:
    """Return the words of the class about itself, up to its parameters."""
    paragraphs = inspect.cleandoc(kind.__doc__ or kind.title).split("\n\n")
    kept = []
    for paragraph in paragraphs:
        if re.search(r"^-{3,}$", paragraph, re.M):
            break
        kept.append(_markdown(paragraph))
    return kept


def _examples(kind: Kind) -> str:
    """Return the examples of the class, which the tests run."""
    found = re.search(r"^Examples\n-+\n(.*)", inspect.cleandoc(kind.__doc__ or ""), re.M | re.S)
    return found[1].strip() if found else ""


def live(shown: Showcase) -> Iterator[str]:
    """Yield the picture with its controls, as far as they were computed before."""
    kind, start = shown.kind, shown.start
    cards = "".join(
        f'<div style="--tone: {tone}"><dt>{escape(label)}</dt><dd>{escape(value)}</dd></div>'
        for label, value, tone in start.cards
    )
    words, tone = start.alert or ("", "")
    alert = f'<p class="live-alert" style="--tone: {tone}"{"" if words else " hidden"}>'
    yield _raw(
        f'<section class="mlsys-live" {_source(kind)} aria-label="{escape(kind.title)}">',
        _picture(kind, start.sentence),
        _inputs(shown),
        f'<p class="live-sentence" aria-live="polite">{escape(start.sentence)}</p>',
        f"{alert}{escape(words)}</p>",
        f'<dl class="live-cards">{cards}</dl>',
        f'<p class="live-line"><code class="live-code">{escape(start.code)}</code></p>',
        '<p class="live-note">'
        f"{counted(shown.count, 'state')} computed before by the same engine; "
        '<a href="../install.html">install</a> to move everything.</p>',
        "</section>",
        f'<link rel="stylesheet" href="{_STATIC}/live.css">',
        f'<script defer src="{_STATIC}/live.js"></script>',
    )


def _source(kind: Kind) -> str:
    name = kind.__name__
    return f'data-name="{name}" data-states="{_STATIC}/live/{name}.js"'


def _picture(kind: Kind, words: str) -> str:
    images = "".join(
        f'<img class="only-{theme}" src="{_STATIC}/live/{kind.__name__}-{theme}.svg" '
        f'alt="{escape(words)}" loading="lazy">'
        for theme in ("light", "dark")
    )
    return f'<div class="live-picture">{images}</div>'


def _inputs(shown: Showcase) -> str:
    """Sliders and menus; hidden until a script is there that answers them."""
    drawn = (_input(each) for each in shown.swept)
    return f'<div class="live-controls" hidden>{"".join(drawn)}</div>'


def _input(swept: SweptControl) -> str:
    words = escape(json.dumps(swept.words, ensure_ascii=False))
    about = (
        f'data-length="{len(swept.values)}" data-start="{swept.start}" data-words="{words}" '
        f'title="{escape(swept.help)}"'
    )
    first = escape(swept.words[swept.start])
    if swept.ordered:
        entry = (
            f'<input type="range" min="0" max="{len(swept.values) - 1}" step="1" '
            f'value="{swept.start}" aria-valuetext="{first}" {about}>'
        )
        value = f"<output>{first}</output>"
    else:
        options = "".join(
            f'<option value="{k}"{" selected" if k == swept.start else ""}>{escape(each)}</option>'
            for k, each in enumerate(swept.words)
        )
        entry, value = f"<select {about}>{options}</select>", ""
    return (
        f'<label class="live-control"><span class="live-label">{escape(swept.label)}</span>'
        f"{entry}{value}</label>"
    )


# Sections.


def _controls(instrument: Instrument) -> Iterator[str]:
    controls, hidden = controls_of(type(instrument)), instrument.hidden()
    yield (
        "Every control is a slider, a menu or a switch of the panel and an argument in Python. "
        'Numbers may be typed with a unit, such as `"30 s"` or `"134k"`.'
    )
    rows = [
        (
            f"**{control.label}**<br>`{name}`",
            _range(control, instrument),
            _default(control, instrument),
            _markdown(control.help) + _place(name, control, hidden),
        )
        for name, control in controls.items()
    ]
    yield "\n".join(glance.table(("control", "values", "default", "what it does"), rows))


def _range(control: Control[Any], instrument: Instrument) -> str:
    if isinstance(control, Slider):
        low, high = (format_quantity(end, control.unit) for end in (control.low, control.high))
        more = ", whole numbers" if control.whole else ""
        more += ", logarithmic" if control.log else ""
        return f"{'0, or ' if control.zero else ''}{low} to {high}{more}"
    if isinstance(control, Several):
        return "any of: " + ", ".join(f"`{key}`" for key in control.options)
    if isinstance(control, Select):
        keys = ", ".join(f"`{key}`" for key in control.options(instrument))
        return f"{keys}<br>(depends on other controls)" if control.varies else keys
    return "on, off"


def _default(control: Control[Any], instrument: Instrument) -> str:
    if isinstance(control, Select):
        return f"`{control.default_value}`"
    return control.shown(control.default_value)


def _place(name: str, control: Control[Any], hidden: Any) -> str:
    if name in hidden:
        return " *Shown when it has an effect.*"
    return " *Behind More.*" if control.rare else ""


def _formulas(instrument: Instrument) -> Iterator[str]:
    explained: Mapping[str, Any] = instrument.explanations
    if not explained:
        yield "Nothing is computed here, so there is no formula to derive."
        return
    yield (
        "The numbers are those of the instrument as it starts. In a notebook, **The math** on the "
        "panel shows the same steps with your numbers in them."
    )
    for title, result in explained.items():
        if len(explained) > 1:
            yield f"### {_markdown(title)}"
        yield _raw(result.derivation().to_html(notation.MATHML))
        if most := matters_most(instrument, result):
            yield _markdown(most)


def _measured(kind: Kind) -> Iterator[str]:
    if not kind.evidence:
        yield (
            "Nothing was timed for this instrument: it follows from definitions, from datasheets, "
            "or from what tools document. [The numbers](../physics/2_numbers.md) give sources."
        )
        return
    for name, held in trials().items():
        tables = list(_evidence(kind, held))
        if tables:
            yield (
                f"On the {held.roofs.name}, [measured]({_report(name)}) on "
                f"{held.document['date'][:10]}:"
            )
            yield from tables


def _evidence(kind: Kind, held: trial.Trial) -> Iterator[str]:
    wanted = [name for name in kind.evidence if name not in _FINDINGS]
    topics = [topic for topic in held.topics if topic.name.startswith(tuple(wanted))]
    if wanted and topics:
        judged = [verdict for topic in topics for verdict in topic.judged]
        off = trial.Errors.of(judged)
        textbook = trial.Errors.of(judged, textbook=True)
        yield (
            f"Over {counted(len(judged), 'case')} that nothing was fitted to, the calibrated "
            f"form is off by {_percent(off.median)} in the median and by {_percent(off.worst)} at "
            f"worst, the textbook form by {_percent(textbook.median)} in the median."
        )
        rows = [row for row in report.topic_rows(held) if row[0] in {t.name for t in topics}]
        yield report.table(report.TOPIC_HEADER, rows)
    for name in kind.evidence:
        if name in _FINDINGS:
            yield from _FINDINGS[name](held)


def _fusion(held: trial.Trial) -> Iterator[str]:
    found = findings.fusions(held.document, held.roofs)
    byhand = [one for one in found if "triton" in one.wall]
    if not byhand:
        return
    off = [abs(one.modeled / one.wall["triton"] - 1) for one in byhand]
    yield (
        f"The model's speedup beside that of a kernel written by hand, over "
        f"{counted(len(off), 'size')} on the wall clock: it is off by "
        f"{_percent(statistics.median(off))} in the median and by {_percent(max(off))} at worst."
    )
    yield report.table(report.FUSION_HEADER, report.fusion_rows(found))


def _break_even(held: trial.Trial) -> Iterator[str]:
    found = findings.break_evens(held.document)
    if found:
        yield (
            "The formula is exact once both rates and the compile time are known, so only what "
            "you put in can be wrong. These rates and times were measured:"
        )
        yield report.table(report.BREAK_EVEN_HEADER, report.break_even_rows(found))


def _percent(share: float) -> str:
    return format_quantity(share, "%")


_FINDINGS: Final = {"fusion": _fusion, "break-even": _break_even}


def _report(name: str) -> str:
    return f"../measured/{name}.md"


@cache
def trials() -> dict[str, trial.Trial]:
    """Hold a trial for every device whose calibration ships, which spares the fit."""
    return {
        name: trial.hold_trial(measured.load(name), calibration=ph.calibration_of(name))
        for name in measured.available()
        if name in ph.calibrated_devices()
    }


def _keyboard(instrument: Instrument) -> Iterator[str]:
    controls = controls_of(type(instrument))
    yield (
        "<kbd>Tab</kbd> goes from control to control. On a slider, the arrow keys take a step, "
        "<kbd>Page Up</kbd> and <kbd>Page Down</kbd> a larger one, and <kbd>Home</kbd> and "
        "<kbd>End</kbd> go to its ends."
    )
    scenes = instrument.drawn(instrument.result)
    rows = [
        (
            handle.name,
            f"**{controls[handle.control].label}** (`{handle.control}`)",
            _WAYS[handle.along],
        )
        for scene in scenes
        for handle in scene.handles
    ]
    if not rows:
        yield "Nothing in this picture is dragged."
        return
    yield (
        "These places in the picture can be dragged with a mouse or a finger, or focused and "
        "moved with the same keys:"
    )
    yield "\n".join(glance.table(("handle", "moves", "along"), rows))


_WAYS: Final = {"x": "left and right", "y": "up and down", "xy": "any direction"}


def _code(instrument: Instrument) -> Iterator[str]:
    kind = type(instrument)
    module = "mlsys_widgets" if hasattr(mw, kind.__name__) else kind.__module__
    named = f"from {module} import {kind.__name__}"
    yield f"```python\n{named}\n\n{instrument.code}\n```"
    if examples := _examples(kind):
        shown = f"```pycon\n>>> {named}\n{examples}\n```"
        yield f"What it computes can be asked for without a browser:\n\n{shown}"
    film = " and `film(result)` what its player shows" if _films(instrument) else ""
    yield (
        f'`figure("png", theme="dark")` gives the picture for a slide{film}. '
        f"All of it is in {{py:class}}`~{module}.{kind.__name__}`; what every instrument can do is "
        "in {py:class}`~mlsys_widgets.Instrument`."
    )


def _films(instrument: Instrument) -> bool:
    return instrument.film(instrument.result) is not None


def uses(kind: Kind, labs: Sequence[glance.BuiltLab]) -> list[tuple[str, str, str]]:
    """List the cells of labs that make this instrument: the lab's title, the section, the cell."""
    return [
        (of.lab.title, cell.section, cell.title or cell.id)
        for of in labs
        for cell in of.cells
        if next(cell.calls(kind.__name__), None) is not None
    ]


def _uses(kind: Kind, labs: Sequence[glance.BuiltLab]) -> Iterator[str]:
    found = uses(kind, labs)
    if not found:
        yield "No lab uses it yet."
        return
    rows = [
        (f"[{lab}](../instructors/labs-at-a-glance.md#{glance.anchor(lab)})", section, title)
        for lab, section, title in found
    ]
    yield "\n".join(glance.table(("lab", "section", "shown as"), rows))


# The gallery.

_GALLERY: Final = """\
# Instruments

Every picture here is drawn by the instrument that it shows. Move a slider: each state was computed
before by the same engine that runs in a notebook. [Install](../install.md) to move everything, or
open the [gallery notebook](../tutorials/gallery.ipynb) with `make lab`.
{py:class}`~mlsys_widgets.PhysicsPanel` shows the math of any of them beside it, and
[Write your own lab](../authors/write_a_lab.md) puts them into a notebook.
"""


def gallery(kinds: Mapping[str, Kind]) -> str:
    """Return the page with all instruments, as Markdown."""
    cards = "\n\n".join(_card(kind) for kind in kinds.values())
    listed = "\n".join(kinds)
    styles = _raw(
        f'<link rel="stylesheet" href="{_STATIC}/live.css">',
        f'<script defer src="{_STATIC}/live.js"></script>',
    )
    return (
        f"{_GALLERY}\n::::{{grid}} 1 2 2 3\n:gutter: 3\n:class-container: live-gallery\n\n"
        f"{cards}\n::::\n\n"
        f"{styles}\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def _card(kind: Kind) -> str:
    shown = showcase(kind)
    name, sentence = kind.__name__, shown.start.sentence
    thumbnail = _raw(
        f'<div class="mlsys-live" {_source(kind)}>',
        f'<a class="live-open" href="{name}.html" tabindex="-1" aria-hidden="true">'
        f"{_picture(kind, sentence)}</a>",
        _inputs(shown),
        f'<p class="live-sentence" aria-live="polite">{escape(sentence)}</p>',
        "</div>",
    )
    return (
        f":::{{grid-item-card}}\n\n{thumbnail}\n\n**[{kind.title}]({name}.md)** `{name}`\n\n"
        f"{_about(kind)[0]}\n:::"
    )


# Writing.


def _raw(*lines: str) -> str:
    return "```{raw} html\n" + "\n".join(lines) + "\n```"


def _markdown(text: str) -> str:
    """Return a docstring's words in Markdown: code in single backticks, no math by accident."""
    return " ".join(text.replace("``", "`").split()).replace("$", "\\$")


def write(kinds: Mapping[str, Kind], pages: Path, states: Path, source: Path) -> None:
    """Write gallery, pages, pictures and states; what lay there before is gone."""
    labs = glance.labs(source)
    for folder in (pages, states):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name, kind in kinds.items():
        (pages / f"{name}.md").write_text(page(kind, labs), "utf-8")
        shown = showcase(kind)
        (states / f"{name}.js").write_text(shown.script(), "utf-8")
        for theme, drawn in (("light", shown.start.light), ("dark", shown.start.dark)):
            (states / f"{name}-{theme}.svg").write_text(drawn, "utf-8")
    (pages / "index.md").write_text(gallery(kinds), "utf-8")


def main() -> None:
    """Write them into docs/."""
    kinds = instruments()
    write(kinds, PAGES, STATES, ROOT / "source")
    size = sum(path.stat().st_size for path in STATES.iterdir())
    print(f"Wrote docs/instruments: {len(kinds)} pages, {size / 1e6:.1f} MB of states.")


if __name__ == "__main__":
    main()
