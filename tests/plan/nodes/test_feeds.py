"""The steps of a model that reads changes, and what is said of them."""

from merge_runner.api import Project
from merge_runner.plan.explain.explain import explain
from merge_runner.plan.steps.inputs import AttachInputs, OpenFeed
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.table import CreateTarget

STG = "{{ config(alias='staged') }}merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"
FCT = """
{{ config(partition_by=['id'], schema='other') }}
merge into {{ this }} as t using (select * from {{ changes('stg') }} where _change_type <> 'update_preimage') as s
on t.id = s.id when matched and s._change_type = 'delete' then delete
when not matched and s._change_type <> 'delete' then insert (id) values (s.id)
"""


def test_the_view_is_there_before_the_target_is_made_of_it(make_project):
    project = Project.load(make_project({"models/stg.sql": STG, "models/fct.sql": FCT}))
    explanation = explain(project.prepared, ["model.shop.stg", "model.shop.fct"])
    (stg,), (fct,) = explanation.levels
    schema = project.prepared.files.profile.schema

    attach, opened, create, merge = fct.plan.steps
    assert isinstance(attach, AttachInputs) and isinstance(create, CreateTarget)
    assert isinstance(opened, OpenFeed) and isinstance(merge, RunMerge)
    assert [item.relation.name for item in attach.inputs] == [f"{schema}.staged"]
    assert (opened.feed.view.name, opened.feed.table.name) == ("changes_of_stg", f"{schema}.staged")
    assert (opened.feed.reader, merge.feed) == ("shop.fct", opened.feed)
    assert "from changes_of_stg where" in fct.plan.sql

    words = [str(step) for step in fct.plan.steps]
    assert words[1] == f"define changes_of_stg, the changes of {schema}.staged"
    assert words[3].startswith(
        f"merge into {schema}_other.fct, from the changes of {schema}.staged since the last it consumed, "
        "bounds on id by the values of the source: changes_of_stg is read as of one version"
    )
    create_stg = next(step for step in stg.plan.steps if isinstance(step, CreateTarget))
    assert create_stg.layout.properties == {"delta.enableChangeDataFeed": "true"}


def test_lint_knows_what_the_view_has_and_says_nothing_wrong_of_it(make_project):
    files = {"models/stg.sql": STG, "models/fct.sql": FCT}
    report = Project.load(make_project(files)).lint()
    found = {finding.code for finding in report.findings if finding.model == "fct"}
    assert found == {"C003"}  # several changes may be of one key
