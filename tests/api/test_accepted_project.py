"""What a build is refused for, after somebody has edited a project that was accepted."""

from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.api.accepted_project import AcceptedProject
from merge_runner.errors import ProblemsError
from tests.written_project import write_files
from tests.yaml_data import read_yaml

DATA = read_yaml(Path(__file__).with_name("accepted_project.yml"))
CASES = DATA["cases"]


@pytest.fixture
def root(tmp_path):
    return write_files(tmp_path / "shop", DATA["files"])


def edit(root, edits):
    write_files(root, edits)
    return Project.load(root)


def accept(root, names=DATA["accepted"]):
    project = Project.load(root)
    return AcceptedProject.of(project.prepared, project.select(names).ids)


@pytest.mark.parametrize("name", CASES)
def test_a_build_is_refused(root, name):
    case = CASES[name]
    accepted = accept(root)
    project = edit(root, case["edits"])
    selection = project.select(case.get("select", ["fct"]))
    try:
        accepted.check_build(project.prepared, selection.ids)
        problems = []
    except ProblemsError as error:
        problems = [str(problem) for problem in error.problems]
    assert len(problems) == len(case["refused"]), problems
    for problem, piece in zip(problems, case["refused"], strict=True):
        assert piece in problem
        assert "[not-accepted]\n    " in problem
    if "lint" in case:
        assert [each.code for each in project.lint(selection).findings if each.severity == "error"] == case["lint"]


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [("threads", "2", False), ("master", "'local[2]'", False), ("schema", "prod", False), ("schema", "shop", True)],
)
def test_the_output_is_what_it_was(root, key, value, accepted):
    before = accept(root)
    output = {"master": "'local[1]'", "schema": "shop", key: value}
    text = ", ".join(f"{name}: {setting}" for name, setting in output.items())
    now = edit(root, {"profiles.yml": f"shop: {{outputs: {{dev: {{{text}}}}}}}\n"}).prepared
    if accepted:
        before.check_output(now)
    else:
        with pytest.raises(ProblemsError, match=r'the output "dev" of profiles.yml has changed'):
            before.check_output(now)


HOOKS = '[tool.merge-runner]\nname = "shop"\non-run-start = "create table a (b int)"\n'


def test_hooks_of_a_run_need_the_permission_to_write(root):
    edit(root, {"pyproject.toml": HOOKS})
    before = accept(root)
    project = Project.load(root)
    before.check_test(project.prepared, (), may_write=True)
    with pytest.raises(ProblemsError, match="hooks of a run, which may write"):
        before.check_test(project.prepared, (), may_write=False)


def test_a_seed_is_not_built(root):
    before = accept(root)
    project = edit(root, {"seeds/codes.csv": "id\n1\n"})
    with pytest.raises(ProblemsError, match="codes is no merge"):
        before.check_build(project.prepared, project.select("codes").ids)
