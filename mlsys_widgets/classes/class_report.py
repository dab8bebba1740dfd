"""How a class did in a lab, in a notebook: one chart at a time, and nobody's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import ipywidgets

from mlsys_widgets.cards.card import Action, LabWidget, Values
from mlsys_widgets.cards.card_plots import CardPlots
from mlsys_widgets.cards.parts import Options, Part, Prose, Rows
from mlsys_widgets.classes.class_charts import chart_groups
from mlsys_widgets.classes.lecture_page import TOO_FEW, lecture_charts
from mlsys_widgets.classes.summary import ClassSummary
from mlsys_widgets.drawing import picture
from mlsys_widgets.drawing.charts import Chart, scene
from mlsys_widgets.drawing.picture import Theme
from mlsys_widgets.wording.choices import one_of

#: Explanations above a chart; more would push it off the screen.
_EXPLANATIONS = 3
_NOTHING: Final = "Nobody has handed in this lab yet, or nothing is graded."
_FOR_STAFF: Final = (
    "For staff, because groups of fewer than five are shown as they are. To show it to a class:"
    " `ClassReport(summary, for_lecture=True)`."
)


class ClassReport(LabWidget):
    """A class in a lab, chart by chart.

    Parameters
    ----------
    summary
        The class, as `class_summary` returns it.
    for_lecture
        Whether students may see it: only the charts of ``mlsys report --for-lecture``, where groups
        of fewer than five are merged. Otherwise it is for staff, and says so.

    Examples
    --------
    >>> from mlsys_widgets.classes import ClassSummary
    >>> print(ClassReport(ClassSummary("lab_00_demo", "A demonstration", 100)).text())
    The class: A demonstration
    Nobody has handed in this lab yet, or nothing is graded.
    """

    kind = "The class"
    tone = "blue"

    def __init__(self, summary: ClassSummary, *, for_lecture: bool = False) -> None:
        super().__init__(summary.title)
        groups = lecture_charts(summary) if for_lecture else chart_groups(summary)
        self._for_lecture = for_lecture
        self._nothing = TOO_FEW if for_lecture and summary.rows else _NOTHING
        self._groups = {group.key: group for group in groups}
        self._shows = dict.fromkeys(self._groups, 0)
        self._group = next(iter(self._groups), "")
        self._plots = CardPlots()
        self.show()

    @property
    def chart(self) -> Chart | None:
        """The chart that is shown; ``None`` if there is nothing to see."""
        if not self._group:
            return None
        return self._groups[self._group].charts[self._shows[self._group]]

    @property
    def pictures(self) -> tuple[str, ...]:
        """The keys of all charts, for `look`."""
        return tuple(chart.key for group in self._groups.values() for chart in group.charts)

    def look(self, key: str) -> None:
        """Show a chart.

        Raises
        ------
        ValueError
            With a sentence that lists the charts there are.
        """
        one_of("picture", key, self.pictures)
        for name, group in self._groups.items():
            for place, chart in enumerate(group.charts):
                if chart.key == key:
                    self._group, self._shows[name] = name, place
        self.show()

    # What the card shows, and what its controls do.

    def actions(self) -> Mapping[str, Action]:
        """Choose a kind of chart, and one chart of that kind."""
        return {"choose": self._on_choose, "look": self._on_look}

    def _on_choose(self, values: Values) -> None:
        self._group = one_of("picture", str(values.get("group")), tuple(self._groups))
        self._announce()

    def _on_look(self, values: Values) -> None:
        self.look(str(values.get("chart")))
        self._announce()

    def _announce(self) -> None:
        if chart := self.chart:
            self._say(f"{chart.heading} {chart.finding}")

    def parts(self) -> Sequence[Part]:
        """The choice of charts, and the chosen one in words."""
        chart = self.chart
        if chart is None:
            return [Prose("empty", self._nothing)]
        group = self._groups[self._group]
        kinds = {key: each.title for key, each in self._groups.items()}
        parts: list[Part] = [
            Options("group", "Look at", kinds, self._group, inline=True, asks="choose")
        ]
        if len(group.charts) > 1:
            listed = {each.key: each.title for each in group.charts}
            parts.append(Options("chart", "Which one", listed, chart.key, inline=True, asks="look"))
        parts.append(Prose("finding", chart.finding, tone="blue", label=chart.heading))
        explained = [(bar.label, bar.explanation) for bar in chart.bars if bar.explanation]
        if explained:
            parts.append(Rows("explanations", tuple(explained[:_EXPLANATIONS])))
        if not self._for_lecture:
            parts.append(Prose("staff", _FOR_STAFF, quiet=True))
        return parts

    def below(self) -> tuple[ipywidgets.Widget, ...]:
        """The plot of the chosen chart."""
        chart = self.chart
        return (self._plots.figure(chart.key, scene(chart)),) if chart else ()

    def figure_words(self) -> str:
        """Return the chosen chart in words."""
        return self.chart.description if self.chart else ""

    def figure(self, theme: Theme = "light") -> str:
        """Draw the chart that is shown, as SVG for a slide.

        Parameters
        ----------
        theme
            ``"light"`` for white slides, or ``"dark"``.

        Raises
        ------
        ValueError
            If there is nothing to see.
        """
        if chart := self.chart:
            return picture.svg((scene(chart),), chart.description, theme=theme)
        raise ValueError("There is no picture yet: nobody has handed in this lab.")

    def picture_below(self) -> str:
        """The chart on a page without a kernel."""
        return self.figure() if self.chart else ""
