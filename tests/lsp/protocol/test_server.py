"""The language server, driven by a real client over its standard input and output."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.workspace import PositionCodec

from merge_runner import lint_paths
from merge_runner.errors import ProblemsError
from merge_runner.lsp.protocol.diagnostics import Positions
from merge_runner.text import SourceText, as_source
from tests.lsp.client import Editor, short
from tests.written_project import write_files

PROJECT = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev: {schema: shop}\n",
    "macros/window.sql": "{% macro in_window(column) %}{{ column }} >= date'2024-01-01'{% endmacro %}\n",
    "models/stg.sql": "select 1 as id, date'2024-01-01' as dt, 'x' as v\n",
    "models/fct.sql": (
        "{{ config(materialized='merge', format='delta', partition_by=['dt'], unique_key='id') }}\n"
        "merge into {{ this }} as t\n"
        "using {{ ref('stg') }} as s\n"
        "on t.id = s.id and {{ in_window('t.dt') }}\n"
        "when matched then update set v = s.v\n"
        "when not matched then insert *\n"
    ),
    "models/_models.yml": (
        "models:\n  - name: fct\n    columns:\n      - name: id\n        data_type: bigint\n"
        "      - {name: dt, data_type: date}\n      - {name: v, data_type: string}\n"
    ),
    "jobs/load.py": 'spark.sql("merge into a.b t using c.d s on t.id = s.id when matched then delete")\n',
}


@pytest.fixture
def shop(tmp_path):
    return write_files(tmp_path / "shop", PROJECT)


def linted(root, path):
    """What lint says of a file of a project as it is saved, as `short` has it."""
    try:
        report = lint_paths(path, cache=False, processes=1)
    except ProblemsError as error:
        places = [(each.place, each.code) for each in error.problems if each.place is not None]
    else:
        places = [(each.place, each.code) for each in report.findings]
    inner = path.relative_to(root).as_posix()
    here = sorted((place.line, place.column, code) for place, code in places if place.path == inner)
    return [f"{code} {line}:{column}" for line, column, code in here]


EDITS = {
    "a word in its middle": ("models/fct.sql", "when matched", "when mat", ["C010 5:1"]),
    "a condition that does not push down": (
        "models/fct.sql",
        "{{ in_window('t.dt') }}",
        "t.v = s.v",
        ["K001 4:4"],
    ),
    "a Jinja tag that is not closed": ("models/fct.sql", "{{ ref('stg') }}", "{{ ref('stg'", ["J001 3:20"]),
    "another ref": ("models/fct.sql", "'stg'", "'stgg'", ["J001 3:10"]),
    "a config key": ("models/fct.sql", "format='delta'", "formt='delta'", ["unknown-key 1:33"]),
    "YAML in its middle": ("models/_models.yml", "data_type: bigint", "data_type: [big", ["yaml-syntax 6:9"]),
    "a key of a property": ("models/_models.yml", "- name: id", "- nmae: id", ["missing-key 4:9", "unknown-key 4:9"]),
    "a macro": ("macros/window.sql", "{% endmacro %}", "", ["J001 1:4"]),
    "settings": ("pyproject.toml", 'name = "shop"', 'nmae = "shop"', ["missing-key 1:1", "unknown-key 2:1"]),
    "a profile": ("profiles.yml", "schema:", "shcema:", ["missing-key 4:10", "unknown-key 4:11"]),
    "a string of Python": ("jobs/load.py", "when matched then delete", "when matched the delete", ["C010 1:56"]),
}


@pytest.mark.parametrize("case", EDITS)
def test_the_unsaved_text_has_the_findings_of_lint_at_their_places(editor, shop, case):
    name, old, new, expected = EDITS[case]
    path = shop / name
    text = PROJECT[name].replace(old, new)
    assert text != PROJECT[name]
    editor.open(path, PROJECT[name])
    before = short(editor.diagnostics(path))
    editor.open(path, text)
    found = short(editor.diagnostics(path))
    editor.open(path, PROJECT[name])
    after = short(editor.diagnostics(path))
    editor.close(path)
    assert (before, after) == (linted(shop, path),) * 2
    path.write_text(text)
    assert found == linted(shop, path)
    assert found == expected


def test_a_change_of_a_macro_counts_in_the_models_that_call_it(editor, shop):
    model, macro = shop / "models/fct.sql", shop / "macros/window.sql"
    editor.open(model, model.read_text())
    assert short(editor.diagnostics(model)) == linted(shop, model)
    editor.open(macro, macro.read_text().replace("{{ column }} >=", "upper(t.v) ="))
    found = short(editor.diagnostics(model))
    editor.close(macro)
    again = short(editor.diagnostics(model))
    editor.close(model)
    assert "K001 4:4" in found
    assert again == linted(shop, model)


def test_the_unsaved_text_of_a_model_counts_in_the_models_that_read_it(editor, shop):
    model, parent = shop / "models/fct.sql", shop / "models/stg.sql"
    text = "{{ config(materialized='ephemeral') }} select 1 as id, date'2024-01-01' as dt"
    for path in (model, parent):
        editor.open(path, path.read_text())
    before = short(editor.diagnostics(model))
    editor.open(parent, text.replace(" as dt", " as dt, 'x' as v"))
    assert short(editor.diagnostics(parent)) == []
    editor.open(parent, text)
    assert short(editor.diagnostics(parent)) == []
    found = short(editor.diagnostics(model))
    for path in (model, parent):
        editor.close(path)
    parent.write_text(text)
    assert found == linted(shop, model)
    assert found != before


def test_the_last_good_state_serves_while_another_file_is_broken(editor, shop):
    model, settings = shop / "models/fct.sql", shop / "models/_models.yml"
    for path in (model, settings):
        editor.open(path, path.read_text())
    good = short(editor.diagnostics(model))
    editor.open(settings, "models:\n  - name: [")
    assert short(editor.diagnostics(settings)) == ["yaml-syntax 2:12"]
    assert short(editor.diagnostics(model)) == good
    editor.open(model, model.read_text().replace("when matched", "when mat"))
    assert short(editor.diagnostics(model)) == ["C010 5:1"]
    for path in (model, settings):
        editor.close(path)


def test_a_project_that_cannot_be_loaded_says_why_in_every_file(editor, tmp_path):
    root = write_files(tmp_path / "wrong", PROJECT | {"profiles.yml": "shop: [\n"})
    path = root / "models/fct.sql"
    editor.open(path, path.read_text())
    (found,) = editor.diagnostics(path)
    editor.close(path)
    assert found.message.startswith("not linted, the project cannot be loaded: profiles.yml:2:1: not YAML")


def test_a_file_that_changes_on_disk_counts_after_it_is_saved(editor, shop):
    model, macro = shop / "models/fct.sql", shop / "macros/window.sql"
    editor.open(model, model.read_text())
    before = short(editor.diagnostics(model))
    macro.write_text(macro.read_text().replace("{{ column }} >=", "upper(t.v) ="))
    editor.saved(macro)
    found = short(editor.diagnostics(model))
    editor.close(model)
    assert ("K001 4:4" in before, "K001 4:4" in found) == (False, True)


def test_an_equal_report_is_not_sent_again(editor, shop):
    path = shop / "jobs/load.py"
    editor.open(path, path.read_text())
    first = editor.report(path)
    second = editor.report(path, first.result_id)
    editor.close(path)
    assert (first.kind, second.kind, second.result_id) == ("full", "unchanged", first.result_id)
    assert first.items[0].code_description.href.endswith("P001.html")


def test_a_finding_leads_to_the_merge_that_it_is_about(editor, shop):
    path = shop / "jobs/load.sql"
    text = "select 1;\nmerge into a.b t\nusing c.d s on t.id = s.id\nwhen matched then delete;\n"
    editor.open(path, text)
    (found,) = editor.diagnostics(path)
    editor.close(path)
    (related,) = found.related_information
    assert (related.location.uri, related.location.range.start) == (path.as_uri(), types.Position(1, 0))


@pytest.mark.parametrize("name", ["my shop", "läden", "50% off", "a#b", "a?b"])
def test_a_folder_may_have_any_name(editor, tmp_path, name):
    root = write_files(tmp_path / name, PROJECT)
    path = root / "models/fct.sql"
    editor.open(path, path.read_text().replace("when matched", "when mat"))
    found = short(editor.diagnostics(path))
    macro = root / "macros/window.sql"
    editor.open(macro, macro.read_text().replace("{{ column }} >=", "upper(t.v) ="))
    editor.open(path, path.read_text())
    changed = short(editor.diagnostics(path))
    editor.close(macro)
    editor.close(path)
    assert (found, "K001 4:4" in changed) == (["C010 5:1"], True)


def test_files_outside_of_projects(editor, tmp_path):
    path = tmp_path / "job.sql"
    path.write_text("select 1;\nmerge into a t using b s on t.id = s.id when matched then delete;\n")
    editor.open(path, "select 1;\n" + path.read_text())
    found = short(editor.diagnostics(path))
    editor.open(path, "merge in")
    broken = short(editor.diagnostics(path))
    editor.close(path)
    assert (found, broken) == (["P001 3:29"], ["C010 1:7"])


ASTRAL = "on '😀' <> t.x.y.z( and t.id = s.id"


def test_columns_are_counted_as_the_client_counts(editor, shop):
    path = shop / "models/fct.sql"
    for client, encoding, column in ((editor, "utf-16", 18), (Editor(encodings=["utf-8"]), "utf-8", 20)):
        client.open(path, path.read_text().replace("on t.id = s.id", ASTRAL))
        (found,) = client.diagnostics(path)
        client.close(path)
        if client is not editor:
            client.stop()
        assert client.server.capabilities.position_encoding == encoding
        assert (found.range.start.line, found.range.start.character) == (3, column)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_each_position_is_that_of_its_offset(encoding):
    text = "a😀b\r\n\n😀é\nlast"
    positions = Positions(text, PositionCodec(encoding))
    source = SourceText("a.sql", as_source(text))
    for offset in range(len(source.text) + 1):
        place = source.place(offset)
        assert positions.offset(positions.position(place.line, place.column)) == offset


def test_a_client_that_does_not_ask_is_sent_the_newest_alone(shop):
    editor, path = Editor(pulls=False), shop / "models/fct.sql"
    text = path.read_text()
    for at in range(120, 0, -10):
        editor.open(path, text[:-at])
    editor.open(path, text.replace("when matched", "when mat"))
    found = short(editor.wait_for_push(path, 13))
    editor.close(path)
    after = editor.wait_for_push(path, None)
    editor.stop()
    assert (found, after) == (["C010 5:1"], ())


def test_actions(editor, shop):
    path = shop / "models/fct.sql"
    text = path.read_text().replace(" and {{ in_window('t.dt') }}", "")
    editor.open(path, text)
    (found,) = [each for each in editor.actions(path, 4) if each.title.startswith("K001")]
    ((edit,),) = found.edit.changes.values()
    line = text.split("\n")[edit.range.start.line]
    assert line[: edit.range.start.character] + edit.new_text == "on t.id = s.id  -- noqa: K001 -- why it is meant"
    changed = text.replace("on t.id = s.id\n", "on t.id = s.id  -- noqa: K001 -- why it is meant\n")
    editor.open(path, changed)
    hidden = editor.diagnostics(path)
    editor.open(path, changed.replace("t.id = s.id", "date_format(t.dt, 'yyyy-MM-dd') = '2024-01-01' and t.id = s.id"))
    fixes = editor.actions(path, 4)
    editor.close(path)
    assert [each.code for each in hidden] == []
    assert [each.title for each in fixes if each.is_preferred] == ["S001: remove the comment"]


MERGE_LINES = ("merge into a.b t", "using c.d s on t.id = s.id", "when matched then delete")
STRINGS = {
    "a line": ("job.py", 'spark.sql("' + " ".join(MERGE_LINES) + '")\n', 1, "#"),
    "several lines": ("job.py", 'spark.sql("""\n' + "\n".join(MERGE_LINES) + '\n""")\n', 3, "--"),
    "an f-string": (
        "job.py",
        'n = "c.d"\nspark.sql(f"""' + "\n".join(MERGE_LINES).replace("c.d", "{n}") + '""")\n',
        3,
        "--",
    ),
    "parts": ("job.py", "spark.sql(\n" + "\n".join(f'    "{line} "' for line in MERGE_LINES) + "\n)\n", 3, "#"),
    "a line of Scala": ("Job.scala", 'spark.sql("' + " ".join(MERGE_LINES) + '")\n', 1, "//"),
    "several lines of Scala": ("Job.scala", 'spark.sql("""\n' + "\n".join(MERGE_LINES) + '\n""")\n', 3, "--"),
}


@pytest.mark.parametrize("case", STRINGS)
def test_a_noqa_comment_is_one_of_the_language_that_it_is_in(editor, tmp_path, case):
    name, text, line, mark = STRINGS[case]
    path = tmp_path / name
    editor.open(path, text)
    (found,) = editor.actions(path, line)
    ((edit,),) = found.edit.changes.values()
    lines = text.split("\n")
    at = edit.range.start
    lines[at.line] = lines[at.line][: at.character] + edit.new_text + lines[at.line][at.character :]
    editor.open(path, "\n".join(lines))
    hidden = editor.diagnostics(path)
    editor.close(path)
    assert (found.title[:5], edit.new_text.split()[0], hidden) == ("P001:", mark, ())


def edited(text, numbers):
    """A text as it may be while it is typed."""
    words = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    for _ in range(numbers.choice((1, 1, 2))):
        start, end = numbers.choice(words)
        how = numbers.choice(("cut", "drop", "double", "split", "end"))
        if how == "end":
            return text[: (start + end) // 2 + 1]
        put = {"cut": text[start : (start + end) // 2], "drop": "", "double": text[start:end] * 2, "split": "\n"}[how]
        text = text[:start] + put + text[end:]
        words = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] or [(0, 0)]
    return text


def random_edits(editor, root, names, count, seed):
    """Make random edits of files, each of the saved text; the server and lint of a saved copy agree."""
    numbers = random.Random(seed)
    wrong = []
    for _ in range(count):
        path = root / numbers.choice(names)
        saved = path.read_text()
        text = edited(saved, numbers)
        editor.open(path, text)
        found = short(editor.diagnostics(path))
        path.write_text(text)
        expected = linted(root, path)
        path.write_text(saved)
        editor.close(path)
        if found != expected:
            wrong.append((path.name, text, found, expected))
    return wrong


def test_random_edits_have_the_findings_of_a_saved_copy(editor, shop):
    names = ["models/fct.sql", "models/stg.sql", "models/_models.yml", "macros/window.sql"]
    assert random_edits(editor, shop, names, 40, 1) == []


@pytest.mark.parametrize(
    ("number", "seed"), [pytest.param(40, 2, marks=pytest.mark.slow), pytest.param(120, 3, marks=pytest.mark.nightly)]
)
def test_random_edits_of_the_flights_project(editor, tmp_path, number, seed):
    here = Path(__file__).parents[3]
    root = tmp_path / "flights"
    root.mkdir()
    for name in ("models", "macros", "seeds", "data_tests", "pyproject.toml", "profiles.yml", "catalog.yml"):
        source = here / name
        if source.is_dir():
            shutil.copytree(source, root / name)
        elif source.exists():
            shutil.copy(source, root / name)
    files = [*root.rglob("models/**/*.sql"), *root.rglob("models/**/*.yml"), *root.rglob("macros/*.sql")]
    assert random_edits(editor, root, sorted(file.relative_to(root).as_posix() for file in files), number, seed) == []


def test_the_server_without_its_extra_names_it():
    code = (
        "import sys; sys.modules['pygls'] = None; sys.argv = ['merge-runner', 'lsp']\n"
        "from merge_runner.cli.main import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert ended.returncode == 2
    assert "pip install 'merge-runner[lsp]'" in ended.stderr


def test_the_server_ends_well_when_it_is_asked_to():
    requests = [{"method": "initialize", "id": 1, "params": {"capabilities": {}}}, {"method": "shutdown", "id": 2}]
    sent = [json.dumps({"jsonrpc": "2.0", **each}) for each in (*requests, {"method": "exit"})]
    text = "".join(f"Content-Length: {len(each)}\r\n\r\n{each}" for each in sent)
    server = [sys.executable, "-m", "merge_runner", "lsp"]
    ended = subprocess.run(server, input=text, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
