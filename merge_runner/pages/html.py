"""One self-contained HTML file: data, script and style inside, and a policy that lets nothing else run or load.

Names, descriptions and SQL are untrusted. They are in blocks of JSON, which a browser does not run, with `<` escaped so
that none of them ends its block; the script makes text nodes of them. The policy allows the script and the style by
their hashes alone.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from merge_runner.version import version

View = Literal["project", "runs"]
_SCRIPTS: Mapping[View, tuple[str, ...]] = {
    "project": (
        *("base.js", "markdown.js", "code.js", "table.js", "search.js", "selection.js", "dag.js", "lineage.js"),
        *("batches.js", "node.js", "project.js"),
    ),
    "runs": ("base.js", "table.js", "timeline.js", "versions.js", "batches.js", "run.js"),
}
_STYLES: Mapping[View, tuple[str, ...]] = {
    "project": ("base.css", "project.css"),
    "runs": ("base.css", "project.css", "run.css"),
}


def page(title: str, view: View, data: Mapping[str, Any], chunks: Iterable[Any] = ()) -> str:
    """Return the page that shows `data` in a view of the front end.

    `chunks` are read when they are needed: each is a JSON value, or bytes that are gzipped JSON already.
    """
    script, style = _join(_SCRIPTS[view]), _join(_STYLES[view])
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    blocks = "".join(
        f'<script type="text/plain" id="chunk-{number}">{_pack(chunk)}</script>\n'
        for number, chunk in enumerate(chunks)
    )
    return (
        "<!doctype html>\n"
        f'<html lang="en" data-view="{view}">\n<head>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="merge-runner {html.escape(version())}">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<noscript>This page is drawn by its script, which is turned off.</noscript>\n"
        f'<script type="application/json" id="data">{escaped_json(data)}</script>\n{blocks}'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def escaped_json(value: Any) -> str:
    """Return JSON in which nothing ends a script element or begins a comment of HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    text = text.encode("utf-8", "replace").decode()  # half of a surrogate pair is in no UTF-8 file
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def gzipped(value: Any) -> bytes:
    """Return JSON, gzipped; equal values give equal bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)


def _pack(chunk: Any) -> str:
    return base64.b64encode(chunk if isinstance(chunk, bytes) else gzipped(chunk)).decode()


@cache
def _join(names: tuple[str, ...]) -> str:
    folder = files("merge_runner.pages") / "front_end"
    return "\n" + "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
