"""The jars that merge-runner brings: compiled from the sources that are next to them."""

import zipfile

import pytest

from merge_runner.engine.spark.jars import fetch_jars
from merge_runner.engine.spark.storage import local_files
from merge_runner.engine.spark.storage.object_stores import LOG_STORE
from tests.engine.spark.storage.build_jars import JARS

CLASSES = {LOG_STORE, *local_files.CONFS.values()}
"""The classes that confs name."""


@pytest.fixture(params=JARS, ids=lambda jar: jar.name)
def own(request):
    return request.param


def test_a_jar_has_the_hash_of_its_sources(own):
    """`python -m tests.engine.spark.storage.build_jars` makes both."""
    with zipfile.ZipFile(own.path) as jar:
        assert jar.read("SOURCE.sha256").decode() == own.source_hash()


def test_each_class_that_a_conf_names_is_in_a_jar():
    found = {}
    for path in fetch_jars(["log-store", local_files.GROUP], {}):
        with zipfile.ZipFile(path) as jar:
            found |= {name: jar.read(name) for name in jar.namelist()}
    for name in CLASSES:
        assert found[f"{name.replace('.', '/')}.class"][:4] == b"\xca\xfe\xba\xbe"


@pytest.mark.slow
def test_compiling_the_sources_gives_the_same_classes(own, tmp_path):
    try:
        classes = own.compiled(tmp_path)
    except FileNotFoundError:
        pytest.skip("no compiler of Java 17 is here")
    with zipfile.ZipFile(own.path) as jar:
        assert classes == {name: jar.read(name) for name in jar.namelist() if name.endswith(".class")}
