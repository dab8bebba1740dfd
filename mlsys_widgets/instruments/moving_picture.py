"""The moving picture of a lab's cover: the film of an instrument, or its inputs moved slowly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from mlsys_widgets.drawing.moving import moving
from mlsys_widgets.drawing.scene import AnyMark, Blocks, Scene
from mlsys_widgets.instruments.controls import Slider
from mlsys_widgets.instruments.instrument import Instrument

#: How many scenes are drawn of a film and of anything else, and the pixels of a picture that
#: leaves room for what stands below.
_FILMED: Final = 48
_FRAMES: Final = 24
_HEIGHT: Final = 170


class MovingPicture:
    """An instrument that moves by itself, without words or numbers.

    Parameters
    ----------
    words
        The caption: what is seen, in a sentence that gives nothing away.
    instrument
        The class of the instrument, whose film is shown.
    sweep
        Inputs that move instead, by name, each from one value to another.
    scene
        Which of its plots is shown, where inputs move.
    only
        Names of the marks that are shown there; all of them if none is named.
    until
        The part of the film that is shown, where its end is an empty stage.
    seconds
        How long it runs.
    **inputs
        What else the instrument is set to. Whatever a prediction is about must not be among it.

    Examples
    --------
    >>> from mlsys_widgets.instruments.roofline_widget import RooflineWidget
    >>> falls = MovingPicture(
    ...     "A kernel under the roof of its chip.", RooflineWidget, sweep={"n": (64, 8192)}
    ... )
    >>> "<text" in falls.svg
    False
    """

    def __init__(
        self,
        words: str,
        instrument: type[Instrument],
        *,
        sweep: Mapping[str, tuple[float, float]] | None = None,
        scene: int = 0,
        only: Sequence[str] = (),
        until: float = 1,
        seconds: float = 8,
        **inputs: Any,
    ) -> None:
        self.words = words
        self._instrument, self._inputs = instrument, inputs
        self._sweep, self._scene, self._only = dict(sweep or {}), scene, frozenset(only)
        self._until, self._seconds = until, seconds

    @cached_property
    def svg(self) -> str:
        """The picture, drawn when somebody looks."""
        made = self._instrument(**self._inputs)
        frames = list((self._swept if self._sweep else self._played)(made))
        return moving(frames, self.words, seconds=self._seconds, height=_HEIGHT)

    def _swept(self, made: Instrument) -> list[Scene]:
        scenes = []
        for k in range(_FRAMES):
            made.set(**{name: self._at(made, name, k / (_FRAMES - 1)) for name in self._sweep})
            scenes.append(self._shown(made))
        # The longest axes: a scale that changes would move what stands still.
        across, up = (
            max((getattr(scene, way) for scene in scenes), key=lambda axis: float(axis.high))
            for way in ("across", "up")
        )
        return [replace(scene, across=across, up=up) for scene in scenes]

    def _shown(self, made: Instrument) -> Scene:
        scene = made.scenes(made.result)[self._scene]
        kept = (mark for mark in scene.marks if not self._only or mark.name in self._only)
        return replace(scene, marks=tuple(kept))

    def _at(self, made: Instrument, name: str, part: float) -> float:
        """The value of an input after a part of the time."""
        (low, high), slider = self._sweep[name], made.controls[name]
        assert isinstance(slider, Slider)
        return slider.snap(low * (high / low) ** part if slider.log else low + (high - low) * part)

    def _played(self, made: Instrument) -> Iterator[Scene]:
        """The film, or what is drawn there while time passes from the left to the right."""
        film = made.film(made.result)
        if film is None:
            scene = self._shown(made)
            yield from (_up_to(scene, k / (_FRAMES - 1)) for k in range(_FRAMES))
        else:
            end = self._until * film.seconds / (_FILMED - 1)
            yield from (film.at(k * end) for k in range(_FILMED))


def _up_to(scene: Scene, part: float) -> Scene:
    """A scene in which blocks are filled as far as a part of its width."""
    now = scene.across.low + part * (scene.across.high - scene.across.low)
    return replace(scene, marks=tuple(_cut(mark, now) for mark in scene.marks))


def _cut(mark: AnyMark, now: float) -> AnyMark:
    if not isinstance(mark, Blocks):
        return mark
    return replace(
        mark,
        blocks=tuple(
            (left, low, max(min(right, now), left), high, tone)
            for left, low, right, high, tone in mark.blocks
        ),
    )
