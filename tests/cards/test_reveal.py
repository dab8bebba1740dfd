"""A reveal compares a committed prediction with the model, and gives nothing away before."""

from __future__ import annotations

import pytest

from mlsys_widgets import PredictionLock
from mlsys_widgets import physics as ph

OPTIONS = {"A": "about 95%", "B": "about 70%", "C": "about 33%", "D": "under 5%"}
VALUES = {"A": 0.95, "B": 0.7, "C": 0.33, "D": 0.03}
FEEDBACK = {key: f"Said to {key} alone." for key in OPTIONS}


def a_choice(led, **more):
    return PredictionLock(
        "act1", question="How busy is the GPU?", options=OPTIONS, ledger=led, **more
    )


def a_number(led, **more):
    return PredictionLock("act2", question="How many images?", unit="images", ledger=led, **more)


def test_nothing_is_revealed_before_the_commit(led, browser_of):
    lock = a_choice(led, values=VALUES, unit="%")
    reveal = lock.reveal(model=0.321, measured=0.299, feedback=FEEDBACK)
    page = browser_of(reveal)
    assert not reveal.shown
    for secret in ("32.1", "29.9", *FEEDBACK.values()):
        assert secret not in page.sent + browser_of(lock).sent + str(reveal._repr_mimebundle_())
    with pytest.raises(ValueError, match="opens after you commit"):
        reveal.compare()
    lock.commit("B", 4)
    assert not reveal.shown  # exploring comes first
    assert page.parts["wait"]["html"] == "<p>Compare your prediction with the measurement.</p>"
    assert "32.1" not in page.sent
    page.ask("compare")
    assert reveal.shown
    assert "Said to B alone." in page.said
    assert "No: 40.1 percentage points too high." in page.sent
    for key in "ACD":
        assert FEEDBACK[key] not in page.sent


def test_a_cell_run_after_the_commit_shows_it_at_once(led):
    lock = a_choice(led, values=VALUES, unit="%")
    lock.commit("C", 5)
    reveal = lock.reveal(model=lambda: 0.33, feedback=FEEDBACK)
    assert reveal.right == "C"
    assert "Right. Said to C alone." in reveal.text()
    assert "within rounding of the model" in reveal.text()
    assert "confidence 5 of 5" in reveal.text()


def test_options_without_numbers(led):
    lock = a_choice(led)
    lock.commit("A", 1)
    text = lock.reveal(answer="C", feedback=FEEDBACK).text()
    assert "The answer is: about 33%" in text
    assert "No. Said to A alone." in text


@pytest.mark.parametrize(("typed", "key"), [("1k", "low"), ("130k", "close"), ("10M", "high")])
def test_a_number_low_close_and_high(led, typed, key):
    lock = a_number(led)
    lock.commit(typed, 2)
    feedback = {"low": "Said if low.", "close": "Said if close.", "high": "Said if high."}
    reveal = lock.reveal(model=133_607, distance="times", feedback=feedback)
    assert f"Said if {key}." in reveal.text()
    assert sum(words in reveal.text() for words in feedback.values()) == 1


def test_a_reveal_that_makes_no_sense(led):
    lock = a_choice(led)
    with pytest.raises(ValueError, match="nothing to compare"):
        lock.reveal()
    with pytest.raises(ValueError, match="feedback names Z"):
        lock.reveal(answer="C", feedback={"Z": "?"})
    with pytest.raises(ValueError, match="judged_by is 'me'"):
        lock.reveal(answer="C", judged_by="me")
    with pytest.raises(ValueError, match="distance is 'far'"):
        lock.reveal(answer="C", distance="far")


def test_a_model_that_fails_gets_a_sentence(led, browser_of):
    lock = a_number(led)
    reveal = lock.reveal(model=lambda: {}["gone"])
    lock.commit(5, 1)
    browser_of(reveal).ask("compare")
    assert "This cannot be shown: 'gone'." in reveal.text()
    assert "This cannot be shown" in reveal._repr_mimebundle_()["text/html"]


def test_forms_of_a_model_side_by_side(led):
    lock = a_number(led)
    lock.commit("100", 3)
    forms = {"Textbook": 300.0, "Calibrated": lambda: 80.0}
    feedback = {"low": "Said if low.", "close": "Said if close.", "high": "Said if high."}
    reveal = lock.reveal(model=forms, measured=60, feedback=feedback)
    text = reveal.text()
    assert "Textbook: 300 images" in text
    assert "Calibrated: 80 images" in text
    assert "Measured: 60 images" in text
    assert text.endswith("Close, but a factor of 1.67 too high. Said if high.")  # as measured
    modeled = lock.reveal(model=forms, measured=60, feedback=feedback, judged_by="model")
    assert "a factor of 1.25 above the calibrated form.\nRight. Said if close." in modeled.text()
    with pytest.raises(ValueError, match="nothing to compare"):
        lock.reveal(model={})


def test_what_stands_on_one_axis_is_written_in_one_unit(led):
    lock = PredictionLock("late", question="How late?", unit="s", ledger=led)
    lock.commit("843.8 ms", 3)
    reveal = lock.reveal(model=9.33, measured=12)
    text = reveal.text()
    assert "You predicted: 0.844 s" in text
    assert "9.33 s" in text
    assert "ms" not in text
    outcome = reveal.outcome
    assert (outcome.predicted, outcome.actual) == (
        "0.844 s",
        "measured: 12 s (the model says 9.33 s)",
    )


def test_no_more_digits_are_shown_than_are_known(led):
    lock = a_number(led)
    lock.commit("100", 3)
    text = lock.reveal(model=295.05, measured=64.44, digits=2).text()
    assert "The model says: 300 images" in text
    assert "Measured: 64 images" in text
    assert "a factor of 1.56 above the measurement" in text


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("134", "Far off: a factor of 1,000 too low. Said if low."),
        ("60k", "No: a factor of 2.23 too low. Said if low."),
        ("200k", "Close, but a factor of 1.49 too high. Said if high."),
        ("130k", "Right. Said if close."),
    ],
)
def test_the_verdict_says_how_far_off(led, typed, says):
    lock = a_number(led)
    lock.commit(typed, 2)
    feedback = {"low": "Said if low.", "close": "Said if close.", "high": "Said if high."}
    text = lock.reveal(model=134_000, feedback=feedback).text()
    assert text.endswith(says)
    # One distance is said once.
    assert ("the model" in text.splitlines()[-2]) == says.startswith("Right")


def test_an_option_that_is_near_but_not_the_nearest(led):
    options = {"A": "about 30%", "B": "about a third", "C": "practically all of it"}
    values = {"A": 0.3, "B": 0.33, "C": 0.97}
    lock = PredictionLock(
        "act1", question="?", options=options, values=values, unit="%", ledger=led
    )
    lock.commit("A", 2)
    text = lock.reveal(model=0.33, feedback={"A": "Nearly."}).text()
    assert "No: another option is closer. Nearly." in text
    assert "Your prediction is 3 percentage points below the model." in text
    assert "counted as" not in text  # the option names its number


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ("A", "No: 31.6 percentage points too high. A bound."),
        ("B", "Right. As timed."),
    ],
)
def test_what_really_happens_judges(led, chosen, says):
    """Whoever takes the roof for a forecast is near the model, and gets no praise for it."""
    options, values = {"A": "about 95%", "B": "about 65%"}, {"A": 0.95, "B": 0.65}
    lock = PredictionLock(
        "act1", question="?", options=options, values=values, unit="%", ledger=led
    )
    lock.commit(chosen, 4)
    words = {"A": "A bound.", "B": "As timed."}
    shown = lock.reveal(model=1.0, measured=0.634, answer="B", feedback=words)
    assert says in shown.text()
    comparison, verdict, *_ = shown.parts()
    assert comparison.compared[comparison.counts][:2] == ("Measured", "63.4%")
    assert comparison.numbers.others[comparison.numbers.counts].name == "Measured"
    assert verdict.how_far.endswith("above the measurement.")
    assert "the model" not in verdict.how_far
    assert shown.outcome.actual == "measured: 63.4% (the model says 100%)"


def test_a_wrong_option_is_never_called_close(led):
    options, values = {"A": "about 3×", "B": "about 5×"}, {"A": 3, "B": 5}
    lock = PredictionLock(
        "act1", question="?", options=options, values=values, unit="×", ledger=led
    )
    lock.commit("B", 4)
    text = lock.reveal(model=3.0, feedback={"B": "A belief."}).text()
    assert text.endswith("No: a factor of 1.67 too high. A belief.")


def test_what_an_option_counts_as_is_no_secret(led):
    options = {"A": "about a third", "C": "practically all of it"}
    values = {"A": 0.33, "C": 0.97}
    lock = PredictionLock(
        "act1", question="?", options=options, values=values, unit="%", ledger=led
    )
    lock.commit("C", 5)
    text = lock.reveal(model=0.33, feedback={"C": "A third."}).text()
    assert "You predicted: practically all of it (counted as 97%, confidence 5 of 5)" in text
    assert "No: 64 percentage points too high. A third." in text


def test_worked_numbers_and_a_second_case(led, browser_of):
    lock = a_choice(led, values=VALUES, unit="%")
    spotter = ph.forward_pass(1000, 5e-6, 10e-6)
    reveal = lock.reveal(
        model=spotter.utilization,
        worked=lambda: {"Ridge": (152.9, "FLOP/B"), "Limit": "the launches"},
        contrast={"GPT-2-like layer": lambda: (0.91, "%")},
    )
    page = browser_of(reveal)
    lock.commit("C", 3)
    for secret in ("152.9", "launches", "GPT-2"):
        assert secret not in page.sent
    page.ask("compare")
    (first, worked), (second, contrast) = page.parts["behind"]["groups"]
    assert (first, worked[0][:2]) == ("The numbers behind it", ["Ridge", "152.9 FLOP/B"])
    assert (second, contrast[0][:2]) == ("For contrast", ["GPT-2-like layer", "91%"])
    text = reveal.text()
    behind = "The numbers behind it\nRidge: 152.9 FLOP/B\nLimit: the launches"
    assert f"{behind}\nFor contrast\nGPT-2-like layer: 91%" in text
    assert "152.9 FLOP/B" in reveal.html()


def test_a_result_of_physics_brings_its_formulas(led):
    lock = a_choice(led, values=VALUES, unit="%")
    lock.commit("C", 3)
    text = lock.reveal(model=0.33, worked=ph.forward_pass(1000, 5e-6, 10e-6)).text()
    wanted = "Fraction of the time spent computing: 33.3% (U = t_compute / T = 5 ms / 15 ms)"
    assert wanted in text


def test_a_worked_number_that_cannot_be_shown_is_named(led):
    lock = a_choice(led, values=VALUES, unit="%")
    lock.commit("C", 3)
    text = lock.reveal(model=0.33, worked={"Ridge": ("much", "FLOP/B")}).text()
    assert "This cannot be shown: Ridge cannot be shown" in text
    assert "give words, a number, or (number, unit)" in text


def test_what_never_happens_is_beyond_every_number(led, browser_of):
    lock = a_number(led)
    reveal = lock.reveal(
        model=float("inf"), measured=60.0, feedback={"low": "Said if low."}, judged_by="model"
    )
    page = browser_of(reveal)
    lock.commit("100", 3)
    page.ask("compare")
    assert "The model says: never" in reveal.text()
    assert "Far off: no number is large enough. Said if low." in reveal.text()
    assert "Your prediction is" not in reveal.text()
    assert '<tspan font-weight="600">never</tspan>' in page.parts["compared"]["html"]


def test_without_feedback_the_distance_leads(led):
    lock = a_number(led)
    lock.commit("100", 3)
    *_, verdict = lock.reveal(model=50.0).parts()
    assert verdict.spec()["lead"] == "Your prediction is a factor of 2 above the model."
