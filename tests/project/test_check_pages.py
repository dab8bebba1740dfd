"""The tool that checks the built pages finds what is broken in a tiny site, and nothing else."""

from __future__ import annotations

import json

import pytest

INDEX = {
    "alltitles": {"mlsys grade": [[0, "mlsys-grade"]]},
    "objects": {
        "": [[0, 1, 1, "confval-edition", "edition"]],
        "late": [[0, 1, 1, "confval-late-per_day", "per_day"]],
        "labs.&lt;lab&gt;": [[0, 1, 1, "confval-labs-lab-due", "due"]],
        "mlsys_widgets": [[0, 0, 1, "", "MemoryBudget"]],
    },
}
ASKED = (
    ["mlsys_widgets.MemoryBudget"],
    ["mlsys grade"],
    ["edition", "late.per_day", "labs.<lab>.due"],
)


@pytest.fixture
def check(tool):
    return tool("check_pages")


@pytest.fixture
def site(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "picture.svg").write_text("<svg/>", "utf-8")
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="deep/page.html#here">a</a> <a href="#top">b</a>'
        '<a href="https://example.org/x#y">c</a><img src="picture.svg"><a href="#">d</a>',
        "utf-8",
    )
    (tmp_path / "deep" / "page.html").write_text(
        '<p id="here"></p><a href="../index.html">up</a><a href="../">up</a>', "utf-8"
    )
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(INDEX)})", "utf-8")
    return tmp_path


def test_a_whole_site_passes(check, site):
    assert not list(check.broken_links(site))
    assert not list(check.not_found(check.read_index(site), *ASKED))


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ('<a href="gone.html">', "a link leads to gone.html, and there is no such file."),
        ('<a href="#gone">', "a link leads to #gone, and that page has no such anchor."),
        ('<a href="deep/page.html#gone">', "a link leads to deep/page.html#gone, and that page"
                                          " has no such anchor."),
        ('<img src="gone.png">', "a picture leads to gone.png, and there is no such file."),
        ('<a href="../../x">', "a link leads to ../../x, and that is outside the pages."),
    ],
)  # fmt: skip
def test_what_leads_nowhere_is_said(check, site, added, said):
    page = site / "index.html"
    page.write_text(page.read_text("utf-8") + added, "utf-8")
    assert list(check.broken_links(site)) == [f"index.html: {said}"]


def test_what_the_search_lacks_is_said(check, site):
    index = check.read_index(site)
    asked = (["mlsys_widgets.Roofline"], ["mlsys fly"], ["late.per_week"])
    assert list(check.not_found(index, *asked)) == [
        "The search does not find the public name mlsys_widgets.Roofline.",
        "The search does not find the command mlsys fly.",
        "The search does not find the setting late.per_week of course.toml.",
    ]
    (site / "searchindex.js").write_text("something else", "utf-8")
    with pytest.raises(ValueError, match="is not an index"):
        check.read_index(site)


def test_pages_outside_are_checked(check, tmp_path):
    (tmp_path / "a.md").write_text("# A page\n\n## Its: part\n", "utf-8")
    (tmp_path / "README.md").write_text(
        "[a](a.md) [b](a.md#its-part) [c](a.md#gone) ![d](gone.png) [e](https://x.org/gone)\n"
        '<img src="lost.svg">\n```\n[f](code.md)\n```\n',
        "utf-8",
    )
    assert list(check.broken_outside(tmp_path)) == [
        "README.md: a link leads to a.md#gone, and that page has no such heading.",
        "README.md: a link leads to gone.png, and there is no such file.",
        "README.md: a link leads to lost.svg, and there is no such file.",
    ]


def test_links_of_the_repository(check, root):
    assert not list(check.broken_outside(root))
