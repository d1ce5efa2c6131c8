"""Files of a bucket as paths: moto's server on the loopback interface, without Spark."""

import time

import pytest

from merge_runner.location import Uri
from merge_runner.object_path import ObjectPath, stored_path
from merge_runner.project.schema.storage import Storage
from tests.connect_server import free_port
from tests.s3_server import KEYS, S3Server

pytest.importorskip("moto")
pytest.importorskip("obstore")


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        for name in ("1.json", "2.json", "2.crc", "below/3.json"):
            server.client().put_object(Bucket=server.bucket, Key=f"shop/t/_delta_log/{name}", Body=name.encode())
        yield server


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name, text in KEYS.items():
        monkeypatch.setenv(name, text)


def at(server, place, endpoint=None):
    return stored_path(Uri(place), Storage(endpoint or server.endpoint, path_style=True, region="us-east-1"))


def test_a_folder_is_listed_and_its_files_are_read(s3):
    log = at(s3, "s3a://lake/shop/t") / "_delta_log"
    assert sorted(each.stem for each in log.glob("[0-9]*.json")) == ["1", "2"]  # what is below is another folder's
    assert (log / "1.json").read_text() == "1.json"
    assert (log / "2.json").with_suffix(".crc").read_bytes() == b"2.crc"
    assert [(log / name).exists() for name in ("1.json", "1.crc")] == [True, False]


@pytest.mark.parametrize("place", ["s3a://lake/none", "s3a://no-such-bucket/shop"])
def test_what_is_not_there_cannot_be_read(s3, place):
    found = at(s3, place)
    with pytest.raises(OSError, match=r"none|NoSuchBucket"):
        (found / "1.json").read_bytes()


def test_a_folder_that_is_not_there_has_no_files(s3):
    assert list(at(s3, "s3a://lake/none").glob("*")) == []


def test_a_store_that_does_not_answer_is_asked_once(s3):
    found, begun = at(s3, "s3a://lake/shop", f"http://127.0.0.1:{free_port()}"), time.monotonic()
    for _ in range(50):
        with pytest.raises(OSError, match="error sending request"):
            (found / "1.json").exists()
    assert time.monotonic() - begun < 30


def test_a_local_path_is_one_and_other_stores_are_not_read(tmp_path):
    assert stored_path(tmp_path, Storage()) == tmp_path
    for place in ("gs://lake/shop", "abfss://lake@account.dfs.core.windows.net/shop", "hdfs://host/shop"):
        assert stored_path(Uri(place), Storage()) is None
    assert isinstance(stored_path(Uri("s3a://lake/shop"), Storage()), ObjectPath)
