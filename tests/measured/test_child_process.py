"""What the measuring child tells, and what it refuses to save."""

from __future__ import annotations

import copy
import errno

import pytest

from mlsys_widgets.measured import MeasurementError, child_process, load
from mlsys_widgets.measured.child_process import lacking, main, measure_into, not_saved

DOCUMENT = load("cpu-2core-server")


class Taken:
    """A recorder that has measured already."""

    def __init__(self, document):
        self._document = document

    def document(self):
        return self._document


@pytest.fixture
def measured(monkeypatch):
    """Have the CPU measured at once, with a given result."""

    def set_result(document):
        def measure(*, quick, budget, sections, say):
            assert quick
            say("copy: copy numpy with 1 threads")
            say("gemm")
            return Taken(document)

        monkeypatch.setattr(child_process.cpu, "measure", measure)

    return set_result


def without(kind, **shape):
    """The document without some of its cases."""
    document = copy.deepcopy(DOCUMENT)
    document["cases"] = [
        case
        for case in document["cases"]
        if case["kind"] != kind or (shape and not shape.items() <= case["shape"].items())
    ]
    return document


def test_what_is_begun_is_told_and_the_file_is_saved(measured, tmp_path):
    measured(DOCUMENT)
    heard = []
    assert measure_into(tmp_path / "machine.json", [64, 256], 9.0, heard.append)
    assert [news["doing"] for news in heard] == [
        "copy: copy numpy with 1 threads",
        "gemm",
        "saved",
    ]
    assert 0 <= heard[0]["share"] < heard[1]["share"] < heard[2]["share"] == 1
    assert load(tmp_path / "machine.json") == DOCUMENT


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (without("gemm", n=256), "the fp32 product of N = 256"),
        (without("gemm"), "the fp32 product of N = 64 and the fp32 product of N = 256"),
        ({**DOCUMENT, "cases": without("copy")["cases"]}, ""),
    ],
)
def test_what_a_lab_needs_must_be_there(measured, tmp_path, document, words):
    measured(document)
    heard = []
    saved = measure_into(tmp_path / "machine.json", [64, 256], 9.0, heard.append)
    assert saved == (not words)
    assert (tmp_path / "machine.json").exists() == saved
    if words:
        assert words in heard[-1]["problem"]
        assert "too busy" in heard[-1]["problem"]


def test_sections_that_were_asked_for_must_be_whole(measured, tmp_path):
    path, heard = tmp_path / "machine.json", []
    measured({**DOCUMENT, "skipped": []})
    assert measure_into(path, [], 9.0, heard.append, ["copy", "gemm"])
    left_out = {"section": "gemm", "what": "gemm fp32 N = 64", "reason": "no time"}
    measured({**DOCUMENT, "skipped": [left_out]})
    assert not measure_into(path, [], 9.0, heard.append, ["copy", "gemm"])
    assert "gemm fp32 N = 64 ended with “no time”" in heard[-1]["problem"]


def test_a_measurement_without_streams_or_products_is_of_no_use():
    neither = without("gemm")
    neither["cases"] = [c for c in neither["cases"] if c["kind"] not in ("copy", "triad")]
    assert "copies that are larger than the caches" in lacking(neither, [])
    assert "an fp32 product" in lacking(without("gemm"), [])


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full"),
        (OSError(errno.EROFS, "Read-only file system"), "cannot be written"),
        (OSError(errno.EIO, "Input/output error"), "could not be saved: Input/output error."),
        (MemoryError(), "too little memory"),
        (MeasurementError("cases: odd."), "contradicts itself, so it was not saved. cases: odd."),
    ],
)
def test_whatever_goes_wrong_is_a_sentence(measured, tmp_path, monkeypatch, raised, words):
    def failing(*_):
        raise raised

    measured(DOCUMENT)
    monkeypatch.setattr(child_process, "save", failing)
    heard = []
    assert not measure_into(tmp_path / "machine.json", [], 9.0, heard.append)
    assert words in heard[-1]["problem"]
    assert str(tmp_path) not in heard[-1]["problem"]


def test_a_quota_counts_as_a_full_disk():
    assert "disk is full" in not_saved(OSError(errno.EDQUOT, "Disk quota exceeded"), "m.json")


def test_a_command_that_is_not_understood(capsys):
    with pytest.raises(SystemExit):
        main(["--budget", "soon"])
    assert "--budget" in capsys.readouterr().err
