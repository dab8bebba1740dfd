"""The browser profile that tests share, one after the other.

Chromium keeps the compiled scripts of a page in its profile. A context without one compiles all of
JupyterLab whenever it opens it, which is a quarter of the processor time of opening a notebook.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

#: What a page keeps beyond its own life, except for what it has loaded and compiled.
STORAGE = "cookies,local_storage,indexeddb,service_workers,cache_storage,file_systems"


def kept(browser: Browser) -> BrowserContext:
    """Return the context that has the profile; it opened with the browser, on an empty page."""
    return browser.contexts[0]


def new_window(browser: Browser, width: int = 1400, height: int = 1000) -> Page:
    """Open a window that has seen nothing yet: in the profile unless a test has a page there."""
    profile = kept(browser)
    if len(profile.pages) > 1:
        return browser.new_context(viewport={"width": width, "height": height}).new_page()
    page = profile.new_page()
    page.set_viewport_size({"width": width, "height": height})
    return page


def close_window(page: Page) -> None:
    """Close the browser of a page with all of its pages, and forget what they have stored."""
    context = page.context
    assert context.browser
    profile = kept(context.browser)
    if context is not profile:
        context.close()
        return
    empty, *pages = profile.pages
    origins = {urlsplit(each.url)._replace(path="", query="", fragment="") for each in pages}
    for each in pages:
        each.close()
    storage = profile.new_cdp_session(empty)
    for origin in origins:
        about = {"origin": origin.geturl(), "storageTypes": STORAGE}
        storage.send("Storage.clearDataForOrigin", about)
    storage.detach()
    profile.clear_cookies()
