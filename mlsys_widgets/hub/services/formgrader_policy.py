"""A content security policy for formgrader: its own scripts run, and no others.

Formgrader puts a submission's Markdown and outputs into a page that may change grades. ``mlsys
grade`` writes nothing active there; this is the second lock, for notebooks that came another way.
The page may run the files in formgrader's own folder, and of the scripts inside the page those that
stand in nbgrader's templates, known by their hashes. A script of a student's is none of them,
wherever it hides: in a tag, an attribute, a link, or a file beside the notebook.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from tornado.web import OutputTransform

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp
    from tornado.httputil import HTTPHeaders, HTTPServerRequest

_SCRIPT: Final = re.compile(r"<script(?: type=\"text/javascript\")?>(.*?)</script>", re.S)
_HANDLER: Final = re.compile(r"\son[a-z]+=\"([^\"{]*)\"", re.I)
_VARIABLE: Final = re.compile(r"\{\{.*?\}\}", re.S)
#: What a name in a script of nbgrader's may contain: nothing that ends the string around it.
_VALUE: Final = r"[^\"\\<>\r\n\u2028\u2029]*"

#: nbconvert's MathJax 2 evaluates text that it finds in the page, which the policy forbids.
_MATHJAX_2: Final = re.compile(r"<script src=\"[^\"]*/mathjax/[^\"]*\">\s*</script>")
_MATHJAX_3: Final = "https://cdn.jsdelivr.net/npm/mathjax@3.2.2/es5/tex-svg.js"
_MATHJAX_HASH: Final = "sha384-KKWa9jJ1MZvssLeOoXG6FiOAZfAgmzsIIfw8BXwI9+kYm0lPCbC6yTQPBC00F1/L"
#: Formulas as in a notebook. They load nothing more: what they need is in that one file. Formgrader
#: asks MathJax 2 when it has started, so there is something that answers.
_FORMULAS: Final = f"""
(() => {{
  const complete = () => document.readyState === "complete";
  const later = (act) => complete() ? setTimeout(act) : addEventListener("load", act);
  const Hub = {{Startup: {{signal: {{Interest: (hear) => later(() => hear("End"))}}}}}};
  window.MathJax = {{
    Hub,
    tex: {{
      inlineMath: [["$", "$"], ["\\\\(", "\\\\)"]],
      displayMath: [["$$", "$$"], ["\\\\[", "\\\\]"]],
      processEscapes: true,
      tags: "ams",
      packages: {{"[-]": ["autoload", "require"]}}
    }},
    startup: {{ready: () => {{ MathJax.Hub = Hub; MathJax.startup.defaultReady(); }}}}
  }};
  const script = document.createElement("script");
  script.src = "{_MATHJAX_3}";
  script.integrity = "{_MATHJAX_HASH}";
  script.crossOrigin = "anonymous";
  later(() => document.head.append(script));
}})();
"""
_PATHS: Final = ("/", "/static/", "/api/")

#: For what students handed in beside a notebook: shown, and cut off from everything.
FILE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
_FILE: Final = re.compile(
    r"/formgrader/submissions/[^/]+/(?!(?:(?:next|prev)(?:_incorrect)?/?)?\Z)"
)


def page_policy(page: str, place: str) -> str:
    """Return the policy of a page of formgrader.

    `place` is formgrader's host and path, such as ``127.0.0.1:8000/user/teacher/formgrader``; empty
    where a policy cannot say it.
    """
    scripts = " ".join(_hash(text) for text in [_FORMULAS, *_handlers(), *_own_scripts(page)])
    # All servers of a hub have one origin, so 'self' would also let in a file from a student's.
    own, static, api = (f"{place}{path}" if place else "'self'" for path in _PATHS)
    return "; ".join(
        (
            "default-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
            f"script-src {static} {_MATHJAX_3} 'unsafe-hashes' {scripts}",
            f"style-src {static} 'unsafe-inline'",
            f"img-src {own} data:",
            f"font-src {static} data:",
            f"connect-src {api}",
        )
    )


def with_formulas(page: str) -> str:
    """Replace nbconvert's MathJax, which does not work under the policy, by one that does.

    Examples
    --------
    >>> page = '<script src="https://cdn.example/mathjax/2.7.7/latest.js"> </script>'
    >>> "mathjax@3" in with_formulas(page), with_formulas("<p>none</p>")
    (True, '<p>none</p>')
    """
    # The first is nbconvert's, in the head; another would be a student's.
    return _MATHJAX_2.sub(lambda _: f"<script>{_FORMULAS}</script>", page, count=1)


class FormgraderPolicy(OutputTransform):
    """Adds the policy to whatever formgrader sends."""

    #: The path of the server, without a slash at its end.
    base = ""

    def __init__(self, request: HTTPServerRequest) -> None:
        path = unquote(request.path)
        base = unquote(self.base)
        self._path = path.removeprefix(base) if path.startswith(f"{base}/formgrader") else ""
        ipv6 = "[" in request.host  # which a policy cannot name
        self._place = "" if ipv6 else f"{request.host}{quote(base, safe='/@')}/formgrader"

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        if _FILE.match(self._path):
            headers["Content-Security-Policy"] = FILE_POLICY
        elif self._path and "html" in headers.get("Content-Type", ""):
            page = chunk.decode("utf-8", "replace")
            if finishing:
                page = with_formulas(page)
            headers["Content-Security-Policy"] = page_policy(page, self._place)
            # A page from a cache would meet the policy of another one.
            headers["Cache-Control"] = "no-store"
            headers.pop("Etag", None)
            chunk = page.encode()
            if finishing and "Content-Length" in headers:
                headers["Content-Length"] = str(len(chunk))
        return status_code, headers, chunk


def _own_scripts(page: str) -> list[str]:
    """Return the scripts in a page that stand in a template of nbgrader's.

    Of several that look alike, the first counts: it is in the head, before anything of a student's.
    Otherwise a copy with another value could make a grader's points go to another submission.
    """
    patterns = list(_templates())
    found = []
    for match in _SCRIPT.finditer(page):
        pattern = next((each for each in patterns if each.fullmatch(match[1])), None)
        if pattern:
            patterns.remove(pattern)
            found.append(match[1])
    return found


@functools.cache
def _sources() -> tuple[str, ...]:
    from nbgrader.server_extensions.formgrader import handlers

    files = sorted(Path(handlers.template_path).rglob("*"))
    return tuple(f.read_text("utf-8") for f in files if f.suffix in (".tpl", ".j2"))


@functools.cache
def _templates() -> tuple[re.Pattern[str], ...]:
    scripts = dict.fromkeys(script for text in _sources() for script in _SCRIPT.findall(text))
    return tuple(
        re.compile(_VALUE.join(re.escape(part) for part in _VARIABLE.split(script)))
        for script in scripts
    )


@functools.cache
def _handlers() -> tuple[str, ...]:
    return tuple(sorted({each for text in _sources() for each in _HANDLER.findall(text)}))


def _hash(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "mlsys_widgets.hub.services.formgrader_policy"}]


def _load_jupyter_server_extension(serverapp: ServerApp) -> None:
    """Add the policy to a server. Called by Jupyter."""
    FormgraderPolicy.base = serverapp.base_url.rstrip("/")
    # First, because a later one may compress the page.
    serverapp.web_app.transforms.insert(0, FormgraderPolicy)
