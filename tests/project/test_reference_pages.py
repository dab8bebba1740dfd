"""The reference has every public name, command, setting and field, and says what is so."""

from __future__ import annotations

import ast
import inspect
import json
import re
from dataclasses import is_dataclass
from importlib import import_module
from typing import get_args

import pytest

from mlsys_widgets import measured
from mlsys_widgets.cli import EXIT_CODES, command_parser, main
from mlsys_widgets.ledger import Event, Ledger
from mlsys_widgets.ledger.events import GENESIS, digest, from_object


@pytest.fixture(scope="module")
def api(tool):
    pytest.importorskip("bqplot")
    pytest.importorskip("sphinx")
    return tool("api_pages")


@pytest.fixture(scope="module")
def names(api):
    return [each for room in ("", *api.rooms()) for each in api.public_names(room)]


# Names.


def test_every_public_name_is_on_the_page_of_its_room(api):
    for room in ("", *api.rooms()):
        page = api.index_page() if not room else api.room_page(room)
        for each in api.public_names(room):
            row = rf"\| {{py:\w+}}`{each.name} <([\w.]+)>` \| {each.kind} \| (.*) \|\n"
            found = re.search(row, page)
            assert found, each.full
            assert len(found[2].split()) > 1, f"{each.full} has no first sentence"


def test_every_object_is_described_once(api, names):
    pages = "".join(api.room_page(room) for room in ("", *api.rooms()))
    described = re.findall(r"^\.\. auto(?!module)\w+:: ([\w.]+)(?:\(.*\))?$", pages, re.M)
    data = re.findall(r"^\.\. py:data:: (\w+)\n   :module: ([\w.]+)$", pages, re.M)
    described += [f"{module}.{name}" for name, module in data]
    assert len(described) == len(set(described))
    wanted = {api.described_at(each) for each in names if each.kind != "room"}
    assert set(described) == wanted


def test_every_public_name_has_an_example_that_runs(names):
    """Doctests run with the other tests; here it counts that there is one.

    An exception or a record may do without: an example would repeat their names and fields.
    """

    def is_record(value):
        return is_dataclass(value) or hasattr(value, "_fields")

    without = [
        each.full
        for each in names
        if each.kind not in ("room", "exception")
        and not is_record(each.value)
        and ">>>" not in ((each.value.__doc__ or "") if each.kind != "data" else each.examples)
    ]
    assert not without, f"{len(without)} public names have no example: {', '.join(without)}"


def test_a_widget_shows_its_own_parts_and_not_those_of_its_library(api):
    shown = api.own_members(api.importlib.import_module("mlsys_widgets").MemoryBudget)
    assert {"decode", "prefill"} <= set(shown)
    assert not {"layout", "children", "observe", "comm", "scenes"} & set(shown)


def test_data_has_its_comment_and_the_examples_that_name_it(api):
    module = import_module("mlsys_widgets.physics")
    never = api.PublicName(module.__name__, "NEVER", module.NEVER,
                           "mlsys_widgets.wording.units", "NEVER")  # fmt: skip
    assert never.kind == "data"
    assert "infinite" in never.text
    assert "   :value: 'never'" in api._data(never)
    function = api.PublicName("mlsys_widgets.x", "steps", 1, "mlsys_widgets.labs", "steps")
    assert function.examples.startswith(">>> lab = Lab(")  # the block of the docstring that has it


# Commands.


@pytest.fixture(scope="module")
def command_pages(tool):
    return tool("command_pages")


def parsers(parser):
    yield parser
    for below in parser.actions.values():
        yield from parsers(below)


def test_every_argument_says_what_it_is_for():
    for parser in parsers(command_parser()):
        for action in parser._actions:
            assert action.help or action.dest == "help" or action.metavar in (
                "COMMAND", "ACTION", "TASK",
            ), f"{parser.prog}: {action.dest}"  # fmt: skip


def test_the_page_has_every_command_option_and_exit_code(command_pages):
    page = command_pages.page()
    sections = {part.splitlines()[0]: part for part in re.split(r"^### ", page, flags=re.M)[1:]}
    assert sorted(sections) == command_pages.all_commands()
    for parser in parsers(command_parser()):
        if parser.prog == "mlsys":
            continue
        part = sections[parser.prog]
        for action in parser._actions:
            if action.help != "==SUPPRESS==":
                for option in set(action.option_strings) - {"-h", "--help"}:
                    assert f"`{option}" in part or f", {option}" in part, (parser.prog, option)
        if parser.runs:
            assert set(re.findall(r"`(\d+)`", part.replace("`{", ""))) >= {
                str(code) for code in parser.exit_codes
            }


def test_a_command_without_a_reader_is_refused(command_pages, monkeypatch):
    monkeypatch.setattr(command_pages, "READERS", {**command_pages.READERS, "Authors": ("build",)})
    with pytest.raises(ValueError, match="calibrate, new-lab, validate"):
        command_pages.page()


def returned(module, function):
    """The exit codes that a function returns literally."""
    tree = ast.parse(inspect.getsource(getattr(module, function)))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            parts = [node.value]
            while parts:
                part = parts.pop()
                if isinstance(part, ast.IfExp):
                    parts += [part.body, part.orelse]
                elif isinstance(part, ast.Constant) and isinstance(part.value, int):
                    found.add(part.value)
                elif isinstance(part, ast.Name) and isinstance(getattr(module, part.id, 0), int):
                    found.add(getattr(module, part.id, 0))
    return found


def test_a_command_returns_what_its_parser_says():
    """Both ways: no code is kept from the reader, and none is made up."""
    seen = 0
    for parser in parsers(command_parser()):
        run = parser._defaults.get("run")
        place = getattr(run, "place", None)
        if place is None and parser.prog in ("mlsys grade", "mlsys measure"):
            place = {"mlsys grade": "grading.command:run",
                     "mlsys measure": "measured.measurement:run"}[parser.prog]  # fmt: skip
        if place is None or not parser.runs:
            continue
        name, _, function = place.partition(":")
        codes = returned(import_module(f"mlsys_widgets.{name}"), function)
        assert codes <= parser.exit_codes.keys(), parser.prog
        assert parser.exit_codes.keys() - EXIT_CODES.keys() <= codes, parser.prog
        seen += 1
    assert seen > 25


def test_help_shows_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["grade", "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert re.search(r"exit codes:\n  0 +done\n", shown)
    assert re.search(r"\n  3 +graded, and a person must look", shown)


def test_codes_that_commands_really_end_with(tmp_path, capsys, monkeypatch):
    """Bad input 1, not understood 2, findings 1, interrupted 130; 3 is in tests of grading."""
    assert main(["devices", "abacus"]) == 1
    for words in (["grade"], ["course"], ["export", "lab_01", "--to", "paper"]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2
    ledger = Ledger.open(tmp_path / "ledger.jsonl", lab="lab_01", student="ann")
    ledger.record_answer("gap", 1)
    assert main(["ledger", "verify", str(tmp_path)]) == 0
    path = tmp_path / "ledger.jsonl"
    path.write_text(path.read_text("utf-8").replace('"gap"', '"gab"'), "utf-8")
    assert main(["ledger", "verify", str(tmp_path)]) == 1

    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("mlsys_widgets.measured.command.run_devices", interrupt)
    assert main(["devices"]) == 130
    capsys.readouterr()


def test_history_asks_for_a_person_with_its_own_code(tmp_path, monkeypatch, capsys):
    """A history that was edited by hand is shown, and somebody must look at it."""
    (tmp_path / "assignments" / "lab_01").mkdir(parents=True)
    command = import_module("mlsys_widgets.grading.regrading.regrade_command")
    monkeypatch.setattr(command, "_noticed", lambda course, lab: ["the gradebook cannot be read"])
    assert main(["history", "lab_01", "--course", str(tmp_path)]) == 3
    assert "the gradebook cannot be read" in capsys.readouterr().out


# Formats.


def test_the_tables_of_formats_are_current(tool, root):
    formats = tool("format_pages")
    for name in formats.TABLES:
        page = (root / "docs" / "reference" / name).read_text("utf-8")
        stale = f"{name} is stale: run .venv/bin/python tools/format_pages.py"
        assert page == formats.filled(page, name), stale


def test_examples_of_formats_are_accepted(root):
    def example(name):
        page = (root / "docs" / "reference" / name).read_text("utf-8")
        return json.loads(re.search(r"```json\n(.*?)```", page, re.S)[1])

    measured.validate(example("measurement.md"))
    event: Event = from_object(example("ledger.md"))
    assert (event.hash, event.prev, event.kind) == (digest(event), GENESIS, "opened")


def test_the_ledgers_page_names_what_a_ledger_writes(root):
    page = (root / "docs" / "reference" / "ledger.md").read_text("utf-8")
    kinds = import_module("mlsys_widgets.ledger.kinds")
    verification = import_module("mlsys_widgets.ledger.verification")
    errors = import_module("mlsys_widgets.ledger.errors")
    assert set(re.findall(r"^\| `(\w+)` \|.*\|.*\|.*\|.*\|$", page, re.M)) >= set(kinds.KINDS)
    for kind in get_args(verification.Kind):
        assert f"`{kind}`" in page, kind
    raised = [name for name, each in vars(errors).items()
              if inspect.isclass(each) and issubclass(each, errors.LedgerError)]  # fmt: skip
    assert len(raised) > 10
    assert not [name for name in raised if f"`{name}`" not in page]
