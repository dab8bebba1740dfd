"""One sentence in a student's own words after a comparison, on why it came out like that.

Nobody grades it and nothing waits for it. The ledger keeps it under a name of its own beside the
prediction's, and the report on a class lists what was written.
"""

from __future__ import annotations

from typing import Final

from mlsys_widgets.labs.reflection_prompt import FreeText
from mlsys_widgets.labs.word_limits import WordLimits

#: What stands before the name of the prediction.
WORDS: Final = "words"

#: A sentence or two; whoever has more to say has the essay.
OWN_WORDS: Final = FreeText(WordLimits(1, 80), "")


def own_words_name(prediction: str) -> str:
    """Return the name under which the ledger keeps what was written about a prediction.

    Examples
    --------
    >>> own_words_name("act1_gap")
    'words.act1_gap'
    """
    return f"{WORDS}.{prediction}"


def asked_about(held: bool | None) -> str:
    """Return the question, by whether the prediction held; `None` where nobody can say.

    Examples
    --------
    >>> asked_about(True), asked_about(False)
    ('What made me right?', 'Why was I off?')
    """
    return {True: "What made me right?", False: "Why was I off?", None: "What does it tell me?"}[
        held
    ]
