"""Which models a stream feeds, and those that cannot be fed."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.graph.streams import fed_by, streams_read

SOURCES = """
sources:
  - name: raw
    tables:
      - {name: clicks, stream: {format: rate}}
      - {name: views, stream: {format: rate}}
"""
CLICKS = "{{ source('raw', 'clicks') }}"


def merge(source: str) -> str:
    return (
        f"merge into {{{{ this }}}} as t using (select value as id from {source}) as s on t.id = s.id\n"
        "when not matched then insert (id) values (s.id)\n"
    )


def ephemeral(source: str) -> str:
    return f"{{{{ config(materialized='ephemeral') }}}} select * from {source}"


def test_a_stream_is_read_through_ephemeral_models_and_feeds_all_below(make_project):
    root = make_project(
        {
            "models/sources.yml": SOURCES,
            "models/clean.sql": ephemeral(CLICKS),
            "models/once.sql": ephemeral("{{ ref('clean') }}"),
            "models/twice.sql": ephemeral("{{ ref('clean') }} union all select * from {{ ref('once') }}"),
            "models/fct.sql": merge("{{ ref('twice') }}"),
            "models/below.sql": merge("{{ ref('fct') }}"),
            "models/apart.sql": merge("(select 1 as value)"),
        }
    )
    graph = Project.load(root).graph
    assert streams_read(graph.nodes, "model.shop.fct") == ("source.shop.raw.clicks",)
    assert streams_read(graph.nodes, "model.shop.below") == ()
    chosen = [f"model.shop.{name}" for name in ("apart", "below", "fct")]
    assert fed_by(graph, "source.shop.raw.clicks", chosen) == ("model.shop.below", "model.shop.fct")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"fct": f"select * from {CLICKS}"}, "fct is a view and reads the stream raw.clicks"),
        (
            {"fct": f"{{{{ config(materialized='table') }}}} select * from {CLICKS}"},
            "fct is a table and reads the stream raw.clicks",
        ),
        (
            {
                "clean": ephemeral(CLICKS),
                "fct": merge("{{ ref('clean') }} union all select * from {{ source('raw', 'views') }}"),
            },
            "fct reads the streams raw.views and raw.clicks: a batch holds the rows of one",
        ),
        (
            {"a": ephemeral("{{ ref('b') }}"), "b": ephemeral("{{ ref('a') }}"), "fct": merge("{{ ref('a') }}")},
            "cycle",
        ),
    ],
    ids=["view", "table", "two streams", "circle"],
)
def test_what_cannot_be_fed_is_told(make_project, files, message):
    models = {f"models/{name}.sql": text for name, text in files.items()}
    with pytest.raises(ProblemsError) as raised:
        _ = Project.load(make_project({"models/sources.yml": SOURCES, **models})).graph
    assert any(message in str(problem) for problem in raised.value.problems)
