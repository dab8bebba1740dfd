"""A policy that students write, from the page for authors to the points, by record and in nbgrader.

Attacks come first: whatever a policy does in its process, its decisions are all that comes back.
"""

from __future__ import annotations

import shutil

import pytest

from tests.grading.classroom import LAB, grade, of, record, rows
from tests.grading.test_code_answers import Workshop, lab_of_the_page
from tests.labs.rehearsal import nbgrader, run_tool
from tests.sampling import sample

pytestmark = pytest.mark.timeout(900)
NAME = "admission_policy"
HEAD = "import sys\ndef admit(free_pages, running, waiting):\n    "
#: Fewer pages than the best known policy keeps, and more.
FILLING = (
    "count = 0\n    for tokens, _ in waiting:\n        free_pages -= -(-tokens // 16)\n"
    "        if free_pages < {} * (len(running) + count + 1):\n            break\n"
    "        count += 1\n    return count"
)
#: Every frame below the policy, down to the driver's.
FRAMES = (
    "frame, names = sys._getframe(1), []\n    while frame:\n        names.append(frame)\n"
    "        frame = frame.f_back\n    "
)
#: It keeps the pages that each answer will have had at its end, which nobody can know yet.
FORESEES = (
    "engine = next(f.f_locals['engine'] for f in names if 'engine' in f.f_locals)\n"
    "    def pages(one):\n        return -(-(one.prompt + one.answer) // 16)\n"
    "    left, count = 64 - sum(map(pages, engine.held.values())), 0\n"
    "    for one, _ in zip(engine.waiting, waiting):\n        left -= pages(one)\n"
    "        if left < 0:\n            break\n        count += 1\n    return count"
)
WRITTEN = {
    # The driver, its module and the engine are changed where it runs.
    "patches": HEAD
    + "import mlsys_widgets.physics.admission as a\n    a.AdmissionRun.serve = lambda *_: None\n"
    "    a.MOST_DECISIONS = 10**9\n    return 0 if running else 1",
    # A list of its own in place of what it decided.
    "forges": HEAD
    + FRAMES
    + "made = next(f.f_locals['decided'] for f in names if 'decided' in f.f_locals)\n"
    "    made.extend([1] * 28)\n    return len(waiting)",
    # All answers at once, whatever there is.
    "claims": HEAD + "return 10**6",
    "endless": HEAD + "while True: pass",
    "leaves": HEAD + "import os; os._exit(0)",
    "endless late": HEAD + "while len(running) > 2: pass\n    return 1",
    "foresees": HEAD + FRAMES + FORESEES,
}
EARNED = {
    "right": (HEAD + FILLING.format(2), 10.0),
    "careful": (HEAD + FILLING.format(3), 10.0),
    "crowding": (HEAD + FILLING.format(0), 4.0),
    "alone": (HEAD + "return 0 if running else 1", 0.0),
    **{name: (source, 0.0) for name, source in WRITTEN.items()},
    "nobody": (None, 0.0),
}
#: Whom stock nbgrader grades as well, which runs a whole notebook for each.
BY_STOCK = sample(sorted(EARNED, key=["crowding", "forges"].__contains__, reverse=True), 2)
SAYS = {
    "patches": "it returns more than can be read",
    "forges": "it fails: it",
    "claims": "it lets 1000000 in where 1 wait",
    "endless": "stopped after 500,000 steps",
    "leaves": "it gave nothing that can be read",
    "endless late": "stopped after 500,000 steps",
    "foresees": "shown the same so far, and decided differently",
    "crowding": "read again.",
    "nobody": "Not answered.",
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class with these policies, graded by record and by stock nbgrader."""
    place = tmp_path_factory.mktemp("policies")
    recorded = Workshop(place / "recorded", LAB)
    recorded.root.mkdir()
    more = "Code,\n    Game,\n    Impossible"
    home = lab_of_the_page(recorded.root, "policies.md", more, "from asks import ADMISSION, run_of")
    text = (home / "asks.py").read_text("utf-8")
    (home / "asks.py").write_text(text.replace("    Game,\n", "    Game,\n    Played,\n"), "utf-8")
    built = run_tool(recorded.root, "mlsys_widgets", "build", LAB)
    assert built.returncode == 0, built.stderr
    nbgrader(recorded.root, ["generate_assignment", LAB, "--force"])
    for student, (source, _) in EARNED.items():
        answers = {**recorded.asked(student).right(), NAME: source}
        record(recorded, student, {n: each for n, each in answers.items() if each is not None})
    stock = Workshop(place / "stock", LAB)
    shutil.copytree(recorded.root, stock.root)
    for student in set(EARNED) - set(BY_STOCK):
        shutil.rmtree(stock.root / "submitted" / student)
    told = run_tool(stock.root, "nbgrader", "autograde", LAB)
    assert told.returncode == 0, told.stderr
    return recorded, stock, grade(recorded)


@pytest.mark.parametrize("student", EARNED)
def test_a_policy_earns_what_its_decisions_are_worth(graded, student):
    *_, found = graded
    (score,) = (each for each in found[student].scores if each.name == NAME)
    assert score.auto == EARNED[student][1], score.says
    assert SAYS.get(student, "") in score.says


@pytest.mark.parametrize("student", BY_STOCK)
def test_stock_nbgrader_agrees(graded, student):
    recorded, stock, _ = graded
    assert of(student, rows(recorded.root)) == of(student, rows(stock.root))


def test_students_get_the_driver_and_no_hidden_run(graded):
    recorded, *_ = graded
    for path in (recorded.root / "release" / LAB).iterdir():
        text = path.read_text("utf-8")
        for word in ("CodeKey", "_admit(", "keep two pages", '"hidden"'):
            assert word not in text, path.name
