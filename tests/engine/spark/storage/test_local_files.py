"""Files of this machine, as a local driver writes them and as Hadoop does: equal, and without a process for each."""

import stat
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

pytestmark = [pytest.mark.spark, pytest.mark.lines]

ONCE = "getconf PAGESIZE"
"""What Spark runs once in a JVM, at some time, for the memory of its processes."""
MODES = ["000", "400", "640", "644", "755", "777", "1777"]
PLACES = ["file", "folder", "link", "broken", "none", "name with späce"]


@pytest.fixture
def hadoop(spark):
    return spark._jvm.org.apache.hadoop


@pytest.fixture
def ours(spark, hadoop):
    """The file system of a session, and the context by which Delta commits."""
    conf = spark._jsc.hadoopConfiguration()
    files = hadoop.fs.FileSystem.getLocal(conf)
    context = hadoop.fs.FileContext.getFileContext(files.getUri(), conf)
    assert files.getClass().getName() == "mergerunner.LocalFiles"
    assert context.getDefaultFileSystem().getClass().getName() == "mergerunner.LocalFileContext"
    return files, context


@pytest.fixture
def theirs(spark, hadoop):
    conf = spark._jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())
    files = hadoop.fs.LocalFileSystem()
    files.initialize(files.getUri(), conf)
    conf.set("fs.AbstractFileSystem.file.impl", "org.apache.hadoop.fs.local.LocalFs")
    return files, hadoop.fs.FileContext.getFileContext(files.getUri(), conf)


@pytest.mark.parametrize("mode", MODES)
def test_a_file_gets_the_permissions_that_hadoop_gives_it(ours, theirs, hadoop, tmp_path, mode):
    found = []
    for number, (files, _) in enumerate((ours, theirs)):
        folder = tmp_path / str(number)
        folder.mkdir()
        files.setPermission(hadoop.fs.Path(str(folder)), hadoop.fs.permission.FsPermission(mode))
        found.append(stat.S_IMODE(folder.stat().st_mode))
    assert found == [int(mode, 8)] * 2


def test_files_and_folders_are_created_with_the_same_permissions(ours, theirs, hadoop, tmp_path):
    found = []
    for number, (files, context) in enumerate((ours, theirs)):
        root = tmp_path / str(number)
        create = hadoop.fs.permission.FsPermission("640")
        files.mkdirs(hadoop.fs.Path(f"{root}/a/b"), hadoop.fs.permission.FsPermission("710"))
        files.create(hadoop.fs.Path(f"{root}/a/c"), create, True, 4096, 1, 1 << 20, None).close()
        files.create(hadoop.fs.Path(f"{root}/a/d")).close()
        context.mkdir(hadoop.fs.Path(f"{root}/e"), hadoop.fs.permission.FsPermission("750"), True)
        found.append({str(p.relative_to(root)): oct(stat.S_IMODE(p.stat().st_mode)) for p in sorted(root.rglob("*"))})
    assert found[0] == found[1]
    assert {"a/b", "a/c", "a/.c.crc", "a/d", "e"} <= found[0].keys()


def status(files, path):
    """What is known of a path without following a link; the class of the exception where there is nothing."""
    try:
        found = files.getFileLinkStatus(path)
    except Py4JJavaError as error:
        return error.java_exception.getClass().getSimpleName()
    target = found.getSymlink().toString() if found.isSymlink() else None
    return found.isDirectory(), found.getLen(), target, found.getPath().toString()


@pytest.mark.parametrize("name", PLACES)
def test_links_are_seen_as_hadoop_sees_them(ours, theirs, hadoop, tmp_path, name):
    for file in ("file", "name with späce"):
        (tmp_path / file).write_text("text")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    path = hadoop.fs.Path(f"{tmp_path}/{name}")
    for mine, other in zip(ours, theirs, strict=True):
        assert status(mine, path) == status(other, path)


def renamed(context, hadoop, options, tmp_path, *names):
    old, new = (hadoop.fs.Path(f"{tmp_path}/{name}") for name in names)
    try:
        context.rename(old, new, options)
    except Py4JJavaError as error:
        return error.java_exception.getClass().getSimpleName()
    return "renamed"


def test_a_commit_does_not_replace_another(ours, theirs, hadoop, spark, tmp_path):
    found = []
    options = spark.sparkContext._gateway.new_array(spark._jvm.org.apache.hadoop.fs.Options.Rename, 0)
    for number, (files, context) in enumerate((ours, theirs)):
        folder = tmp_path / str(number)
        for name in ("1.tmp", "2.tmp"):
            stream = files.create(hadoop.fs.Path(f"{folder}/{name}"))
            stream.write(name.encode())
            stream.close()
        said = [renamed(context, hadoop, options, folder, name, "0.json") for name in ("1.tmp", "2.tmp", "3.tmp")]
        texts = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert texts["0.json"] == b"1.tmp"
        found.append((said, sorted(texts)))
    assert found[0] == found[1]
    assert found[0][0][:2] == ["renamed", "FileAlreadyExistsException"]


def test_no_process_is_started_for_the_files_of_a_merge(spark, tmp_path):
    """A flight recording has the processes that the JVM starts (from Java 15 on)."""
    table = f"delta.`{tmp_path}/t`"
    spark.sql(f"create table {table} (id bigint, n bigint) using delta")
    recording = spark._jvm.jdk.jfr.Recording()
    recording.enable("jdk.ProcessStart")
    recording.start()
    try:
        spark.sql(
            f"merge into {table} as t using (select id, id as n from range(9)) as s on t.id = s.id "
            "when matched then update set * when not matched then insert *"
        ).collect()
        recording.stop()
        dump = spark._jvm.java.io.File(str(tmp_path / "found.jfr")).toPath()
        recording.dump(dump)
    finally:
        recording.close()
    events = spark._jvm.jdk.jfr.consumer.RecordingFile.readAllEvents(dump)
    started = [event.getString("command") for event in events if event.getEventType().getName() == "jdk.ProcessStart"]
    assert [command for command in started if command != ONCE] == []
    assert list(Path(tmp_path / "t").glob("*.parquet"))
