"""Faults of what the engine stands on, each in one model of one build: what is said, that the others finish, what is next."""

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
using (select id, random_text as text from (
    select id, sha2(cast(id as string), 512) as random_text from range({{ var('from') }}, {{ var('to') }}))) as s
   on t.id = s.id
when matched then update set *
when not matched then insert *
"""


class Place:
    """Where the table of a model lies, and what is done to it."""

    def __init__(self, folder, spark):
        self.folder, self.spark, self.mounted, self.kept = folder, spark, False, folder.with_name(f"{folder.name}.kept")

    def mount(self, folder, size):
        """A file system of its own, of so many KiB, in place of a folder whose files are kept."""
        kept = folder.with_name(f"{folder.name}.moved")
        folder.rename(kept)
        folder.mkdir()
        command("mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder)
        self.mounted = folder
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        shutil.rmtree(kept)

    def fill(self):
        """Takes the room that is left."""
        with suppress(OSError), (self.mounted / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1024))

    def remount(self, options):
        command("mount", "-o", f"remount,{options}", self.mounted)

    def unmount(self):
        if self.mounted:
            command("umount", "--lazy", self.mounted)
            self.mounted = False

    def newest(self, pattern):
        return max(self.folder.glob(pattern), key=lambda path: (path.stat().st_mtime_ns, path.name))

    def keep(self):
        shutil.copytree(self.folder, self.kept)

    def bring_back(self):
        shutil.rmtree(self.folder)
        self.kept.rename(self.folder)


def command(*words):
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        pytest.skip(f"{words[0]} is not allowed here: {ran.stderr.strip()}")


def full(place):
    place.mount(place.folder, 2048)
    place.fill()


def full_log(place):
    place.mount(place.folder / ("_delta_log" if (place.folder / "_delta_log").exists() else "metadata"), 2048)
    place.fill()


def room(place):
    (place.mounted / "filler").unlink()


def read_only(place):
    place.mount(place.folder, 20480)
    place.remount("ro")


def writable(place):
    place.remount("rw")


def corrupt(pattern):
    def inject(place):
        place.keep()
        path = place.newest(pattern)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        path.write_bytes(random.Random(1).randbytes(300))

    return inject


def missing(pattern):
    def inject(place):
        place.keep()
        place.newest(pattern).unlink()

    return inject


@dataclass(frozen=True)
class Fault:
    """What is done to the table of a model, what its error says, and what a person does then."""

    table_format: str
    inject: Callable
    mend: Callable
    words: tuple


FAULTS = {
    "full_disk": Fault("delta", full, room, ()),
    "full_disk_of_the_log": Fault("delta", full_log, room, ()),
    "ice_full_disk": Fault("iceberg", full, room, ()),
    "ice_full_disk_of_the_metadata": Fault("iceberg", full_log, room, ()),
    "read_only": Fault("delta", read_only, writable, ()),
    "ice_read_only": Fault("iceberg", read_only, writable, ()),
    "corrupt_log": Fault("delta", corrupt("_delta_log/*.json"), Place.bring_back, ()),
    "ice_corrupt_metadata": Fault("iceberg", corrupt("metadata/*.metadata.json"), Place.bring_back, ()),
    "missing_log_entry": Fault("delta", missing("_delta_log/*0.json"), Place.bring_back, ()),
    "missing_data": Fault("delta", missing("*.parquet"), Place.bring_back, ()),
    "ice_missing_data": Fault("iceberg", missing("data/*.parquet"), Place.bring_back, ()),
    "ice_missing_metadata": Fault("iceberg", missing("metadata/*.metadata.json"), Place.bring_back, ()),
}
FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    **{f"models/{name}.sql": MERGE.replace("FORMAT", fault.table_format) for name, fault in FAULTS.items()},
    "models/beside.sql": MERGE.replace("FORMAT", "delta"),
    "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('full_disk') }}",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory, driver, spark):
    """The result of each model in a build with all faults, and in a retry when they are mended; and the tables then."""
    root = tmp_path_factory.mktemp("faults")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True, parents=True)
        (root / path).write_text(text)
    (root / "profiles.yml").write_text(
        "shop: {outputs: {dev: {master: 'local[2]', schema: faulty, warehouse: warehouse, catalogs: {ice: {type: embedded}}}}}"
    )
    yield root


def test_explore(said, driver, spark, tmp_path_factory):
    root = said
    ice = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"))

    def build(a, b):
        project = Project.load(root, vars={"from": a, "to": b})
        return {r.unique_id.split(".")[-1]: r for r in project.build(driver=driver, lint=False).results}

    print({n: (r.status, r.message) for n, r in build(0, 100).items()})
    places = {}
    for name, fault in FAULTS.items():
        folder = (root / "warehouse/faulty" if fault.table_format == "delta" else ice / "faulty") / name
        places[name] = Place(folder, spark)
        fault.inject(places[name])
    spark.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    try:
        for name, result in build(50, 150).items():
            print("=====", name, result.status, result.execution_time, "\n", result.message, result.warnings)
        for name, fault in FAULTS.items():
            fault.mend(places[name])
        spark.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        for name, result in build(50, 150).items():
            rows = spark.table(("ice." if name.startswith("ice") else "") + f"faulty.{name}").count()
            print("=====", name, result.status, result.message, rows)
    finally:
        for place in places.values():
            place.unmount()
