"""A lint run over a project: what counts, what hides, what differs between an ordinary run and a full refresh."""

from __future__ import annotations

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.lint.refusal import LintError
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare_to_lint

SOURCES = "version: 2\nsources: [{name: raw, tables: [{name: s}]}]\n"


def model(on, when="matched then delete", config="partition_by=['dt']"):
    return (
        f"{{{{ config({config}) }}}}\n"
        "merge into {{ this }} as t\n"
        "using {{ source('raw', 's') }} as s\n"
        f"   on {on}\n"
        f"when {when}\n"
    )


UNSURE = model("t.id = s.id and t.dt = s.dt", "matched then update set name = s.name")
FULL, BOUNDED = model("t.id = s.id"), model("t.id = s.id and t.dt = s.dt")


@pytest.fixture
def project(make_project):
    """Makes a project of models by name, and more files by path."""

    def make(**files):
        texts = {name if "/" in name else f"models/{name}.sql": text for name, text in files.items()}
        return make_project({"models/s.yml": SOURCES, **texts})

    return make


def codes(report):
    return sorted({finding.code for finding in report.findings if finding.severity == "error"})


def test_the_python_interface_gives_the_report(project):
    report = Project.load(project(full=FULL, bounded=BOUNDED)).lint()
    assert {merge.model: merge.verdict for merge in report.merges} == {"full": "none", "bounded": "runtime"}
    assert codes(report) == ["K001"]
    assert report.files == 2


def test_a_selection_and_rules_as_words_or_lists(project):
    loaded = Project.load(project(full=FULL, bounded=BOUNDED))
    assert loaded.lint("bounded").files == 1
    assert codes(loaded.lint(rules="P001")) == codes(loaded.lint(rules=["P001"])) == ["P001"]
    assert codes(loaded.lint(exclude="bounded", ignore="unbounded-target")) == ["K001"]
    with pytest.raises(ProblemsError, match='there is no rule "P9"'):
        loaded.lint(rules="P9")


def test_layout_and_baseline_are_paths_in_any_form(project):
    root = project(full=FULL)
    Baseline.of(Project.load(root).lint().findings).write(root / "known.json")
    (root / "layout.yml").write_text("version: 1\ntables:\n  - {name: raw.s, format: delta}\n")
    report = Project.load(root).lint(baseline=str(root / "known.json"), layout=str(root / "layout.yml"))
    assert (codes(report), report.hidden > 0) == ([], True)


def test_the_usual_baseline_is_found_and_a_named_one_must_be_there(project):
    root = project(full=FULL)
    Baseline.of(Project.load(root).lint().findings).write(root / "lint-baseline.json")
    assert not codes(Project.load(root).lint())
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "shop"\nlint = {baseline = "other.json"}\n')
    with pytest.raises(ProblemsError, match="there is no baseline"):
        Project.load(root).lint()


def test_a_branch_of_a_full_refresh_is_linted_and_the_verdict_is_of_the_ordinary_run(project):
    branches = "{% if is_full_refresh() %}t.id = s.id{% else %}t.id = s.id and t.dt = s.dt{% endif %}"
    root = project(m=model(branches))
    for full_refresh, verdict in ((False, "runtime"), (True, "none")):
        report = Project.load(root, full_refresh=full_refresh).lint()
        assert [merge.verdict for merge in report.merges] == [verdict]
        assert codes(report) == [], "a replaced table holds no rows that could be scanned"


@pytest.mark.parametrize("full_refresh", [False, True])
def test_the_verdict_and_the_scan_are_those_of_an_incremental_run(project, full_refresh):
    text = (
        "{{ config(partition_by=['dt']) }}\nmerge into {{ this }} as t\nusing (select * from {{ source('raw', 's') }}"
        "{% if is_incremental() %} where dt > current_date() - 3{% endif %}) as s\n"
        "   on t.id = s.id{% if is_incremental() %} and t.dt = s.dt{% endif %}\n"
        "when matched then update set *\nwhen not matched then insert *\n"
    )
    report = Project.load(project(m=text), full_refresh=full_refresh).lint()
    found = {finding.code: finding.message.partition(" (only in ")[2] for finding in report.findings}
    assert "P001" not in found, "the verdict `none` of a first run is not reported"
    assert found == {"C003": "a first run and a full refresh)"}
    assert [merge.verdict for merge in report.merges] == ["none" if full_refresh else "runtime"]


def test_a_correctness_finding_of_a_first_run_is_reported(project):
    text = (
        "merge into {{ this }} as t using {{ source('raw', 's') }} as s on t.id = s.id"
        "{% if is_incremental() %} and t.dt = s.dt{% endif %}\n"
        "{% if not is_incremental() %}when not matched and rand() > 1 then insert *\n{% endif %}"
        "when not matched then insert *\n"
    )
    found = {finding.code: finding.message for finding in Project.load(project(m=text)).lint().findings}
    assert found["C007"].endswith("(only in a first run and a full refresh)")


def test_an_error_that_guards_one_kind_of_run_is_no_finding(project):
    guard = "{% if is_full_refresh() %}{{ exceptions.raise_compiler_error('it takes a day') }}{% endif %}"
    root = project(m=guard + FULL)
    assert Project.load(root).lint().findings == Project.load(project(m=FULL)).lint().findings
    assert not [finding for finding in Project.load(root, full_refresh=True).lint().findings if finding.code == "J001"]


def test_a_finding_of_both_texts_is_one_and_one_of_a_single_text_names_its_run(project):
    source = (
        "(select * from {{ source('raw', 's') }}{% if not is_full_refresh() %} where dt > date '2013-01-01'{% endif %})"
    )
    text = (
        "{{ config(partition_by=['dt']) }}\nmerge into {{ this }} as t\nusing "
        f"{source} as s\n   on t.id = s.id{{% if is_full_refresh() %}} and t.dt = date '2013-01-01'{{% endif %}}\n"
        "when matched then update set *\nwhen not matched then insert *\n"
    )
    found = []
    for full_refresh in (False, True):
        report = Project.load(project(m=text), full_refresh=full_refresh).lint()
        assert len(report.findings) == len({(finding.code, finding.message) for finding in report.findings})
        found.append(
            [(finding.code, finding.message.partition(" (only in ")[2], finding.key) for finding in report.findings]
        )
    assert found[0] == found[1], "whichever run is asked for"
    assert sorted((code, run) for code, run, _ in found[0]) == [
        ("C001", "a full refresh)"),
        ("C003", ""),
        ("K001", ""),
    ]


def test_a_branch_in_a_macro_is_linted_both_ways(project):
    macro = "{% macro joined() %}{% if is_full_refresh() %}t.id = s.id and rand() > 1{% else %}t.id = s.id and t.dt = s.dt{% endif %}{% endmacro %}"
    files = {"m": model("{{ joined() }}"), "macros/m.sql": macro}
    assert "C007" in codes(Project.load(project(**files)).lint())
    assert "C007" in codes(Project.load(project(**files), full_refresh=True).lint())


def test_vars_decide_the_verdict(project):
    root = project(m=model("t.id = s.id and {{ var('extra', 'true') }}"))
    assert [merge.verdict for merge in Project.load(root).lint().merges] == ["none"]
    bounded = Project.load(root, vars={"extra": "t.dt = date '2013-01-01'"}).lint()
    assert [merge.verdict for merge in bounded.merges] == ["static"]


def test_models_whose_jinja_cannot_be_read_are_told_beside_the_others(project):
    root = project(good=FULL, bad=model("{{ nothing }}"), worse="{% if %}")
    prepared, jinja = prepare_to_lint(root, Flags(), {})
    report = lint_project(prepared, prepared.graph.nodes, None, jinja)
    told = {finding.place.path for finding in report.findings if finding.code == "J001"}
    assert told == {"models/bad.sql", "models/worse.sql"}
    assert [merge.model for merge in report.merges] == ["good"]
    some = lint_project(prepared, ["model.shop.good"], None, [])
    assert "J001" not in codes(some)


@pytest.mark.parametrize("lines", ["-- merge-runner: noqa\n", "-- merge-runner: noqa: P, K -- known\n"])
def test_a_noqa_hides(project, lines):
    assert not codes(Project.load(project(m=lines + FULL)).lint())


def test_a_secret_in_the_text_of_a_model_is_not_shown(project):
    root = project(m=model("t.id = s.id and upper(t.a) = '{{ env_var(\"API_TOKEN\") }}'"))
    env = {"API_TOKEN": "correct_horse"}
    from merge_runner.project.syntax.environment import RecordingEnv

    prepared, jinja = prepare_to_lint(root, Flags(), RecordingEnv(env, secrets=True))
    report = lint_project(prepared, prepared.graph.nodes, None, jinja)
    assert [conjunct.text for conjunct in report.merges[0].conjuncts][1] == "upper(t.a) = '*****'"
    assert "correct_horse" not in str(report)


class ReachedError(Exception):
    """The build has come to what needs Spark."""


class NoSpark:
    """A driver that can do nothing."""

    def __getattr__(self, name):
        raise ReachedError


def test_a_build_stops_at_errors_alone(project):
    full, warned = Project.load(project(m=FULL)), Project.load(project(m=UNSURE))
    with pytest.raises(LintError) as caught:
        full.build(driver=NoSpark())
    assert "[K001]" in str(caught.value)
    assert caught.value.report.merges
    assert warned.lint().count("warning")
    for one, lint in ((warned, True), (full, False)):
        with pytest.raises(ReachedError):
            one.build(driver=NoSpark(), lint=lint)


@pytest.mark.parametrize(("conditions", "tried"), [(1, True), (100, True), (101, False)])
def test_a_layout_is_tried_for_the_help_of_a_full_scan_unless_on_is_long(project, conditions, tried):
    on = " and ".join(["t.id = s.id", *(f"t.c{number} <> s.c{number}" for number in range(1, conditions))])
    names = ", ".join(
        ["{name: id, data_type: bigint}", *(f"{{name: c{n}, data_type: int}}" for n in range(1, conditions))]
    )
    root = project(fct=model(on, config=""), **{"models/f.yml": f"models: [{{name: fct, columns: [{names}]}}]\n"})
    helps = [finding.hint or "" for finding in Project.load(root).lint().findings if finding.code == "P001"]
    assert [("cluster_by=['id']" in help) for help in helps] == [tried]
