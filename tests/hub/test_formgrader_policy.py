"""The policy of formgrader's pages: which scripts it knows, and what it says about files."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.server_extensions.formgrader import handlers
from tornado.httputil import HTTPHeaders

from mlsys_widgets.hub.services import formgrader_policy as policy
from mlsys_widgets.hub.services.formgrader_policy import FILE_POLICY, FormgraderPolicy, page_policy

PLACE = "hub.example/user/ta/formgrader"
HEAD = (
    '<script type="text/javascript">\nvar submission_id = "{}";\nvar notebook_id = "n";\n'
    'var assignment_id = "a";\nvar base_url = "/user/ta/formgrader";\n</script>'
)


def sent(path: str, page: str = "<p>", kind: str = "text/html", host: str = "hub.example"):
    """What a page is sent with: its policy, and the page itself."""
    headers = HTTPHeaders({"Content-Type": kind, "Content-Length": "3", "Etag": "x"})
    request = SimpleNamespace(path=path, host=host)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FormgraderPolicy, "base", "/user/ta")
        _, headers, chunk = FormgraderPolicy(request).transform_first_chunk(
            200, headers, page.encode(), True
        )
    return headers, chunk.decode()


def hashes(text: str) -> set[str]:
    return set(re.findall(r"'sha256-[^']+'", text))


def test_only_the_first_of_nbgraders_scripts_is_known():
    """A second one, with another submission in it, would be a student's."""
    own = HEAD.format("1" * 32)
    alone = page_policy(own, PLACE)
    assert hashes(alone) - hashes(page_policy("", PLACE))
    assert page_policy(own + HEAD.format("2" * 32) + "<script>go()</script>", PLACE) == alone


@pytest.mark.parametrize("value", ['"; go(); "', "\\", "</script><script>go()", "a\nb", "\u2028"])
def test_a_value_that_ends_its_string_is_not_known(value):
    assert page_policy(HEAD.format(value), PLACE) == page_policy("", PLACE)


def test_every_script_and_handler_of_the_templates_is_known():
    texts = [f.read_text() for f in Path(handlers.template_path).rglob("*") if f.is_file()]
    inline = sum(len(re.findall(r"<script[^>]*>(?=\s*\S)(?!\s*</script>)", t)) for t in texts)
    assert inline == sum(len(re.findall(policy._SCRIPT, text)) for text in texts) >= 9
    written = sum(len(re.findall(r"\son\w+=", text, re.I)) for text in texts)
    assert written == sum(len(policy._HANDLER.findall(text)) for text in texts) >= 5


def test_pages_files_and_everything_else():
    headers, _ = sent("/user/ta/formgrader/gradebook")
    policy = headers["Content-Security-Policy"]
    assert f"script-src {PLACE}/static/ " in policy
    assert "'self'" not in policy.replace("frame-ancestors 'self'", "")
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert headers["Cache-Control"] == "no-store"
    assert "Etag" not in headers
    for path in ("x.html", "folder/x.svg", "nextdoor.html", "next/x.html", "%65vil.html"):
        headers, _ = sent(f"/user/ta/formgrader/submissions/0a1b/{path}", kind="image/svg+xml")
        assert headers["Content-Security-Policy"] == FILE_POLICY, path
    for path in ("", "/", "/next", "/prev_incorrect/"):
        headers, _ = sent(f"/user/ta/formgrader/submissions/0a1b{path}")
        assert "script-src" in headers["Content-Security-Policy"], path
    headers, _ = sent("/user/ta/formgrader/api/grades", kind="application/json")
    assert "Content-Security-Policy" not in headers
    headers, _ = sent("/user/ta/lab")
    assert "Content-Security-Policy" not in headers


def test_an_address_that_a_policy_cannot_name():
    headers, _ = sent("/user/ta/formgrader/gradebook", host="[::1]:8000")
    assert "script-src 'self' " in headers["Content-Security-Policy"]


def test_formulas_are_drawn_by_a_script_that_evaluates_nothing():
    old = (
        '<script src="https://cdn.example/ajax/libs/mathjax/2.7.7/latest.js?config=Safe"> </script>'
    )
    headers, page = sent("/user/ta/formgrader/submissions/0a1b/", old + old)
    assert page.count("mathjax/2.7.7") == 1  # the second is not nbconvert's, and is refused
    assert int(headers["Content-Length"]) == len(page.encode())
    script = re.search("<script>(.*?)</script>", page, re.S)
    assert policy._hash(script[1]) in headers["Content-Security-Policy"]
