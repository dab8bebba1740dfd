"""A contact sheet: each card in each state, and a lab from top to bottom, to be looked at.

Light and dark, on a phone, a laptop and a large screen: one HTML page of all pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from io import BytesIO
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Page

from tests.browser.pages import draw_all, in_theme, settled
from tests.made_notebooks import write_notebook

SIZES = ((390, 844), (1280, 720), (1920, 1080))
THEMES = ("Light", "Dark")

SETUP = """\
from mlsys_widgets import (
    ConfidenceQuiz, ContextToggle, KeyTakeaways, LabHUD, Myth, MythBuster, PredictionLock,
    Question, Reflection, Scenario, SelfAssessment,
)
from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.labs import Choice, Essay, Number
from mlsys_widgets.ledger import Ledger

def ledger(name):
    return Ledger.open(f"{name}.jsonl", lab="lab_07_kernel_fusion", student="student-01")

new, done = ledger("new"), ledger("done")

def lock(led, **more):
    return PredictionLock(
        "act1", question="What fraction of the time does the GPU compute?", unit="%", ledger=led,
        options={"A": "about 95%", "B": "about 70%", "C": "about 33%", "D": "under 5%"},
        values={"A": 0.95, "B": 0.7, "C": 0.33, "D": 0.03}, title="How busy is it?", **more)

def images(led):
    return PredictionLock(
        "images", question="After how many images has compiling paid?", unit="images", low=1,
        high=1e9, ledger=led, title="When does it pay?")

def number(led, **more):
    item = Number("A kernel takes 12 µs and waits 25 µs for its launch. How busy is the GPU?",
                  "percent", points=5, low=1, high=100, title="How busy is the GPU?")
    return QuestionCard("busy_pct", item, ledger=led, **more)

def limit(led):
    item = Choice("What limits a ReLU on 4 million values?", {
        "compute": "Arithmetic: each value is compared, and the comparison is what takes the time",
        "memory": "Memory: each value is read and written once, and little is done in between",
        "launch": "The launch: the kernel is over before the next one has been prepared"},
        points=4, title="What limits it?")
    return QuestionCard("limit", item, ledger=led)

def essay(led):
    item = Essay("Advise Maya: compile or not?", title="Advice",
                 rubric=[(3, "names what is waited for"), (3, "says when it pays")], at_least=20)
    return QuestionCard("advice", item, ledger=led)

def why(led, name="why"):
    return Reflection(name, ledger=led, title="Why is it idle?", right="A",
        question="What does the GPU wait for?",
        options={"A": "the next launch", "B": "memory"},
        feedback={"A": "Every kernel costs a launch, and none of yours takes longer than one.",
                  "B": "That is not the tall bar: 12 of 37 µs are spent on bytes."})

def gaps(led):
    return Reflection("fill", ledger=led, title="In one sentence",
        question="Fusing saves {what} because results stay in {where}.",
        blanks={"what": {"a": "arithmetic", "b": "memory traffic"},
                "where": {"r": "registers", "h": "HBM"}},
        right={"what": "b", "where": "r"}, feedback={"what": {"a": "All of it is still done."}})

def own(led):
    return Reflection("own", question="What surprised you most?", ledger=led, at_least=3,
                      title="In your own words")

def quiz(led):
    return ConfidenceQuiz("quiz", [
        Question("ridge", "Where is the ridge of an A100?",
                 {"a": "156 FLOP/B", "b": "15 FLOP/B", "c": "2 TB/s"}, right="a", why="312 / 2."),
        Question("relu", "What limits ReLU?", {"m": "memory", "c": "compute"}, right="m",
                 feedback={"c": "One FLOP for eight bytes."})], ledger=led)

def myths(led):
    return MythBuster("myths", [
        Myth("flops", "Fewer FLOPs always run faster.", "Bytes set the pace."),
        Myth("graph", "Graph mode replaces eager mode.", "They live side by side.")], ledger=led)

def skills(led):
    return SelfAssessment("can", {"ridge": "find a ridge point", "fuse": "say what fuses"},
        bands=[(2, "Ready", "Go on."), (0, "Gaps", "Look at these again.")],
        review={"ridge": "Days 6–7", "fuse": "Day 13"}, ledger=led)

if not done.events():
    lock(done).commit("B", 4)
    images(done).commit("134k", 2)
    number(done).record("33%")
    limit(done).record("memory")
    essay(done).record("Compile it, because launches cost more than the arithmetic. " * 3)
    why(done).answer("A")
    why(done, "wrong").answer("B")
    gaps(done).answer({"what": "b", "where": "r"})
    own(done).answer("That the GPU waits for the next launch most of the time.")
    quiz(done).answer({"ridge": ("a", 4), "relu": ("c", 5)})
    myths(done).commit("flops", "doubt"); myths(done).commit("graph", "believe")
    skills(done).save(["ridge"])
proposed = lock(ledger("proposed")); proposed.propose("C", 3)
refused = number(ledger("refused"))
"""
#: Each card in each state, by the words above it.
CARDS = {
    "A message": """Scenario("Maya Lindqvist", role="Head of Operations", subject="The GPUs idle",
    message="Our keyword spotter runs on the newest cards, and the monitor says they idle two"
    " thirds of the time. Finance asks why we bought them.\\n\\nI tried a larger batch, and the"
    " answers came too late for the customers who speak to it.",
    task="Say why they idle, and what to change by Friday.")""",
    "A prediction, open": "lock(new)",
    "A prediction, to be sealed": "proposed",
    "A prediction, sealed": "lock(done)",
    "A number to predict": "images(new)",
    "A number predicted": "images(done)",
    "A question, closed": "number(new, after=lock(new))",
    "A number to answer": "number(new)",
    "A number, recorded": "number(done)",
    "A choice, open": "limit(new)",
    "A choice, recorded": "limit(done)",
    "An essay, open": "essay(new)",
    "An essay, recorded": "essay(done)",
    "A reflection, open": "why(new)",
    "A reflection, wrong": 'why(done, "wrong")',
    "A reflection, told": "why(done)",
    "Gaps, open": "gaps(new)",
    "Gaps, told": "gaps(done)",
    "Own words, open": "own(new)",
    "Own words, saved": "own(done)",
    "A quiz, open": "quiz(new)",
    "A quiz, told": "quiz(done)",
    "Claims, open": "myths(new)",
    "Claims, told": "myths(done)",
    "A checklist, open": "skills(new)",
    "A checklist, saved": "skills(done)",
    "A context": 'ContextToggle(about={"cloud": "A data-center GPU.", "edge": "A module."})',
    "Where you stand": """LabHUD("Lab 07: Kernel fusion", ledger=done,
    acts={"Act 1": [lock(done), why(done)], "Act 2": [images(new)]})""",
    "What to take away": """KeyTakeaways(
    ("Launches cost", "Small kernels spend their time being launched."),
    ("Bytes set the pace", "Fusing saves traffic, not arithmetic."),
    ahead="Lab 08 trains with what you chose.")""",
}


def cards_notebook(path: Path) -> None:
    """Write the notebook with each card in each state."""
    cells = [nbformat.v4.new_code_cell(SETUP)]
    for words, code in CARDS.items():
        cells += [nbformat.v4.new_markdown_cell(f"#### {words}"), nbformat.v4.new_code_cell(code)]
    for cell in cells:
        cell.metadata["jupyter"] = {"source_hidden": True}
    # Any lab: what a lab's notebook looks like is part of it.
    about = {"lab": "cards", "title": "Each card in each state", "acts": []}
    write_notebook(path, *cells, mlsys=about)


def pictures(page: Page, name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """All of a notebook, in each theme at each size."""
    folder.mkdir(parents=True, exist_ok=True)
    draw_all(page)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for theme in THEMES:
            in_theme(page, theme)
            place = folder / f"{name}-{width}-{theme.lower()}.png"
            _whole(page, height).save(place)
            yield f"{name}, {width} × {height}, {theme.lower()}", place
    page.set_viewport_size({"width": 1280, "height": 720})
    in_theme(page, "Light")


def _whole(page: Page, height: int) -> Image.Image:
    """The notebook from top to bottom: one window as tall as it needs."""
    outer = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
    beyond = page.locator(outer).evaluate("each => each.scrollHeight - each.clientHeight")
    size = page.viewport_size
    assert size
    page.set_viewport_size({"width": size["width"], "height": height + max(0, int(beyond)) + 40})
    settled(page)
    page.locator(outer).evaluate("each => each.scrollTo(0, 0)")
    drawn = page.screenshot(animations="disabled", caret="hide")
    page.set_viewport_size(size)
    return Image.open(BytesIO(drawn)).convert("RGB")


def sheet(shown: Iterable[tuple[str, Path]], place: Path) -> None:
    """Write the page with all pictures, each at its size and one click away."""
    figures = "".join(
        f'<figure><a href="{each.name}"><img src="{each.name}" loading="lazy"></a>'
        f"<figcaption>{escape(words)}</figcaption></figure>"
        for words, each in shown
    )
    place.write_text(
        "<!doctype html><meta charset='utf-8'><title>Contact sheet</title>"
        "<style>body{font:16px/1.5 system-ui;margin:24px;display:flex;flex-wrap:wrap;gap:24px;"
        "align-items:start}figure{margin:0}img{width:420px;border:1px solid #bbb}</style>"
        f"{figures}",
        "utf-8",
    )
