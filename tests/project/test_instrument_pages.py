"""Every instrument has a page that says what the instrument says, and states that it computed."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from mlsys_widgets import physics as ph
from mlsys_widgets.physics import notation


@pytest.fixture(scope="module")
def pages(tool):
    pytest.importorskip("bqplot")
    for name in ("labs_at_a_glance", "instrument_states"):  # which it imports, as a script would
        tool(name)
    return tool("instrument_pages")


@pytest.fixture(scope="module")
def labs(pages, root):
    return pages.glance.labs(root / "source")


@pytest.fixture(scope="module")
def written(pages, labs):
    """The pages of all instruments, by name. No measurement is read twice."""
    return {name: pages.page(kind, labs) for name, kind in pages.instruments().items()}


@pytest.fixture(scope="module")
def ring():
    """An instrument that nobody has listed anywhere."""
    from mlsys_widgets import Instrument
    from mlsys_widgets.drawing.scene import Axis, Handle, Points, Scene, from_zero
    from mlsys_widgets.instruments.controls import Select, Slider

    class Ring(Instrument):
        """How long a ring of GPUs takes to add up a gradient.

        Twice the GPUs do not take ``twice`` the time.
        """

        title = "Ring all-reduce"
        link = Select("Link", default="a", options={"a": "NVLink", "b": "InfiniBand"}, help="Wire.")
        gpus = Slider("GPUs", default=6, low=2, high=64, whole=True, log=True, help="In it.")

        def compute(self):
            return 2 * (self.gpus - 1) / self.gpus * 1e9 / {"a": 400e9, "b": 50e9}[self.link]

        def scenes(self, time):
            now = Points("now", (self.gpus,), (time,), "blue")
            end = Handle("now", "gpus", self.gpus, time)
            axes = Axis("GPUs", 0, 64), from_zero("Time", 5e-2, "s")
            return (Scene(*axes, (now,), handles=(end,)),)

        def cards(self, time):
            return [("Time", ph.format_quantity(time, "s"), "blue")]

        def sentence(self, time):
            return f"{self.gpus:.0f} GPUs take {ph.format_quantity(time, 's')}."

        def table(self, time):
            return ("GPUs", "Time"), [(f"{self.gpus:.0f}", ph.format_quantity(time, "s"))]

    return Ring


def row_of(page, name):
    (found,) = re.findall(rf"^\| \*\*.*<br>`{name}` \|.*$", page, re.M)
    return found


def test_every_instrument_has_a_page_with_all_its_controls(pages, written):
    assert {"RooflineWidget", "MemoryBudget", "ConceptMap", "ServingExplorer"} <= written.keys()
    for name, kind in pages.instruments().items():
        controls = pages.controls_of(kind)
        assert controls
        for control in controls.values():
            row = row_of(written[name], control.name)
            assert control.label in row
            if isinstance(control, pages.Slider):
                ends = [ph.format_quantity(e, control.unit) for e in (control.low, control.high)]
                assert f"{ends[0]} to {ends[1]}" in row
                assert f"| {control.shown(control.default_value)} |" in row
            elif isinstance(control, pages.Select):
                options = control.options(kind())
                assert all(f"`{key}`" in row for key in options)


def test_the_math_and_the_handles_are_those_of_the_instrument(pages, written):
    for name, kind in pages.instruments().items():
        instrument, page = kind(), written[name]
        for result in instrument.explanations.values():
            assert result.derivation().to_html(notation.MATHML) in page
        for scene in instrument.drawn(instrument.result):
            for handle in scene.handles:
                assert f"| {handle.name} | **" in page
        assert f"from mlsys_widgets import {name}\n\n{instrument.code}\n" in page


def test_errors_of_the_model_are_those_of_the_trial(pages, written):
    (held,) = pages.trials().values()
    topics = {row[0]: row for row in pages.report.topic_rows(held)}
    for topic, name in (("dispatch", "DispatchWaterfall"), ("products, fp16", "RooflineWidget")):
        assert f"| {' | '.join(topics[topic])} |" in written[name]
        shown = {other for other in written if f"| {topic} |" in written[other]}
        rests_on_it = {
            other
            for other, kind in pages.instruments().items()
            if any(topic.startswith(each) for each in kind.evidence)
        }
        assert shown == rests_on_it
    fusions = pages.findings.fusions(held.document, held.roofs)
    for row in pages.report.fusion_rows(fusions):
        assert f"| {' | '.join(row)} |" in written["FusionExplorer"]
    for kind in pages.instruments().values():
        for topic in kind.evidence:  # a misspelled one would leave its section empty
            assert topic in pages._FINDINGS or any(t.name.startswith(topic) for t in held.topics)


def test_every_use_in_a_lab_is_listed_and_no_other(pages, written, root):
    made = {name: set() for name in written}
    for path in sorted((root / "source").glob("*/*.ipynb")):
        book = nbformat.read(path, 4)
        title = re.search(r"^# (.*)$", book.cells[0].source, re.M)[1]
        for cell in book.cells:
            for name in (
                re.findall(r"\b([A-Z]\w+)\(", cell.source) if cell.cell_type == "code" else ()
            ):
                if name in made:
                    made[name].add(title)
    assert made["RooflineWidget"]
    for name, titles in made.items():
        section = written[name].split("## In the labs")[1]
        listed = set(
            re.findall(r"^\| \[(.*?)\]\(\.\./instructors/labs-at-a-glance\.md#", section, re.M)
        )
        assert listed == titles, name


def test_a_new_instrument_appears_by_itself(pages, ring, labs, monkeypatch, tmp_path):
    import mlsys_widgets as mw

    monkeypatch.setattr(mw, "Ring", ring, raising=False)
    monkeypatch.setattr(mw, "__dir__", lambda: ["Ring", "Instrument"], raising=False)
    kinds = pages.instruments()
    assert kinds == {"Ring": ring}
    pages.write(kinds, tmp_path / "pages", tmp_path / "states", tmp_path / "no labs")
    page = (tmp_path / "pages" / "Ring.md").read_text("utf-8")
    assert "Twice the GPUs do not take `twice` the time." in page
    assert "| **GPUs**<br>`gpus` | 2 to 64, whole numbers, logarithmic | 6 | In it. |" in page
    assert "No lab uses it yet." in page
    index = (tmp_path / "pages" / "index.md").read_text("utf-8")
    assert "[Ring all-reduce](Ring.md)" in index
    assert index.rstrip().endswith(":hidden:\n\nRing\n```")
    for theme in ("light", "dark"):
        picture = (tmp_path / "states" / f"Ring-{theme}.svg").read_text("utf-8")
        assert picture == ring().figure(theme=theme)
        assert f"Ring-{theme}.svg" in page


def unpacked(script, name):
    """What the browser gets, read as it reads it."""
    start = f'mlsysLive.take("{name}",'
    assert script.startswith(start)
    assert script.endswith(");\n")
    return json.loads(script[len(start) : -3])


def test_states_are_what_the_instrument_shows(pages, ring):
    shown = pages.Showcase(ring)
    (swept,) = shown.swept
    # Without a headline it takes the control about which there is most to say.
    assert swept.name == "gpus"
    assert swept.values == (2, 4, 6, 8, 16, 32, 64)
    data = unpacked(shown.script(), "Ring")
    for place, gpus in enumerate(swept.values):
        fresh = ring(gpus=gpus)
        state, frame = data["states"][place], data["frames"][place]
        assert "".join(data["parts"][part] for part in frame) == fresh.figure()
        in_the_dark = "".join(data["dark"].get(str(p), data["parts"][p]) for p in frame)
        assert in_the_dark == fresh.figure(theme="dark") != fresh.figure()
        assert state["sentence"] == fresh.sentence(fresh.result)
        assert state["code"] == fresh.code
        assert [card[:2] for card in state["cards"]] == [["Time", fresh.cards(fresh.result)[0][1]]]
    assert shown.start == shown.states[shown.start_place]


def test_a_headline_decides_what_is_moved(pages, ring):
    class Timed(ring):
        headline = "real"  # of a float: the time itself

    assert pages.Showcase(Timed).swept[0].name == "link"


@pytest.mark.parametrize("name", ["MemoryHierarchy", "CompilationSpectrum", "IronLaw"])
def test_states_of_the_real_ones_begin_and_end_right(pages, name):
    kind = pages.instruments()[name]
    shown = pages.Showcase(kind)
    assert tuple(each.name for each in shown.swept) == kind.showcase
    assert shown.start.light == kind().figure()
    assert 10 <= shown.count <= 200
    last = {each.name: each.values[-1] for each in shown.swept}
    assert pages.Showcase(kind).swept == shown.swept
    fresh = kind(**last)
    assert all(getattr(fresh, each) == value for each, value in last.items())


def test_every_showcase_names_controls_in_plain_sight(pages):
    for name, kind in pages.instruments().items():
        first, controls = kind(), pages.controls_of(kind)
        assert 1 <= len(kind.showcase) <= 2, name
        assert all(not controls[each].rare for each in kind.showcase)
        assert not set(kind.showcase) & set(first.hidden())
