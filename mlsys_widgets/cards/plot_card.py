"""A card that stands above a plot, and the plots below it."""

from __future__ import annotations

import bqplot

from mlsys_widgets.cards.card import Card
from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments.control_panel import ControlPanel
from mlsys_widgets.instruments.plot import Plot


class PlotCard(Card):
    """A card that stands above a plot: the plots' own style comes along."""

    _css = "\n".join(style.read_text("utf-8") for style in (ControlPanel.STYLE, Card.STYLE))


class CardPlots:
    """The plots of a card, by name: each is made when it is first shown and updated afterward."""

    def __init__(self) -> None:
        self._plots: dict[str, Plot] = {}

    def figure(self, name: str, scene: Scene) -> bqplot.Figure:
        """The figure that shows a scene."""
        if name in self._plots:
            self._plots[name].update(scene)
        else:
            self._plots[name] = Plot(scene)
        return self._plots[name].figure
