"""What config keys set by one word, and where they cannot stand."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError

GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
DISTRIBUTION = "write.merge.distribution-mode"


@pytest.fixture
def config_of(make_project):
    """The config of a model, from the keys in its text; the profile's output has more keys."""

    def run(keys, output="", text="merge into {{ this }} as t using s on t.id = s.id when matched then delete"):
        profile = f"shop: {{outputs: {{dev: {{schema: shop, catalogs: {{ice: {{type: embedded}}}}{output}}}}}}}\n"
        root = make_project({"profiles.yml": profile, "models/fct.sql": f"{{{{ config({keys}) }}}}\n{text}\n"})
        return Project.load(root).graph.nodes["model.shop.fct"].config

    return run


def test_storage_join_sets_confs_and_properties_below_the_author_s(config_of):
    plain = config_of("format='iceberg', storage_join=true")
    assert plain.conf[GROUPING] == "true"
    assert plain.properties == {DISTRIBUTION: "none", "write.spark.fanout.enabled": "true"}
    keys = (
        f"format='iceberg', storage_join=true, conf={{'{GROUPING}': 'false'}}, properties={{'{DISTRIBUTION}': 'hash'}}"
    )
    own = config_of(keys)
    assert (own.conf[GROUPING], own.properties[DISTRIBUTION]) == ("false", "hash")


def test_the_profile_decides_for_merges_that_say_nothing(config_of):
    profile = ", storage_join: true"
    assert GROUPING in config_of("format='iceberg'", profile).conf
    assert config_of("format='iceberg', storage_join=false", profile).properties == {DISTRIBUTION: "hash"}
    assert config_of("format='iceberg', storage_join=false", profile).conf == {}
    assert config_of("format='delta'", profile).conf == {}
    assert config_of("format='iceberg', materialized='table'", profile, "select 1 as id").conf == {}


@pytest.mark.parametrize(
    ("keys", "text", "message"),
    [
        ("storage_join=true", None, "storage_join is for Iceberg tables, and fct is Delta"),
        ("sort_by='id'", None, "sort_by is for Iceberg tables, and fct is Delta"),
        ("format='iceberg', materialized='table', sort_by='id'", "select 1 as id", "is written as a whole each time"),
    ],
)
def test_a_key_that_a_model_cannot_have_is_told_where_it_stands(config_of, keys, text, message):
    with pytest.raises(ProblemsError, match=message) as caught:
        config_of(keys, **({} if text is None else {"text": text}))
    assert str(caught.value.problems[0]).startswith("models/fct.sql:1:")


def test_keys_of_a_table_mean_nothing_to_a_view(config_of):
    assert config_of("sort_by='id', storage_join=true", text="select 1 as id").conf == {}


def test_concurrent_writers_get_deletion_vectors_where_a_platform_tells_conflicts_by_rows(config_of):
    assert config_of("concurrent=true", ", platform: databricks").properties == {"delta.enableDeletionVectors": "true"}
    assert config_of("concurrent=true").properties == {}
