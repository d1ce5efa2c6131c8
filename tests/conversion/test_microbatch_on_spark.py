"""Microbatch models of dbt, built as what they are imported as: each batch replaces its window and nothing else."""

import itertools

import pytest

from merge_runner.api import Project, import_dbt
from tests.written_project import write_files

NUMBERS = itertools.count()
DBT = {
    "dbt_project.yml": "name: shop\nprofile: shop\n",
    "profiles.yml": "shop: {target: dev, outputs: {dev: {type: spark, schema: dbt_microbatch}}}\n",
    "models/m.yml": """
        version: 2
        seeds: [{name: raw, config: {event_time: day, column_types: {id: int, day: date}}}]
        models: [{name: replaced, columns: [{name: id}, {name: day, data_type: date}]}]
    """,
    "seeds/raw.csv": "id,day\n1,2024-01-01\n2,2024-01-01\n3,2024-01-02\n4,2024-01-03\n4,2024-01-03\n",
}
CONFIG = "event_time='day', batch_size='day', begin='2024-01-01', lookback=0, partition_by=['day']"


@pytest.mark.spark
@pytest.mark.nightly
def test_a_batch_replaces_its_window(tmp_path, driver):
    config = f"materialized='incremental', incremental_strategy='microbatch', file_format='delta', {CONFIG}"
    model = f"{{{{ config({config}) }}}}\nselect id, day from {{{{ ref('raw') }}}}\n"
    import_dbt(write_files(tmp_path / "dbt", {**DBT, "models/replaced.sql": model}), tmp_path / "new", env={})
    profile = f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: microbatch{next(NUMBERS)}}}}}}}\n"
    (tmp_path / "new/profiles.yml").write_text(profile)

    def build(start, end):
        options = {"event_time_start": start, "event_time_end": end}
        results = Project.load(tmp_path / "new").build(driver=driver, lint=False, **options)
        assert results.ok, [result.message for result in results.results]
        with driver.session() as session:
            rows = session.table(results["replaced"].relation_name).collect()
            return sorted((row.id, row.day.day) for row in rows)

    assert build("2024-01-01", "2024-01-04") == [(1, 1), (2, 1), (3, 2), (4, 3), (4, 3)]
    # A row is gone, one comes twice, and a day has no row any more; the last day is not asked for.
    (tmp_path / "new/seeds/raw.csv").write_text("id,day\n1,2024-01-01\n5,2024-01-01\n5,2024-01-01\n6,2024-01-03\n")
    assert build("2024-01-01", "2024-01-03") == [(1, 1), (4, 3), (4, 3), (5, 1), (5, 1)]
