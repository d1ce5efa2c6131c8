"""The browser in which `--open` shows a page."""

from __future__ import annotations

import webbrowser

from merge_runner.cli.display.messages import say


def open_in_browser(address: str) -> None:
    """Open an address in the browser that $BROWSER or the desktop names; without one, a warning has the address."""
    if not webbrowser.open(address):
        say(f"warning: no browser was found for --open: {address}", "warn")
