"""Tests share what a browser has compiled, and nothing that a page has stored."""

from __future__ import annotations

import pytest

from tests.browser.profile import close_window, kept, new_window

pytestmark = pytest.mark.needs("chromium")

STORED = """async () => [
  localStorage.length, sessionStorage.length, document.cookie,
  (await indexedDB.databases()).length, (await caches.keys()).length
]"""


def test_what_a_page_stored_is_gone_with_its_window(browser, lab_server):
    address = f"{lab_server.url}login"
    page = new_window(browser)
    page.goto(address)
    page.evaluate(
        """async () => {
          localStorage.draft = sessionStorage.draft = 'typed';
          document.cookie = 'draft=typed';
          await caches.open('drafts');
          await new Promise(done => { indexedDB.open('drafts').onsuccess = done; });
        }"""
    )
    beside = new_window(browser)
    beside.goto(address)
    assert beside.evaluate(STORED)[0] == 0
    assert beside.context is not page.context
    close_window(beside)
    close_window(page)
    page = new_window(browser)
    assert page.context is kept(browser)
    page.goto(address)
    stored = page.evaluate(STORED)
    assert stored[2] == "" or "draft" not in stored[2]
    assert [stored[0], stored[1], stored[3], stored[4]] == [0, 0, 0, 0]
    close_window(page)
    assert len(kept(browser).pages) == 1
