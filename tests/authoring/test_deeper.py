"""What lies beyond the core of a lab: folded, optional, and never in anybody's way."""

from __future__ import annotations

import pytest

from mlsys_widgets.authoring import Course, build
from mlsys_widgets.authoring.hidden_tests import CheckSource
from mlsys_widgets.authoring.notebook import Notebook
from mlsys_widgets.authoring.text import TextError, read
from mlsys_widgets.handin.work import steps_in
from mlsys_widgets.labs import load
from tests.authoring.conftest import DEMO

HEADING = "# %% [markdown] deeper=true\n# ### Deeper: twice the side\n\n"


@pytest.fixture
def deeper(change):
    """Move the second question, its essay and its equations beyond the core."""
    change("lab.py", '# %% card="act1_why"\n\n', "")
    change("lab.py", '# %% answer="limit"', f'# %% card="act1_why"\n\n{HEADING}# %% answer="limit"')
    change("lab.py", "# %% [markdown]\n# ## In your own words\n\n", "")
    change(
        "lab.py",
        '# %% record="commitments"',
        '# %% [markdown]\n# ## End\n\n# %% record="commitments"',
    )
    change("asks.py", "acts=(", 'deeper=["limit", "act1_peek", "advice"],\n    acts=(')
    change("asks.py", 'after=["act1_why", "advice"]', 'after=["act1_why"]')


@pytest.fixture
def made(home, course):
    def make(settings=""):
        (course.root / "assignments" / "course.toml").write_text(settings, "utf-8")
        of = Course.at(course.root)
        return Notebook(load(home), CheckSource(home / "checks.py"), of).make(read(home / "lab.py"))

    return make


def points(book):
    graded = (cell.metadata.get("nbgrader", {}) for cell in book.cells)
    return {each["grade_id"]: each["points"] for each in graded if each.get("grade")}


def heading(book):
    return next(c for c in book.cells if c.metadata.get("mlsys", {}).get("kind") == "deeper")


@pytest.mark.usefixtures("deeper")
def test_what_is_optional_is_folded_and_gives_no_points(made):
    book = made()
    # Nobody has to read an essay that does not count, so nbgrader does not know it.
    assert points(book) == {"intensity_flop_per_byte": 40, "limit": 0, "commitments": 20}
    said = heading(book)
    assert said.metadata["jp-MarkdownHeadingCollapsed"] is True
    assert said.source.startswith(
        "### Deeper: twice the side\n\n*About 10 minutes more: 1 question"
    )
    assert "gives no points" in said.source
    steps = {step.name: step.deeper for step in steps_in(book)}
    assert steps == {
        "act1_bound": False, "intensity_flop_per_byte": False, "act1_why": False, "limit": True,
        "advice": True,
    }  # fmt: skip


@pytest.mark.usefixtures("deeper")
@pytest.mark.parametrize("where", ['deeper = "required"', f'[labs.{DEMO}]\ndeeper = "required"'])
def test_what_is_required_counts_and_is_open(made, where):
    book = made(where)
    assert sum(points(book).values()) == 100
    assert "jp-MarkdownHeadingCollapsed" not in heading(book).metadata
    assert "It counts: 40 points." in heading(book).source
    assert not any(step.deeper for step in steps_in(book))
    setup = next(cell for cell in book.cells if cell.id == "setup")
    assert f'open_lab("{DEMO}", deeper="required")' in setup.source
    assert book.metadata.mlsys.deeper == "required"


@pytest.mark.usefixtures("deeper")
def test_a_lab_can_leave_what_the_course_requires(made):
    book = made(f'deeper = "required"\n\n[labs.{DEMO}]\ndeeper = "optional"')
    assert points(book)["limit"] == 0


@pytest.mark.usefixtures("deeper")
@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("asks.py", '["act1_bound", "act1_why"]', '["act1_bound", "limit"]',
         "commitments is part of the core and gives points for limit, which is deeper"),
        ("asks.py", 'title="What helps?",\n        act=1,\n        after=["act1_bound"]',
         'title="What helps?",\n        act=1,\n        after=["limit"]',
         "act1_why is part of the core and comes after limit, which is deeper"),
        ("lab.py", 'lock=lab.card("act1_bound")', 'lock=lab.card("limit")',
         "this is part of the core and waits for limit, which is deeper"),
        ("asks.py", '"advice"],', '"advice", "commitments"],',
         "commitments stands in the core, but asks.py lists it"),
    ],
)  # fmt: skip
def test_no_core_needs_what_is_deeper(course, change, file, old, new, sentence):
    change(file, old, new)
    with pytest.raises(TextError, match=sentence):
        build(course)


def test_a_section_of_students_has_the_notebook_of_all(course):
    (course.root / "assignments" / "course.toml").write_text(
        f'[sections.evening]\nlabs = {{ {DEMO} = {{ deeper = "required" }} }}', "utf-8"
    )
    with pytest.raises(ValueError, match=f"so set it in labs.{DEMO}"):
        Course.at(course.root)


def test_a_course_can_say_two_things_about_it(course):
    (course.root / "assignments" / "course.toml").write_text('deeper = "some"', "utf-8")
    with pytest.raises(ValueError, match=r'deeper is .some.; it must be "optional" or "required"'):
        Course.at(course.root)
