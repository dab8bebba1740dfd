"""The receipt beside a ledger: written at submitting, read by the grader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.ledger import Head, Ledger
from mlsys_widgets.ledger.receipt import RECEIPT, read_receipt, write_receipt


def test_what_is_written_can_be_read(tmp_path):
    ledger = Ledger.open(tmp_path / "ledger.jsonl", lab="lab", student="ann")
    assert write_receipt(tmp_path) is None
    assert read_receipt((tmp_path / RECEIPT).read_bytes()) is None
    ledger.record_answer("ridge", 295.2)
    head = write_receipt(tmp_path)
    assert head == ledger.head == read_receipt((tmp_path / RECEIPT).read_bytes())
    assert set(json.loads((tmp_path / RECEIPT).read_bytes())) == {"head", "time"}


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[" * 100_000, b"{}", b'{"head": 3}', b'{"head": {"seq": "1", "hash": "x"}}'],
)
def test_what_is_not_a_receipt_is_refused(content):
    with pytest.raises(ValueError, match="cannot be read"):
        read_receipt(content)


@given(st.binary(max_size=50))
def test_no_bytes_stop_us(content):
    try:
        found = read_receipt(content)
    except ValueError:
        return
    assert found is None or isinstance(found, Head)
