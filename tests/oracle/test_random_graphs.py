"""Random projects end as the oracle says, whatever the number of threads, and whatever fails on the way."""

from __future__ import annotations

import csv
import logging
import os
import re
from collections import Counter
from random import Random

import pytest

from merge_runner import Project
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.graph import Node, State, random_graph
from tests.oracle.spark_sql import merge_text, query_text
from tests.oracle.tables import REFUSED, listed, read

pytestmark = pytest.mark.spark

SEED = int(os.environ.get("ORACLE_SEED", "1"))
GRAPHS = int(os.environ.get("ORACLE_GRAPHS", "1"))
NODES = 8
_COLUMNS = ", ".join(f"{{name: {name}, data_type: '{kind}'}}" for name, kind in COLUMNS.items())


def model(node: Node) -> str:
    """The file of a model."""

    def named(name: str) -> str:
        return "{{ this }}" if name == node.name else f"{{{{ ref('{name}') }}}}"

    config = {"materialized": node.materialized}
    if node.merge is None:
        text = query_text(node.query, named)
    else:
        text = merge_text(node.merge, "{{ this }}", node.query, named, {"t": "t", "s": "s"}, cte=False)
        config |= {"partition_by": list(node.partition), "on_error": "continue" if node.goes_on else "skip_children"}
    return f"{{{{ config({', '.join(f'{key}={value!r}' for key, value in config.items())}) }}}}\n{text}\n"


def files(nodes: list[Node], table_format: str) -> dict[str, str]:
    """The models and properties of a project; its seeds are written by `write_seed`."""
    merges = "".join(f"\n  - {{name: {node.name}, columns: [{_COLUMNS}]}}" for node in nodes if node.merge is not None)
    types = ", ".join(f"{name}: '{kind}'" for name, kind in COLUMNS.items())
    seeds = "".join(
        f"\n  - {{name: {node.name}, config: {{format: {table_format}, column_types: {{{types}}}}}}}"
        for node in nodes
        if node.rows
    )
    properties = {"models/m.yml": f"version: 2\nmodels:{merges or ' []'}\nseeds:{seeds or ' []'}\n"}
    return properties | {f"models/{node.name}.sql": model(node) for node in nodes if node.materialized != "seed"}


def write_seed(root, node: Node) -> None:
    path = root / f"seeds/{node.name}.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        out.writerows(["" if row[name] is None else row[name] for name in COLUMNS] for row in node.rows)


@pytest.mark.parametrize(
    ("table_format", "builds"),
    [
        ("iceberg", (4,)),
        pytest.param("delta", (4,), marks=pytest.mark.slow),
        *(pytest.param(name, (4, 1), marks=pytest.mark.nightly) for name in ("delta", "iceberg")),
    ],
)
def test_random_graphs(make_project, driver, monkeypatch, table_format, builds):
    """`builds`: how often each graph is built, and with how many threads."""
    monkeypatch.setattr("merge_runner.engine.merge.runtime_filter.SMALL", 0)
    seen: Counter[str] = Counter()
    for number in range(GRAPHS):
        name = f"{table_format} {SEED} {number}"
        nodes = random_graph(Generator(Random(name)), NODES, table_format)
        root = make_project(files(nodes, table_format), table_format)
        for node in nodes:
            if node.materialized == "seed":
                write_seed(root, node)
        state = State(nodes, table_format)
        for threads in builds:
            state.build()
            project = Project.load(root)
            results = project.build(driver=driver, lint=False, threads=threads)
            told = {result.unique_id.split(".")[2]: result for result in results.results}
            texts = f"{name}, {threads} threads\n" + "\n\n".join(
                f"-- {node.name} {node.rows}\n{model(node)}" for node in nodes
            )
            assert set(told) == set(state.statuses), texts
            problems = [
                f"{node}: {told[node].status} {told[node].message}, but {status}"
                for node, status in state.statuses.items()
                if told[node].status != status
                or (status == "error" and not re.search(REFUSED, told[node].message or ""))
            ]
            assert not problems, "\n".join([*problems, texts])
            named = {
                node.name: str(node.relation) for node in project.graph.nodes.values() if node.relation is not None
            }
            kept = state.kept()
            found = read(driver.spark, {node: named[node] for node in kept})
            problems = [
                f"{node}:\ntable:  {found[node]}\noracle: {listed(rows)}"
                for node, rows in kept.items()
                if found[node] != listed(rows)
            ]
            assert not problems, "\n".join([*problems, texts])
            seen.update(state.statuses.values())
    logging.getLogger(__name__).info("%s: %s", table_format, dict(seen))
