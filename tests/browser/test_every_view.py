"""Every kind of node, tab and colour of a project's page: drawn, accessible in both themes, found by its address."""

import json

import pytest

from merge_runner import Project
from merge_runner.pages.runs.history import keep
from tests.cli.every_kind import FILES
from tests.pages.runs import record

EXPOSURE = """
exposures:
  - name: weekly_numbers
    label: Weekly numbers
    type: dashboard
    maturity: high
    url: https://bi.example.com/weekly
    description: What the shop sells in a week.
    owner: {name: The analysts, email: analysts@example.com}
    depends_on: [ref('fct'), ref('numbers')]
"""
STATUSES = ("success", "no-op", "warn", "error", "skipped", "fail", "partial success")
VIEWS = {
    "": "models",
    "#/graph?colour=status": "status",
    "#/graph?colour=time": "longest",
    "#/graph?colour=files": "files",
    "#/graph?select=verdict%3Anone": "as a list",
    "#/node/exposure.shop.weekly_numbers": "The analysts",
    "#/node/exposure.shop.weekly_numbers?tab=config": "config",
    "#/node/seed.shop.colours": "colour",
    "#/node/source.shop.raw.events": "error",
    "#/node/source.shop.raw.events?tab=lineage&column=amount": "transformation",
    "#/node/model.shop.fct": "Upstream",
    "#/node/model.shop.fct?tab=tests": "accepted_values",
    "#/node/model.shop.fct?tab=config": "Layout of the table",
    "#/node/model.shop.stg?tab=code&text=author": "twice",
    "#/node/model.shop.stg?tab=code&text=compiled": "underlined",
    "#/node/model.shop.eph": "ephemeral",
    "#/node/no_negative_amount": "data test",
    "#/node/unit_test.shop.fct.a_new_row_is_inserted": "Given and expected rows",
    "#/macro/twice": "Used by",
}
LEFT_OUT = ("dbt_project.yml", "models/frame.py", "packages.yml", "snapshots/", "analyses/", "given/")


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A project with every kind of node, as a build, and a look at its sources, have left it."""
    root = tmp_path_factory.mktemp("shop")
    files = {path: text for path, text in FILES.items() if not path.startswith(LEFT_OUT)}
    for path, text in {**files, "models/exposures.yml": EXPOSURE}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    project = Project.load(root)
    nodes = [node for node in project.graph.nodes.values() if node.resource_type in ("model", "seed", "test")]
    entries = []
    for number, node in enumerate(nodes):
        entry = {"id": node.unique_id, "name": node.name, "kind": node.resource_type, "status": STATUSES[number % 7]}
        entry |= {"seconds": 1.5 * number, "materialized": node.materialized, "message": "what it said"}
        if node.materialized == "merge":
            figures = {"files_scanned": number, "files_total": 40, "rows_inserted": 1000 * number, "rows_updated": 3}
            entry["response"] = {"operation": "MERGE", "verdict": "none", **figures}
        entries.append(entry)
    keep(root / "target", record(*entries, project="shop", target="dev"))
    fresh = {"unique_id": "source.shop.raw.events", "status": "error", "max_loaded_at_time_ago_in_s": 90_000.0}
    fresh |= {"max_loaded_at": "2024-01-02T00:00:00Z", "snapshotted_at": "2024-01-03T01:00:00Z"}
    (root / "target/sources.json").write_text(json.dumps({"results": [fresh]}))
    return project.docs(static=True)


@pytest.mark.parametrize(
    ("dark", "width"), [(False, 1400), (True, 1400), (False, 420)], ids=["light", "dark", "narrow"]
)
def test_every_view(page, shop, dark, width):
    page.open(shop, dark=dark, width=width)
    for number, (at, shown) in enumerate(VIEWS.items()):
        if at:
            page.go(at)
        text = page.text()
        assert shown.casefold() in text.casefold(), at
        assert not {"false", "undefined", "null", "NaN", "[object Object]"} & set(text.splitlines()), at
        assert page.run("return document.documentElement.scrollWidth <= innerWidth"), f"{at} scrolls sideways"
        page.screenshot(f"view-{number:02}-{'dark' if dark else 'light'}-{'wide' if width > 1000 else 'narrow'}")
        if width > 1000 or number % 4 == 0:
            assert page.violations() == [], at


def test_sources_that_are_late_come_first(page, shop):
    page.open(shop)
    first = page.text("[aria-label=Sources] tbody tr")
    assert "raw.events" in first and "error" in first
    assert "not checked" in page.text("[aria-label=Sources] tbody tr:last-child")


def test_a_view_is_where_its_address_says(page, shop):
    page.open(shop, "#/node/model.shop.fct?tab=tests")
    assert "accepted_values" in page.text()
    page.run("[...document.querySelectorAll('[role=tab]')].find((each) => each.textContent === 'Config').click()")
    page.wait("return location.hash.includes('tab=config')")
    page.run("history.back()")
    page.wait("return document.documentElement.dataset.shown.includes('tab=tests')")
    assert page.run("return document.querySelector('[role=tab][aria-selected=true]').textContent").startswith("Tests")


def test_the_whole_page_is_walked_by_tab(page, shop):
    """Each stop of the Tab key is visible, has a name, and none holds the focus."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    page.open(shop, "#/node/model.shop.fct")
    stops = []
    for _ in range(40):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        stop = page.run(
            "const at = document.activeElement, box = at.getBoundingClientRect();"
            "return [at.tagName, (at.getAttribute('aria-label') || at.textContent || at.placeholder || '').trim(),"
            " box.width > 0 && box.height > 0, getComputedStyle(at).outlineStyle !== 'none' || at.matches('.skip')]"
        )
        if stop[0] == "BODY":
            break
        stops.append(stop)
    assert [stop for stop in stops if not all(stop)] == []
    names = [name for _, name, *_ in stops]
    assert names[0] == "Skip to the content"
    assert {"Search", "Overview", "Graph", "Nodes of the project", "Columns"} <= set(names)
    assert len(names) == len({(tag, name, number) for number, (tag, name, *_) in enumerate(stops)})
