"""Equations that open on a click, typeset where LaTeX can be."""

from __future__ import annotations

from typing import Any

import pytest

from mlsys_widgets import PredictionLock
from mlsys_widgets import physics as ph
from mlsys_widgets.cards.math_peek import MathPeek
from mlsys_widgets.physics import notation

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def law() -> Any:
    return ph.iron_law(data=100e6, operations=4e9, device="h100-sxm")


def test_it_opens_without_a_script(law: Any) -> None:
    closed = MathPeek("The iron law", law).value
    assert "<details class='mlsys-peek'><summary>The iron law</summary>" in closed
    assert "<details class='mlsys-peek' open>" in MathPeek("The iron law", law, opened=True).value


def test_latex_survives_markdown() -> None:
    text = r"Sum of *two*: $t_{a_1} + t_{b_2} < \frac{D}{BW}$ and $$x_1 \\ y_1$$ but 3 $ is money."
    html = MathPeek("Terms", text).value
    assert r"$t_{a_1} + t_{b_2} &lt; \frac{D}{BW}$" in html
    assert r"$$x_1 \\ y_1$$" in html
    assert "<em>two</em>" in html
    assert "3 $ is money" in html


def test_tables_and_lists_are_read() -> None:
    html = MathPeek("Terms", "| a | b |\n|---|---|\n| $x$ | 2 |\n\n- one\n- two").value
    assert "<table>" in html
    assert "<td>$x$</td>" in html
    assert html.count("<li>") == 2


def test_html_is_shown_and_not_obeyed() -> None:
    html = MathPeek("<b>T</b>", {"<i>h</i>": "<script>alert(1)</script> $</details>$"}).value
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("</details>") == 1


def test_a_result_shows_its_derivation(law: Any) -> None:
    peek = MathPeek("The iron law", {"In short": "$T = D/BW + O/R + L$", "In steps": law})
    assert law.derivation().to_html(notation.MATHML) in peek.value
    assert "<h4>In short</h4>" in peek.value
    assert law.derivation().to_text() in peek.text()
    assert ph.format_quantity(law.total, "s") in peek.text()


def test_without_numbers_it_shows_formulas_and_symbols(law: Any) -> None:
    peek = MathPeek("The iron law", law, numbers=False)
    assert "29.9" not in peek.value
    assert "T = t_memory + t_compute + L" in peek.text()
    assert "BW: memory bandwidth (B/s)" in peek.text()
    assert "<mi>BW</mi></math>: memory bandwidth (B/s)" in peek.value
    assert "<var>BW</var>: memory bandwidth (B/s)" in peek.html()
    fits = MathPeek("Fits", ph.capacity(1e9, "h100-sxm"), numbers=False)
    assert "OOM: D > C" in fits.text()


def test_a_derivation_can_be_given_as_such(law: Any) -> None:
    peek = MathPeek("One step", [law.derivation("memory_time"), law.total])
    assert peek.text().count("t_memory = D / BW") == 2
    assert "t_compute" in peek.text()


def test_the_peek_has_a_still_twin(law: Any) -> None:
    peek = MathPeek("The iron law", law)
    bundle = peek._repr_mimebundle_()
    assert VIEW in bundle
    # A page that cleans what it shows keeps no MathML, and would leave "t memory = D BW".
    assert bundle["text/html"] == peek.html()
    assert "<math" in peek.value
    assert "<math" not in peek.html()
    assert law.derivation().to_html() in peek.html()
    assert bundle["text/plain"].startswith("The iron law\nt_memory = D / BW")


@pytest.mark.parametrize("equations", [(), {}, [], {"Heading": []}])
def test_an_empty_peek_is_refused(equations: Any) -> None:
    with pytest.raises(ValueError, match="equations is empty; give Markdown"):
        MathPeek("Nothing", equations)


@pytest.mark.parametrize("equations", [3, [None], {"a": 1.5}])
def test_what_is_no_equation_is_refused(equations: Any) -> None:
    with pytest.raises(ValueError, match="equations holds"):
        MathPeek("Nothing", equations)


def test_it_waits_for_its_gate(led: Any, law: Any) -> None:
    lock = PredictionLock("x", question="How many?", ledger=led)
    peek = MathPeek("The iron law", law, after=[lock])
    assert peek.text() == "The iron law\nOpens after you commit your prediction: “How many?”."
    assert "29.9" not in peek.value
    lock.commit(1, 1)
    assert "29.9" in peek.value
