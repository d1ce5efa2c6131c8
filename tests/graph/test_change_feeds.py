"""`changes('model')`: an edge, a feed that is switched on, and what it is refused for."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError

STG = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"
READER = """
merge into {{ this }} as t using (select id from {{ changes('stg') }}) as s on t.id = s.id
when not matched then insert (id) values (s.id)
"""
FEED = "delta.enableChangeDataFeed"


def test_the_table_is_a_parent_and_its_feed_is_on(make_project):
    root = make_project({"models/stg.sql": STG, "models/fct.sql": READER, "models/other.sql": STG})
    project = Project.load(root)
    nodes = project.graph.nodes
    assert list(project.graph.dag.edges) == [("model.shop.stg", "model.shop.fct")]
    assert nodes["model.shop.fct"].changes_of == "model.shop.stg"
    assert nodes["model.shop.stg"].config.properties == {FEED: "true"}
    assert FEED not in nodes["model.shop.fct"].config.properties
    assert FEED not in nodes["model.shop.other"].config.properties


def test_whoever_creates_the_table_switches_its_feed_on(make_project):
    root = make_project(
        {
            "models/stg.sql": "{{ config(properties={'DELTA.enablechangedatafeed': 'TRUE', 'a.b': 'c'}) }}" + STG,
            "models/more.sql": "{{ config(alias='stg') }}" + STG,
            "models/seeded.sql": READER.replace("stg", "numbers"),
            "models/fct.sql": READER,
            "seeds/numbers.csv": "id\n1\n",
        }
    )
    nodes = Project.load(root).graph.nodes
    assert nodes["model.shop.stg"].config.properties == {"DELTA.enablechangedatafeed": "TRUE", "a.b": "c"}
    assert nodes["model.shop.more"].config.properties == {FEED: "true"}
    assert nodes["seed.shop.numbers"].config.properties == {FEED: "true"}


@pytest.mark.parametrize(
    ("files", "place", "message"),
    [
        ({"stg": "select 1 as id"}, "fct.sql:2:53", "stg is materialized as view"),
        (
            {"stg": "{{ config(materialized='ephemeral') }} select 1 as id"},
            "fct.sql:2:53",
            "stg is materialized as ephemeral",
        ),
        ({"stg": "{{ config(format='iceberg') }}" + STG}, "fct.sql:2:53", "only Delta keeps the rows of a change"),
        (
            {"stg": f"{{{{ config(properties={{'{FEED}': 'false'}}) }}}}" + STG},
            "fct.sql:2:53",
            f"stg sets {FEED} to false",
        ),
        ({"stg": "{{ config(alias='fct') }}" + STG}, "fct.sql:2:53", "fct and stg write one table"),
        ({"fct": "select * from {{ changes('stg') }}"}, "fct.sql:1:18", "fct is a view model, and only a MERGE"),
        (
            {"fct": "{{ config(materialized='table') }}\nselect * from {{ changes('stg') }}"},
            "fct.sql:2:18",
            "fct is a table model, and only a MERGE",
        ),
        ({"fct": READER + "-- {{ changes('other') }}", "other": STG}, "fct.sql:4:7", "the changes of stg already"),
        (
            {"fct": "{{ config(post_hook=\"select * from {{ changes('stg') }}\") }}" + STG},
            "fct.sql:1:11",
            "a hook of fct calls changes()",
        ),
    ],
)
def test_what_cannot_be_read_is_a_problem_at_the_call(make_project, files, place, message):
    texts = {"stg": STG, "fct": READER, **files}
    with pytest.raises(ProblemsError) as caught:
        Project.load(make_project({f"models/{name}.sql": text for name, text in texts.items()}))
    (problem,) = caught.value.problems
    assert (str(problem.place), problem.code.partition("-")[0]) == (f"models/{place}", "changes")
    assert message in problem.message


def test_a_test_cannot_read_changes_and_an_unknown_model_is_told_as_ever(make_project):
    root = make_project(
        {
            "models/stg.sql": STG,
            "models/fct.sql": READER.replace("stg", "sgt"),
            "tests/none.sql": "select * from {{ changes('stg') }}",
        }
    )
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    found = [(str(problem.place), problem.code) for problem in caught.value.problems]
    assert found == [("models/fct.sql:2:53", "unknown-ref"), ("tests/none.sql:1:18", "changes-refused")]


def test_a_feed_is_the_same_however_it_is_rendered(make_project):
    """A file with a block is rendered by Jinja."""
    root = make_project({"models/stg.sql": STG, "models/fct.sql": "{% if true %}" + READER + "{% endif %}"})
    assert Project.load(root).graph.nodes["model.shop.fct"].changes_of == "model.shop.stg"
