"""A graded question, with this student's numbers; the answer is typed in the cell below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsys_widgets.cards.card import Gate, LabWidget
from mlsys_widgets.cards.parts import Part, Prose, Rows, in_points
from mlsys_widgets.labs import Choice, Essay, Number


class QuestionCard(LabWidget):
    """A graded question, with this student's numbers.

    Parameters
    ----------
    name
        The name of the answer.
    item
        What is asked.
    after
        A gate, or several, that must be open first.
    """

    kind = "Question"
    tone = "prediction"

    def __init__(
        self, name: str, item: Number | Choice | Essay, *, after: Gate | Iterable[Gate] = ()
    ) -> None:
        super().__init__(f"{item.title} ({in_points(item.points)})", after=after)
        self._name, self._item = name, item
        self.show()

    def parts(self) -> Sequence[Part]:
        """The question, and how to answer it."""
        item = self._item
        asked = Prose("ask", item.ask)
        match item:
            case Number():
                how = f"Type it below: `{self._name} = ` and {item.wanted}."
                return [asked, Prose("how", how, quiet=True)]
            case Choice():
                options = tuple((f'"{key}"', words) for key, words in item.options.items())
                how = f"Type it below: `{self._name} = ` and one of these, in quotes."
                return [asked, Rows("options", options), Prose("how", how, quiet=True)]
        rubric = tuple((in_points(points), words) for points, words in item.rubric)
        how = "Double-click the line below and write. A person will read it and give these points."
        return [asked, Rows("rubric", rubric), Prose("how", how, quiet=True)]
