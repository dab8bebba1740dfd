"""Writes docs/reference/api: a page per room with every public name, and one for the front door.

A room says in ``__all__`` what is public, so a new name appears on its page by itself. Each object
is described once, in the room that it comes from; elsewhere its name links there. The descriptions
are the docstrings: Sphinx reads them while the pages are built. A room without public names shows
what its modules are about.
"""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import ipywidgets  # type: ignore[import-untyped]
from sphinx.pycode import ModuleAnalyzer
from traitlets import HasTraits

from mlsys_widgets.cards.task import Task
from mlsys_widgets.instruments.controls import controls_of
from mlsys_widgets.instruments.instrument import Instrument

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = ROOT / "docs" / "reference" / "api"
PACKAGE: Final = "mlsys_widgets"
#: What ties the rooms together and is no room.
_NO_ROOMS: Final = frozenset({"__main__", "cli"})
_LONGEST_VALUE: Final = 60
_SENTENCE: Final = re.compile(r"(.+?[.!])(?:\s|$)", re.S)


@dataclass(frozen=True)
class PublicName:
    """A public name: where it is found, and where the object behind it is defined."""

    home: str  # the module whose ``__all__`` has it
    name: str
    value: Any
    module: str  # the module that defines it
    original: str  # what it is called there

    @property
    def full(self) -> str:
        """The name with its room, as one imports it."""
        return f"{self.home}.{self.name}"

    @property
    def kind(self) -> str:
        """Room, class, exception, function or data."""
        if inspect.ismodule(self.value):
            return "room"
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if is_function(self.value) else "data"

    @property
    def text(self) -> str:
        """The docstring; for data, the comment beside it."""
        if self.kind != "data":
            return inspect.getdoc(self.value) or ""
        return _comment(self.module, self.original)

    @property
    def examples(self) -> str:
        """The examples of data: those in its module's docstring that name it."""
        parts = doctest.DocTestParser().parse(_docstring(_path(self.module)))
        blocks: list[list[doctest.Example]] = [[]]
        for part in parts:
            if isinstance(part, doctest.Example):
                blocks[-1].append(part)
            elif part.strip():
                blocks.append([])
        word = re.compile(rf"\b{re.escape(self.name)}\b")
        shown = (each for each in blocks if any(word.search(part.source) for part in each))
        return "\n".join(_as_typed(part) for block in shown for part in block)


def is_function(value: Any) -> bool:
    """Whether it is a function, also one that remembers its results."""
    return inspect.isroutine(inspect.unwrap(value)) if callable(value) else False


# What there is.


def rooms() -> list[str]:
    """Return the rooms of the package, by name."""
    folder = ROOT / PACKAGE
    found = {path.parent.name for path in folder.glob("*/__init__.py")}
    found |= {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    return sorted(found - _NO_ROOMS)


def public_names(room: str = "") -> list[PublicName]:
    """Return the public names of a room, or of the front door, in the order of their modules."""
    home = f"{PACKAGE}.{room}".rstrip(".")
    module = importlib.import_module(home)
    origins = _origins(module)
    order = list(origins)
    names = sorted(
        (name for name in getattr(module, "__all__", ()) if name != "__version__"),
        key=lambda name: order.index(name) if name in origins else -1,
    )
    return [
        PublicName(home, name, getattr(module, name), *origins.get(name, (home, name)))
        for name in names
    ]


def _origins(module: ModuleType) -> dict[str, tuple[str, str]]:
    """From which module a room imports each name, and what it is called there."""
    path = Path(module.__file__ or "")
    stub = path.with_suffix(".pyi")
    tree = ast.parse((stub if stub.is_file() else path).read_text("utf-8"))
    found: dict[str, tuple[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            base = module.__name__ if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            for each in node.names:
                found[each.asname or each.name] = (source, each.name)
    # A room may import from a package that imports it in turn; the class itself knows best.
    for name, (source, original) in found.items():
        value = getattr(module, name, None)
        if (inspect.isclass(value) or is_function(value)) and value.__module__ != source:
            found[name] = (value.__module__, original)
    return found


@functools.cache
def described() -> dict[int, str]:
    """Return the full name under which each public object is described, by its identity.

    That is in its own room, if it is public there.
    """
    all_names = [each for room in ("", *rooms()) for each in public_names(room)]
    found: dict[int, str] = {}
    for each in all_names:
        if each.kind == "data":
            continue
        at_home = each.home != PACKAGE and each.module.startswith(each.home)
        if id(each.value) not in found or (at_home and each.name == each.value.__name__):
            found[id(each.value)] = each.full
    return found


def described_at(name: PublicName) -> str:
    """Return the full name under which an object is described."""
    if name.kind == "room":
        return str(name.value.__name__)
    return name.full if name.kind == "data" else described()[id(name.value)]


# Reading what is written beside names.


def _path(module: str) -> Path:
    path = ROOT / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.cache
def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


@functools.cache
def _comments(module: str) -> dict[tuple[str, str], list[str]]:
    importlib.import_module(module)
    return ModuleAnalyzer.for_module(module).find_attr_docs()


def _comment(module: str, name: str) -> str:
    return "\n".join(_comments(module).get(("", name), [])).strip()


def first_sentence(text: str) -> str:
    r"""Return the first sentence of a docstring, on one line.

    >>> first_sentence("One number, 3.5 GB.\nMore.")
    'One number, 3.5 GB.'
    """
    paragraph = text.strip().split("\n\n")[0]
    found = _SENTENCE.match(paragraph)
    return " ".join((found[1] if found else paragraph).split())


def _as_typed(example: doctest.Example) -> str:
    first, *more = example.source.rstrip("\n").split("\n")
    lines = [f">>> {first}", *(f"... {line}".rstrip() for line in more)]
    return "\n".join([*lines, *example.want.rstrip("\n").split("\n")]).rstrip()


# What a page says.


def room_page(room: str) -> str:
    """Return the page of a room; the front door's if it has no name."""
    home = f"{PACKAGE}.{room}".rstrip(".")
    names = public_names(room)
    is_module = _path(home).stem != "__init__"  # whose functions other rooms use
    lines = [
        f"# {home}",
        "",
        *_rst([f".. automodule:: {home}", *(["   :members:"] if is_module else [])]),
    ]
    if not names:
        return "\n".join([*lines, *([] if is_module else _modules(room))]) + "\n"
    lines += ["## Names", "", *_summary(names)]
    for title, about, group in _groups(names):
        shown = [each for each in group if described_at(each) == each.full and each.kind != "room"]
        if shown:
            lines += [f"## {title}", "", *([about, ""] if about else []), *_common(shown)]
            lines += _rst([line for each in shown for line in (*_description(each), "")])
    return "\n".join(lines) + "\n"


def _groups(names: Sequence[PublicName]) -> Iterator[tuple[str, str, list[PublicName]]]:
    """Group the names of a page by what defines them: modules, or at the front door rooms."""
    front = names[0].home == PACKAGE
    groups: dict[str, list[PublicName]] = {}
    for each in names:
        parts = each.module.split(".")
        groups.setdefault(".".join(parts[:2] if front else parts), []).append(each)
    for module, group in groups.items():
        title = module.rpartition(".")[2].replace("_", " ")
        yield title[0].upper() + title[1:], _plain(first_sentence(_docstring(_path(module)))), group


def _summary(names: Sequence[PublicName]) -> list[str]:
    rows = ["| name | kind | what it is |", "|---|---|---|"]
    for each in sorted(names, key=lambda each: each.name.lower()):
        target = described_at(each)
        role = {"room": "mod", "function": "func", "data": "data"}.get(each.kind, "class")
        role = "exc" if each.kind == "exception" else role
        other = "" if target == each.full or each.kind == "room" else f" ({_short(target)})"
        about = _cell(first_sentence(each.text))
        rows.append(f"| {{py:{role}}}`{each.name} <{target}>` | {each.kind} | {about}{other} |")
    return [*rows, ""]


def _short(full: str) -> str:
    return f"see `{full.removeprefix(f'{PACKAGE}.')}`"


def _description(name: PublicName) -> list[str]:
    """Directives that describe an object."""
    if name.kind == "data":
        return _data(name)
    directive = {"function": "autofunction", "exception": "autoexception"}
    shown = _call(name.value) if inspect.isclass(name.value) else ""
    lines = [f".. {directive.get(name.kind, 'autoclass')}:: {name.full}{shown}"]
    if inspect.isclass(name.value):
        if members := own_members(name.value):
            lines.append(f"   :members: {', '.join(members)}")
        if issubclass(name.value, Instrument) and controls_of(name.value):
            lines += ["", *textwrap.indent("\n".join(_controls(name.value)), "   ").split("\n")]
    return lines


class _Long:
    """Stands for a default that is too long to show."""

    def __repr__(self) -> str:
        return "..."


def _call(kind: type) -> str:
    """Write how a widget is made; its library would show ``(*args, **kwargs)`` for all of them."""
    if not issubclass(kind, HasTraits):
        return ""
    signature = inspect.signature(inspect.unwrap(kind.__init__))
    given = [
        each.replace(annotation=each.empty, default=_Long())
        if each.default is not each.empty and len(repr(each.default)) > _LONGEST_VALUE
        else each.replace(annotation=each.empty)
        for each in list(signature.parameters.values())[1:]
    ]
    return str(signature.replace(parameters=given, return_annotation=signature.empty))


def own_members(kind: type) -> list[str]:
    """List what libraries do not bring to a class and no public base describes.

    Bases that are not public are described with the class, because nobody could look them up. Those
    of widgets are many, and alike: what a widget overrides is a hook, and the rest is told once.
    """
    known = described()
    ours = [each for each in kind.__mro__ if each.__module__.startswith(f"{PACKAGE}.")]
    hidden = [each for each in ours[1:] if id(each) not in known]
    above = [each for each in ours[1:] if id(each) in known or issubclass(kind, HasTraits)]
    if kind is Instrument:  # nothing else would tell what it inherits
        above = []
    elsewhere = {name for each in above for base in each.__mro__ for name in vars(base)}
    elsewhere |= set(dir(ipywidgets.VBox)) if issubclass(kind, HasTraits) else set()
    found: dict[str, None] = {}
    for each in (kind, *hidden):
        fields = [name for owner, name in _comments(each.__module__) if owner == each.__name__]
        told = [name for name, value in vars(each).items() if _is_told(kind, name, value)]
        for name in (*fields, *told):
            if not name.startswith("_") and name not in elsewhere:
                found[name] = None
    return list(found)


def _common(names: Sequence[PublicName]) -> list[str]:
    """Return a table of what all cards to work on have, and none of them overrides."""
    cards = [each.value for each in names if each.kind == "class" and issubclass(each.value, Task)]
    if not cards:
        return []
    shared = {name: value for base in reversed(Task.__mro__) for name, value in vars(base).items()
              if base.__module__.startswith(f"{PACKAGE}.")}  # fmt: skip
    overridden = {name for card in cards for base in card.__mro__ for name in vars(base)
                  if base not in Task.__mro__}  # fmt: skip
    rows = ["Every card that a student works on has:", "", "| name | what it is |", "|---|---|"]
    for name, value in shared.items():
        hook = name in overridden or name.startswith("_") or name in dir(ipywidgets.VBox)
        if not hook and _is_told(Task, name, value):
            about = _cell(first_sentence(inspect.getdoc(getattr(Task, name)) or ""))
            rows.append(f"| `{name}` | {about} |")
    return [*rows, ""]


def _is_told(kind: type, name: str, value: Any) -> bool:
    """Whether it is a method or a property with a docstring."""
    wrapped = isinstance(value, property | functools.cached_property | classmethod | staticmethod)
    return (wrapped or inspect.isfunction(value)) and bool(inspect.getdoc(getattr(kind, name)))


def _controls(kind: type[Instrument]) -> list[str]:
    """Tabulate what can be set on an instrument."""
    lines = ["**Inputs**, by name:", "", ".. list-table::", "   :header-rows: 1", ""]
    rows = [("name", "default", "what it sets")]
    for name, control in controls_of(kind).items():
        rows.append(
            (f"``{name}``", f"``{control.default_value!r}``", f"{control.label}. {control.help}")
        )
    for row in rows:
        lines += [
            f"   {'* - ' if not at else '  - '}{_rst_text(cell)}" for at, cell in enumerate(row)
        ]
    return lines


def _rst_text(text: str) -> str:
    plain = " ".join(text.split())
    return plain if plain.startswith("``") else re.sub(r"([*_|`\\])", r"\\\1", plain)


def _data(name: PublicName) -> list[str]:
    lines = [f".. py:data:: {name.name}", f"   :module: {name.home}"]
    value = " ".join(repr(name.value).split())
    if len(value) <= _LONGEST_VALUE and " at 0x" not in value and not value.startswith("<"):
        lines.append(f"   :value: {value}")
    body = name.text or f"A value of type ``{type(name.value).__name__}``."
    lines += ["", textwrap.indent(body, "   ")]
    if name.examples:
        lines += ["", "   .. rubric:: Examples", "", textwrap.indent(name.examples, "   ")]
    return "\n".join(lines).split("\n")


def _modules(room: str) -> list[str]:
    """Return a table of the modules of a room that has no public names."""
    folder = ROOT / PACKAGE / room
    paths = sorted(
        path for path in folder.rglob("*.py") if path.stem not in ("__init__", "__main__")
    )
    rows = ["| module | what it holds |", "|---|---|"]
    for path in paths:
        inside = ".".join(path.relative_to(folder).with_suffix("").parts)
        if not {"template", "templates", "static"} & set(path.relative_to(folder).parts[:-1]):
            rows.append(f"| `{inside}` | {_cell(first_sentence(_docstring(path)))} |")
    words = "This room has no public names of its own; other rooms use its modules:"
    if any(each.module.startswith(f"{PACKAGE}.{room}.") for each in public_names()):
        words = (
            f"The names that notebooks use are public at the front door: [{PACKAGE}](index.md)."
            " The modules of this room:"
        )
    return ["## Modules", "", words, "", *rows]


def _rst(lines: Sequence[str]) -> list[str]:
    return ["```{eval-rst}", *lines, "```", ""]


def _plain(text: str) -> str:
    """Turn the markup of a docstring into Markdown."""
    return text.replace("``", "`").replace("$", "\\$")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def index_page() -> str:
    """Return the front door's page, which lists the rooms as well."""
    rows = ["In the examples, `folder` is an empty folder, a `pathlib.Path`.", ""]
    rows += ["## Rooms", "", "| room | what it is | public names |", "|---|---|---|"]
    for room in rooms():
        about = _cell(first_sentence(_docstring(_path(f"{PACKAGE}.{room}"))))
        count = len(public_names(room)) or "–"
        rows.append(f"| [{room}]({room}.md) | {about} | {count} |")
    tree = ["", "```{toctree}", ":hidden:", "", *rooms(), "```", ""]
    return room_page("") + "\n".join([*rows, *tree])


def main() -> None:
    """Write all pages, and remove those of rooms that are gone."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    (PAGES / "index.md").write_text(index_page(), "utf-8")
    for room in rooms():
        (PAGES / f"{room}.md").write_text(room_page(room), "utf-8")
    print(f"Wrote {len(rooms()) + 1} pages to {PAGES.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
