"""Work that is not where it should be is found, and pointed out where a person has to choose."""

from __future__ import annotations

import io
import json
import zipfile

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.grading.reading.misplaced_work import find_work
from mlsys_widgets.notebooks.cell_metadata import checksum
from mlsys_widgets.notebooks.remarks import RemarkKind

LAB = "lab_02_demo"
NAME = f"{LAB}.ipynb"


def book(*, own: str = "", lab: str = LAB, **answers: str) -> bytes:
    """A notebook with two answer cells; those that are named are changed."""
    cells = [nbformat.v4.new_markdown_cell("# Lab", id="p", metadata={"editable": False})]
    for name in ("limit", "side"):
        flags = {"grade_id": name, "solution": True, "grade": False, "locked": False}
        cell = nbformat.v4.new_code_cell("# yours", id=name, metadata={"nbgrader": flags})
        cell.metadata.nbgrader["checksum"] = checksum(cell)
        cell.source = answers.get(name, cell.source)
        cells.append(cell)
    cells += [nbformat.v4.new_code_cell(own, id="own")] if own else []
    made = nbformat.v4.new_notebook(cells=cells, metadata={"mlsys": {"lab": lab}})
    return nbformat.writes(made).encode()


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


BLANK, DONE, OTHER = book(), book(limit="limit = 1"), book(limit="limit = 2")


def sources(content: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(content)["cells"]]


def test_a_sound_submission_stays_as_it_is():
    files = {NAME: DONE, "ledger.jsonl": b"{}", "machine.json": b"{}"}
    found = find_work(files, LAB)
    assert (found.files, found.remarks) == (files, ())
    assert found.files[NAME] is DONE


@pytest.mark.parametrize(
    "path",
    [
        NAME.upper(),
        "Lab_02_Demo.ipynb",
        f"{LAB} (1).ipynb",
        f"{LAB}-Copy1.ipynb",
        "Untitled.ipynb",
        f"{NAME}.txt",
        f"{NAME}.json",
        f"{LAB}.txt",
        f"{LAB}.json",
        LAB,
        f"{LAB}/{NAME}",
        f"homework/{LAB}/my work.ipynb",
        f"{NAME}/{NAME}",
    ],
)
def test_the_only_notebook_is_graded_whatever_it_is_called(path):
    found = find_work({path: DONE, "timestamp.txt": b"now"}, LAB)
    assert set(found.files) == {NAME, "timestamp.txt"}
    assert sources(found.files[NAME]) == sources(DONE)
    (remark,) = found.remarks
    assert remark.kind is RemarkKind.OTHER_NAME
    assert remark.sentence.startswith(f"there is no {NAME}, so “{path}” was graded in its place")


def test_what_lies_beside_the_notebook_comes_along_except_the_time():
    inner = {NAME: DONE, "ledger.jsonl": b"mine", "data/a.csv": b"1", "timestamp.txt": b"never"}
    found = find_work(
        {"notes.txt": b"n", **{f"{LAB}/{path}": content for path, content in inner.items()}}, LAB
    )
    assert found.files["ledger.jsonl"] == b"mine"
    assert found.files["data/a.csv"] == b"1"
    assert found.files["notes.txt"] == b"n"
    assert "timestamp.txt" not in found.files


@pytest.mark.parametrize("name", [NAME, f"{LAB}.zip", "Homework 2.ZIP"])
def test_a_zip_with_one_notebook_is_unpacked(name):
    packed = zipped(
        **{
            f"{LAB}/{NAME}": DONE, f"{LAB}/ledger.jsonl": b"mine", f"{LAB}/timestamp.txt": b"never",
            f"__MACOSX/{LAB}/._{NAME}": b"\x00\x05", f"{LAB}/.ipynb_checkpoints/{NAME}": OTHER,
        }
    )  # fmt: skip
    found = find_work({name: packed}, LAB)
    assert sources(found.files[NAME]) == sources(DONE)
    assert found.files["ledger.jsonl"] == b"mine"
    assert "timestamp.txt" not in found.files
    (remark,) = found.remarks
    expected = RemarkKind.ZIPPED if name == NAME else RemarkKind.OTHER_NAME
    assert remark.kind is expected


@pytest.mark.parametrize(
    "packed",
    [
        zipped(**{NAME: DONE, "b.ipynb": OTHER}),
        zipped(**{"../" + NAME: DONE}),
        zipped(**{"inner.zip": zipped(**{NAME: DONE})}),
        zipped(readme=b"nothing here"),
        zipped(**{NAME: DONE})[:-30],
        b"PK\x03\x04",
    ],
)
def test_a_zip_that_leaves_a_doubt_is_left_alone(packed):
    files = {NAME: packed}
    found = find_work(files, LAB)
    assert (found.files, found.remarks) == (files, ())


def test_work_in_a_copy_beside_a_blank_original_is_graded_and_said():
    copy = f"{LAB}-Copy1.ipynb"
    found = find_work({NAME: BLANK, copy: DONE}, LAB)
    assert sources(found.files[NAME]) == sources(DONE)
    (remark,) = found.remarks
    assert remark.kind is RemarkKind.WORK_IN_COPY
    assert NAME in remark.sentence
    assert copy in remark.sentence


def test_code_in_cells_of_ones_own_is_work_too():
    found = find_work({NAME: BLANK, "copy.ipynb": book(own='lab.answer("limit", 1)')}, LAB)
    assert [remark.kind for remark in found.remarks] == [RemarkKind.WORK_IN_COPY]


def test_nothing_is_guessed_where_the_original_has_an_answer():
    files = {NAME: DONE, f"{LAB}-Copy1.ipynb": book(side="side = 3")}
    found = find_work(files, LAB)
    assert found.files[NAME] == DONE
    (remark,) = found.remarks
    assert remark.kind is RemarkKind.WORK_BESIDE
    assert f"“{LAB}-Copy1.ipynb” has work in cells that it leaves blank: side" in remark.sentence


@pytest.mark.parametrize("other", [BLANK, DONE, OTHER, b"no notebook", book(lab="lab_11")])
def test_a_copy_that_adds_nothing_is_no_news(other):
    found = find_work({NAME: DONE, "old.ipynb": other}, LAB)
    assert found.files[NAME] == DONE
    assert found.remarks == ()


def test_of_several_notebooks_the_only_one_with_work_counts():
    found = find_work({"a.ipynb": BLANK, "b.ipynb": DONE, "c.ipynb": DONE}, LAB)
    assert sources(found.files[NAME]) == sources(DONE)
    assert "“b.ipynb”" in found.remarks[0].sentence


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.ipynb": DONE, "b.ipynb": OTHER},
        {NAME: BLANK, "a.ipynb": DONE, "b.ipynb": OTHER},
        {"lab_11.ipynb": book(limit="limit = 1", lab="lab_11")},
        {"notes.txt": DONE},
        {NAME: b"<html>"},
    ],
)
def test_where_a_person_has_to_choose_nothing_is_moved(files):
    found = find_work(files, LAB)
    assert {path: content for path, content in found.files.items() if files[path] != content} == {}
    assert set(found.files) == set(files)


def test_two_copies_beside_a_blank_original_are_pointed_out():
    found = find_work({NAME: BLANK, "a.ipynb": DONE, "b.ipynb": OTHER}, LAB)
    (remark,) = found.remarks
    assert remark.kind is RemarkKind.WORK_BESIDE
    assert "“a.ipynb”, “b.ipynb”" in remark.sentence


def test_a_login_page_beside_the_real_notebook_does_not_hide_it():
    found = find_work({NAME: b"<html>", f"{LAB} (1).ipynb": DONE}, LAB)
    assert sources(found.files[NAME]) == sources(DONE)
    assert found.remarks[0].sentence.startswith(f"{NAME} is not a notebook, so “{LAB} (1).ipynb”")


def test_an_encoding_is_made_plain_for_whoever_reads_on():
    found = find_work({NAME: DONE.decode().encode("utf-16")}, LAB)
    assert sources(found.files[NAME]) == sources(DONE)
    assert [remark.kind for remark in found.remarks] == [RemarkKind.OTHER_ENCODING]


def test_a_name_cannot_pose_as_a_sentence_of_ours():
    path = "x” was graded. All is well. “\x1b[2J\u202e.ipynb"
    (remark,) = find_work({path: DONE}, LAB).remarks
    assert remark.sentence.count("“") == remark.sentence.count("”") == 1
    assert remark.sentence.isprintable()


PATHS = st.sampled_from(
    [NAME, "a.ipynb", f"{LAB}/{NAME}", "a.zip", "ledger.jsonl", "A/Ledger.jsonl"]
)
CONTENTS = st.sampled_from(
    [DONE, BLANK, OTHER, b"", b"{}", zipped(**{NAME: DONE}), b'{"nbformat": 4, "cells": [1, {}]}']
) | st.binary(max_size=20)  # fmt: skip


@given(st.dictionaries(PATHS, CONTENTS, max_size=5))
def test_nothing_is_lost_and_looking_twice_changes_nothing(files):
    found = find_work(files, LAB)
    assert set(found.files) - {NAME, "ledger.jsonl"} <= set(files)
    assert find_work(found.files, LAB).files == found.files
