"""Whatever a student does, every page tells the same of it: one state for each step."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from mlsys_widgets.cards import announcements
from mlsys_widgets.cards.open_lab import open_lab
from mlsys_widgets.handin.archive import hand_in
from mlsys_widgets.handin.missing import what_is_missing
from mlsys_widgets.handin.work import read_work
from mlsys_widgets.labs.identity import VARIABLE, student
from mlsys_widgets.server.reports import Reports
from tests.grading.classroom import LAB, classroom
from tests.sampling import sample

#: Ways of a student through the lab, each of so many moves.
WAYS, MOVES = 8, 14


@pytest.fixture
def notebook(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(VARIABLE, "student-01")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return classroom(tmp_path / "course").give(tmp_path / LAB) / f"{LAB}.ipynb"


class Walk:
    """A lab that somebody works on, and what its pages say."""

    def __init__(self, notebook: Path, chance: random.Random) -> None:
        self.notebook, self.chance = notebook, chance
        self.work, self.reports = read_work(notebook), Reports()
        self.restart()

    def restart(self) -> None:
        """Begin a kernel: everything that is shown comes from the files."""
        self.lab = open_lab(LAB, folder=self.notebook.parent)
        self.hud, self.record = self.lab.hud(), self.lab.record("commitments")

    def move(self) -> str:
        """Do something that a student could do now, and say what."""
        card, chance = self.lab.card, self.chance
        moves = {
            "predict": lambda: card("act1_bound").commit("B", 3),
            "compute": lambda: card("intensity_flop_per_byte").record(chance.choice((90, 100))),
            "choose": lambda: card("limit").record(chance.choice(("memory", "compute"))),
            "err": lambda: card("act1_why").answer("more"),
            "understand": lambda: card("act1_why").answer("larger"),
            "write": lambda: card("advice").record(chance.choice(("Buy memory.", "Fuse it."))),
            "hand in": lambda: hand_in(self.work, "student-01"),
            "restart": self.restart,
        }
        name = chance.choice(list(moves))
        try:
            moves[name]()
        except ValueError:  # a gate is closed, or it is sealed already
            return f"{name} was refused"
        if name == "hand in":
            announcements.look_everywhere()  # as the panel asks for
        return name

    def panel(self) -> dict[str, str]:
        """What panel and status bar get for each step."""
        found = self.reports.of(self.work.ledger).as_data(self.work.steps)
        return {step["id"]: f"{step['sign']} {step['words']}" for step in found["steps"]}

    def cards(self) -> dict[str, str]:
        """What HUD and record say, which is never two things."""
        said: dict[str, set[str]] = {}
        titles = {step.called: step.name for step in self.lab.steps}
        for line in (*self.hud.text().splitlines(), *self.record.text().splitlines()):
            found = re.fullmatch(r"(\S) ([^:]+): (.+)", line)
            if found and found[3] in titles:
                said.setdefault(titles[found[3]], set()).add(f"{found[1]} {found[2].lower()}")
        assert all(len(each) == 1 for each in said.values()), said
        return {name: each.pop() for name, each in said.items()}

    def missing(self) -> set[str]:
        """The steps that a hand-in would be without."""
        words = [m.words for m in what_is_missing(self.work, student(self.work.folder))]
        return {step.name for step in self.work.steps if any(step.title in w for w in words)}


@pytest.mark.parametrize("way", sample(range(WAYS), 3))
def test_cards_panel_record_and_hand_in_agree_after_every_move(notebook, way):
    walk, done = Walk(notebook, random.Random(way)), []
    for _ in range(MOVES):
        done.append(walk.move())
        told = walk.panel()
        assert walk.cards() == told, done
        if walk.work.ledger.exists():
            assert walk.missing() == {n for n, w in told.items() if w[0] in "○◐"}, done
        for name, words in told.items():
            line = walk.lab.card(name).handed_in
            assert bool(re.match("In the file", line)) == (words[2:13] == "in the file"), done
