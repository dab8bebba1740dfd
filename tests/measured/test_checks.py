"""Whatever is done to a document, it is still good or refused by a sentence that names a field."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mlsys_widgets.measured import MeasurementError, gpu, load, parse, schema, validate
from mlsys_widgets.measured.documents import text

ONE_SENTENCE = re.compile(r"^the file: \S.*\.$", re.DOTALL)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**400, max_value=10**401),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "/usr/lib/somewhere", "complete", "gpu", "a" * 5000, "\x00", "\ud800"]),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
# Every example makes its own copy of the document.
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything in a document."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(inner, (*path, key))
    return found


def judge(check: Callable[[], object]) -> str | None:
    """The refusal, or None where there was none; any other exception fails the test."""
    refusal = None
    try:
        check()
    except MeasurementError as error:
        refusal = str(error)
    assert refusal is None or ONE_SENTENCE.match(refusal), refusal
    return refusal


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def test_a_training_step_has_its_memory_by_kind(document: dict[str, Any]) -> None:
    document["cases"][2] |= {"kind": "training", "precision": "bf16", "memory": MEMORY}
    validate(document)


def test_the_method_of_a_gpu_fits_the_schema(document: dict[str, Any]) -> None:
    document["method"] = {**gpu.METHOD, "quick": False}
    validate(document)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


@shared
@given(data=st.data())
def test_a_replaced_value_is_refused_by_name_or_still_good(
    document: dict[str, Any], data: st.DataObject
) -> None:
    broken = copy.deepcopy(document)
    path = data.draw(st.sampled_from(places(broken)))
    at(broken, path[:-1])[path[-1]] = data.draw(anything)
    refusal = judge(lambda: validate(broken, source="the file"))
    if refusal is None:
        assert parse(text(broken), source="the file") == broken
    else:
        assert str(path[0]) in refusal


@shared
@given(data=st.data())
def test_a_removed_value_is_refused_by_name_or_still_good(
    document: dict[str, Any], data: st.DataObject
) -> None:
    broken = copy.deepcopy(document)
    path = data.draw(st.sampled_from(places(broken)))
    del at(broken, path[:-1])[path[-1]]
    refusal = judge(lambda: validate(broken, source="the file"))
    assert refusal is None or str(path[0]) in refusal


@shared
@given(data=st.data())
def test_an_added_field_is_refused_by_name_or_harmless(
    document: dict[str, Any], data: st.DataObject
) -> None:
    broken = copy.deepcopy(document)
    objects = [p for p in [(), *places(broken)] if isinstance(at(broken, p), dict)]
    path = data.draw(st.sampled_from(objects))
    at(broken, path)[data.draw(st.text(max_size=8))] = data.draw(anything)
    judge(lambda: validate(broken, source="the file"))


@shared
@given(data=st.data())
def test_a_truncated_file_is_refused(document: dict[str, Any], data: st.DataObject) -> None:
    whole = text(document).encode()
    cut = data.draw(st.integers(0, len(whole.rstrip()) - 1))
    assert judge(lambda: parse(whole[:cut], source="the file")) is not None


@shared
@given(data=st.data())
def test_flipped_bytes_are_refused_or_harmless(
    document: dict[str, Any], data: st.DataObject
) -> None:
    whole = bytearray(text(document).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    judge(lambda: parse(bytes(whole), source="the file"))


@shared
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(content: bytes) -> None:
    assert judge(lambda: parse(content, source="the file")) is not None


@shared
@given(anything)
def test_any_value_is_refused(value: Any) -> None:
    assert judge(lambda: validate(value, source="the file")) is not None


def change(path: tuple[Any, ...], value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(document: dict[str, Any]) -> None:
        at(document, path[:-1])[path[-1]] = value

    return apply


SECONDS = ("cases", 3, "seconds")
MEMORY = {"weights": 2, "gradients": 2, "optimizer": 4, "activations": 10, "peak": 18}


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (change(("schema",), "other"), "schema must be 'mlsys-measurement', not 'other'"),
        (change(("version",), 2), "version is 2 and this package reads up to 1: upgrade"),
        (change(("version",), 0), "version must be 1, not 0"),
        (change((*SECONDS, "median"), "1"), "cases[3].seconds.median must be number, not '1'"),
        (change((*SECONDS, "median"), -1.0), "cases[3].seconds.median must be more than 0, not -1"),
        (change((*SECONDS, "median"), 9e8), "cases[3].seconds.median must lie between q25 and q75"),
        (change((*SECONDS, "q75"), float("nan")), "cases[3].seconds.q75 must be a finite number"),
        (change(("cases", 1, "flops"), float("inf")), "cases[1].flops must be a finite number"),
        (change(("cases", 0, "kind"), "magic"), "cases[0].kind must be 'copy' or 'triad' or"),
        (change(("cases", 0, "precision"), "fp4"), "cases[0].precision must be 'fp64' or"),
        (change(("cases", 2, "speed"), 1), "cases[2].speed is unknown; allowed are section"),
        (
            change(("cases", 2, "memory"), {**MEMORY, "peak": 30}),
            "cases[2].memory.peak must be the sum of its parts, and 30 is not 18",
        ),
        (change(("cases", 2, "memory"), {"peak": 1}), "cases[2].memory.weights is missing"),
        (
            change(("cases", 2, "memory"), {**MEMORY, "activations": -1}),
            "cases[2].memory.activations must be at least 0",
        ),
        (change(("date",), "2026-02-30T00:00:00Z"), "date must be a UTC time that exists"),
        (change(("date",), "yesterday"), "date must be a text that matches"),
        (change(("device", "kind"), "tpu"), "device.kind must be 'cpu' or 'gpu', not 'tpu'"),
        (change(("device", "name"), "at /home/someone/x"), "device.name must hold no path"),
        (change(("cases",), []), "cases must hold at least one case"),
        (change(("status",), "dry"), "status must be 'complete', not 'dry' (a rehearsal"),
        (change(("status",), "partial"), "status must be 'complete', not 'partial'"),
        (lambda document: document.pop("method"), "method is missing and required"),
        (lambda d: d["cases"].append(d["cases"][0]), "cases[6] repeats cases[0]"),
    ],
)
def test_the_sentence_names_the_field(
    document: dict[str, Any], broken: Callable[[dict[str, Any]], object], sentence: str
) -> None:
    broken(document)
    with pytest.raises(MeasurementError) as refusal:
        validate(document, source="mine.json")
    assert str(refusal.value).startswith(f"mine.json: {sentence}")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not a JSON document"),
        (b"\xff\xfe", "not a JSON document"),
        (b"[]", "the whole file must be a JSON object, not array"),
        (b"{}", "schema must be 'mlsys-measurement', not None: a foreign file"),
        (b'{"nbformat": 4, "cells": []}', "schema must be 'mlsys-measurement'"),
        (b'{"schema": NaN}', "not a JSON document (ValueError: NaN is not a number in JSON)"),
        (b"[" * 100_000, "not a JSON document (nested too deeply)"),
        (b'{"version": ' + b"9" * 5000 + b"}", "not a JSON document"),
    ],
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "foreign.json"
    file.write_bytes(content)
    with pytest.raises(MeasurementError) as refusal:
        load(file)
    assert str(refusal.value).startswith(f"{file}: {sentence}")


def test_a_folder_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(MeasurementError, match=r"none.json: no such file|cannot be read"):
            load(path)
    with pytest.raises(MeasurementError, match="cpu-2core-server"):
        load("cpu-2core")
    with pytest.raises(MeasurementError):
        load("a\0b")


def test_a_partial_or_dry_document_is_read_only_by_who_asks(
    document: dict[str, Any], tmp_path: Path
) -> None:
    document["status"] = "dry"
    file = tmp_path / "dry.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(MeasurementError, match="rehearsal"):
        load(file)
    assert load(file, allow=("dry",))["status"] == "dry"


def test_our_own_checks_hold_without_jsonschema(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    validate(document)
    document["cases"][3]["seconds"]["median"] = 9e8
    with pytest.raises(MeasurementError, match=r"cases\[3\].seconds.median"):
        validate(document)
