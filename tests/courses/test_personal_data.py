"""Every kind of file that names a person: edited where that is known, reported where not."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from mlsys_widgets.courses import personal_data
from mlsys_widgets.courses.personal_data import EDITORS, KnownNames, Search, editor_of
from tests.link_swapper import swapping

NAMES = KnownNames(("ada", "ada-1815"), ("Ada Lovelace", "Lovelace, Ada", "ada@x.org"))


def files(root, **contents):
    for name, content in contents.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_everything_that_names_them_is_found_and_nothing_else(tmp_path):
    files(
        tmp_path,
        submitted__ada__lab__x_dot_ipynb="{}",
        submitted__adam__lab__x_dot_ipynb='{"by": "adam"}',
        submitted__ben__lab__x_dot_ipynb='{"by": "ben, with ada"}',
        inbound__ada_dot_zip="z",
        kept__LAB__ada_dot_json="{}",
        answers_dot_jsonl='{"student": "ada", "n": 1}\n{"student": "ben", "as": "ada"}\n{"s": 1}\n',
        people_dot_json='{"ada": 1, "who": ["ada", "ben"], "each": [{"student": "ada"}, {"a": 2}]}',
        out_dot_csv='Student,ID\n"Lovelace, Ada",7\n"Ray, Ben",8\n',
        page_dot_html="<p>ada and adapter</p>",
        book_dot_db=b"\0ada\0",
        plain_dot_py="adam = 1",
    )
    search = Search(tmp_path, NAMES, untouched={tmp_path / "submitted" / "ben": "of somebody else"})
    found = {trace.path.relative_to(tmp_path).as_posix(): trace.how for trace in search.traces()}
    assert found == {
        "submitted/ada": "remove", "submitted/ben/lab/x.ipynb": "cannot",
        "inbound/ada.zip": "remove", "kept/LAB/ada.json": "remove",
        "answers.jsonl": "edit", "people.json": "edit",
        "out.csv": "edit", "page.html": "edit", "book.db": "cannot",
    }  # fmt: skip
    pieces = {}
    for trace in search.traces():
        pieces |= search.pieces(trace)
        if trace.how != "cannot":
            search.remove(trace)
    assert pieces["answers.jsonl"] == b'{"student": "ada", "n": 1}\n'
    assert b"Lovelace" in pieces["out.csv"]
    assert b"Ben" not in pieces["out.csv"]
    assert json.loads((tmp_path / "people.json").read_text()) == {
        "who": ["ben"],
        "each": [{"a": 2}],
    }
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"student": "ben", "as": "(forgotten)"}, {"s": 1}
    ]  # fmt: skip
    assert (tmp_path / "page.html").read_text() == "<p>(forgotten) and adapter</p>"
    assert (tmp_path / "submitted" / "adam").is_dir()
    left = {trace.path.name for trace in search.traces()}
    assert left == {"x.ipynb", "book.db"}


def test_folders_at_the_top_are_never_somebodys(tmp_path):
    files(tmp_path, logs__hub_dot_log="logs said hi\n", logs__logs__x="x")
    search = Search(tmp_path, KnownNames(("logs",)), live=True)
    assert [(t.path.name, t.how) for t in search.traces()] == [
        ("hub.log", "edit"),
        ("logs", "remove"),
    ]


def test_a_log_that_is_written_meanwhile_keeps_its_length(tmp_path):
    path = tmp_path / "hub.log"
    path.write_text("a\nUser logged in: ada\n/user/ada/lab\nadam\njupyterhub-user-ada\nx-ada\n")
    with path.open("a") as writer:
        search = Search(tmp_path, NAMES, live=True)
        for trace in search.traces():
            search.remove(trace)
        writer.write("more\n")
    assert path.read_text() == (
        "a\nUser logged in: ***\n/user/***/lab\nadam\njupyterhub-user-***\nx-ada\nmore\n"
    )


def test_rotated_and_packed_logs_are_edited_too(tmp_path):
    (tmp_path / "hub.log.1").write_text("ada\n")
    (tmp_path / "hub.log.2.gz").write_bytes(gzip.compress(b"x ada y\n"))
    search = Search(tmp_path, NAMES, live=True)
    for trace in search.traces():
        search.remove(trace)
    assert search.traces() == []
    assert gzip.decompress((tmp_path / "hub.log.2.gz").read_bytes()) == b"x (forgotten) y\n"


def test_links_are_not_followed(tmp_path):
    (tmp_path / "course").mkdir()
    (tmp_path / "secret.json").write_text('["ada"]')
    (tmp_path / "course" / "link.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "course" / "folder").symlink_to(tmp_path)
    assert Search(tmp_path / "course", NAMES).traces() == []


def test_no_moment_shows_what_a_link_leads_to(tmp_path):
    """On a hub it is root who looks, and students can change the exchange meanwhile."""
    many = {f"course__{number}_dot_json": "{}" for number in range(50)}  # read before the folder
    files(tmp_path, **many, course__open__x_dot_json="{}", other__secret_dot_json='["ada"]')
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "other")
    search = Search(tmp_path / "course", NAMES)
    with swapping(tmp_path / "course" / "open", tmp_path / "own", link):
        for _ in range(50):
            assert [t.path.name for t in search.traces() if t.how == "edit"] == []


def test_what_students_leave_there_stops_no_search(tmp_path, monkeypatch):
    """Packed zeros, a packed file that breaks off, a pipe, and folders without an end."""
    monkeypatch.setattr(personal_data, "_LARGEST", 1_000_000)
    packed = gzip.compress(b"0" * 2_000_000)
    files(tmp_path, zeros_dot_log_dot_gz=packed, half_dot_log_dot_gz=packed[:-9], z_dot_txt="ada")
    os.mkfifo(tmp_path / "pipe.txt")
    monkeypatch.chdir(tmp_path)
    for _ in range(150):
        Path("deep").mkdir()
        os.chdir("deep")
    found = {t.path.relative_to(tmp_path).parts[0]: t for t in Search(tmp_path, NAMES).traces()}
    assert {name: each.how for name, each in found.items()} == {
        "zeros.log.gz": "cannot", "half.log.gz": "cannot", "deep": "cannot", "z.txt": "edit"
    }  # fmt: skip
    assert found["zeros.log.gz"].why == "it cannot be read: it is too large"
    assert found["deep"].why == "more than 100 folders are inside each other"


@pytest.mark.parametrize("suffix", sorted(EDITORS))
def test_every_editor_leaves_no_name_in_broken_content_either(tmp_path, suffix):
    editor = editor_of(tmp_path / f"x{suffix}")
    for content in (b"{ada", b"ada\xff\n", b'{"x": "ada"}\n{ada\n', b"ada,ada@x.org\nada,1\n"):
        left, _ = editor.split(content, NAMES)
        if suffix != ".csv":  # whose first row is headings
            assert left is None or not NAMES.pattern.search(left)
