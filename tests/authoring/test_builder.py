"""What cannot be built is told in a sentence, and nothing is written."""

from __future__ import annotations

import nbformat
import pytest

from mlsys_widgets.authoring import TextError, build, builder, labs_of
from mlsys_widgets.courses.freshness import stale_labs
from mlsys_widgets.judging.checks_file import load_checks
from tests.authoring.conftest import DEMO


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        (
            "lab.py",
            '# %% record="commitments"\n',
            "",
            "gives points for commitments, which lab.py places 0 times",
        ),
        (
            "lab.py",
            '# %% card="takeaways"',
            '# %% record="commitments"\n\n# %% card="takeaways"',
            "places 2 times",
        ),
        (
            "lab.py",
            '# %% card="opening"',
            '# %% card="openning"',
            "cell 3: card='openning', and asks.py has no such item",
        ),
        (
            "lab.py",
            '# %% reveal="act1_bound"',
            '# %% reveal="limit"',
            "'limit', and asks.py has no such Prediction",
        ),
        (
            "lab.py",
            "# %% setup=true",
            '# %% show="imports"',
            "must have exactly one cell with setup=true",
        ),
        ("lab.py", "{{ q(", "{{ qq(", "cell 1: .* cannot be computed: name 'qq' is not defined"),
        ("lab.py", '# %% card="act1_why"', "", "'act1_why', which lab.py never shows; nobody"),
        ("lab.py", 'limit = "compute"', 'limits = "compute"', "must end with a line limit = …"),
        ("lab.py", 'limit = "compute"', 'limit = = "compute"', "invalid syntax, in its line 2"),
        ("asks.py", 'after=["act1_bound"]', 'after=["act1_bund"]', "comes after 'act1_bund'"),
        (
            "lab.py",
            "# %% [markdown]\n# ## In your own words",
            "# %% [markdown] deeper=true\n# ## In your own words",
            "advice stands in a deeper section, and asks.py does not list it in deeper=",
        ),
        (
            "asks.py",
            "acts=(",
            'deeper=["advice"],\n    acts=(',
            "advice stands in the core, but asks.py lists it in deeper=",
        ),
        (
            "asks.py",
            "acts=(",
            'deeper=["advise"],\n    acts=(',
            "lab_02_demo calls deeper what it never asks: advise",
        ),
        (
            "lab.py",
            "# %% [markdown]\n# ## In your own words",
            "# %% [markdown] deeper=true\n# In your own words",
            "begins with the heading of its section; it begins 'In your own words'",
        ),
        ("asks.py", "acts=(", "acts=((", "asks.py, line .*: "),
        (
            "checks.py",
            "def limit(",
            "def _limit(",
            "has no function limit, and the lab grades that answer",
        ),
        (
            "checks.py",
            "def limit(",
            "print()\n\n\ndef limit(",
            "checks.py, line .*: this is neither an import",
        ),
        ("asks.py", f'"{DEMO}"', '"lab_03"', "asks.py declares 'lab_03'; it must be 'lab_02_demo'"),
        ("asks.py", "lab = Lab(", "other = Lab(", "asks.py.*NameError"),
        (
            "asks.py",
            "def limit(p",
            "def act1_bound(p",
            "asks act1_bound twice; each id can be used once",
        ),
        (
            "asks.py",
            'f"For every query we multiply three matrices of {p.side}',
            'f"{p.size}',
            "asks.py, line .*: .*no parameter 'size'",
        ),
        (
            "asks.py",
            '"compute": "the',
            '"Compute": "the',
            "option 'Compute' must be lowercase",
        ),
    ],
)
def test_what_cannot_be_built_is_told_in_a_sentence(course, change, file, old, new, sentence):
    change(file, old, new)
    with pytest.raises(TextError, match=sentence):
        build(course)
    assert not (course.root / "source").exists()
    assert not (course.root / "release").exists()


def test_a_solution_that_fails_is_told_and_nothing_is_built(course, change):
    change("lab.py", 'limit = "compute"', '1 / 0\nlimit = "compute"')
    with pytest.raises(TextError) as told:
        build(course)
    assert str(told.value) == (
        "lab_02_demo: the cell answer_limit fails when the solution is run: ZeroDivisionError:"
        " division by zero"
    )
    assert not (course.root / "source").exists()


def test_a_module_beside_a_lab_travels_with_it_and_is_shared_with_its_checks(course, change):
    home = course.folder("assignments", DEMO)
    (home / "sums.py").write_text("SIDE = 64  # the key is near\n")
    change("asks.py", "lab = Lab(", "from sums import SIDE\n\nlab = Lab(")
    change("checks.py", "def limit(", "from asks import lab\nfrom sums import SIDE\n\ndef limit(")
    build(course)
    for step in ("source", "release"):
        there = (course.root / step / DEMO / "sums.py").read_text()
        assert "SIDE = 64" in there
        assert "the key is near" not in there
    checks = load_checks(home)
    assert "limit" in checks
    assert stale_labs(course) == {}
    (home / "sums.py").write_text("SIDE = 65\n")
    assert "sums.py is not made from the one" in stale_labs(course)[DEMO]


def test_a_module_of_the_checks_alone_is_refused_and_nothing_is_built(course, change):
    (course.folder("assignments", DEMO) / "keys.py").write_text("RIGHT = 1\n")
    change("checks.py", "def limit(", "from keys import RIGHT\n\ndef limit(")
    with pytest.raises(TextError, match=r"imports keys\.py, which students do not get"):
        build(course)
    assert not (course.root / "source").exists()


def test_a_module_named_like_one_of_python_is_refused(course):
    (course.folder("assignments", DEMO) / "queue.py").write_text("LONGEST = 8\n")
    with pytest.raises(TextError, match=r"queue\.py has the name of a module .* to lab_queue\.py"):
        build(course)
    assert not (course.root / "source").exists()


def test_only_labs_that_exist_are_built(course):
    with pytest.raises(TextError, match=r"no lab 'lab_9' in assignments/; there are: lab_02_demo"):
        build(course, ["lab_9"])
    assert labs_of(course) == [DEMO]


def test_only_neighbors_of_one_stream_are_joined():
    """A busy machine sends one print in pieces; what goes to stderr stays apart."""

    def said(name, text):
        return nbformat.v4.new_output("stream", name=name, text=text)

    shown = nbformat.v4.new_output("display_data", data={"text/plain": "1"})
    pieces = [said("stdout", "a"), said("stdout", "b"), said("stderr", "c"), shown,
              said("stdout", "d"), said("stdout", "e")]  # fmt: skip
    joined = builder._joined(pieces)
    assert [each.get("text") for each in joined] == ["ab", "c", None, "de"]
