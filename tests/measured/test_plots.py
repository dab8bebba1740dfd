"""The pictures of a trial: what they show, and that the same data gives the same bytes."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mlsys_widgets.drawing.scene import Blocks, Line, Points, Scene
from mlsys_widgets.measured import findings, plots
from mlsys_widgets.measured.trial import Trial


@pytest.fixture(scope="module", params=["h200", "cpu"])
def trial(request: pytest.FixtureRequest) -> Trial:
    shipped: Trial = request.getfixturevalue(request.param)
    return shipped


def scene(trial: Trial, name: str) -> Scene:
    drawn = plots._PICTURES[name](trial)
    assert drawn is not None
    return drawn[1]


def mark(scene: Scene, name: str) -> Line | Points | Blocks:
    found = next(each for each in scene.marks if each.name == name)
    assert isinstance(found, Line | Points | Blocks)
    return found


def test_the_same_data_gives_the_same_bytes(trial: Trial, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first, second = (plots.draw(trial, tmp_path / folder) for folder in ("a", "b"))
    assert first == second
    assert {"roofline", "gemm"} <= set(first)
    for file in first.values():
        text = (tmp_path / "a" / file).read_text("utf-8")
        assert text == (tmp_path / "b" / file).read_text("utf-8")
        ElementTree.fromstring(text)
        assert not re.search("nan|inf", text)
        assert trial.roofs.name.split()[0] in text


def test_every_point_and_curve_lies_inside_its_axes(trial: Trial) -> None:
    for name, make in plots._PICTURES.items():
        drawn = make(trial)
        for each in drawn[1].marks if drawn else ():
            if isinstance(each, Points):
                across, up = drawn[1].across, drawn[1].up
                assert all(across.low <= x <= across.high for x in each.x), (name, each.name)
                assert all(up.low <= y <= up.high for y in each.y), (name, each.name)


def test_no_product_is_drawn_above_its_roof(h200: Trial) -> None:
    drawn = scene(h200, "roofline")
    for precision in ("fp16", "fp32"):
        roof, found = mark(drawn, f"roof {precision}"), mark(drawn, precision)
        assert isinstance(roof, Line)
        assert isinstance(found, Points)
        assert max(found.y) <= max(roof.y)
        assert max(roof.y) == pytest.approx(h200.roofs.peaks[precision] / 1e12)


def test_streams_lie_between_serial_and_asynchronous(h200: Trial) -> None:
    drawn = scene(h200, "dispatch")
    serial, ahead = mark(drawn, "serial"), mark(drawn, "asynchronous")
    assert isinstance(serial, Line)
    assert isinstance(ahead, Line)
    assert all(a >= b for a, b in zip(serial.y, ahead.y, strict=True))


def test_bars_are_the_measured_speed_ups(h200: Trial) -> None:
    bars = mark(scene(h200, "fusion"), "measured")
    assert isinstance(bars, Blocks)
    expected = [
        speedup
        for finding in findings.fusions(h200.document, h200.roofs)
        for way, _, _ in plots._FUSIONS
        if (speedup := finding.wall.get(way))
    ]
    assert [top for _, _, _, top, _ in bars.blocks] == expected


def test_what_was_not_measured_is_not_drawn(cpu: Trial, tmp_path: Path) -> None:
    assert "fusion" not in plots.draw(cpu, tmp_path)
    assert not list(tmp_path.glob("*fusion*"))


@pytest.mark.parametrize(
    ("values", "low", "high"), [((0.77, 97.0), 0.5, 100.0), ((1.0, 2.0), 1.0, 2.0)]
)
def test_a_logarithmic_axis_ends_at_round_numbers(
    values: tuple[float, float], low: float, high: float
) -> None:
    axis = plots._log_axis("time", values)
    assert (axis.low, axis.high) == (low, high)
    assert all(low <= tick <= high for tick in axis.ticks)
