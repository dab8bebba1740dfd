"""What is typed and not recorded is kept, bounded, and apart for each window."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger.drafts import (
    LARGEST_FILE,
    LONGEST_DRAFT,
    MOST_WINDOWS,
    DraftRefused,
    Drafts,
)


def draft(value, window="w1", over="", at=1.0):
    return {"window": window, "value": value, "over": over, "at": at}


def change(value, item="essay", box="answer", window="w1", **more):
    typed = None if value is None else draft(value, window, **more)
    return {"item": item, "box": box, "window": window, "draft": typed}


@pytest.fixture
def drafts(tmp_path):
    return Drafts(tmp_path / "ledger.jsonl")


def values(drafts, item="essay", box="answer"):
    return [each.value for each in drafts.read().get(item, {}).get(box, [])]


def test_a_window_replaces_its_own_draft_and_no_other(drafts):
    drafts.change([change("one", at=1), change("two", window="w2", at=2)])
    drafts.change([change("one, longer", at=3)])
    assert values(drafts) == ["one, longer", "two"]


def test_what_was_recorded_is_removed_and_the_file_stays(drafts):
    drafts.change([change("one"), change("B", item="choice")])
    drafts.change([change(None)])
    assert values(drafts) == []
    assert values(drafts, "choice") == ["B"]
    drafts.change([change(None, item="choice")])
    assert drafts.read() == {}
    assert drafts.path.exists()  # Jupyter may be listing the folder


def test_removing_what_is_not_there_is_no_error(drafts):
    drafts.change([change(None)])
    assert drafts.read() == {}


def test_the_oldest_windows_make_room(drafts):
    drafts.change([change(f"{k}", window=f"w{k}", at=k) for k in range(MOST_WINDOWS + 3)])
    assert values(drafts) == ["6", "5", "4", "3"]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {"item": "essay"},
        {**change("x"), "more": 1},
        {**change("x"), "item": ""},
        {**change("x"), "item": 3},
        {**change("x"), "box": "a\nb"},
        {**change("x"), "window": "w" * 201},
        {**change("x"), "draft": "x"},
        {**change("x"), "draft": {"value": "x"}},
        change("x", at=float("nan")),
        change("x", at=True),
        change(float("inf")),
        change("x" * LONGEST_DRAFT),
    ],
)
def test_what_is_no_change_is_refused_in_a_sentence_and_nothing_is_written(drafts, wrong):
    drafts.change([change("before")])
    with pytest.raises(DraftRefused, match=r"\.$"):
        drafts.change([change("after"), wrong])
    assert values(drafts) == ["before"]


def test_a_file_has_an_end(drafts):
    long = "x" * (LONGEST_DRAFT - 100)
    many = [change(long, item=f"item{k}") for k in range(LARGEST_FILE // LONGEST_DRAFT + 2)]
    with pytest.raises(DraftRefused, match="too many"):
        drafts.change(many)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"\xff", b'{"essay": 3}', b'{"essay": {"answer": 3}}',
        b'{"essay": {"answer": [3, {"window": 1}]}}', b"[" * 100_000, b" " * (LARGEST_FILE + 1),
    ],
)  # fmt: skip
def test_a_file_of_nonsense_reads_as_no_drafts_and_can_be_replaced(drafts, content):
    drafts.path.write_bytes(content)
    assert drafts.read() == {}
    drafts.change([change("typed")])
    assert values(drafts) == ["typed"]


def test_a_link_is_not_followed(drafts, tmp_path):
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(json.dumps({"essay": {"answer": [draft("theirs")]}}))
    drafts.path.symlink_to(elsewhere)
    assert drafts.read() == {}
    drafts.change([change("mine")])
    assert values(drafts) == ["mine"]
    assert "theirs" in elsewhere.read_text()


_TYPED = st.one_of(
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5), max_size=3),
)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.none() | _TYPED)))
def test_each_window_finds_what_it_wrote_last(tmp_path_factory, steps):
    drafts = Drafts(tmp_path_factory.mktemp("drafts") / "ledger.jsonl")
    wanted = {}
    for at, (window, box, value) in enumerate(steps):
        drafts.change([change(value, box=box, window=window, at=at)])
        wanted[window, box] = value
    found = {
        (each.window, box): each.value
        for box, kept in drafts.read().get("essay", {}).items()
        for each in kept
    }
    assert found == {key: value for key, value in wanted.items() if value is not None}
