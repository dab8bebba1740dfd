"""A studio for the pictures of the pages: a server, a student's labs, a graded class, a clock.

Everything that can be seen in a picture is made up and fixed: names, dates, what a student did, a
class of simulated students. So a picture changes only when the product does.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zoneinfo import ZoneInfo

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from mlsys_widgets.course.calendar import LabDates, LatePolicy
from mlsys_widgets.course.due_words import as_data
from mlsys_widgets.course.own_dates import LAB_DATES, OwnDates
from mlsys_widgets.hub.running.settings import welcome, write_settings
from mlsys_widgets.labs import load
from mlsys_widgets.labs.about_lab import title_of
from mlsys_widgets.ledger import DesignForm, Ledger
from mlsys_widgets.server.start_page_dates import refresh_start_page
from tests.browser.conftest import READY, Lab, running
from tests.labs.rehearsal import committed, nbgrader, run_tool, some_design

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "_static" / "pictures"
THEMES = ("light", "dark")
SIZE = {"width": 1280, "height": 720}
#: Colors of a kept picture: enough for text and charts, in a third of the bytes.
COLORS = 128

EARLIER, LAB, LATER = "lab_07_kernel_fusion", "lab_11_roofline", "lab_review_foundations"
#: The moment at which everything is seen: on the browser's clock, and in what the server says.
NOW = datetime(2026, 3, 6, 16, 20, tzinfo=UTC)
DATES = OwnDates(
    {
        lab: LabDates(due=datetime(2026, 3, day, 22, 59, tzinfo=UTC), late=LatePolicy(10, 15, 50))
        for lab, day in ((LAB, 9), (LATER, 23))
    },
    ZoneInfo("Europe/Berlin"),
)
#: The class: how many, and plain work only, so that a page shows what it shows on a plain day.
STUDENTS, KINDS = 16, "right,mostly-right,misconceived,late"
#: Whose submission and feedback are shown.
SHOWN = "student-002"


@dataclass
class Picture:
    """A picture as the browser drew it, and the words on it."""

    png: bytes
    text: str

    def keep(self, name: str, folder: Path = PICTURES) -> None:
        """Write it as the pages show it, with its words beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        drawn = Image.open(BytesIO(self.png)).convert("RGB")
        drawn.quantize(COLORS, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)
        (folder / f"{name}.txt").write_text(self.text, "utf-8")


# The words that a reader of the picture can see: inside its frame, and not behind something else.
_WORDS = """box => {
  const lines = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const words = walker.currentNode.textContent.replace(/\\s+/g, ' ').trim();
    if (!words) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const seen = [...range.getClientRects()].some(({ x, y, width, height }) => {
      const [left, top] = [x + width / 2, y + height / 2];
      if (width < 1 || height < 1 || left < box.x || top < box.y
          || left > box.x + box.width || top > box.y + box.height) return false;
      const front = document.elementFromPoint(left, top);
      const own = walker.currentNode.parentElement;
      return front !== null && (own.contains(front) || front.contains(own));
    });
    if (seen) lines.push(words);
  }
  return lines.join('\\n') + '\\n';
}"""


def take(page: Page, clip: dict[str, float] | None = None) -> Picture:
    """A picture of a page, or of a part of it, and the words in it."""
    frame = clip or {"x": 0, "y": 0, **page.viewport_size}
    page.evaluate("document.activeElement?.blur()")
    text = page.evaluate(_WORDS, frame)
    return Picture(page.screenshot(clip=clip, animations="disabled", caret="hide"), text)


def around(*places: Locator, margin: int = 12) -> dict[str, float]:
    """The part of a page that holds some places."""
    boxes = [box for place in places if (box := place.bounding_box())]
    x, y = (max(0, min(box[side] for box in boxes) - margin) for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + margin
    bottom = max(box["y"] + box["height"] for box in boxes) + margin
    return {"x": x, "y": y, "width": right - x, "height": bottom - y}


def evening(minutes: int) -> Callable[[], datetime]:
    """A clock for a ledger: the evening before, some minutes between two events."""
    moments = iter(range(1000))
    return lambda: NOW - timedelta(days=1) + timedelta(minutes=minutes * next(moments))


def study(folder: Path) -> None:
    """Lay out what a student has: an earlier lab with its design, and the first act of the next."""
    for lab in (EARLIER, LAB, LATER):
        shutil.copytree(ROOT / "release" / lab, folder / lab)
    for lab, dates in DATES.labs.items():
        own = OwnDates({lab: dates}, DATES.zone, titles={lab: title_of(folder / lab)})
        (folder / lab / LAB_DATES).write_text(own.as_text(), "utf-8")
    welcome(folder)
    refresh_start_page(folder, NOW)
    asked = load(folder / EARLIER)
    done = Ledger.open(
        folder / EARLIER / "ledger.jsonl",
        lab=EARLIER,
        student=Lab.student,
        clock=lambda: NOW - timedelta(days=9),
        new_id=lambda: "7" * 32,
    )
    form = DesignForm(EARLIER, asked.chapter, asked.design)
    done.save_design(some_design(form), form)
    ledger = Ledger.open(
        folder / LAB / "ledger.jsonl",
        lab=LAB,
        student=Lab.student,
        clock=evening(6),
        new_id=lambda: "1" * 32,
    )
    wall = load(folder / LAB).items(load(folder / LAB).draw(Lab.student))["act1_wall"]
    ledger.commit_prediction("act1_wall", "A", 4, words=wall.in_words("A"))
    for path in (*folder.rglob("*"), folder):
        os.utime(path, ((NOW - timedelta(days=1)).timestamp(),) * 2)


def teach(root: Path) -> None:
    """Lay out a course whose class is graded, with its report and the feedback of one student."""
    committed(root, LAB)
    with (root / "assignments" / "course.toml").open("a") as settings:
        settings.write('\ndeeper = "required"\n')  # so that there is an essay to grade
    built = run_tool(root, "mlsys_widgets", "build", LAB)
    assert built.returncode == 0, built.stdout + built.stderr
    nbgrader(root, ["generate_assignment", LAB, "--force"])
    for words in (
        ("simulate", LAB, "--students", str(STUDENTS), "--seed", "11", "--kinds", KINDS),
        ("grade", LAB),
        ("report", LAB, "--output", "report.html"),
    ):
        done = run_tool(root, "mlsys_widgets", *words)
        assert done.returncode == 0, done.stdout + done.stderr
    _number_submissions(root)
    nbgrader(root, ["generate_feedback", LAB, "--student", SHOWN])


def _number_submissions(root: Path) -> None:
    """Formgrader sorts submissions by ids that nbgrader draws at random: sort them by student."""
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as db, db:
        found = db.execute(
            "select n.id from submitted_notebook n join submitted_assignment a"
            " on n.assignment_id = a.id order by a.student_id"
        ).fetchall()
        for number, (drawn,) in enumerate(found, 1):
            for place in ("submitted_notebook set id", "grade set notebook_id",
                          "comment set notebook_id"):  # fmt: skip
                own = place.rpartition(" ")[2]
                db.execute(f"update {place} = ? where {own} = ?", (f"{number:032x}", drawn))


# A server says how long it is until a lab is due, and its clock is real. In the pictures it is the
# day that they show: what our own code says on that day takes the place of the answer.
_ON_THE_DAY = """(() => {
  const ask = window.fetch;
  window.fetch = async (...about) => {
    const answer = await ask(...about);
    const asked = `${about[0].url ?? about[0]}`;
    if (!asked.includes('/mlsys/lab?') || answer.status !== 200) return answer;
    const said = { ...(await answer.json()), due: %s };
    return new Response(JSON.stringify(said), { headers: answer.headers });
  };
})()"""


@dataclass
class Studio:
    """A running server, and a browser in front of it."""

    lab: Lab
    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)

    def open(self, address: str, theme: str = "light") -> Page:
        """Open an address in a new window, on the clock of the pictures."""
        context = self.browser.new_context(
            viewport=SIZE, color_scheme=theme, locale="en-US", timezone_id="Europe/Berlin"
        )
        self.contexts.append(context)
        context.set_default_timeout(READY)
        page = context.new_page()
        page.clock.set_system_time(NOW)
        page.add_init_script(_ON_THE_DAY % json.dumps(as_data(DATES, LAB, NOW)))
        page.goto(address, wait_until="load")
        return page

    def served(self, path: str) -> str:
        """The address of something that the server shows."""
        return f"{self.lab.url}{path}{'&' if '?' in path else '?'}token={self.lab.token}"

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@contextlib.contextmanager
def studio(home: Path, browser: Browser) -> Iterator[Studio]:
    """A server as a student of our hub has it, with a TA's formgrader beside.

    It serves ``root`` in a folder; what is in it may be laid out before or after the start.
    """
    root, settings = home / "root", home / "settings"
    course = root / "course"
    course.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {
        "course_id": "mlsys", "exchange": home / "exchange", "course": course,
    }  # fmt: skip
    write_settings(settings, "instructor", **about)
    # The server of a TA, and in the browser nothing that a student does not have.
    write_settings(home / "student", "student", **about)
    shutil.copytree(home / "student" / "labconfig", settings / "labconfig", dirs_exist_ok=True)
    command = [
        sys.executable, "-m", "jupyterlab", "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={root}",
    ]  # fmt: skip
    with (
        patch.dict(os.environ, JUPYTER_CONFIG_PATH=str(settings)),
        running(command, home, root, cwd=course) as lab,
    ):
        made = Studio(lab, browser)
        yield made
        made.close()


def submission(course: Path, student: str = SHOWN) -> str:
    """The id of a submitted notebook, which nbgrader draws at random."""
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as db:
        ((found,),) = db.execute(
            "select n.id from submitted_notebook n join submitted_assignment a"
            " on n.assignment_id = a.id where a.student_id = ?",
            (student,),
        ).fetchall()
    return str(found)
