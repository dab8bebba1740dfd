"""In an assignment, a card and a ledger say the same whether an answer is right or not.

What a student could try: record one answer after the other, and look for a difference in words,
buttons, steps, or in what is written. Errors of form are told, and no number within the limits of
a question is one.
"""

from __future__ import annotations

from pathlib import Path

from mlsys_widgets.cards.question_card import QuestionCard
from mlsys_widgets.judging.checks_file import load_checks
from mlsys_widgets.judging.keys import CodeKey, Given
from mlsys_widgets.labs import load
from mlsys_widgets.labs.asked import Checked
from mlsys_widgets.labs.student_steps import progress, saved_progress, steps_of
from mlsys_widgets.ledger import Ledger
from tests.labs.rehearsal import ROOT


def traces(folder: Path, lab, name: str, item, answer) -> list[object]:
    """All that recording an answer leaves, without the two places where the answer itself is."""
    folder.mkdir()
    ledger = Ledger.open(folder / "ledger.jsonl", lab=lab.name, student="ann")
    card = QuestionCard(name, item, ledger=ledger)
    card._asked(None, {"action": "record", "values": {"answer": str(answer)}}, None)
    kept = ledger.state().answers[name]
    shown = {part["key"]: part for part in card._card.view.pop("parts")}
    assert item.in_words(kept.value) in str(shown.pop("recorded"))
    shown.pop("answer", None)  # what was typed
    (step,) = (each for each in steps_of(lab, {name: item}) if each.name == name)
    return [
        [{n: v for n, v in part.items() if n != "time"} for part in shown.values()],
        {n: v for n, v in card._card.view.items() if n not in ("stamp", "said", "item")},
        progress(step, saved_progress(ledger.state(), lab.name)),
        [(each.kind, sorted(each.value)) for each in ledger.events()],
        sorted(ledger.state().answers),
        sorted(path.name for path in folder.iterdir()),
    ]


def test_recording_leaves_the_same_whatever_is_right(lab, tmp_path):
    home = ROOT / "assignments" / lab
    declared, checks = load(home), load_checks(home)
    p = declared.draw("ann")
    seen = 0
    for name, item in declared.items(p).items():
        if not isinstance(item, Checked) or name not in checks:
            continue
        try:
            key = checks[name](Given(p, home))
        except ValueError:  # of a measurement, which there is none of
            continue
        if isinstance(key, CodeKey):
            continue
        wrong = [each.value for each in key.beliefs if not each.form]
        answers = [key.value, *wrong]
        found = [
            traces(tmp_path / f"{name}-{k}", declared, name, item, answer)
            for k, answer in enumerate(answers)
        ]
        assert found == [found[0]] * len(found), name
        seen += len(wrong) > 0
    assert seen >= 3, "hardly any question was tried"
