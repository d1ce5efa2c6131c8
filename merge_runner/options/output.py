"""The options of every command: how messages look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from merge_runner.options.declaration import flag, option

ALL_OUTPUT = ("log_format", "quiet", "debug", "no_use_colors", "warn_error")
"""The options that every command accepts."""


@dataclass(frozen=True)
class OutputOptions:
    """How messages look. A command that ignores one of them accepts it nevertheless: scripts give them to all."""

    log_format: Literal["text", "json", "dbt-json"] = option(
        "--log-format", default="text", help="How messages are written; dbt-json: dbt's event lines, for its tools."
    )
    quiet: bool = flag("-q", "--quiet", help="Errors and results only.")
    debug: bool = flag("-d", "--debug", help="Every event, and tracebacks of what should not happen.")
    no_use_colors: bool = flag("--no-use-colors", help="No colours.")
    warn_error: bool = flag("--warn-error", recorded=True, help="Warnings count as errors.")
