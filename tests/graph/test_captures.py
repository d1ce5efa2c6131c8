"""What depends on the kind of run: its refs are dependencies of every run, and its config is the same in all."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError

MERGE = "merge into {{ this }} t using SOURCE s on t.id = s.id when not matched then insert *"
BY_RUN = MERGE.replace(
    "SOURCE",
    "{% if is_incremental() %}{{ ref('news') }}{% elif is_full_refresh %}{{ ref('all') }}"
    "{% else %}{{ source('old', 'rows') }}{% endif %}",
)
FILES = {
    "models/news.sql": "select 1 as id",
    "models/all.sql": "select 1 as id",
    "models/s.yml": "version: 2\nsources: [{name: old, tables: [{name: rows}]}]\n",
}
PARENTS = {"model.shop.news", "model.shop.all", "source.shop.old.rows"}


@pytest.mark.parametrize("full_refresh", [False, True])
def test_every_run_depends_on_the_refs_of_all_runs(make_project, full_refresh):
    macro = "{% macro rows() %}" + BY_RUN.partition("using ")[2].partition(" s on")[0] + "{% endmacro %}"
    hook = MERGE.replace("SOURCE", "(select 1 as id)") + '{{ config(post_hook="{{ rows() }}") }}'
    files = {
        **FILES,
        "models/fct.sql": BY_RUN,
        "models/by_macro.sql": MERGE.replace("SOURCE", "{{ rows() }}"),
        "models/by_hook.sql": hook,
        "macros/m.sql": macro,
    }
    graph = Project.load(make_project(files), full_refresh=full_refresh).graph
    for name in ("fct", "by_macro", "by_hook"):
        node = graph.nodes[f"model.shop.{name}"]
        assert (set(node.depends_on), node.differs_by_run) == (PARENTS, True)
    assert not graph.nodes["model.shop.news"].differs_by_run


def test_a_ref_of_one_run_that_does_not_exist_is_an_error(make_project):
    text = MERGE.replace(
        "SOURCE", "{% if not is_incremental() %}{{ ref('nada') }}{% else %}{{ ref('news') }}{% endif %}"
    )
    with pytest.raises(ProblemsError, match=r'models/fct.sql:1:\d+: there is no model or seed "nada"'):
        Project.load(make_project({**FILES, "models/fct.sql": text}))


def test_a_config_that_depends_on_the_table_is_an_error(make_project):
    config = "{{ config(tags=['new'] if is_incremental() else ['first']) }}\n"
    with pytest.raises(ProblemsError) as caught:
        Project.load(make_project({"models/fct.sql": config + MERGE.replace("SOURCE", "(select 1 as id)")}))
    assert [(problem.code, str(problem.place)) for problem in caught.value.problems] == [
        ("config-by-run", "models/fct.sql:1:11")
    ]


def test_a_config_may_depend_on_a_full_refresh(make_project):
    config = "{{ config(tags=['full'] if is_full_refresh else ['usual']) }}\n"
    root = make_project({"models/fct.sql": config + MERGE.replace("SOURCE", "(select 1 as id)")})
    for full_refresh, tags in ((False, ("usual",)), (True, ("full",))):
        assert Project.load(root, full_refresh=full_refresh).graph.nodes["model.shop.fct"].tags == tags


def test_an_error_of_the_author_in_one_run_does_not_stop_the_others(make_project):
    guard = "{% if is_full_refresh %}{{ exceptions.raise_compiler_error('it takes a day') }}{% endif %}"
    root = make_project({**FILES, "models/fct.sql": guard + BY_RUN})
    graph = Project.load(root, full_refresh=True).graph
    assert set(graph.nodes["model.shop.fct"].depends_on) == PARENTS - {"model.shop.all"}
