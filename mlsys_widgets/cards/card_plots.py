"""The plots below a card."""

from __future__ import annotations

import bqplot

from mlsys_widgets.drawing.scene import Scene
from mlsys_widgets.instruments.plot import Plot


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
