"""The one line that ends the text output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from merge_runner.formats.lines import LINES, RECOMMENDED
from merge_runner.lint.containers.contents import Container
from merge_runner.lint.outputs.verdicts import bounded_or_meant
from merge_runner.lint.report import Report

_WRITTEN_IN: Mapping[Container, str] = {
    "sql": ".sql files",
    "script": "scripts",
    "notebook": "notebooks",
    "ipynb": ".ipynb notebooks",
    "python": "Python",
    "builder": "builders",
    "scala": "Scala",
    "dbt": "dbt models",
    "model": "models",
}
_PLACE = ("at", "place")
_MODEL = ("for", "model")


def summary(report: Report) -> str:
    """`3 merges: 2 static, 1 none; 1 error, 0 warnings`; a friendly one where nothing was found.

    It begins with `All clear` only where every scan is known to be bounded, or is meant to be full, every rule was
    judged, and nothing is hidden.
    """
    left_out = f"; {report.hidden} hidden by the baseline" if report.hidden else ""
    kinds = Counter((item.what, *(_PLACE if item.model is None else _MODEL)) for item in report.not_judged)
    left_out += "".join(
        f"; {what} not judged {at} {counted(number, noun)}" for (what, at, noun), number in kinds.items()
    )
    if report.findings:
        return f"{_merges(report)}{_verdicts(report)}; {_findings(report)}{left_out}"
    if not report.merges and not report.hidden and not report.not_judged:
        return f"Nothing to prove: no merges in {_files(report)}"
    clear = not report.hidden and not report.not_judged and all(bounded_or_meant(merge) for merge in report.merges)
    start = "All clear" if clear else "No findings"
    return f"{start}: {_merges(report)} in {_files(report)}{_verdicts(report)}{left_out}"


def counted(number: int, word: str) -> str:
    """`1 merge`, `2 merges`."""
    return f"{number} {word}" + ("" if number == 1 else "s")


def _merges(report: Report) -> str:
    """`no merges`, `2 merges`; where they are written in several things: `3 merges (2 in Python, 1 in scripts)`.

    Where there are some that cannot be read, it is not said that there are none.
    """
    if not report.merges:
        return "no merge judged" if any(not item.rules for item in report.not_judged) else "no merges"
    containers = report.containers
    kinds = f" ({', '.join(f'{count} in {_WRITTEN_IN[kind]}' for kind, count in containers.items())})"
    return counted(len(report.merges), "merge") + (kinds if len(containers) > 1 else "")


def _files(report: Report) -> str:
    models = [*(merge.model for merge in report.merges), *(item.model for item in report.not_judged)]
    plain = all(model is None for model in models)
    return counted(report.files, "file" if plain else "model")


def _verdicts(report: Report) -> str:
    words = [f"{count} {verdict}{_purpose(report, verdict)}" for verdict, count in report.verdicts.items() if count]
    return f": {', '.join(words)}{_lines(report)}" if words else ""


def _lines(report: Report) -> str:
    """The lines of Spark that the verdicts are for, where one of them is not the recommended one."""
    versions = sorted({merge.spark for merge in report.merges})
    return f", on {' and '.join(str(LINES[spark]) for spark in versions)}" if versions != [RECOMMENDED.spark] else ""


def _purpose(report: Report, verdict: str) -> str:
    if verdict != "none":
        return ""
    on_purpose = [merge.scans_all_on_purpose for merge in report.merges if merge.verdict == "none"]
    if all(on_purpose):
        return " (scan: full)"
    return f" ({sum(on_purpose)} of them scan: full)" if any(on_purpose) else ""


def _findings(report: Report) -> str:
    words = [counted(report.count("error"), "error"), counted(report.count("warning"), "warning")]
    infos = report.count("info")
    return ", ".join([*words, f"{infos} info"] if infos else words)
