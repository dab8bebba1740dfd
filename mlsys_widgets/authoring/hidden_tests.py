"""Hidden tests: a check from ``checks.py`` with everything it uses, as one self-contained cell.

Stock nbgrader runs a hidden test where the package is installed and ``asks.py`` lies beside the
notebook. So a check is cut out of its file together with the imports, constants and functions that
it needs, and wrapped in a function: none of its names may reach the notebook, where the check's own
name belongs to the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlsys_widgets.authoring.text import TextError
from mlsys_widgets.wording.system_errors import error_sentence

_BEGIN, _END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def region(body: str, call: str) -> str:
    """Return a hidden region whose value is that of ``call``."""
    lines = [_BEGIN, "def _points():", _indented(body), f"    return {call}", "", "", "_points()"]
    return "\n".join([*lines, _END])


class CheckSource:
    """A lab's ``checks.py``, from which single checks are cut."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._source = path.read_text("utf-8")
            tree = ast.parse(self._source)
        except (OSError, SyntaxError) as problem:
            raise TextError(f"{path} cannot be read: {error_sentence(problem)}") from None
        self._lines = self._source.splitlines()
        self._imports: dict[str, tuple[str, str]] = {}  # by bound name: module, what of it
        self._defined: dict[str, ast.stmt] = {}
        for node in tree.body:
            self._take(node)

    def _take(self, node: ast.stmt) -> None:
        match node:
            case ast.ImportFrom(module="__future__"):
                pass
            case ast.ImportFrom(module=module, names=names, level=0):
                for alias in names:
                    if alias.name == "*":
                        raise self._error(node, "imports everything; name what it uses")
                    self._imports[alias.asname or alias.name] = (str(module), _alias(alias))
            case ast.Import(names=names):
                for alias in names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._imports[bound] = ("", _alias(alias))
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self._defined[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                self._defined[name] = node
            case ast.Expr(value=ast.Constant(value=str())):
                pass  # the docstring
            case _:
                raise self._error(
                    node, "is neither an import nor a function nor a constant, so it cannot become"
                    " part of a hidden test",
                )  # fmt: skip

    def _error(self, node: ast.stmt, what: str) -> TextError:
        return TextError(f"{self._path}, line {node.lineno}: this {what}")

    def cut(self, *names: str, also: Iterable[tuple[str, str]] = ()) -> str:
        """Return checks with everything they use and ``also``, as (module, name), imports."""
        for name in names:
            if name not in self._defined:
                raise TextError(
                    f"{self._path} has no function {name}, and the lab grades that answer"
                )
        wanted, reached = list(names), set(names)
        imports: set[str] = set()
        while wanted:
            for used in _names(self._defined[wanted.pop()]):
                if used in self._imports:
                    imports.add(used)
                elif used in self._defined and used not in reached:
                    reached.add(used)
                    wanted.append(used)
        kept = [self._text(node) for n, node in self._defined.items() if n in reached]
        return "\n\n".join([_import({self._imports[b] for b in imports}.union(also)), *kept])

    def _text(self, node: ast.stmt) -> str:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        return "\n".join(self._lines[first - 1 : node.end_lineno])


def _import(wanted: set[tuple[str, str]]) -> str:
    """Import statements, one line per module."""
    of: dict[str, list[str]] = {}
    for module, what in sorted(wanted):
        of.setdefault(module, []).append(what)
    return "\n".join(
        f"from {module} import {', '.join(names)}" if module else f"import {', '.join(names)}"
        for module, names in of.items()
    )


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _names(node: ast.stmt) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id


def _indented(code: str) -> str:
    """Indent code by one level, but leave the inside of multi-line strings alone."""
    inside = {
        line
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)
    }
    return "\n".join(
        line if not line or number in inside else f"    {line}"
        for number, line in enumerate(code.splitlines(), 1)
    )
