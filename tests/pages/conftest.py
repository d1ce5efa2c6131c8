"""Projects as values of their pages."""

import pytest

from merge_runner.api import Project
from merge_runner.pages.project.project_page import project_data


@pytest.fixture
def data_of(make_project):
    """Return a function: the data and the details of the page of a project with these files."""

    def made(files, last=None, freshness=None, older_rows=None):
        project = Project.load(make_project(files))
        data, details = project_data(project.prepared, project.lint(), last or {}, freshness or {}, older_rows or {})
        return data, {node["id"]: detail for node, detail in zip(data["nodes"], details, strict=True)}

    return made
