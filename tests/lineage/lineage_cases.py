"""Reads and writes the cases of this folder: a statement, and the lineage of its columns as short texts."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from merge_runner.lineage.edge import Table
from merge_runner.lineage.merge import merge_lineage, query_lineage
from merge_runner.merge.parse import parse
from tests.yaml_data import read_yaml

TABLES = {
    "t": Table("t", ("id", "a", "b", "n", "st"), True),
    "s": Table("s", ("id", "a", "b", "c", "st"), True),
    "u": Table("u", ("k", "x"), True),
    "g": Table("g", ("id", "ts", "day"), True, (("day", "cast(ts as date)"),)),
    "partly": Table("partly", ("id", "a")),  # it may have more columns
    "empty": Table("empty"),  # nothing is known of its columns
}
"""What statements may name; `open` and `open2` are names of which nothing is known at all."""


def lookup(parts):
    return TABLES.get(parts[-1].casefold()) if len(parts) == 1 else None


def lineage_of(sql):
    if not re.search(r"\bmerge\b", sql, re.IGNORECASE):
        return query_lineage(sql, lookup)
    statement = parse(sql)
    return merge_lineage(statement, lookup(statement.target.parts) or Table("target"), lookup)


def texts(inputs):
    return ", ".join(f"{each.relation}.{each.column} {each.subtype}" for each in inputs)


def found(sql):
    """The lineage of a statement in the form of a case."""
    lineage = lineage_of(sql)
    result = {
        "columns": {each.column: texts(each.inputs) for each in lineage.columns},
        "rows": texts(lineage.rows),
    }
    gaps = {}
    for name, unresolved in [
        ("rows", lineage.unresolved),
        *((each.column, each.unresolved) for each in lineage.columns),
    ]:
        if unresolved:
            gaps[name] = [f"{each.span.of(sql) if each.span else ''}: {each.reason}" for each in unresolved]
    return {**result, "unresolved": gaps} if gaps else result


def found_text(sql):
    text = yaml.safe_dump(found(sql), sort_keys=False, width=110, allow_unicode=True)
    return "".join(f"  {line}\n" for line in text.splitlines())


def cases(name):
    return read_yaml(Path(__file__).parent / f"{name}.yml")
