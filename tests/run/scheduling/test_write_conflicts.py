"""Which merges of one table may run at once, and that two that may do so both commit."""

import time

import pytest

from merge_runner import Project
from merge_runner.run.node_plans import plan_nodes
from merge_runner.run.scheduling.write_conflicts import WriteKey, write_keys

MERGE = """
{{ config(alias='shared', partition_by='p', bounds='off', CONFIG) }}
merge into {{ this }} as t
using (select GATE as id, PART as p from range(0, 3, 1, 1)) as s on t.id = s.id and t.p = s.p ON
when matched then update set * when not matched then insert * REST
"""
COLUMNS = "[{name: id, data_type: bigint}, {name: p, data_type: int}]"


def model(on, config="concurrent=true", part="1", gate="id", rest=""):
    text = MERGE.replace("CONFIG", config).replace("PART", part).replace("GATE", gate)
    return text.replace("ON\n", f"{on}\n").replace("REST", rest)


def project_of(make_project, models):
    files = {f"models/{name}.sql": text for name, text in models.items()}
    files["models/m.yml"] = f"models: [{', '.join(f'{{name: {name}, columns: {COLUMNS}}}' for name in models)}]"
    return Project.load(make_project(files))


ONE, TWO, THREE = "and t.p = 1", "and t.p = 2", "and t.p in (2, 3)"


@pytest.mark.parametrize(
    ("models", "together"),
    [
        ({"a": model(ONE), "b": model(TWO)}, []),
        ({"a": model(ONE), "b": model(TWO), "c": model(THREE)}, ["bc"]),
        ({"a": model(ONE), "b": model("")}, ["ab"]),
        ({"a": model(ONE), "b": model("and t.p >= current_date()")}, ["ab"]),
        ({"a": model(ONE), "b": model(TWO, config="concurrent=false")}, ["ab"]),
        ({"a": model(ONE), "b": model(TWO, config="concurrent=true, optimize={'after': 5}")}, ["ab"]),
        ({"a": model(ONE), "b": model(TWO), "c": model("and t.p = 9", config="tags='x'")}, ["abc"]),
        ({"a": model(ONE), "b": model(TWO, rest="when not matched by source then delete")}, ["ab"]),
        ({"a": model("and t.p < 5"), "b": model("and t.p between 4 and 6"), "c": model("and t.p > 5")}, ["abc"]),
    ],
)
def test_writers_share_a_table_only_where_their_literals_are_disjoint(make_project, models, together):
    project = project_of(make_project, models)
    plans = plan_nodes(project.prepared, [f"model.shop.{name}" for name in models], "test").plans
    keys = write_keys(plans, project.graph.nodes)
    found = {}
    for node, key in keys.items():
        found.setdefault(key, []).append(node.rpartition(".")[2])
    assert sorted("".join(names) for names in found.values() if len(names) > 1) == together


ICE = "shop: {outputs: {dev: {master: 'local[2]', schema: ice.shop, catalogs: {ice: {type: embedded}}}}}\n"
ADDS = """
{{ config(alias='shared', format='iceberg', partition_by='p', bounds='off', concurrent=true PROPERTIES) }}
merge into {{ this }} as t
using (select id, PART as p from range(0, 3, 1, 1) WHERE) as s on t.id = s.id and t.p = NUMBER CLAUSES
"""
SNAPSHOT = ", properties={'write.merge.isolation-level': 'Snapshot'}"
INSERT, UPSERT = (
    "when not matched then insert *",
    "when matched then update set t.id = t.id when not matched then insert *",
)


@pytest.mark.parametrize(
    ("part", "where", "clauses", "properties", "at_once"),
    [
        ("id", "", INSERT, "", False),  # a row of each partition: each model inserts what the other one reads
        ("id", "where id = NUMBER", INSERT, "", True),
        ("id", "where id in (NUMBER, 0)", INSERT, "", False),
        ("NUMBER", "", INSERT, "", True),
        ("id", "", "when not matched and s.p = NUMBER then insert *", "", True),
        ("id", "where id = NUMBER", "when not matched then insert (id, p) values (s.id, 3)", "", False),
        ("id", "where id = NUMBER", "when not matched then insert (id, p) values (s.id, NUMBER)", "", True),
        ("id", "", UPSERT, "", True),  # the later commit is refused
        ("id", "", UPSERT, SNAPSHOT, False),
        ("id", "where id = NUMBER", UPSERT, SNAPSHOT, True),
    ],
)
def test_what_conflicts_with_nothing_shares_a_table_only_where_it_inserts_into_its_own_partition(
    make_project, part, where, clauses, properties, at_once
):
    text = ADDS.replace("PART", part).replace("WHERE", where).replace("CLAUSES", clauses)
    files = {
        f"models/{name}.sql": text.replace("PROPERTIES", properties).replace("NUMBER", name[1]) for name in ("m1", "m2")
    }
    files["models/m.yml"] = f"models: [{{name: m1, columns: {COLUMNS}}}, {{name: m2, columns: {COLUMNS}}}]"
    project = Project.load(make_project(files | {"profiles.yml": ICE}))
    plans = plan_nodes(project.prepared, ["model.shop.m1", "model.shop.m2"], "test").plans
    assert (len(set(write_keys(plans, project.graph.nodes).values())) == 2) == at_once


def test_a_writer_alone_writes_the_table_as_a_whole(make_project):
    project = project_of(make_project, {"a": model(ONE)})
    plans = plan_nodes(project.prepared, ["model.shop.a"], "test").plans
    table = project.graph.nodes["model.shop.a"].relation.name.casefold()
    assert write_keys(plans, project.graph.nodes) == {"model.shop.a": WriteKey(table)}


@pytest.mark.spark
def test_two_disjoint_merges_run_at_once_and_both_commit(make_project, race, spark):
    models = {"a": model(ONE, gate="gate(id)"), "b": model(TWO, part="2")}
    project = project_of(make_project, models)
    relation = project.graph.nodes["model.shop.a"].relation
    deadline = time.monotonic() + 60

    def until_b_has_committed():
        while spark.table(str(relation)).count() < 3:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    results = race.meanwhile(until_b_has_committed, lambda: project.build(driver=race, lint=False, threads=2))
    assert results.ok, results.results
    assert sorted(tuple(row) for row in spark.table(str(relation)).collect()) == [
        (id, p) for id in range(3) for p in (1, 2)
    ]
    assert [results[name].adapter_response["attempts"] for name in "ab"] == [1, 1]

    # In a full refresh the second one must not replace what the first one has merged.
    again = Project.load(project.prepared.files.root, full_refresh=True).build(driver=race, lint=False, threads=1)
    assert again.ok, again.results
    assert spark.table(str(relation)).count() == 6
