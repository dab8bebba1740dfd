"""Remarks are data, and printable whoever wrote what is in them."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.notebooks.remarks import Remark, RemarkKind

WORDS = st.text(max_size=500)


@pytest.mark.parametrize("kind", RemarkKind)
def test_every_kind_has_a_sentence(kind):
    fields = {name for _, name, _, _ in string.Formatter().parse(kind.template) if name}
    assert fields <= {"about", "detail"}
    sentence = Remark(kind, "about it", "the detail").sentence
    assert all({"about": "about it", "detail": "the detail"}[name] in sentence for name in fields)


@given(st.sampled_from(RemarkKind), WORDS, WORDS)
def test_a_sentence_is_printable_and_fits_on_a_line(kind, about, detail):
    sentence = Remark(kind, about, detail).sentence
    assert sentence.isprintable()
    assert len(sentence) <= 300


@given(st.sampled_from(RemarkKind), WORDS, WORDS)
def test_a_remark_travels_as_json(kind, about, detail):
    remark = Remark(kind, about, detail)
    assert Remark.from_data(json.loads(json.dumps(remark.as_data()))) == remark
