"""Widgets whose browser side is made when somebody looks, and not before.

Most of what a widget costs is its browser side: the widgets inside it, their layouts, a message for
each. A lab makes dozens of cards and instruments, as gates for each other and for grading, where no
browser ever looks at them. Therefore these widgets keep what they know in Python, and put off two
things: announcing themselves to the browser, until somebody asks for ``model_id``, which whoever
shows a widget needs; and making what is inside, until somebody reads ``children``.
"""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakSet

import ipywidgets
import traitlets


class LazyWidget(ipywidgets.Widget):
    """A widget that a browser hears of when it is first shown. Put it before the other bases."""

    def open(self) -> None:
        """Do nothing: ipywidgets calls this for every new widget, and nobody looks at it yet."""

    @property
    def model_id(self) -> str:
        """The browser's name of this widget, which hears of it now if it has not before."""
        if self.comm is None:
            super().open()
        name: str = super().model_id
        return name

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        # ipywidgets writes down the name and does not ask for it.
        assert self.model_id
        return dict(super()._repr_mimebundle_(**options) or {})


class LazyBox(LazyWidget, ipywidgets.VBox):
    """A box that is filled when it is first looked into.

    Examples
    --------
    >>> class Greeting(LazyBox):
    ...     def face(self):
    ...         print("made")
    ...         return (ipywidgets.HTML("Hello"),)
    >>> greeting = Greeting()
    >>> greeting.has_face
    False
    >>> len(greeting.children), greeting.has_face
    made
    (1, True)
    """

    children: tuple[ipywidgets.Widget, ...]
    #: Boxes that were filled with something else since a page was last told twice.
    _refilled: ClassVar[WeakSet[LazyBox]] = WeakSet()

    def __init__(self) -> None:
        # Not the one of `Box`, which sets the children.
        super(ipywidgets.Box, self).__init__()

    def face(self) -> tuple[ipywidgets.Widget, ...]:
        """Make what is inside, as it has to look now; subclasses answer."""
        raise NotImplementedError

    @traitlets.default("children")
    def _make_face(self) -> tuple[ipywidgets.Widget, ...]:
        return self.face()

    @traitlets.observe("children")
    def _refill(self, _change: Any) -> None:
        if self.comm is not None:
            LazyBox._refilled.add(self)

    @staticmethod
    def tell_again() -> None:
        """Tell pages once more what boxes were filled with since the last time.

        That message has no number by which a page could see that it was lost.
        """
        while LazyBox._refilled:
            LazyBox._refilled.pop().send_state("children")

    @property
    def has_face(self) -> bool:
        """Whether somebody has looked, so that what is inside must be kept up to date."""
        return bool(self.trait_has_value("children"))
