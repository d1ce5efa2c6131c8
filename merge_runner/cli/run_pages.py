"""What a command leaves for people to look at after a run: its page, and a summary in CI."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.cli.display.messages import concealed, say

if TYPE_CHECKING:
    from merge_runner.options.nodes import Reporting

SUMMARY = "GITHUB_STEP_SUMMARY"


def show_run(target: Path, options: Reporting) -> None:
    """Write the page of the last run where the options want it, open it, and add its summary to that of a CI job."""
    from merge_runner.api.pages import run_markdown, write_run_report

    if options.report is not None or options.open_page:
        page = write_run_report(target, options.report)
        if options.open_page:
            from merge_runner.cli.browser import open_in_browser

            open_in_browser(page.absolute().as_uri())
    add_step_summary(lambda: run_markdown(target))


def add_step_summary(markdown: Callable[[], str]) -> None:
    """Append a text to the summary of a job of GitHub Actions, where there is one."""
    path = os.environ.get(SUMMARY)
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(concealed(markdown()) + "\n")
    except OSError as error:
        say(f"warning: {SUMMARY}: {error.strerror}: the job has no summary of this", "warn")
