"""Which tables are loaded for a node that waits."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.engine.tables.catalog import Catalog
from merge_runner.plan.steps.inputs import AttachInputs, FileInput, TableInput
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget, Layout
from merge_runner.relation import Relation
from merge_runner.run.execution.prefetch import TablePrefetch
from merge_runner.run.node.run_context import Nodes
from merge_runner.run.scheduling.write_conflicts import WriteKey
from tests.fake_engine import FakeDriver
from tests.fake_engine.faults import raised


def table(name, format="delta", location=None):
    return TableInput(Relation(name, "shop"), format, location)


def target(name, replace=False):
    return CreateTarget(Layout(Relation(name, "shop"), "delta"), None, replace)


def reads(*inputs):
    return AttachInputs(inputs)


FILE = FileInput(Relation("raw", "shop"), "raw.csv", "csv", {})
NOWHERE = Path("/no/such/folder")


@pytest.fixture
def prefetch():
    """Makes the prefetch of a run: of the node `m` with the steps, and of others that write the tables they name.

    `preload` is called instead of the catalog's with each table.
    """

    def make(*steps, writers=None, ended=(), preload=None):
        writes = {node: WriteKey(f"shop.{name}") for node, name in {"m": "m", **(writers or {})}.items()}
        driver = FakeDriver()
        catalog = Catalog(driver.table_format)
        if preload is not None:
            catalog = SimpleNamespace(preload=lambda _session, item: preload(item.relation.name))
        nodes = Nodes({"m": NodePlan("m", steps)})
        run = SimpleNamespace(id="r", nodes=nodes, writes=writes, driver=driver, catalog=catalog)
        return SimpleNamespace(it=TablePrefetch(run, lambda node: node in ended), driver=driver)

    return make


@pytest.mark.parametrize(
    ("steps", "writers", "loaded"),
    [
        ([target("m")], {}, ["shop.m"]),
        ([target("m", replace=True)], {}, []),
        ([reads(table("a"), FILE), target("m")], {}, ["shop.a", "shop.m"]),
        # What another node is still to write will have another state.
        ([reads(table("a"), table("b"))], {"one": "a", "ended": "b"}, ["shop.b"]),
        ([reads(table("a"))], {"one": "a", "ended": "a"}, []),
        ([reads(table("A"))], {"one": "a"}, []),
        # A format of plain files, and one that is not known.
        ([reads(table("a", "parquet"), table("b", ""))], {}, []),
        # A table of the warehouse that has not been built.
        ([reads(table("a", location=NOWHERE))], {}, []),
    ],
)
def test_targets_are_loaded_and_inputs_that_no_node_is_still_to_write(prefetch, steps, writers, loaded):
    made = prefetch(*steps, writers=writers, ended={"ended"})
    made.it.load("m")
    assert made.driver.preloaded == loaded


def test_nothing_is_loaded_once_it_is_stopped(prefetch):
    made = prefetch(target("m"))
    made.it.stop()
    made.it.load("m")
    assert made.driver.preloaded == []


def test_what_is_being_loaded_is_cancelled_and_nothing_more_is_loaded(prefetch):
    loaded = []

    def preload(name):
        loaded.append(name)
        made.it.stop()
        assert made.driver.groups["r/prefetch"].is_set()

    made = prefetch(reads(table("a"), table("b")), preload=preload)
    made.it.load("m")
    assert loaded == ["shop.a"]


def test_an_error_of_the_engine_is_left_to_the_node_and_a_bug_is_raised(prefetch):
    def fails(error):
        def preload(_name):
            raise error

        return prefetch(target("m"), preload=preload).it

    fails(raised("lost")).load("m")
    with pytest.raises(TypeError):
        fails(TypeError("a bug")).load("m")
