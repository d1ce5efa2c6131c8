"""The summary of a run in Markdown, for the page that a CI server shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from merge_runner.markdown import cell, table
from merge_runner.pages.runs.comparison import Change
from merge_runner.pages.runs.history import FAILED

_ROWS = 25
_MARKS = {
    **{"success": "✅", "pass": "✅", "no-op": "➖", "warn": "⚠️", "skipped": "⏭️"},
    **dict.fromkeys(FAILED, "❌"),
}
_WORDS = {
    "failed": "fails now",
    "slower": "slower",
    "more-files": "more files",
    "wider-scan": "scans more",
    "verdict": "another verdict",
    "verdict-broken": "verdict did not hold",
}


def run_summary(record: Mapping[str, Any], changes: Sequence[Change]) -> str:
    """Return the summary of one run.

    It has how the run ended, failures, merges slowest first, changed rows, and changes since the last runs.
    """
    return "\n".join(_lines(record, changes)) + "\n"


def _lines(record: Mapping[str, Any], changes: Sequence[Change]) -> Iterator[str]:
    nodes = record["nodes"]
    counts = Counter(node["status"] for node in nodes)
    words = ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing ran"
    mark = "✅" if record["ok"] else "❌"
    yield f"### {mark} merge-runner {cell(record['command'])} of {cell(record['project'])}: {words}"
    yield ""
    yield f"{record['seconds']:.1f} s in target {cell(record['target'])}"
    bad = [node for node in nodes if node["status"] in (*FAILED, "warn")]
    if bad:
        yield from ("", "#### What did not pass", "")
        yield from table(
            ("", "node", "message"),
            [
                (_MARKS[node["status"]], node["name"], (node.get("message") or "").partition("\n")[0])
                for node in bad[:_ROWS]
            ],
        )
        yield from _more(len(bad))
    merges = [node for node in nodes if (node.get("response") or {}).get("operation") == "MERGE"]
    if merges:
        merges.sort(key=lambda node: -(node.get("seconds") or 0))
        yield from ("", "#### Merges, slowest first", "")
        heads = ("merge", "seconds", "files scanned", "inserted", "updated", "deleted", "copied", "verdict")
        yield from table(heads, [_merge(node) for node in merges[:_ROWS]], frozenset(range(1, 7)))
        yield from _more(len(merges))
    in_batches = [node for node in nodes if node.get("batches")]
    if in_batches:
        yield from ("", "#### Batches", "")
        yield from table(("model", "batches", "windows", "first that failed"), list(map(_batches, in_batches[:_ROWS])))
        yield from _more(len(in_batches))
    compared = [node for node in nodes if node.get("difference")]
    if compared:
        yield from ("", "#### Row changes", "")
        columns = ("table", "", "added", "removed", "changed", "changed rows by column")
        yield from table(columns, [_difference(node) for node in compared[:_ROWS]], frozenset((2, 3, 4)))
        yield from _more(len(compared))
    if changes:
        yield from ("", "#### Since the last runs", "")
        rows = [
            (difference.name, _WORDS[difference.kind], f"{difference.before} → {difference.now}")
            for difference in changes[:_ROWS]
        ]
        yield from table(("node", "what", ""), rows)
        yield from _more(len(changes))


def _more(count: int) -> Iterator[str]:
    if count > _ROWS:
        yield from ("", f"and {count - _ROWS} more")


def _merge(node: Mapping[str, Any]) -> tuple[Any, ...]:
    response = node["response"]
    files = (
        "–"
        if response.get("files_total") is None
        else f"{_count(response.get('files_scanned'))} of {_count(response['files_total'])}"
    )
    verdict = response.get("verdict") or "–"
    if response.get("verdict_held") is False:
        verdict += ", did not hold"
    rows = (_count(response.get(f"rows_{kind}")) for kind in ("inserted", "updated", "deleted", "copied"))
    return (node["name"], f"{node.get('seconds') or 0:.1f}", files, *rows, verdict)


def _batches(node: Mapping[str, Any]) -> tuple[Any, ...]:
    batches = node["batches"]
    done = sum(batch["status"] in ("success", "no-op") for batch in batches)
    failed = next((batch for batch in batches if batch["status"] in FAILED), None)
    message = (failed.get("message") or "").partition("\n")[0] if failed is not None else ""
    return (
        node["name"],
        f"{_count(done)} of {_count(len(batches))} batch{'es' if len(batches) != 1 else ''}",
        f"{batches[0]['start']} to {batches[-1]['end']}",
        "" if failed is None else f"{failed['start']}/{failed['end']}: {message}",
    )


def _difference(node: Mapping[str, Any]) -> tuple[Any, ...]:
    difference = node["difference"]
    rows = difference.get("rows") or {}
    outcome = difference.get("error") or ("equal" if difference.get("equal") else "different")
    columns = ", ".join(f"{name} {_count(count)}" for name, count in (difference.get("columns") or {}).items())
    return (
        node["name"],
        outcome,
        *(_count(rows.get(kind)) for kind in ("only_left", "only_right", "changed")),
        columns,
    )


def _count(value: Any) -> str:
    return "–" if value is None else f"{value:,}"
