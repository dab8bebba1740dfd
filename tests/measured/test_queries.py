"""Queries: what instruments and the validation ask of a document."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from mlsys_widgets.measured import available, cases, ceilings, load, points, save

NAME = "cpu-2core-server"


def test_points_are_the_cases_divided() -> None:
    by_label = {case.label: case for case in cases(NAME, kind="gemm", precision="fp32")}
    found = points(NAME, "fp32", "gemm")
    assert len(found) == len(by_label) > 5
    for point in found:
        case = by_label[point.label]
        assert case.flops is not None
        assert case.bytes is not None
        assert point.intensity == case.flops / case.bytes
        assert point.attained == case.flops / case.seconds.median
        assert point.low <= point.attained <= point.high
        assert point.spread >= 0
    assert [p.intensity for p in found] == sorted(p.intensity for p in found)


def test_a_square_product_has_the_textbook_intensity() -> None:
    (point,) = points(NAME, "fp32", "gemm", n=256)
    assert point.intensity == pytest.approx(2 * 256 / (3 * 4))


def test_points_leave_out_what_has_no_place_on_a_roofline() -> None:
    assert points(NAME, kind="copy") == []
    assert points(NAME, kind="launch") == []
    assert {p.kind for p in points(NAME)} >= {"gemm", "elementwise", "fusion", "triad"}


def test_fusion_moves_a_point_to_the_right_only_by_traffic() -> None:
    shape: dict[str, Any] = {"kind": "fusion", "elements": 10**7}
    (unfused,), (fused,) = (points(NAME, variant=v, **shape) for v in ("out", "blocked"))
    assert fused.intensity == pytest.approx(2.5 * unfused.intensity)
    (unfused,), (fused,) = (
        points(NAME, variant=v, count="bytes", **shape) for v in ("out", "blocked")
    )
    assert fused.intensity == unfused.intensity


def test_a_point_is_frozen_to_its_shape() -> None:
    point = points(NAME)[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.attained = 0.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        point.shape["elements"] = 0  # type: ignore[index]


def test_a_document_is_found_by_name_path_key_or_itself(tmp_path: Path) -> None:
    document = load(NAME)
    wanted = points(NAME)
    assert points(document) == wanted
    assert points(save(document, tmp_path / "copy.json")) == wanted
    assert points(document["device"]["key"]) == wanted


def test_nothing_matches_an_unknown_kind() -> None:
    assert cases(NAME, kind="gemm", precision="fp8") == []
    assert cases(NAME, no_such_side=1) == []


def test_a_wrong_count_is_refused() -> None:
    with pytest.raises(ValueError, match="count must be 'traffic' or 'bytes'"):
        points(NAME, count="reads")


def test_ceilings_lie_above_every_point_past_the_cache() -> None:
    roof = ceilings(NAME)
    assert roof.bandwidth is not None
    for point in points(NAME, kind="gemm"):
        assert point.precision is not None
        assert point.attained <= roof.peaks[point.precision]
    for case in cases(NAME, kind="triad"):
        assert case.bandwidth is not None
        assert case.bandwidth <= roof.bandwidth


@pytest.mark.parametrize("name", available())
def test_labels_tell_all_cases_apart(name: str) -> None:
    labels = [case.label for case in cases(name)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("gemm", r"N = [\d,]+|[\d,]+ × [\d,]+ × [\d,]+"),
        ("attention", r"[\d,]+ × [\d,]+ tokens, \d+ heads of \d+.*"),
        ("decode_attention", r"[\d,]+ × [\d,]+ cached tokens, \d+ heads of \d+.*"),
    ],
)
def test_points_say_what_they_are(kind: str, words: str) -> None:
    found = points("h200-sxm", "fp16", kind)
    assert len(found) > 20
    for point in found:
        assert re.fullmatch(words, point.size), point.size
        assert "=True" not in point.label


def test_one_row_of_a_product_is_no_square_product() -> None:
    square = points("h200-sxm", "fp16", "gemm", variant="graph", m=4096, n=4096, k=4096)
    assert [point.size for point in square] == ["N = 4,096"]
    sizes = {p.size for p in points("h200-sxm", "fp16", "gemm", variant="graph", n=4096)}
    assert len(sizes) > 3
