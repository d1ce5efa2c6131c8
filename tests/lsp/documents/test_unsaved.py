"""What is kept of the texts of models that an editor asked for last."""

import gc
import weakref

from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.unsaved import unsaved
from tests.lsp.cases import saved

PATH = "models/facts/fct_flight.sql"


def test_the_last_texts_are_kept():
    project = ProjectIndex(saved().prepared)
    text = project.text(PATH)
    first = unsaved(project, PATH, text)
    assert first.merge is not None
    assert unsaved(project, PATH, text) is first
    for number in range(4):
        assert unsaved(project, PATH, f"{text}-- {number}").merge is not None
    assert unsaved(project, PATH, text) is not first


def test_nothing_is_kept_of_a_project_that_another_state_has_replaced():
    project = ProjectIndex(saved().prepared)
    assert unsaved(project, PATH, project.text(PATH)).merge is not None
    gone = weakref.ref(project)
    del project
    gc.collect()
    assert gone() is None
