"""What a MERGE is expected to cost by the recorded size of its target, where no engine is asked."""

import pytest

from merge_runner import Project
from merge_runner.plan.explain.explain import explain

UPSERT = "when matched then update set * when not matched then insert *"
INSERT = "when not matched then insert *"
MARKING = "properties={'delta.enableDeletionVectors': 'true'}, "


@pytest.mark.parametrize(
    ("config", "condition", "clauses", "recorded", "predicted"),
    [
        ("", "t.id = s.id", UPSERT, "files: 3, bytes: 3000", (3, 3000, 3000)),
        ("", "t.id = s.id", INSERT, "files: 3, bytes: 3000", (3, 3000, 0)),
        (MARKING, "t.id = s.id", UPSERT, "files: 3, bytes: 3000", (3, 3000, 0)),
        ("", "t.id = s.id", UPSERT, "bytes: 3000", (None, 3000, 3000)),
        ("", "t.id = s.id", UPSERT, "files: 3", None),
        ("", "t.id = s.id and t.day = date'2024-01-01'", UPSERT, "files: 3, bytes: 3000", None),
    ],
    ids=["upsert", "insert only", "deletion vectors", "no number of files", "no size", "restricted"],
)
def test_a_full_scan_reads_what_is_recorded(make_project, config, condition, clauses, recorded, predicted):
    root = make_project(
        {
            "models/fct.sql": "{{ config(" + config + "partition_by=['day'], bounds='off') }}\n"
            "merge into {{ this }} as t using raw.item as s on " + condition + " " + clauses,
            "models/m.yml": "models: [{name: fct, columns: [{name: id, data_type: int}, {name: day, data_type: date}]}]",
            "catalog.yml": "version: 1\ntables: [{name: NAME, format: delta, RECORDED}]",
        }
    )
    project = Project.load(root)
    name = project.graph.nodes["model.shop.fct"].relation.name
    catalog = root / "catalog.yml"
    catalog.write_text(catalog.read_text().replace("NAME", name).replace("RECORDED", recorded))
    ((node,),) = explain(Project.load(root).prepared, ["model.shop.fct"]).levels
    expected = dict(zip(("files", "bytes", "rewritten_bytes"), predicted, strict=True)) if predicted else None
    explanation = explain(Project.load(root).prepared, ["model.shop.fct"]).as_json()["levels"][0][0]
    assert explanation["predicted"] == (expected and {**expected, "seconds": None})
    assert (node.predicted is None) == (predicted is None)
