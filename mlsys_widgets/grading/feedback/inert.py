"""Student work made harmless for the browser of whoever reads it: words, tables and pictures stay.

Formgrader and feedback pages put a notebook's Markdown and HTML into a page as it is, and that page
may change grades. So nothing that runs, loads or sends gets into an autograded notebook: HTML keeps
the tags of text, an SVG becomes a picture, in which no script runs, and JavaScript and widgets,
which nobody sees there anyway, are left out.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Collection, Iterable, Mapping, MutableMapping
from typing import Any, Final

import nh3

from mlsys_widgets.grading.feedback.plain_markdown import (
    MOST_IN_NOTEBOOK,
    limited,
    shortened,
    too_long_to_color,
)
from mlsys_widgets.notebooks.cell_metadata import text_of
from mlsys_widgets.notebooks.essay_cells import typed_text

_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PICTURE: Final = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+\Z")
_LINK: Final = re.compile(r"(https?|mailto):", re.I)
#: What begins a tag, a comment or a declaration in HTML; a plain "a < b" does not.
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
#: Links that a browser would run. An entity or a space inside the word does not hide it.
_SCHEME: Final = re.compile(
    r"\b(j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t|v\s*b\s*s\s*c\s*r\s*i\s*p\s*t|data(?=\s*:\s*\w+/))"
    r"\s*(:|&colon;?)",
    re.I,
)
#: Commands of MathJax that make links, load extensions or set styles.
_COMMAND: Final = re.compile(r"\\(?=(href|require|style|class|cssId|unicode|html\w*|url)\b)", re.I)
#: What begins a picture in Markdown, and one that was pasted into the cell. What it is called ends
#: at the next bracket, so that nothing is read twice.
_MARKDOWN_IMAGE: Final = re.compile(r"!\[(?:[^][\n]*\]\(attachment:(?P<pasted>[\w.-]+)\))?")
#: The attributes that `_keep` decides about, wherever such a word stands.
_LINKING: Final = ("src", "href", "cite")
#: A picture alone, which is all that most instruments leave: looking at every letter finds no more.
_LONE_PICTURE: Final = re.compile(
    r'<img alt="[^"<>]*" src="data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+">\s*'
)
_SCHEMES: Final = {"http", "https", "mailto", "data"}
_WORD: Final = re.compile(r"[\w.+-]{1,64}")


def make_inert(book: Any) -> None:
    """Take everything active out of a notebook."""
    metadata = book["metadata"]
    # Pages show these as they are.
    for name in ("title", "authors"):
        metadata.pop(name, None)
    language = metadata.get("language_info")
    if isinstance(language, dict):
        kept = {k: v for k, v in language.items() if isinstance(v, str) and _WORD.fullmatch(v)}
        metadata["language_info"] = {**kept, "name": kept.get("name", "python")}
    left = MOST_IN_NOTEBOOK
    for cell in book["cells"]:
        tags = cell["metadata"].get("tags")
        if isinstance(tags, list):
            cell["metadata"]["tags"] = [tag for tag in tags if _WORD.fullmatch(str(tag))]
        if cell["cell_type"] == "code":
            # nbconvert takes this for the language to color.
            cell["metadata"].pop("magics_language", None)
            if too_long_to_color(text_of(cell["source"])):
                cell["metadata"]["magics_language"] = "text"
            cell["outputs"] = [_output(each) for each in cell["outputs"]]
        else:
            pasted = _pasted(cell.get("attachments"))
            cell["source"], left = limited(_inert(cell["source"], pasted), left)


def _pasted(attachments: Any) -> frozenset[str]:
    """Return the names of the pictures that were pasted into a cell and can be shown."""
    if not isinstance(attachments, dict):
        return frozenset()
    return frozenset(
        name for name, bundle in attachments.items()
        if isinstance(bundle, dict) and bundle
        and all(kind in _IMAGES and _is_base64(value) for kind, value in bundle.items())
    )  # fmt: skip


def inert_markdown(text: str, pasted: Collection[str] = ()) -> str:
    r"""Markdown whose HTML is shown as text, and whose links, formulas and pictures run nothing.

    Pictures that are not ``pasted`` into the cell are not loaded: a page that fetches a picture
    tells whose it is that somebody reads it, and one that is missing stops the whole page.

    Examples
    --------
    >>> print(inert_markdown("If a < b, <script>alert(1)</script> [x](javascript:go())"))
    If a < b, &lt;script>alert(1)&lt;/script> [x](javascript-go())
    >>> print(inert_markdown("![x](attachment:no.png) ![y](attachment:my.png)", ["my.png"]))
    !\[x](attachment:no.png) ![y](attachment:my.png)
    """

    def image(found: re.Match[str]) -> str:
        return found[0] if found["pasted"] in pasted else found[0].replace("![", r"!\[", 1)

    plain = html.unescape(text)
    if len(_SCHEME.findall(plain)) > len(_SCHEME.findall(text)):
        text = plain  # one is spelled with entities, which has no honest use
    text = _TAG.sub("&lt;", text)
    text = _SCHEME.sub(lambda found: f"{found[1]}-", text)
    text = _MARKDOWN_IMAGE.sub(image, text)
    return _COMMAND.sub(r"\\\\ ", text)


def _inert(source: str | Iterable[str], pasted: Collection[str] = ()) -> str:
    text = shortened(text_of(source))
    # What is shown as it was typed runs nothing, and must still read as it was typed.
    return text if typed_text(text) is not None else inert_markdown(text, pasted)


def inert_html(text: str) -> str:
    """HTML with the tags of text, tables and embedded pictures, and nothing that runs or loads."""
    if _LONE_PICTURE.fullmatch(text):
        return text
    # Calling back for every attribute takes most of the time, and few outputs need it.
    lower = text.lower()
    keep = _keep if any(word in lower for word in _LINKING) else None
    return nh3.clean(text, url_schemes=_SCHEMES, attribute_filter=keep)


def _keep(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "src":
        return value if tag == "img" and _PICTURE.match(value) else None
    if attribute in ("href", "cite"):
        return value if _LINK.match(value) else None
    return value


def _output(output: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if output["output_type"] in ("display_data", "execute_result"):
        output["data"] = inert_bundle(output["data"])
        output["metadata"] = {}
    return output


def inert_bundle(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an output shows, in the kinds that a page can show without running anything."""
    shown: dict[str, Any] = {}
    for kind, value in data.items():
        if kind in ("text/plain", "text/latex"):
            shown[kind] = _COMMAND.sub(r"\\\\ ", text_of(value)) if kind == "text/latex" else value
        elif kind in _IMAGES and _is_base64(value):
            shown[kind] = value
        elif kind == "text/markdown":
            shown[kind], _ = limited(_inert(value))
        elif kind == "text/html":
            shown[kind] = inert_html(text_of(value))
    if "image/svg+xml" in data:
        drawn = base64.b64encode(text_of(data["image/svg+xml"]).encode("utf-8", "replace")).decode()
        words = html.escape(text_of(data.get("text/plain", "")), quote=True)
        shown["text/html"] = f'<img alt="{words}" src="data:image/svg+xml;base64,{drawn}">'
    if not shown:
        shown["text/plain"] = f"[not shown here: {', '.join(map(str, data))[:200]}]"
    return shown


def _is_base64(value: Any) -> bool:
    try:
        base64.b64decode("".join(text_of(value).split()), validate=True)
    except (ValueError, binascii.Error):
        return False
    return True
