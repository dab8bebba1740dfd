"""The lab widgets in a real browser: by keyboard alone, through a restart, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.pages import (
    cards_come_up,
    draw_all,
    in_theme,
    no_serious_violation,
    open_again,
    restart_and_run_all,
)
from tests.made_notebooks import write_notebook
from tests.sampling import keeps_pictures

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.timeout(900)]

SETUP = """\
from mlsys_widgets import (
    ConfidenceQuiz, ContextToggle, KeyTakeaways, LabHUD, Move, Myth, MythBuster, PredictionLock,
    Question, Reflection, RooflineWidget, Scenario, SelfAssessment,
)
from mlsys_widgets.ledger import Ledger
led = Ledger.open("ledger.jsonl", lab="lab_07_kernel_fusion", student="student-01")
"""
LOCK = """\
lock = PredictionLock(
    "act1", question="What fraction of the time does the GPU compute?", unit="%", ledger=led,
    options={"A": "about 95%", "B": "about 70%", "C": "about 33%", "D": "under 5%"},
    values={"A": 0.95, "B": 0.7, "C": 0.33, "D": 0.03}, title="Act 1: how busy is it?")
lock"""
INSTRUMENT = "RooflineWidget(lock=lock)"
REVEAL = """\
lock.reveal(model=0.321, measured=0.299, where="one GPU, eager",
    feedback={"B": "Launching takes more of the time than computing.", "C": "Just so."})"""
WHY = """\
why = Reflection("why", ledger=led, after=lock, title="Why is it idle?", right="A",
    question="What does the GPU wait for?", options={"A": "the next launch", "B": "memory"},
    feedback={"A": "Every kernel costs a launch.", "B": "That is not the tall bar."})
why"""
SECOND = """\
second = PredictionLock("act2", ledger=led, after=why, unit="images", title="Act 2: does it pay?",
    question="After how many images has compiling paid?")
second"""
HUD = """\
context = ContextToggle(ledger=led, about={"cloud": "A data-center GPU.", "edge": "A module."})
hud = LabHUD("Lab 07: Kernel fusion", ledger=led, context=context,
    acts={"Act 1": [lock, why], "Act 2": [second]}, decisions={"Execution": "execution_mode"})
hud"""
REST = [
    """Scenario("Maya Lindqvist", role="Head of Operations", subject="The GPUs idle",
    message="Our keyword spotter runs on the newest cards.\\n\\nThe monitor says they idle.",
    task="Say why, and what to change.")""",
    "context",
    """Reflection("fill", ledger=led, title="In one sentence",
    question="Fusing saves {what} because results stay in {where}.",
    blanks={"what": {"a": "arithmetic", "b": "memory traffic"},
            "where": {"r": "registers", "h": "HBM"}},
    right={"what": "b", "where": "r"}, feedback={"what": {"a": "All of it is still done."}})""",
    """Reflection("own", question="What surprised you most?", ledger=led, at_least=3,
    title="In your own words")""",
    """quiz = ConfidenceQuiz("quiz", [
    Question("ridge", "Where is the ridge of an A100?",
             {"a": "156 FLOP/B", "b": "15 FLOP/B", "c": "2 TB/s"}, right="a", why="312 / 2."),
    Question("relu", "What limits ReLU?", {"m": "memory", "c": "compute"}, right="m",
             feedback={"c": "One FLOP for eight bytes."}),
    ], ledger=led)
quiz""",
    """MythBuster("myths", [Myth("flops", "Fewer FLOPs always run faster.", "Bytes set the pace."),
    Myth("graph", "Graph mode replaces eager mode.", "They live side by side.")], ledger=led)""",
    """SelfAssessment("can", {"ridge": "find a ridge point", "fuse": "say which kernels fuse"},
    bands=[(2, "Ready", "Go on."), (0, "Gaps", "Look at these again.")],
    review={"ridge": "Days 6–7", "fuse": "Day 13"}, ledger=led)""",
    """KeyTakeaways(("Launches cost", "Small kernels spend their time being launched."),
    "Measure before and after.", ahead="Lab 08 trains with what you chose.")""",
]
EXPLORE = """\
from mlsys_widgets import physics as ph
roof = RooflineWidget(lock=lock)
roof"""
COMPARE = """\
spotter, layer = ph.run("kws", "a100-sxm"), ph.run("gpt2-layer", "a100-sxm")
reveal = lock.reveal(
    model=spotter.utilization, feedback={"A": "Launching takes more of the time than computing."},
    worked={"Utilization": spotter.utilization, "Each launch": (10e-6, "s"), "Limit": "launches"},
    contrast={"GPT-2-like layer": layer.utilization},
    moves=[Move("Raise N above 4,096", roof, lambda r: r.n > 4096),
           Move("Choose the **Jetson Orin NX**", roof, device="orin-nx")])
reveal"""
NUMBERS = """\
LabHUD("Where you stand", ledger=led, acts={"Act 1": [lock], "Act 2": ["busy_pct"]},
    reveals={"act1": reveal}, follows=[roof], gates={"Matrix size": lock},
    numbers={"Matrix size": lambda: (roof.n, ""), "Launch": lambda: (10e-6, "s")})"""
KERNEL = "jupyterapp.shell.currentWidget.sessionContext.session?.kernel"
FLOW = [SETUP, LOCK, INSTRUMENT, REVEAL, WHY, SECOND, HUD]


@pytest.fixture
def lab(tmp_path, open_notebook, run_all) -> Iterator[object]:
    """Open a notebook with these cells, all of them drawn, and run it."""

    def open_(cells: list[str], width: int = 1100) -> Page:
        page = open_notebook(write_notebook(tmp_path / "lab.ipynb", *cells))
        page.set_viewport_size({"width": width, "height": 1000})
        page.evaluate("jupyterapp.shell.collapseLeft()")
        draw_all(page)
        page.wait_for_function(f"{KERNEL}?.status === 'idle'")
        run_all(page)
        return page

    return open_


def card(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title, exact=True)
    return page.locator(".mlsys-lab").filter(has=heading)


def picture(page: Page, root: Path, name: str) -> None:
    """Keep each card as a picture, to be looked at."""
    if not keeps_pictures():
        return
    folder = root / "build" / "screenshots" / "lab_widgets"
    folder.mkdir(parents=True, exist_ok=True)
    for k, one in enumerate(page.locator(".mlsys-lab").all()):
        one.scroll_into_view_if_needed()
        one.screenshot(path=folder / f"{name}-{k:02d}.png")


def nothing_sticks_out(page: Page) -> None:
    page.locator(".mlsys-lab > .mlsys-plot").scroll_into_view_if_needed()  # drawn again in sight
    beyond = """() => [...document.querySelectorAll('.mlsys-lab')].flatMap(board => {
          const edge = board.getBoundingClientRect();
          return [...board.querySelectorAll('button, label, select, p, strong, textarea, text')]
            .filter(e => e.getClientRects().length && !e.closest('.mlsys-lab-unseen'))
            .filter(e => { const r = e.getBoundingClientRect();
                           return r.left < edge.left - 2 || r.right > edge.right + 2; })
            .map(e => e.textContent.trim().slice(0, 40));
        })"""
    # Plots follow a new width after a moment of their own.
    with suppress(PlaywrightTimeout):
        page.wait_for_function(f"({beyond})().length === 0")
    assert page.evaluate(beyond) == []


def test_a_lab_by_keyboard_alone(lab, root):
    page = lab(FLOW)
    lock, press = card(page, "Act 1: how busy is it?"), page.keyboard.press
    locked = page.locator(".mlsys-locked")
    expect(locked).to_contain_text("What fraction of the time")
    expect(card(page, "Act 2: does it pay?")).to_contain_text("Opens after you answer the reflect")
    expect(card(page, "Why is it idle?")).to_contain_text("Opens after you commit your prediction")
    picture(page, root, "flow-closed")

    # Refused with a sentence, and what was chosen is still chosen.
    lock.get_by_role("radio", name=re.compile("about 95%")).focus()
    for key in ("Space", "ArrowDown"):
        press(key)
    for key in ("Tab", "Tab", "Enter"):
        press(key)
    expect(lock.get_by_role("alert")).to_contain_text("how sure are you")
    expect(lock.get_by_role("radio", name=re.compile("about 70%"))).to_be_checked()
    for key in ("Shift+Tab", "ArrowRight", "ArrowRight", "ArrowRight", "Tab", "Enter"):
        press(key)
    expect(lock.get_by_role("button", name="Seal it")).to_be_focused()
    expect(lock.get_by_role("status")).to_contain_text("You predict about 70%")
    expect(locked).to_be_visible()
    picture(page, root, "flow-confirm")
    press("Enter")
    sealed = lock.locator(".mlsys-lab-sealed")
    expect(sealed).to_contain_text("Sealed: about 70%")
    expect(sealed).to_be_focused()
    expect(lock.get_by_role("status")).to_contain_text("Your prediction is sealed.")
    # Sealed, it is a line; the question is behind it, and cannot be answered again.
    expect(lock.get_by_role("radio")).to_have_count(0)
    lock.get_by_role("button").press("Enter")
    expect(lock.get_by_role("radio", name=re.compile("about 95%"))).to_be_disabled()
    lock.get_by_role("button", name="Close").press("Enter")
    expect(lock.get_by_role("radio")).to_have_count(0)

    # The instrument opens at once; the comparison waits to be asked.
    expect(locked).to_have_count(0)
    expect(page.locator(".mlsys-instrument .mlsys-sentence")).to_be_visible()
    reveal = card(page, "What you expected, and what happened")
    expect(reveal).not_to_contain_text("32.1%")
    reveal.get_by_role("button", name="Compare with the measurement").press("Enter")
    expect(reveal).to_contain_text("No: 40.1 percentage points too high.")
    expect(reveal).to_contain_text("Launching takes more of the time")

    why = card(page, "Why is it idle?")
    why.get_by_role("radio", name=re.compile("memory")).press("Space")
    why.get_by_role("button", name="Answer").press("Enter")
    expect(why).to_contain_text("Not yet. That is not the tall bar.")
    second = card(page, "Act 2: does it pay?")
    box = second.get_by_role("textbox")
    box.fill("a few")
    second.get_by_role("radio", name="2").press("Space")
    box.press("Enter")
    expect(second.get_by_role("alert")).to_contain_text("'a few' is not a number")
    expect(box).to_have_value("a few")
    hud = card(page, "Lab 07: Kernel fusion")
    expect(hud).to_contain_text("1 of 2")
    expect(hud).to_contain_text("Saved")
    picture(page, root, "flow-open")


def on_one_axis(reveal: Locator) -> None:
    """The one picture that fits is shown, named, and no two of its words touch."""
    axis = reveal.get_by_role("img", name=re.compile("^On one axis: You predicted about 95%, "))
    expect(axis).to_have_count(1)
    expect(axis.locator("text", has_text="The model 32.3%")).to_be_visible()
    boxes = axis.locator("text").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect())"
        ".map(box => [box.left, box.top, box.right, box.bottom])"
    )
    edge = axis.bounding_box()
    for one in boxes:
        assert one[0] > edge["x"] - 1
        assert one[2] < edge["x"] + edge["width"] + 1
    for one, other in combinations(boxes, 2):
        beside = one[2] <= other[0] or other[2] <= one[0]
        assert beside or one[3] <= other[1] + 2 or other[3] <= one[1] + 2, (one, other)


def numbers_unfold(reveal: Locator) -> None:
    """The numbers behind a comparison open by keyboard, with typeset formulas."""
    expect(reveal.get_by_text("For contrast")).to_be_hidden()
    reveal.get_by_text("The numbers behind it").press("Enter")
    expect(reveal.get_by_text("For contrast")).to_be_visible()
    expect(reveal.locator(".mlsys-equation mfrac").nth(1)).to_have_text("5 ms15.5 ms")


@pytest.mark.slow  # tests/cards/test_moves.py has a kernel, test_way_through_a_lab.py a page
def test_moves_open_a_comparison(lab, root):
    page = lab([SETUP, LOCK, EXPLORE, COMPARE, NUMBERS])
    clock = page.context.new_cdp_session(page)
    clock.send("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
    reveal, hud = card(page, "What you expected, and what happened"), card(page, "Where you stand")
    expect(hud).to_contain_text("not yet")
    expect(reveal).not_to_contain_text("Raise N")
    lock = card(page, "Act 1: how busy is it?")
    lock.get_by_text("about 95%").click()
    lock.get_by_text("4", exact=True).click()
    lock.get_by_role("button").click()
    lock.get_by_role("button", name="Seal it").click()
    # On the student's own clock, as the ledger's is not.
    time = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ \w{3}, \d\d:\d\d E[SD]T")
    expect(lock.locator(".mlsys-lab-sealed time")).to_have_text(time)
    expect(hud).to_contain_text(time)
    expect(hud).to_contain_text("Not compared yet")

    lines = reveal.get_by_role("listitem")
    expect(lines).to_have_text(
        ["○Raise N above 4,096 (to do)", "○Choose the Jetson Orin NX (to do)"]
    )
    button = reveal.get_by_role("button", name="Compare with the model")
    expect(button).to_contain_text("(2 things to try first)")
    button.press("Enter")
    expect(reveal.get_by_role("alert")).to_contain_text("Still to try: Raise N above 4,096; Choose")
    picture(page, root, "moves-missing")
    instrument = page.locator(".mlsys-instrument")
    size = instrument.get_by_label(re.compile("^N, typed"))
    size.fill("8192")
    size.press("Enter")
    expect(lines.first).to_have_text("✓Raise N above 4,096 (done)")
    expect(reveal.get_by_role("status")).to_contain_text("Done: Raise N above 4,096. Still to try:")
    expect(reveal.locator(".mlsys-lab-trouble")).to_be_hidden()
    expect(hud).to_contain_text("8,192")
    picture(page, root, "moves-one")
    instrument.get_by_role("combobox", name="Device").select_option("orin-nx")
    expect(reveal.get_by_role("status")).to_contain_text("You can compare now.")
    button.press("Enter")
    expect(reveal.locator(".mlsys-reveal")).to_be_focused()
    expect(reveal.locator(".mlsys-reveal-number strong")).to_have_text("32.3%")
    expect(reveal).to_contain_text("No: 62.7 percentage points too high.Launching takes")
    numbers_unfold(reveal)
    for width in (1100, 500):
        page.set_viewport_size({"width": width, "height": 1000})
        on_one_axis(reveal)
    expect(hud).to_contain_text("Did not hold")
    expect(hud).to_contain_text("You predicted about 95%; the model says 32.3%.")
    for theme in ("Light", "Dark"):
        in_theme(page, theme)
        no_serious_violation(page, ".mlsys-lab")
        picture(page, root, f"moves-{theme.lower()}")

    # A new kernel knows what was tried, and compares at once.
    restart_and_run_all(page)
    expect(reveal.get_by_role("button", name="Compare with the model")).to_have_count(0)
    expect(reveal).to_contain_text("No: 62.7 percentage points too high.")


def seal(page: Page) -> None:
    lock = card(page, "Act 1: how busy is it?")
    lock.get_by_text("about 33%").click()
    lock.get_by_text("4", exact=True).click()
    lock.get_by_role("button").click()
    lock.get_by_role("button", name="Seal it").click()


@pytest.mark.slow  # the walk of a lab restarts and reloads, too
def test_what_was_committed_is_found_after_reload_and_restart(lab):
    page = lab(FLOW)
    seal(page)
    why = card(page, "Why is it idle?")
    why.get_by_text("memory").click()
    why.get_by_role("button", name="Answer").click()

    # What was typed and not committed survives a reload while the kernel lives.
    card(page, "Act 2: does it pay?").get_by_role("textbox").fill("134k")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    reload(page)
    expect(card(page, "Act 2: does it pay?").get_by_role("textbox")).to_have_value("134k")
    expect(card(page, "Act 1: how busy is it?")).to_contain_text("Sealed: about 33%")

    # A new kernel finds what was committed.
    restart_and_run_all(page)
    for _ in ("run again", "loaded again"):
        expect(card(page, "Act 1: how busy is it?")).to_contain_text("Sealed: about 33%")
        expect(card(page, "Why is it idle?")).to_contain_text("Not yet.")
        expect(card(page, "Lab 07: Kernel fusion")).to_contain_text("1 of 2")
        expect(page.locator(".mlsys-instrument .mlsys-sentence")).to_be_visible()
        page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        reload(page)


@pytest.mark.slow
def test_notebook_7_and_a_kernel_that_does_not_answer(lab, lab_server):
    page = lab([SETUP, LOCK, INSTRUMENT])
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    folder = page.url.partition("/tree/")[2].partition("?")[0]
    page.goto(f"{lab_server.url}notebooks/{folder}?token={lab_server.token}")
    lock = card(page, "Act 1: how busy is it?")
    lock.get_by_text("about 33%").click()
    lock.get_by_text("4", exact=True).click()
    lock.get_by_role("button").click()
    expect(lock.get_by_role("button", name="Seal it")).to_be_visible()
    page.get_by_role("button", name="Restart the kernel", exact=True).click()
    with page.expect_response(re.compile(r"/api/kernels/[^/]+/restart\b")):
        page.get_by_role("button", name="Confirm Kernel Restart").click()
    lock.get_by_role("button", name="Seal it").click()
    known = re.compile("nothing can be recorded|^Not recorded")
    expect(lock.get_by_role("alert")).to_contain_text(known)
    expect(page.locator(".mlsys-locked")).to_be_visible()


def reload(page: Page) -> None:
    page.reload()
    cards_come_up(page)


@pytest.mark.slow
def test_every_widget_light_and_dark_narrow_and_wide(lab, root):
    page = lab([*FLOW, *REST])
    ask = card(page, "What do you know, and how well do you know it?")
    for theme in ("Light", "Dark"):
        in_theme(page, theme)
        no_serious_violation(page, ".mlsys-lab")
    picture(page, root, "all-dark-before")

    # Everything is filled in with real clicks, and the notebook is looked at again.
    seal(page)
    card(page, "What you expected, and what happened").get_by_role("button").click()
    context = card(page, "Where does your system run?")
    context.get_by_text("Edge").click()
    expect(context).to_contain_text("A module.")
    expect(card(page, "Lab 07: Kernel fusion")).to_contain_text("Edge")
    gaps = card(page, "In one sentence")
    gaps.get_by_label("Gap 1").select_option("a")
    gaps.get_by_role("button").click()
    expect(gaps.get_by_role("alert")).to_contain_text("Still empty: gap 2.")
    gaps.get_by_label("Gap 2").select_option("r")
    gaps.get_by_role("button").first.click()
    expect(gaps).to_contain_text("All of it is still done.")
    own = card(page, "In your own words")
    own.get_by_role("textbox").fill("That <b>launching</b> costs\nso much.")
    own.get_by_role("button").first.click()
    expect(own).to_contain_text("1 attempt")
    ask.get_by_text("156 FLOP/B").click()
    ask.get_by_text("compute", exact=True).click()
    ask.get_by_text("5", exact=True).first.click()
    ask.get_by_text("4", exact=True).last.click()
    ask.get_by_role("button").click()
    ask.get_by_role("button", name="Lock it in").click()
    expect(ask).to_contain_text("You got 1 of 2 right")
    expect(ask.get_by_role("img", name=re.compile("^Confidence and correctness"))).to_be_visible()
    myths = card(page, "True, or only often said?")
    myths.get_by_text("I doubt it").click()
    myths.get_by_role("button").click()
    expect(myths).to_contain_text("Bytes set the pace.")
    expect(myths).to_contain_text("Graph mode replaces")
    can = card(page, "I can …")
    can.get_by_text("find a ridge point").click()
    can.get_by_role("button").click()
    expect(can).to_contain_text("1 of 2")

    # Every widget is a module of its own: no radio button may uncheck another widget's.
    for title, words in (("Act 1: how busy is it?", "about 33%"),
                         ("Where does your system run?", "Edge")):  # fmt: skip
        open_again(card(page, title))
        expect(card(page, title).get_by_role("radio", name=re.compile(words))).to_be_checked()
    for theme in ("Light", "Dark"):
        in_theme(page, theme)
        for width in (1400, 600):
            page.set_viewport_size({"width": width + 120, "height": 1000})
            nothing_sticks_out(page)
            picture(page, root, f"all-{theme.lower()}-{width}")
        no_serious_violation(page, ".mlsys-lab")


@pytest.mark.slow
def test_a_folder_that_is_gone_and_comes_back(lab):
    away = """\
import os, shutil
os.mkdir("elsewhere")
led = Ledger.open("elsewhere/ledger.jsonl", lab="lab_07_kernel_fusion", student="student-01")
shutil.rmtree("elsewhere")"""
    page = lab([SETUP, away, LOCK, INSTRUMENT])
    seal(page)
    lock = card(page, "Act 1: how busy is it?")
    expect(lock.get_by_role("alert")).to_contain_text("Nothing was saved")
    lock.get_by_role("button", name="Try again").click()
    expect(lock.get_by_role("alert")).to_contain_text("is gone")
    expect(page.locator(".mlsys-locked")).to_be_visible()
    page.evaluate(f"code => {KERNEL}.requestExecute({{code}}).done", "os.mkdir('elsewhere')")
    lock.get_by_role("button", name="Try again").click()
    expect(lock.locator(".mlsys-lab-sealed")).to_contain_text("about 33%")
    expect(page.locator(".mlsys-locked")).to_have_count(0)
