"""The moving picture of a cover: an instrument's film, its inputs moved, or time that passes."""

import re

import pytest

from mlsys_widgets import EnergyExplorer, IronLaw, MovingPicture, QueueExplorer, RooflineWidget


def shapes(svg):
    return re.findall("<path", svg)


def test_an_input_moves_over_its_scale():
    picture = MovingPicture(
        "A point.", RooflineWidget, sweep={"n": (64, 8192)}, only=["roof", "GEMM"]
    )
    # The axes, the roof and the point.
    assert len(shapes(picture.svg)) == 3
    assert picture.svg.count("@keyframes") == 1
    assert picture.svg is picture.svg


def test_a_film_is_shown_as_far_as_it_is_asked_for():
    whole = MovingPicture("A line.", QueueExplorer, load=0.6)
    part = MovingPicture("A line.", QueueExplorer, load=0.6, until=0.5)
    # At its end everybody has been served.
    assert 'opacity="0"' in whole.svg
    assert whole.svg.count('opacity="0"') == len(shapes(whole.svg)) > len(shapes(part.svg))
    assert part.svg.count('opacity="0"') < len(shapes(part.svg))


def test_where_there_is_no_film_time_passes():
    svg = MovingPicture("An area.", EnergyExplorer, only=["this batch"]).svg
    (rule,) = re.findall(r"@keyframes .*?\}\}", svg)
    first, *_, last = (float(each) for each in re.findall(r"scale\(([\d.]+),", rule))
    assert first == 0 < last


def test_a_scale_stands_still_while_something_grows():
    svg = MovingPicture("Bars.", IronLaw, sweep={"data": (2e7, 2e9)}, only=["terms"]).svg
    widths = [float(each) for each in re.findall(r"scale\(([\d.]+),", svg)]
    assert max(widths) <= 744
    assert "@keyframes" in svg


def test_a_setting_that_is_none_is_refused():
    picture = MovingPicture("x", QueueExplorer, load=7)
    with pytest.raises(ValueError, match="must be between"):
        picture.svg  # noqa: B018 - it is drawn when somebody looks
