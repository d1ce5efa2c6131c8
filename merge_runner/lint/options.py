"""What a command says about rules in addition to the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LintOptions:
    """What the command line says in addition to the settings: rules and ignored ones, a layout file, a baseline.

    `baseline` None: that of the settings, or the usual one where it is; `use_baseline` False: none.
    """

    rules: Sequence[str] = ()
    ignore: Sequence[str] = ()
    layout: Path | None = None
    baseline: Path | None = None
    use_baseline: bool = True
