"""Numbers in prose: ``{{ expression }}`` is computed from physics when a lab is built."""

from __future__ import annotations

import re
from typing import Any, Final

from mlsys_widgets import physics
from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.labs import Lab, Parameters

_TEMPLATE: Final = re.compile(r"\{\{(.+?)\}\}", re.S)


def names(lab: Lab, parameters: Parameters) -> dict[str, Any]:
    """Return what a template can use: physics, ``q``, parameters and the lab."""
    known = {name: getattr(physics, name) for name in physics.__all__}
    return {**known, "q": physics.format_quantity, "p": parameters, "lab": lab}


def fill(prose: str, known: dict[str, Any]) -> str:
    """Replace every template in prose with its value."""

    def value(match: re.Match[str]) -> str:
        expression = match[1].strip()
        try:
            # It is the instructor's own text, as trusted as the code beside it.
            return str(eval(expression, dict(known)))
        except Exception as problem:
            raise TextError(
                f"the template {{{{ {expression} }}}} cannot be computed: {problem}"
            ) from None

    return _TEMPLATE.sub(value, prose)
