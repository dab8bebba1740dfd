"""The reader and the follower notice what a page gets wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.howto.follower import NotAsWritten, follow, private
from tests.howto.pages import check_tests
from tests.howto.reader import Command, File, HowTo, PageError, read_page
from tests.howto.starts import Starts, UnknownStart

PAGE = """\
# How to

## Say hello
<!-- start: an empty folder -->
<!-- followed by: tests/howto/test_reader.py::test_a_page_is_read -->

A file first, and then what is in it.

```{code-block} toml
:caption: `a/b.toml`

x = 1
```

```{code-block} toml
:caption: Add to `a/b.toml`

y = 2
```

```console
$ cat a/b.toml   # both
x = 1
...2
$ cd a && \\
  ls
$ false   # exits with 1
```

<!-- not followed: it needs a cloud -->

```console
$ cloud up
```

```toml
not = "a step"
```
"""


@pytest.fixture
def written(tmp_path: Path):
    """Read a page of how-tos with this text, and return its only how-to."""

    def write(text: str) -> HowTo:
        page = tmp_path / "howto.md"
        page.write_text(text, "utf-8")
        (only,) = read_page(page)
        return only

    return write


@pytest.fixture
def followed(written, tmp_path: Path):
    """Follow such a page in an empty folder."""

    def run(console: str) -> None:
        how_to = written(f"## Do it\n<!-- start: an empty folder -->\n```console\n{console}\n```\n")
        (tmp_path / "work").mkdir()
        follow(how_to, tmp_path / "work", private(tmp_path / "home", tmp_path))

    return run


def test_a_page_is_read(written):
    how_to = written(PAGE)
    assert (how_to.title, how_to.start, how_to.line) == ("Say hello", "an empty folder", 3)
    assert how_to.steps == [
        File(10, "a/b.toml", "x = 1\n"),
        File(16, "a/b.toml", "y = 2\n", add=True),
        Command(22, "cat a/b.toml   # both", "x = 1\n...2"),
        Command(25, "cd a && \\\n  ls"),
        Command(27, "false   # exits with 1", code=1),
    ]
    assert [each.why for each in how_to.left_out] == ["it needs a cloud"]
    check_tests(how_to)


def test_a_page_is_followed(written, tmp_path):
    (tmp_path / "work").mkdir()
    follow(written(PAGE), tmp_path / "work", private(tmp_path / "home", tmp_path))
    assert (tmp_path / "work/a/b.toml").read_text() == "x = 1\ny = 2\n"


def test_commands_share_a_shell_and_nobody_is_at_the_keyboard(followed):
    followed('$ export NAME=ann\n$ echo "$NAME"\nann\n$ read -r answer   # exits with 1')


@pytest.mark.parametrize(
    ("console", "problem"),
    [
        ("$ false", "exits with 1, not with 0"),
        ("$ true   # exits with 3", "exits with 0, not with 3"),
        ("$ echo yes\nno", "shows something else"),
        ("$ echo yes and no\nyes", "shows something else"),
        ("$ no-such-command", "exits with 127"),
        ("$ exit 4", "exits with 4"),
    ],
)
def test_a_step_that_ends_otherwise_is_a_failure(followed, console, problem):
    with pytest.raises(NotAsWritten, match=problem) as failure:
        followed(console)
    assert "howto.md:4" in str(failure.value)
    assert console.splitlines()[0] in str(failure.value)


def test_a_command_without_an_end_is_a_failure(followed, monkeypatch):
    monkeypatch.setattr("tests.howto.follower.Shell.run.__defaults__", (0.6,))
    with pytest.raises(NotAsWritten, match="no end within"):
        followed("$ sleep 60")


def test_an_unknown_start_is_a_failure(tmp_path):
    with pytest.raises(UnknownStart, match="a castle"):
        Starts(tmp_path, pytest.fail).place("a castle", tmp_path / "here")


@pytest.mark.parametrize(
    "named", ["tests/howto/test_nothing.py::test_x", "tests/howto/test_reader.py::test_nothing"]
)
def test_a_test_that_does_not_exist_is_a_failure(named):
    with pytest.raises(PageError, match="there is no test"):
        check_tests(HowTo(Path("howto.md"), 1, "", tests=[(7, named)]))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("## Do it\n```console\n$ ls\n```\n", "does not say where it starts"),
        ("## Do it\nIt is easy.\n", "nothing to follow"),
        ("## Do it\n<!-- start: a course -->\n```console\nls\n```\n", "begins with a command"),
        ("## Do it\n<!-- start: a course -->\n```console\n$ ls\n", "without an end"),
        ("## Do it\n<!-- not followed: cloud -->\n\nWords.\n", "right above a block"),
    ],
)
def test_a_page_that_does_not_keep_to_the_form_is_refused(written, text, problem):
    with pytest.raises(PageError, match=problem):
        written(text)


def test_a_tour_is_followed_and_other_sections_are_not(tmp_path):
    page = tmp_path / "index.md"
    page.write_text("## Tour\n<!-- start: a bundle -->\n```console\n$ ls\n```\n## Pages\n", "utf-8")
    assert [each.title for each in read_page(page)] == ["Tour"]
