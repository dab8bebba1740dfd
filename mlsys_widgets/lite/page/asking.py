"""What a kernel asks besides files: its page what it shows, and the site what it publishes."""

from __future__ import annotations

from typing import Final

#: Asks for a file, and waits: a worker may, and questions are answered one by one.
_GET: Final = """address => {
  const request = new XMLHttpRequest();
  request.open('GET', address, false);
  request.responseType = 'arraybuffer';
  request.send();
  return new Uint8Array(request.status === 200 ? request.response : 0);
}"""
#: Asks the page for the version of a notebook that it shows.
_SHOWN: Final = """(FS, path) => {
  const { API: api } = FS.lookupPath('/drive').node.mount.type;
  return api.request({ method: 'shown', path });
}"""


def published(address: str) -> bytes | None:
    """Return a file of the site as it is published now; `None` if it cannot be had."""
    from pyodide.code import run_js
    from pyodide.ffi import JsException

    try:
        content: bytes = run_js(_GET)(address).to_bytes()
    except JsException:
        return None
    return content or None


def version_shown(notebook: str) -> str | None:
    """Return the version of a notebook as its page shows it; `None` if the page does not answer.

    It is empty for a notebook that is no lab's. A page that was loaded before the lab was published
    again may show another one than the drive has, where a notebook that was only opened is the
    site's.
    """
    from pyodide.code import run_js
    from pyodide.ffi import JsException
    from pyodide_js import FS

    try:
        return str(run_js(_SHOWN)(FS, notebook))
    except JsException:
        return None
