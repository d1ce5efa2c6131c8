"""examples/low_shuffle: what a MERGE of a hundred rows copies, and which rows stay where they were."""

import threading

import pytest
from rich.console import Console

from merge_runner import Project
from merge_runner.cli.display.display import TextDisplay
from merge_runner.plan.explain.explain import explain

MODELS = ("delta_copied", "delta_marked", "iceberg_copied", "iceberg_marked")


@pytest.mark.parametrize(
    ("platform", "properties", "conf"),
    [
        ("oss", {"delta.enableDeletionVectors": "true"}, {}),
        ("fabric", {}, {"spark.microsoft.delta.merge.lowShuffle.enabled": "true"}),
        ("databricks", {}, {"spark.databricks.delta.merge.enableLowShuffle": "true"}),
    ],
)
def test_one_key_switches_it_on_and_off(example, platform, properties, conf):
    root, _ = example("low_shuffle")
    profiles = root / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("master:", f"platform: {platform}\n      master:"))
    prepared = Project.load(root).prepared
    marked = prepared.graph.nodes["model.low_shuffle.delta_marked"].config
    assert (dict(marked.properties), dict(marked.conf)) == (properties, conf)
    told = {
        node.name: node.engine_plan for level in explain(prepared, list(prepared.graph.nodes)).levels for node in level
    }
    assert {name: told[name].marks for name in MODELS} == {
        "delta_copied": False,
        "delta_marked": platform == "oss",
        "iceberg_copied": False,
        "iceberg_marked": True,
    }


class Watched:
    """What the live view shows of each model while it runs."""

    def __init__(self, driver):
        self.display = TextDisplay(quiet=True, debug=False)
        self.display.observe(driver)
        self._shown = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _watch(self):
        console = Console(width=100)
        while not self._ended.wait(0.02):
            for line in console.render_lines(self.display._view(), pad=False):
                words = "".join(segment.text for segment in line).split()[1:]  # behind the mark that turns
                if words:
                    name, told, *_ = words  # what is told first is the phase; without one the tasks, or the time
                    self._shown.setdefault(name, {})[told] = None

    def phases(self, name):
        """Those that every Delta MERGE has and that copies or marks rows, in the order in which they were shown."""
        return [word for word in self._shown[name] if word in ("scan", "rewrite")]


@pytest.mark.spark
@pytest.mark.slow
def test_a_hundred_changed_rows_and_the_others_beside_them(example, driver, spark):
    root, _ = example("low_shuffle")
    relations = {name: Project.load(root).graph.nodes[f"model.low_shuffle.{name}"].relation for name in MODELS}

    phases = {}

    def build(day):
        with Watched(driver) as watched:
            results = Project.load(root, vars={"day": day}).build(driver=driver, on_event=watched.display)
        assert results.ok, [result.message for result in results.results]
        responses = {name: results[name].adapter_response for name in MODELS}
        phases.update({name: watched.phases(name) for name in MODELS})
        return {
            name: tuple(response[f"rows_{kind}"] for kind in ("inserted", "updated", "copied"))
            for name, response in responses.items()
        }

    def files(name):
        rows = spark.sql(f"select order_id, input_file_name() as file from {relations[name]}").collect()
        return {row["order_id"]: row["file"] for row in rows}

    assert {counts[:2] for counts in build(0).values()} == {(10000, 0)}
    before = {name: files(name) for name in MODELS}
    assert build(1) == {
        "delta_copied": (0, 100, 9900),
        "delta_marked": (0, 100, 0),
        "iceberg_copied": (0, 100, 9900),
        "iceberg_marked": (0, 100, 0),
    }
    # The jobs of an Iceberg MERGE have no names.
    assert phases == {name: ["scan", "rewrite"] if name.startswith("delta") else [] for name in MODELS}
    for name in MODELS:
        after = files(name)
        moved = sum(after[order] != file for order, file in before[name].items())
        assert (len(after), moved) == (10000, 100 if name.endswith("marked") else 10000)
        statuses = spark.sql(f"select status, count(*) from {relations[name]} group by 1").collect()
        assert {tuple(row) for row in statuses} == {("day 0", 9900), ("day 1", 100)}
