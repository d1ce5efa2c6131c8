"""What the judge says of each condition and bounds of a MERGE, cause by cause: cases in judgements.yml.

The facts say whether a condition prunes; rules and `explain` select by cause and pattern as well.
"""

from itertools import chain
from pathlib import Path

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableColumn, TableLayout, partition_field
from merge_runner.pruning.layout.table_properties import with_properties
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.pruning.query.source import KnownTable
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "judgements.yml")
WORDS = {True: "prunes", False: "reads all", None: "unknown"}
TYPES = {
    **{"id": "bigint", "dt": "date", "region": "string", "ts": "timestamp", "n": "int", "amount": "decimal(10,2)"},
    **{"st": "struct<a:int,b:array<int>>", "m": "map<string,int>", "bin": "binary", "flag": "boolean", "h": "date"},
    "small": "smallint",
}


def columns(case):
    return tuple(
        TableColumn(name, parse_type(text), nullable=name not in ("id", "h"))
        for name, text in TYPES.items()
        if name not in case.get("undeclared", ())
    )


def layout(case):
    """The target: Delta, partitioned by dt and h, unless the case says otherwise."""
    fields = case.get("partition_by", ["dt", "h"])
    known = TableLayout(
        case.get("format", "delta"),
        columns(case),
        complete=not case.get("undeclared"),
        partition_by=None if fields is None else tuple(map(partition_field, fields)),
        cluster_by=tuple(case.get("cluster_by", ())),
        sort_by=tuple(case.get("sort_by", ())),
        indexed=case.get("indexed", 32),
    )
    return with_properties(known, case.get("properties", {}))


def lookup(case):
    """The source: it has the columns of the target, or is known to have those that the case lists."""
    known = TableLayout(columns=columns({}), complete=True)
    if "source" in case:
        known = TableLayout(columns=tuple(map(TableColumn, case["source"])))
    return lambda _parts: KnownTable(known)


def said(condition):
    """`prunes`, the cause, the pattern in angles, and the legs in brackets."""
    assert condition.reason.strip()
    words = f"{WORDS[condition.prunes]}: {condition.cause}"
    words += f" <{condition.pattern}>" if condition.pattern else ""
    return words + (f" [{', '.join(map(said, condition.legs))}]" if condition.legs else "")


def judged(case):
    text = (
        f"merge into t using {case.get('using', 's')} as s on {case['condition']} "
        f"{case.get('clauses', 'when matched then update set *')}"
    )
    return judge_merge(
        parse(text), layout(case), lookup(case), case.get("bounds", "off"), declared_variables(case.get("before", ()))
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["condition"])
def test_judgement(case):
    merge = judged(case)
    found = merge.judgement
    assert [said(condition) for condition in found.on] == case["said"]
    assert found.verdict == case["verdict"]
    assert [[said(condition) for condition in clause] for clause in found.when if clause] == case.get("when", [])
    text = merge.statement.text
    bounds = [
        f"{bound.column} by {bound.source.of(text)}{', with NULL' * bound.null_safe}{'' if bound.prunes else ', for nothing'}"
        for bound in found.bounds
    ]
    assert bounds == case.get("bounded", [])
    if "reason" in case:
        assert case["reason"] in [condition.reason for condition in (*found.on, *chain(*found.when))]
    if "because" in case:
        assert found.reason == case["because"]
