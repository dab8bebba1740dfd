"""What students hand in runs nothing in the browser of whoever reads it."""

from __future__ import annotations

import base64
import re

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsys_widgets.grading.feedback.inert import (
    inert_bundle,
    inert_html,
    inert_markdown,
    make_inert,
)
from tests.effort import effort

PNG = base64.b64encode(b"\x89PNG\r\n").decode()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("<p>Two <b>words</b></p>", "<p>Two <b>words</b></p>"),
        ("<table><tr><td>1</td></tr></table>",
         "<table><tbody><tr><td>1</td></tr></tbody></table>"),
        (f'<img src="data:image/png;base64,{PNG}">', f'<img src="data:image/png;base64,{PNG}">'),
        ('<a href="https://a.example/">a</a>',
         '<a href="https://a.example/" rel="noopener noreferrer">a</a>'),
    ],
)  # fmt: skip
def test_words_tables_pictures_and_links_stay(given, kept):
    assert inert_html(given) == kept


@pytest.mark.parametrize(
    "attack",
    [
        "<script>go()</script>",
        "<img src=x onerror=go()>",
        '<img src="https://a.example/seen.png">',
        '<img src="/formgrader/api/submission">',
        '<a href="javascript:go()">a</a>',
        '<a href="data:text/html,<script>go()</script>">a</a>',
        '<iframe srcdoc="<script>go()</script>"></iframe>',
        "<svg onload=go()><script>go()</script></svg>",
        "<math><mi xlink:href='javascript:go()'>x</mi></math>",
        "<form action=/formgrader><button>Save</button></form>",
        "<style>body{background:url(https://a.example)}</style>",
        '<div style="position:fixed;inset:0">Log in again</div>',
        "<base href=https://a.example/>",
        '<meta http-equiv="refresh" content="0;url=https://a.example">',
        "<noscript><p title='</noscript><img src=x onerror=go()>'>",
    ],
)
def test_what_runs_or_loads_goes(attack):
    left = inert_html(attack)
    assert not re.search(r"<script|onerror|onload|javascript:|<iframe|<svg|<form|style|<base|<meta",
                         left), left  # fmt: skip
    assert 'src="http' not in left
    assert 'src="/' not in left


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a < b and `x` > 3, *so* it **fits**", "a < b and `x` > 3, *so* it **fits**"),
        ("![p](attachment:a.png) [l](https://a.example)",
         "![p](attachment:a.png) [l](https://a.example)"),
        ("$I = \\frac{W}{Q}$", "$I = \\frac{W}{Q}$"),
        ("Our data: 30 µs.", "Our data: 30 µs."),
    ],
)  # fmt: skip
def test_honest_markdown_reads_as_it_was_written(given, kept):
    assert inert_markdown(given, ["a.png"]) == kept


@pytest.mark.parametrize(
    "attack",
    [
        "<script>go()</script>",
        "<IMG SRC=x ONERROR=go()>",
        "<!-- --><svg/onload=go()>",
        "[a](javascript:go())",
        "[a](JaVaScRiPt:go())",
        "[a](java\nscript:go())",
        "[a](&#106;avascript:go())",
        "[a](javascript&colon;go())",
        "[a](javascript:go()) [b](javascript&colon;go())",
        "[a](data:text/html,<script>go()</script>)",
        "[a]: javascript:go()\n\n[a]",
        "$\\href{javascript:go()}{x}$",
        "$\\require{action}\\cssId{a}{x}$",
    ],
)
def test_markdown_runs_nothing(attack):
    left = inert_markdown(attack)
    assert not re.search(r"<[A-Za-z/!?]", left)
    assert not re.search(r"script\s*(:|&colon)|data:text", left, re.I)
    assert not re.search(r"(?<!\\)\\(href|require|cssId)", left)


def test_a_plain_link_does_not_cover_for_one_in_entities():
    left = inert_markdown("[a](javascript:go()) [b](&#106;avascript:go())")
    assert left == "[a](javascript-go()) [b](javascript-go())"


@given(st.text(alphabet="<>/scriptjavahref:&#;\\ ()[]\n", max_size=60))
def test_no_text_leaves_a_tag(text):
    assert not re.search(r"<[A-Za-z/!?]", inert_markdown(text))


def test_outputs_keep_what_a_page_can_show():
    assert inert_bundle({"image/png": PNG}) == {"image/png": PNG}
    drawn = inert_bundle(
        {"text/plain": 'a "b"', "image/svg+xml": "<svg><script>go()</script></svg>"}
    )
    assert set(drawn) == {"text/plain", "text/html"}
    # A picture in an <img> runs no script, so the drawing may stay as it is.
    assert drawn["text/html"].startswith(
        '<img alt="a &quot;b&quot;" src="data:image/svg+xml;base64,'
    )
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}}
    assert inert_bundle(widget)["text/plain"].startswith("[not shown here: application/vnd")
    assert "image/png" not in inert_bundle({"image/png": '"><script>go()</script>'})


def test_what_pages_show_of_a_notebook_itself():
    cells = [
        nbformat.v4.new_markdown_cell("<b>x</b>", metadata={"tags": ['"><script>', "fine"]}),
        nbformat.v4.new_code_cell("1", outputs=[
            nbformat.v4.new_output("display_data", {"text/html": "<script>go()</script><i>y</i>"}),
            nbformat.v4.new_output("stream", text="<script>"),  # pages escape streams
        ]),
    ]  # fmt: skip
    book = nbformat.v4.new_notebook(cells=cells)
    book.metadata.title = "<script>"
    book.metadata.language_info = {"name": '"><script>', "pygments_lexer": "ipython3"}
    make_inert(book)
    assert cells[0].source == "&lt;b>x&lt;/b>"
    assert cells[0].metadata.tags == ["fine"]
    assert cells[1].outputs[0].data == {"text/html": "<i>y</i>"}
    assert "title" not in book.metadata
    assert book.metadata.language_info == {"name": "python", "pygments_lexer": "ipython3"}
    once = nbformat.writes(book)
    make_inert(book)
    assert nbformat.writes(book) == once
    nbformat.validate(book)


@pytest.mark.parametrize("attribute", ["SRC", "Src", "hReF", "cite", "ſrc"])
def test_links_are_filtered_however_their_attribute_is_written(attribute):
    """Only what mentions such an attribute calls back, so every spelling of one must be seen."""
    page = f'<blockquote cite="x"><img {attribute}="https://a.example/b"><a {attribute}="data:a">'
    shown = inert_html(page)
    assert "https://a.example" not in shown
    assert "data:a" not in shown


def shown_as_page(*cells) -> str:
    """What nbconvert, and so formgrader and feedback, makes of a notebook after that."""
    from nbconvert import HTMLExporter

    book = nbformat.v4.new_notebook(cells=list(cells))
    make_inert(book)
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(book)
    return page


@pytest.mark.parametrize(
    "text",
    [
        "![x](attachment:nope.png)",
        "![x](attachment:empty.png)",
        "![x](attachment:page.html)",
        "![x][1]\n\n[1]: https://a.example/seen.png",
        "![seen]\n\n[seen]: https://a.example/seen.png",
        "![x](https://a.example/seen.png)",
        "[![x](//a.example/seen.png)](https://a.example)",
        "\\![x](https://a.example/seen.png)",
        "![x](/formgrader/api/submission)",
    ],
)
def test_a_picture_that_would_be_loaded_or_is_missing_becomes_text(text):
    cell = nbformat.v4.new_markdown_cell(f"An essay.\n\n{text}")
    cell.attachments = {"empty.png": {}, "page.html": {"text/html": "PGI+"}}
    page = shown_as_page(cell)
    assert "An essay." in page
    assert "<img" not in page


def test_a_picture_that_was_pasted_stays():
    cell = nbformat.v4.new_markdown_cell("My plot: ![plot](attachment:plot.png)")
    cell.attachments = {"plot.png": {"image/png": PNG}}
    assert f"data:image/png;base64,{PNG}" in shown_as_page(cell)


@pytest.mark.parametrize("text", ["![" * 50_000, "![x" * 33_000, "![](" * 25_000, "![a\n" * 25_000])
def test_beginnings_of_pictures_are_read_once(text):
    """One line of them took a reader half a minute."""
    assert effort(lambda: inert_markdown(text)) < 20
