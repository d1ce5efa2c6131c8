"""What is written into the YAML of a model: the text, and that the project with it is as valid as before."""

from pathlib import Path

import pytest
import yaml
from lsprotocol import types

from merge_runner.errors import ProblemsError
from merge_runner.lsp.answers.scaffolds import scaffolds
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare, prepare_to_lint
from merge_runner.plan.model_tests.unit_tests import check_unit_tests
from tests.lsp.cases import ROOT
from tests.lsp.client import Editor
from tests.written_project import write_files
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("scaffolds.yml"))
PROJECT = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev: {schema: shop}\n",
    "models/stg.sql": "{{ config(materialized='view') }} select 1 as id, date'2024-01-01' as dt, 'x' as v\n",
}
KIND = types.CodeActionKind.RefactorRewrite
TITLES = {"columns": "declare the ", "unit_test": "generate a unit test"}


@pytest.fixture(scope="module")
def editor():
    found = Editor(makes_files=True)
    yield found
    found.stop()


def actions(editor, path, line=1, only=(KIND,)):
    place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
    context = types.CodeActionContext([], only=list(only))
    params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), place, context)
    return editor.run(editor.client.text_document_code_action_async(params))


def written(edit, root):
    """The file that an edit changes or makes, and its text afterwards."""
    changes = dict(edit.changes or {})
    for change in edit.document_changes or ():
        if isinstance(change, types.TextDocumentEdit):
            changes[change.text_document.uri] = change.edits
    ((uri, edits),) = changes.items()
    path = root / uri.partition(root.as_uri() + "/")[2]
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
    for each in reversed(edits):
        start = each.range.start
        line = lines[start.line]
        lines[start.line] = line[: start.character] + each.new_text + line[start.character :]
    return path, "\n".join(lines)


def problems(root):
    """What `parse` says of a project."""
    try:
        check_unit_tests(prepare(root, Flags(), {}))
    except ProblemsError as error:
        return list(map(str, error.problems))
    return []


@pytest.mark.parametrize("what", ["columns", "unit_test"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case["what"]) for case in CASES])
def test_what_is_written(editor, tmp_path, case, what):
    root = write_files(tmp_path / "shop", PROJECT | case["files"])
    model = root / "models" / case["model"]
    before = problems(root)
    editor.open(model, model.read_text())
    found = [each for each in actions(editor, model) if each.title.startswith(TITLES[what])]
    editor.close(model)
    if case[what] is None:
        assert found == []
        return
    (action,) = found
    path, text = written(action.edit, root)
    assert text == case[what]
    assert (action.edit.document_changes is None) == path.exists()
    path.write_text(text)
    assert (before, problems(root)) == ([], [])
    editor.open(model, model.read_text())
    again = [each.title for each in actions(editor, model) if each.title.startswith(TITLES["columns"])]
    editor.close(model)
    assert what == "unit_test" or again == []


def test_a_model_is_asked_for_in_its_yaml_and_where_a_client_makes_no_files(tmp_path):
    case = next(case for case in CASES if case["model"] == "facts/fct.sql")
    bare = next(case for case in CASES if case["model"] == "bare/fct.sql")
    files = PROJECT | case["files"] | {"models/bare/other.sql": bare["files"]["models/bare/fct.sql"]}
    root = write_files(tmp_path / "shop", files)
    properties, other = root / "models/facts/_facts.yml", root / "models/bare/other.sql"
    editor = Editor()
    editor.open(properties, properties.read_text())
    editor.open(other, other.read_text())
    in_yaml = [each.title for each in actions(editor, properties, 5)]
    elsewhere = actions(editor, properties, 9)
    without_a_file = actions(editor, other)
    not_asked = actions(editor, properties, 5, [types.CodeActionKind.QuickFix])
    editor.open(properties, properties.read_text() + "models:")  # half written: positions are those of no state
    broken = actions(editor, properties, 5)
    editor.stop()
    assert in_yaml == ["declare the 4 columns of fct in _facts.yml", "generate a unit test of fct in _facts.yml"]
    assert [*elsewhere, *without_a_file, *not_asked, *broken] == []


def test_the_types_that_are_found_are_those_that_flights_declares():
    declared = read_yaml(ROOT / "models/facts/_facts.yml")["models"]
    nothing = {"models/facts/_facts.yml": "version: 2\n"}
    prepared, _ = prepare_to_lint(ROOT, Flags(), {}, nothing, cache=False)
    project = ProjectIndex(prepared, nothing)
    compared = 0
    for model in declared:
        node = project.refs[model["name"]]
        columns, *_ = scaffolds(project, node.path, node.raw_code, 0, project.text)
        (insertion,) = columns.insertions
        (found,) = yaml.safe_load(insertion.text)["models"]
        types_found = {each["name"]: each.get("data_type") for each in found["columns"]}
        for column in model["columns"]:
            data_type = types_found[column["name"]]
            compared += data_type is not None
            assert data_type in (None, column["data_type"].replace(", ", ",")), (model["name"], column["name"])
    assert compared > 30
