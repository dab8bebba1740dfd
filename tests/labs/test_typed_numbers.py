"""No text of a lab types a number that the core computes."""

from __future__ import annotations

import pytest

from tests.labs.rehearsal import ROOT, put_examples
from tests.labs.typed_numbers import numbers, typed_although_computed


@pytest.fixture
def beside(lab, tmp_path):
    put_examples(tmp_path, home=ROOT / "assignments" / lab)
    return tmp_path


def test_no_number_is_typed_that_the_core_computes(lab, beside):
    found = typed_although_computed(ROOT / "assignments" / lab, beside)
    assert not found, "compute it, or name it in a comment “# claims: …” of asks.py"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It reaches 312 TFLOPS of 1979.", ["312 TFLOPS"]),
        ("It is 1,979 TFLOPS with sparsity.", ["1,979 TFLOPS"]),
        ("33.3 % busy, 195× too large, 134,000 images", ["33.3 %", "195×", "134,000 images"]),
        ("Lab 07 takes 35–40 minutes and gives 100 points, in 2026.", []),
        ("ResNet-50, GPT-2, fp16, Llama-3.1-8B, int8, H100, 2:4 and Cortex-M7", []),
        ("{{ q(312e12, 'FLOP/s') }} and `x = 312` and $10^{12}$", []),
        ("It costs $50,000 now and $2.40 then.", []),
        ("a batch 32, 10⁶ times, version 3.11.2, $2.40", []),
        ("80 GB and 7 W: one digit could be anything", []),
        ("about 295 to be busy", ["295"]),
        ("3.35 TB/s, 15.5 ms, 22.6 hours", ["3.35 TB/s", "15.5 ms", "22.6 hours"]),
    ],
)
def test_numbers_in_texts(text, found):
    assert [each.words for each in numbers(text)] == found


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("lab.py", "# An H100 reaches 989 TFLOPS."),
        ("lab.py", "# Its memory moves 3.35 TB/s."),
        ("lab.py", "# Its ridge lies at 295.2 FLOP/B."),
        ("lab.py", "# The product has 85.3 FLOP per byte."),
        ("asks.py", 'NOTE = "An A100 has 312 TFLOPS."'),
        ("asks.py", 'NOTE = f"An A100 has {1} of 312 TFLOPS."'),
        ("checks.py", 'NOTE = "A Cortex-M7 has 512 KB."'),
        ("checks.py", 'NOTE = "It serves 1,450 in a second."'),
    ],
)
def test_a_typed_number_is_found(tmp_path, file, sentence):
    from mlsys_widgets.authoring import new_lab

    folder = new_lab(tmp_path, "lab_02_demo")
    assert typed_although_computed(folder, tmp_path) == []
    path = folder / file
    cell = f"\n# %% [markdown]\n{sentence}\n" if file == "lab.py" else f"\n{sentence}\n"
    path.write_text(path.read_text("utf-8") + cell, "utf-8")
    (told,) = typed_although_computed(folder, tmp_path)
    assert told.startswith(file)
    asks = folder / "asks.py"
    asks.write_text(f"# claims: {told.split(chr(39))[1]}\n" + asks.read_text("utf-8"), "utf-8")
    assert typed_although_computed(folder, tmp_path) == []
