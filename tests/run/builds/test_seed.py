"""`seed` loads the seeds and nothing else, whether or not their files have changed."""

import pytest

from merge_runner import Project
from tests.fake_engine.projects import model_files

pytestmark = pytest.mark.spark

FILES = {
    **model_files({"fct": {"parents": ["colours"]}}),
    "seeds/colours.csv": "id,name\n1,red\n",
    "seeds/sizes.csv": "id\n1\n",
    "seeds/seeds.yml": "seeds: [{name: sizes, config: {column_types: {id: int}}}]",
}


def statuses(results):
    return {result.unique_id.rpartition(".")[2]: result.status for result in results.results}


def test_seed_loads_the_selected_seeds_and_no_model(make_project, driver, spark):
    root = make_project(FILES)
    project = Project.load(root)
    for _ in range(2):
        assert statuses(project.seed(driver=driver)) == {"colours": "success", "sizes": "success"}
    assert statuses(project.seed("colours+", driver=driver)) == {"colours": "success"}
    assert spark.table(str(project.graph.nodes["seed.shop.colours"].relation)).collect() == [(1, "red")]
    assert not spark.catalog.tableExists(str(project.graph.nodes["model.shop.fct"].relation))

    (root / "seeds/sizes.csv").write_text("id\nx\n")
    assert statuses(Project.load(root).seed(driver=driver)) == {"colours": "success", "sizes": "error"}
    (root / "seeds/sizes.csv").write_text("id\n2\n")
    assert statuses(Project.load(root).retry(driver=driver)) == {"sizes": "success"}
