"""A model that is stopped behind its MERGE: the commit is told, and a retry does not merge again."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark


def test_what_had_committed_before_the_cancellation_is_told(make_project, race, spark):
    root = make_project(
        {
            "models/fct.sql": """
                {{ config(post_hook="select gate(1L)") }}
                merge into {{ this }} as t using (select 1L as id) as s on t.id = s.id when not matched then insert *
            """,
            "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('fct') }}",
        }
    )
    project, groups = Project.load(root), []
    listen = lambda event: groups.append(event.data["group"]) if event.event == "node_started" else None  # noqa: E731
    results = race.meanwhile(
        lambda: race.cancel(groups[0]), lambda: project.build(driver=race, lint=False, on_event=listen)
    )
    assert {result.unique_id.split(".")[2]: result.status for result in results.results} == {
        "fct": "error",
        "below": "skipped",
    }
    assert results["fct"].message == "cancelled; its statement had committed as version 1 [cancelled]"
    assert results["fct"].adapter_response["table_version"] == 1
    assert spark.table(str(project.graph.nodes["model.shop.fct"].relation)).count() == 1
