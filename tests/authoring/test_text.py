"""Labs as text: what each cell may say, and the sentence for each mistake."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import TextError
from mlsys_widgets.authoring.templates import fill, names
from mlsys_widgets.authoring.text import LabCell, read
from mlsys_widgets.labs import Lab, Parameters


@pytest.fixture
def lab_py(tmp_path):
    def write(text):
        path = tmp_path / "lab.py"
        path.write_text(text, "utf-8")
        return path

    return write


def test_every_kind_of_cell(lab_py):
    path = lab_py("""\
# %% [markdown]
# Some *prose*.
#
# More.

# %% setup=true
import math

# %% card="opening"

# %% instrument="The roofline"
roofline = 1
roofline

# %% reveal="act1"
lab.reveal("act1")

# %% show="HUD"
lab.hud()

# %% answer="busy_pct"
busy_pct = 33

# %% record="done"

# %% design=true
lab.design({})

# %% [markdown] essay="why"
# Because.
""")
    assert read(path) == [
        LabCell("prose", "", "Some *prose*.\n\nMore."),
        LabCell("setup", "", "import math"),
        LabCell("card", "opening", ""),
        LabCell("instrument", "The roofline", "roofline = 1\nroofline"),
        LabCell("reveal", "act1", 'lab.reveal("act1")'),
        LabCell("show", "HUD", "lab.hud()"),
        LabCell("answer", "busy_pct", "busy_pct = 33"),
        LabCell("record", "done", ""),
        LabCell("design", "", "lab.design({})"),
        LabCell("essay", "why", "Because."),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# %%\nx = 1\n", "cell 1: the line “# %% …” must name exactly one of setup, card"),
        ("# %%\nx = 1\n", r"it names nothing \(the cell begins 'x = 1'\)"),
        ('# %% card="a" show="b"\n', "it names card, show"),
        ('# %% paint="red"\nx = 1\n', "it names paint"),
        ('# %% card="a"\nx = 1\n', "a card cell is generated from its name; leave its body empty"),
        ('# %% record="a"\nx = 1\n', "a record cell is generated from its name"),
        ('# %% answer="a"\n\n', "the answer cell is empty"),
        ('# %% show=" "\nx\n', "show needs a name in quotes, such as show=\"…\"; it is ' '"),
        ("# %% answer=3\nx\n", 'answer needs a name in quotes, such as answer="…"; it is 3'),
        ("# %% answer=true\nx\n", "answer needs a name in quotes"),
        (
            '# %% [markdown] card="a"\n# Words\n',
            "prose can say essay=… or deeper=true; it says card",
        ),
        ('# %% [markdown] essay=""\n# Words\n', "essay needs a name in quotes"),
    ],
)
def test_a_mistake_is_told_with_file_and_cell(lab_py, text, sentence):
    with pytest.raises(TextError, match=sentence) as told:
        read(lab_py(text))
    assert "lab.py, cell 1:" in str(told.value)


KNOWN = names(Lab("demo", title="Demo", chapter=3, acts=()), Parameters({"kernels": 1000}))


@pytest.mark.parametrize(
    ("prose", "filled"),
    [
        ("no template", "no template"),
        ("{{ p.kernels }} and {{p.kernels*2}}", "1000 and 2000"),
        ("{{ q(devices['a100-sxm'].ridge(), 'FLOP/B') }}", "156 FLOP/B"),
        ("{{ lab.title }}, chapter {{ lab.chapter }}", "Demo, chapter 3"),
        ("{{ q(\n p.kernels\n) }}", "1,000"),
        (r"$\frac{a}{b}$ and {single}", r"$\frac{a}{b}$ and {single}"),
    ],
)
def test_templates(prose, filled):
    assert fill(prose, KNOWN) == filled


@pytest.mark.parametrize("expression", ["nothing", "1 / 0", "p.kernel", "q(", "devices['tpu']"])
def test_a_template_that_fails_is_named(expression):
    with pytest.raises(TextError) as told:
        fill(f"A {{{{ {expression} }}}}.", KNOWN)
    assert f"the template {{{{ {expression} }}}} cannot be computed: " in str(told.value)
    assert len(str(told.value)) > len(f"the template {{{{ {expression} }}}} cannot be computed: ")


def test_templates_do_not_leak_into_each_other():
    with pytest.raises(TextError):
        fill("{{ (x := 3) }} {{ x }}", KNOWN)


def test_empty_lines_between_cells_mean_nothing(lab_py):
    cells = [
        '# %% card="a"',
        '# %% show="b"\nx',
        "# %% [markdown]\n# Words",
        "# %%",
        '# %% card="c"',
    ]
    close, wide = (read(lab_py(gap.join(cells) + "\n")) for gap in ("\n", "\n\n\n\n\n"))
    assert close == wide
    assert [each.kind for each in close] == ["card", "show", "prose", "card"]
