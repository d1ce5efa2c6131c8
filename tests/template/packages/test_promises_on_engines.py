"""Each pattern of merge_patterns as a model on Delta and on Iceberg: random loads end as promises.py says.

One build runs all patterns, and each MERGE many histories at the same time.
"""

import json
import random

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from merge_runner import Project
from tests.template.packages.cases import CASES
from tests.template.packages.promises import Batch
from tests.template.packages.test_promises import counted

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
CLUSTERED = "cluster_by=['history', 'id']"
LAYOUT = {"delta": CLUSTERED, "iceberg": "partition_by=['id']"}
"""How the tables are laid out that are clustered on Delta."""


@pytest.mark.parametrize("table_format", LAYOUT)
def test_random_loads_end_as_promised(make_project, driver, table_format):
    check(make_project, driver, table_format, loads=3, histories=40, number=1)


@pytest.mark.parametrize("table_format", LAYOUT)
def test_many_random_loads_end_as_promised(make_project, driver, table_format):
    check(make_project, driver, table_format, loads=5, histories=1000, number=random.randrange(2**32))


def check(make_project, driver, table_format, loads, histories, number):
    """Load `histories` random histories of `loads` batches; `number` says which."""
    batches = {name: drawn(case, loads, histories, number) for name, case in CASES.items()}
    root = make_project(files(table_format, f"given_{table_format}_{loads}"), table_format)
    for nth in range(loads):
        for name, found in batches.items():
            # What its table holds before it is no source of gdpr_delete.
            rows = [] if name == "gdpr_delete" and nth == 0 else found[nth].rows
            (root / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        project, _ = build(root, driver, batches, nth)
        relations = {name: project.graph.nodes[f"model.shop.{name}"].relation for name in CASES}
        if nth == 0:
            hold(driver.spark, relations["gdpr_delete"], batches["gdpr_delete"][0].rows)
        for name, case in CASES.items():
            columns = [column for column in case.table if column != "row_hash"]
            rows = [row.asDict() for row in driver.spark.table(str(relations[name])).collect()]
            assert counted(rows, columns) == counted(case.promise(batches[name][: nth + 1]), columns), (
                name,
                nth,
                number,
            )
    _, again = build(root, driver, batches, loads - 1)
    changed = {name: again[name].adapter_response["rows_affected"] for name in CASES}
    assert changed == dict.fromkeys(CASES, 0), number


def drawn(case, loads, histories, number):
    """Return the batches of each load, with rows of all histories and the same vars for all."""
    of_each = examples(st.tuples(*(case.rows(0) for _ in range(loads))), histories, number)
    vars_ = [random.Random(number).choice(examples(case.vars(nth), 10, number)) for nth in range(loads)]
    return [
        Batch([{**row, "history": history} for history, rows in enumerate(of_each) for row in rows[nth]], vars_[nth])
        for nth in range(loads)
    ]


def examples(strategy, count, number):
    found = []

    @seed(number)
    @settings(max_examples=count, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(each):
        found.append(each)

    collect()
    return found


def files(table_format, schema):
    """Return a project with a model and a source, a JSON file, for each pattern."""
    sources, models, texts = [], [], {}
    for name, case in CASES.items():
        table = {"name": name, "path": f"{name}.json", "format": "json", "columns": typed(case.source)}
        sources.append(table)
        models.append({"name": name, "columns": typed(case.table)})
        texts[f"models/{name}.sql"] = (case.arguments % name).replace(CLUSTERED, LAYOUT[table_format])
    described = {"sources": [{"name": "given", "schema": schema, "tables": sources}], "models": models}
    return {"models/all.yml": json.dumps(described), **texts}


def typed(columns):
    return [{"name": name, "data_type": data_type} for name, data_type in columns.items()]


def build(root, driver, batches, nth):
    vars_ = {name: value for found in batches.values() for name, value in found[nth].vars.items()}
    project = Project.load(root, vars=vars_)
    results = project.build(driver=driver, lint=False)
    assert results.ok, [(result.unique_id, result.message) for result in results.results if result.status != "success"]
    return project, results


def hold(spark, relation, rows):
    """Insert rows of whole numbers and texts into a table."""
    given = [(row["history"], row["id"], row["a"], row["b"]) for row in rows]
    spark.createDataFrame(given, "history int, id int, a string, b int").createOrReplaceTempView("held")
    spark.sql(f"insert into {relation} (history, id, a, b) select * from held")
