"""Faults of what the engine stands on, each in a model of one build: what is said, that the others finish, what is next.

docs/guides/recover-from-failures.md has the table for people.
"""

import random
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MERGE = """
{{ config(format='FORMAT') }}
merge into {{ this }} as t
using (select id, sha2(cast(id as string), 512) as text from range({{ var('from') }}, {{ var('to') }})) as s on t.id = s.id
when matched then update set *
when not matched then insert *
"""


class NotAllowedError(Exception):
    """This machine does not let us do it: no root, no mounts."""


class Place:
    """The folder of a model's table, and what can be done to it."""

    def __init__(self, folder):
        self.folder = folder
        self.mounted = None
        self.copy = folder.with_name(f"{folder.name}.copy")

    def mount(self, folder):
        """A file system of its own, of 2 MiB, in place of a folder whose files are kept."""
        moved = folder.with_name(f"{folder.name}.moved")
        folder.rename(moved)
        folder.mkdir()
        try:
            _command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder)
        except NotAllowedError:
            folder.rmdir()
            moved.rename(folder)
            raise
        self.mounted = folder
        shutil.copytree(moved, folder, dirs_exist_ok=True)
        shutil.rmtree(moved)

    def mount_log(self):
        self.mount(next(self.folder / name for name in ("_delta_log", "metadata") if (self.folder / name).exists()))

    def fill(self):
        with suppress(OSError), (self.mounted / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1024))

    def make_room(self):
        (self.mounted / "filler").unlink()

    def remount(self, mode):
        _command("mount", "-o", f"remount,{mode}", self.mounted)

    def unmount(self):
        if self.mounted is not None:
            _command("umount", "--lazy", self.mounted)

    def newest(self, pattern):
        shutil.copytree(self.folder, self.copy)
        return max(self.folder.glob(pattern), key=lambda path: (path.stat().st_mtime_ns, path.name))

    def bring_back(self):
        shutil.rmtree(self.folder)
        self.copy.rename(self.folder)

    def move_away(self):
        self.folder.rename(self.folder.with_name(f"{self.folder.name}.away"))


def _command(*words):
    try:
        subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotAllowedError(f"{words[0]}: {getattr(error, 'stderr', error)}") from error


def full(place):
    place.mount(place.folder)
    place.fill()


def full_log(place):
    place.mount_log()
    place.fill()


def read_only(place):
    place.mount(place.folder)
    place.remount("ro")


def corrupt(pattern):
    def inject(place):
        path = place.newest(pattern)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        path.write_bytes(random.Random(1).randbytes(300))

    return inject


def missing(pattern):
    return lambda place: place.newest(pattern).unlink()


@dataclass(frozen=True)
class Fault:
    """What is done to the table of a model, what its error says, and what a person does then.

    `rebuilt`: the table's folder is moved away, and the model built again, so that it has the rows of the last build alone.
    """

    table_format: str
    inject: Callable
    words: tuple
    mend: Callable
    rebuilt: bool = False


NO_SPACE = (
    "No space left on device",
    "free space there (the tables hold whole commits only), then `merge-runner retry`",
)
NO_RIGHT = ("Read-only file system", "let this user read and write there, then `merge-runner retry`")
DAMAGED = ("the table's own record is damaged: bring the file back from a copy, or move the table's folder away",)
GONE = ("a file of a table is gone: bring it back from a copy, take the table back to a version without it",)
FAULTS = {
    "full": Fault("delta", full, NO_SPACE, Place.make_room),
    "full_log": Fault("delta", full_log, NO_SPACE, Place.make_room),
    "ice_full": Fault("iceberg", full, NO_SPACE, Place.make_room),
    "ice_full_metadata": Fault("iceberg", full_log, NO_SPACE, Place.make_room),
    "read_only": Fault("delta", read_only, NO_RIGHT, lambda place: place.remount("rw")),
    "ice_read_only": Fault("iceberg", read_only, NO_RIGHT, lambda place: place.remount("rw")),
    "corrupt_log": Fault("delta", corrupt("_delta_log/*.json"), ("00000001.json", *DAMAGED), Place.bring_back),
    "missing_log": Fault(
        "delta", missing("_delta_log/*0.json"), ("0000000.json", *DAMAGED), Place.move_away, rebuilt=True
    ),
    "ice_corrupt_metadata": Fault(
        "iceberg", corrupt("metadata/*.metadata.json"), (".metadata.json", *DAMAGED), Place.bring_back
    ),
    "ice_missing_metadata": Fault("iceberg", missing("metadata/*.metadata.json"), DAMAGED, Place.bring_back),
    "missing_data": Fault("delta", missing("*.parquet"), (".parquet", *GONE), Place.bring_back),
    "ice_missing_data": Fault("iceberg", missing("data/*.parquet"), (".parquet", *GONE), Place.bring_back),
}
MARKS = dict.fromkeys(
    ("read_only", "corrupt_log", "missing_log", "ice_corrupt_metadata"), pytest.mark.slow
) | dict.fromkeys(
    ("ice_full", "ice_read_only", "full_log", "ice_full_metadata", "ice_missing_data"), pytest.mark.nightly
)
"""Faults that `make test` has on the other format, or on the data where it has them on the log."""

FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: faults, catalogs: {ice: {type: embedded}}}}}",
    "models/beside.sql": MERGE.replace("FORMAT", "delta"),
    "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('missing_data') }}",
}


@pytest.fixture(scope="module")
def told(request, tmp_path_factory, driver, spark):
    """The results of a build with the selected faults, those of one when they are mended, and what could not be done here."""
    root = tmp_path_factory.mktemp("faults")
    items = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    selected = {item.callspec.params.get("name") for item in items} | {"missing_data"}  # `below` reads it
    faults = {name: fault for name, fault in FAULTS.items() if name in selected}
    models = {f"models/{name}.sql": MERGE.replace("FORMAT", fault.table_format) for name, fault in faults.items()}
    for path, text in (FILES | models).items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    # The shared driver has a catalog of its own by the name of `ice`.
    warehouses = {"delta": root / "warehouse", "iceberg": Path(spark.conf.get("spark.sql.catalog.ice.warehouse"))}
    places = {name: Place(warehouses[fault.table_format] / "faults" / name) for name, fault in faults.items()}
    refused = {}

    def build(first, behind):
        # What another process would find: nothing in memory.
        spark.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        project = Project.load(root, vars={"from": first, "to": behind})
        results = project.build(driver=driver, lint=False)
        return {result.unique_id.rpartition(".")[2]: result for result in results.results}

    try:
        build(0, 100)
        for name, fault in faults.items():
            try:
                fault.inject(places[name])
            except NotAllowedError as error:
                refused[name] = str(error)
        broken = build(50, 150)
        for name, fault in faults.items():
            if name not in refused:
                fault.mend(places[name])
            if fault.rebuilt:
                spark.sql(f"drop table faults.{name}")  # as a process that has not seen it
        mended = build(50, 150)
        tables = {
            name: f"{'ice.' if fault.table_format == 'iceberg' else ''}faults.{name}" for name, fault in faults.items()
        }
        counts = {
            name: (spark.table(table).count(), spark.table(table).distinct().count()) for name, table in tables.items()
        }
    finally:
        for place in places.values():
            place.unmount()
    return broken, mended, counts, refused


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in FAULTS])
def test_a_fault_is_the_error_of_its_model_and_gone_when_it_is_mended(told, name):
    broken, mended, counts, refused = told
    if name in refused:
        pytest.skip(refused[name])
    assert broken[name].status == "error"
    for words in FAULTS[name].words:
        assert words in broken[name].message
    assert "\tat " not in broken[name].message
    assert mended[name].status == "success", mended[name].message
    assert counts[name] == ((100, 100) if FAULTS[name].rebuilt else (150, 150))


def test_the_other_models_finish(told):
    broken, _, _, _ = told
    assert broken["beside"].status == "success"
    assert (broken["below"].status, broken["below"].cause) == ("skipped", "model.shop.missing_data")
    assert {result.status for name, result in broken.items() if name not in FAULTS} == {"success", "skipped"}


def test_a_warehouse_that_cannot_be_written_is_told_by_each_model(make_project, driver, spark):
    view = "{{ config(materialized='view') }} select 1 as n"
    root = make_project({"models/one.sql": MERGE.replace("FORMAT", "delta"), "models/two.sql": view})
    place = Place(root / "warehouse")
    place.folder.mkdir()
    try:
        read_only(place)
    except NotAllowedError as error:
        pytest.skip(str(error))
    try:
        broken = Project.load(root, vars={"from": 0, "to": 1}).build(driver=driver, lint=False)
        place.remount("rw")
        mended = Project.load(root, vars={"from": 0, "to": 1}).build(driver=driver, lint=False)
    finally:
        place.unmount()
    assert [result.status for result in broken.results] == ["error"] * 2
    for result in broken.results:
        assert "Read-only file system" in result.message
    assert mended.ok


@pytest.mark.slow
@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def test_a_table_that_is_dropped_under_its_merge(make_project, race, spark, table_format):
    gated = MERGE.replace("FORMAT", table_format).replace(
        "select id,", "select if({{ var('gated') }}, gate(id), id) as id,"
    )
    root = make_project(
        {"models/m.sql": gated, "models/beside.sql": MERGE.replace("FORMAT", table_format)}, table_format
    )
    columns = "models: [{name: m, columns: [{name: id, data_type: bigint}, {name: text, data_type: string}]}]"
    (root / "models/m.yml").write_text(columns)

    def build(gated):
        project = Project.load(root, vars={"from": 0, "to": 2, "gated": gated})
        return project.build(driver=race, lint=False, threads=2)

    project = Project.load(root, vars={"from": 0, "to": 2, "gated": "false"})
    relation = project.graph.nodes["model.shop.m"].relation
    assert project.build(driver=race, lint=False, threads=2).ok

    def drop():
        spark.sql(f"drop table {relation}" + (" purge" if table_format == "iceberg" else ""))
        if table_format == "delta":
            shutil.rmtree(root / "warehouse" / relation.schema / "m")

    results = race.meanwhile(drop, lambda: build("true"))
    assert (results["m"].status, results["beside"].status) == ("error", "success")
    assert (
        "or move the table's folder away (in a catalog: drop the table) and build its model again"
        in results["m"].message
    )
    assert build("false")["m"].message == "2 inserted, 0 updated, 0 deleted"  # there is no table: it is made again
