"""A lab as its asks.py declares it, and how that file is loaded."""

from __future__ import annotations

import sys

import pytest

from mlsys_widgets.labs import Essay, Lab, Message, Number, Parameter, Record, load
from mlsys_widgets.labs.lab import module_at

ASKS = """
from mlsys_widgets.labs import Lab, Number

lab = Lab("lab_02_demo", title="Demo", chapter=2, acts=("One",), materials={"answer": 42})


@lab.asks
def t_us(p):
    return Number("How long?", "µs", points=5)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "asks.py").write_text(ASKS, "utf-8")
    return tmp_path


def test_a_lab_asks_each_id_once():
    lab = Lab("x", title="X", chapter=0, acts=())
    lab.asks(lambda p: None)
    with pytest.raises(ValueError, match="asks <lambda> twice; each id can be used once"):
        lab.asks(lambda p: None)


def test_items_come_in_order_and_with_the_students_numbers():
    lab = Lab(
        "x", title="X", chapter=0, acts=("One",),
        parameters={"k": Parameter(3, range(1, 9), "kernels", "how many")},
    )  # fmt: skip

    @lab.asks
    def opening(p):
        return Message("Ada", "", "Hi", f"{p.k} kernels.")

    @lab.asks
    def t_us(p):
        return Number(f"{p.k} kernels?", "µs", points=2.5)

    @lab.asks
    def why(p):
        return Essay("Why?", [(1, "says so"), (2, "explains it")])

    @lab.asks
    def kept(p):
        return Record(["design"], points=4)

    p = lab.draw("ada", variants=False)
    assert list(lab.items(p)) == ["opening", "t_us", "why", "kept"]
    assert lab.items(p)["t_us"].ask == "3 kernels?"
    assert lab.points(p) == {"t_us": 2.5, "why": 3, "kept": 4}
    assert lab.draw("ada", edition="2027") == lab.draw("ada", edition="2027")


def test_a_lab_without_a_design_or_materials():
    lab = Lab("x", title="X", chapter=0, acts=())
    assert (lab.design, lab.materials, lab.examples) == ({}, {}, {})


def test_a_lab_is_loaded_from_its_folder(folder):
    lab = load(folder)
    assert (lab.name, lab.materials["answer"], lab.acts) == ("lab_02_demo", 42, ("One",))
    assert load(folder) is lab  # the same file, read once
    (folder / "asks.py").write_text(ASKS.replace("42", "43"), "utf-8")
    assert load(folder).materials["answer"] == 43


def test_a_folder_without_a_lab(tmp_path):
    with pytest.raises(ValueError, match=r"asks\.py is not beside the notebook"):
        load(tmp_path)
    (tmp_path / "asks.py").write_text("lab = 7\n", "utf-8")
    with pytest.raises(ValueError, match="declares no lab; it must have a line: lab = Lab"):
        load(tmp_path)


def test_loading_leaves_nothing_behind(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    module_at(folder / "asks.py")
    assert [path.name for path in folder.iterdir()] == ["asks.py"]
    assert sys.dont_write_bytecode is False
    assert "asks" not in sys.modules
