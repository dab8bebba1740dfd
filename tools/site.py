"""Build the site of labs that run in a browser alone, into build/site; ``--open`` shows it.

docs/contributors/site.md says what it keeps, how, and what does not work yet.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import webbrowser
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SITE: Final = ROOT / "build" / "site"
#: What was fetched from registries, for the next time.
KEPT: Final = ROOT / "build" / "lite"
MISSING: Final = "docs/contributors/site.md says what is missing."


def main() -> int:
    """Build the site, and serve it on this machine if asked."""
    from mlsys_widgets.course.course import Course
    from mlsys_widgets.course.telling import Way
    from mlsys_widgets.lite.fetching import FetchError
    from mlsys_widgets.lite.precompiled import CompileError
    from mlsys_widgets.lite.site_app import SiteError
    from mlsys_widgets.lite.site_build import build_site

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", action="store_true", help="serve the site here and open it")
    parser.add_argument(
        "--assignment",
        action="store_true",
        help="publish the labs as an assignment to hand in, instead of practice with its checks",
    )
    arguments = parser.parse_args()
    try:
        way: Way = "assignment" if arguments.assignment else "practice"
        build_site(Course.at(ROOT), SITE, KEPT, print, way=way)
    except (CompileError, FetchError, SiteError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    size = sum(each.stat().st_size for each in SITE.rglob("*") if each.is_file())
    print(f"Built {SITE.relative_to(ROOT)}: {size / 1e6:.0f} MB. {MISSING}")
    if arguments.open:
        _serve()
    return 0


def _serve() -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/lab/index.html?path=START_HERE.md"
        print(f"Serving {address} until you press Ctrl+C")
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("Stopped.")


if __name__ == "__main__":
    sys.exit(main())
