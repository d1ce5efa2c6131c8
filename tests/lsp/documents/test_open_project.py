"""A project in an editor is loaded again for what may change it as a whole, and has what a loaded one would have."""

import random

import pytest

from merge_runner.lsp.documents.open_documents import OpenDocuments
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

MODEL, PARENT, YAML, MACRO = "models/fct.sql", "models/stg.sql", "models/_models.yml", "macros/window.sql"
OTHER_ON = PROJECT[MODEL].replace("t.id = s.id and", "t.v = s.v and")


@pytest.fixture
def shop(tmp_path):
    return write_files(tmp_path / "shop", PROJECT)


class Opened:
    """The documents of an editor, and the files on disk."""

    def __init__(self, root):
        self.root, self.texts, self.documents = root, {}, OpenDocuments({})

    def look(self, name, documents=None):
        """What is known of a document, as `CODE line:column`."""
        path = self.root / name
        texts = {self.root / each: text for each, text in self.texts.items()}
        found = (documents or self.documents).look(path, {path: path.read_text(), **texts})
        return sorted((each.place.line, each.place.column, each.code) for each in found.remarks)

    def as_loaded(self, name):
        """What is known of it without anything that was known before; None where that cannot be loaded."""
        documents = OpenDocuments({})
        found = self.look(name, documents)
        project = documents.locate(self.root / name)
        return found if project is not None and project[0].project is not None else None

    @property
    def templates(self):
        """What is made where the project is loaded."""
        return self.documents.locate(self.root / MODEL)[0].project.prepared.templates

    def write(self, name, text):
        (self.root / name).write_text(text)
        self.documents.check_files()


STEPS = {
    "a model is typed": lambda opened: opened.texts.update({MODEL: OTHER_ON}),
    "a model is saved": lambda opened: (opened.texts.update({MODEL: OTHER_ON}), opened.write(MODEL, OTHER_ON)),
    "a model is changed on disk": lambda opened: opened.write(MODEL, OTHER_ON),
    "a model is opened and closed": lambda opened: (opened.texts.update({MODEL: PROJECT[MODEL]}), opened.look(PARENT)),
    "YAML is opened": lambda opened: opened.texts.update({YAML: PROJECT[YAML]}),
    "YAML is saved as it was": lambda opened: opened.write(YAML, PROJECT[YAML]),
    "a job is typed": lambda opened: opened.texts.update({"jobs/load.py": "x = 1"}),
    "a file of nothing is written": lambda opened: opened.write("notes.txt", "x"),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_is_of_one_file_does_not_load_the_project_again(shop, step):
    opened = Opened(shop)
    opened.look(PARENT)
    before = opened.templates
    STEPS[step](opened)
    found = [opened.look(name) for name in (PARENT, MODEL, PARENT)]
    opened.texts.clear()
    found.append(opened.look(MODEL))
    assert opened.templates is before
    assert found[3] == opened.as_loaded(MODEL)


RELOADS = {
    "another config": lambda opened: opened.write(MODEL, PROJECT[MODEL].replace("'id'", "'v'")),
    "a macro on disk": lambda opened: opened.write(MACRO, PROJECT[MACRO].replace(">=", ">")),
    "YAML in the editor": lambda opened: opened.texts.update({YAML: PROJECT[YAML].replace("bigint", "int")}),
    "a new model": lambda opened: opened.write("models/new.sql", "select 1 as a"),
    "another profile": lambda opened: opened.write(
        "profiles.yml", PROJECT["profiles.yml"].replace("{schema", "{threads: 2, schema")
    ),
}


@pytest.mark.parametrize("step", RELOADS)
def test_what_may_change_the_graph_loads_it_again(shop, step):
    opened = Opened(shop)
    opened.look(PARENT)
    before = opened.templates
    RELOADS[step](opened)
    opened.look(PARENT)
    assert opened.templates is not before


VARIANTS = {
    MODEL: [OTHER_ON, OTHER_ON.replace("when matched", "when mat"), PROJECT[MODEL].replace("'stg'", "'other'")],
    PARENT: ["select 1 as id, 'x' as v", "{{ config(materialized='ephemeral') }} select 1 as id", "select {{ "],
    YAML: [PROJECT[YAML].replace("bigint", "string"), "models:\n  - name: [", "models: []\n"],
    MACRO: [PROJECT[MACRO].replace("{{ column }} >=", "upper(t.v) ="), "{% macro in_window(column) %}"],
    "models/other.sql": ["select 2 as id, date'2024-01-01' as dt, 'y' as v", "select 1 as id"],
    "pyproject.toml": ['[tool.merge-runner]\nname = "shop"\nvars = {a = 1}\n', "[tool"],
    "jobs/load.py": ["x = 1"],
}


def steps(opened, numbers):
    """Do something at random to a file, on disk or in the editor."""
    name = numbers.choice(list(VARIANTS))
    text = numbers.choice([*VARIANTS[name], PROJECT.get(name, "select 3 as id")])
    how = numbers.choice(("type", "type", "write", "save", "close", "delete"))
    if how in ("type", "save") and (opened.root / name).exists():
        if name not in opened.texts:
            opened.documents.check_files()
        opened.texts[name] = text
    if how in ("write", "save"):
        opened.write(name, text)
    elif how == "close":
        opened.texts.pop(name, None)
        opened.documents.check_files()
    elif how == "delete" and name == "models/other.sql":
        (opened.root / name).unlink(missing_ok=True)
        opened.texts.pop(name, None)
        opened.documents.check_files()
    return how, name


@pytest.mark.parametrize(("count", "seed"), [(60, 1), pytest.param(600, 2, marks=pytest.mark.nightly)])
def test_after_any_steps_a_document_has_what_a_project_that_is_loaded_then_has(shop, count, seed):
    numbers, opened, done = random.Random(seed), Opened(shop), []
    for _ in range(count):
        done.append(steps(opened, numbers))
        name = numbers.choice([each for each in VARIANTS if (shop / each).exists()])
        loaded = opened.as_loaded(name)
        found = opened.look(name)
        assert loaded is None or found == loaded, (done[-6:], name)
