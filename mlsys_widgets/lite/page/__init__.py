"""What runs inside a page of the site, in its Python: the one place that knows of a browser.

`kernel_start` prepares every kernel before anything of a lab runs in it. `drive.js` gives the
kernel's files a way to the page that says when something failed, `stored_journal` keeps ledgers in
storage that takes files only whole, `tab` lets one tab write, `new_release` keeps an old notebook
from meeting new questions, and `panel` answers the Lab panel.
"""

__all__: list[str] = []
