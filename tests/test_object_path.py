"""Files of a bucket as paths: moto's server on the loopback interface, without Spark.

Google's store answers obstore as S3 does, so that moto's server is taken for it as well. Azure's is in
`tests/run/stores/test_cloud_stores.py`.
"""

import time

import pytest

from merge_runner.location import Uri
from merge_runner.object_clients import is_configured
from merge_runner.object_path import ObjectPath, stored_path
from merge_runner.project.schema.storage import Storage
from tests.connect_server import free_port
from tests.s3_server import KEYS, S3Server

AZURE = {"AZURE_STORAGE_KEY": "bm8ga2V5"}

pytest.importorskip("moto")
pytest.importorskip("obstore")


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        for name in ("1.json", "2.json", "2.crc", "below/3.json"):
            key = f"shop/t/_delta_log/{name}"
            server.client().put_object(Bucket=server.bucket, Key=key, Body=name.encode(), ACL="public-read")
        yield server


@pytest.fixture(autouse=True)
def keys(monkeypatch, s3):
    for name, text in {**KEYS, "GOOGLE_BASE_URL": s3.endpoint, "GOOGLE_SKIP_SIGNATURE": "true", **AZURE}.items():
        monkeypatch.setenv(name, text)


def at(server, place, endpoint=None):
    return stored_path(Uri(place), Storage(endpoint or server.endpoint, path_style=True, region="us-east-1"))


@pytest.mark.parametrize("scheme", ["s3a", "gs"])
def test_a_folder_is_listed_and_its_files_are_read(s3, scheme):
    log = at(s3, f"{scheme}://lake/shop/t") / "_delta_log"
    assert sorted(each.stem for each in log.glob("[0-9]*.json")) == ["1", "2"]  # what is below is another folder's
    assert (log / "1.json").read_text() == "1.json"
    assert (log / "2.json").with_suffix(".crc").read_bytes() == b"2.crc"
    assert [(log / name).exists() for name in ("1.json", "1.crc")] == [True, False]


@pytest.mark.parametrize("place", ["s3a://lake/none", "s3a://no-such-bucket/shop", "gs://no-such-bucket/shop"])
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


@pytest.mark.parametrize(
    ("place", "read"),
    [
        ("s3a://lake/shop", True),
        ("gs://lake/shop", True),
        ("abfss://lake@account.dfs.core.windows.net/shop", True),
        ("abfss://lake@account.dfs.core.chinacloudapi.cn/shop", False),
        ("abfss://lake@onelake.dfs.fabric.microsoft.com/shop", False),
        ("hdfs://host/shop", False),
    ],
)
def test_which_stores_are_read(place, read):
    assert isinstance(stored_path(Uri(place), Storage()), ObjectPath) == read


def test_an_account_without_credentials_is_not_read(monkeypatch):
    """obstore would ask the machine for them, and wait."""
    monkeypatch.delenv("AZURE_STORAGE_KEY")
    assert stored_path(Uri("abfss://lake@account.dfs.core.windows.net/shop"), Storage(region="another")) is None


def test_a_local_path_is_one(tmp_path):
    assert stored_path(tmp_path, Storage()) == tmp_path


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"AZURE_STORAGE_KEY": "no key"}, "abfss://lake@account.dfs.core.windows.net"),
        ({"GOOGLE_APPLICATION_CREDENTIALS": "no-file.json"}, "gs://lake"),
    ],
)
def test_credentials_that_are_none_are_no_error(variables, place, monkeypatch):
    """Spark reports them."""
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert stored_path(Uri(place + "/other"), Storage(region="of its own")) is None


@pytest.mark.parametrize(
    ("place", "conf", "configured"),
    [
        ("s3a://lake", {"spark.hadoop.fs.s3a.endpoint": "x"}, True),
        ("gs://lake", {"spark.hadoop.fs.s3a.endpoint": "x"}, False),
        ("gs://lake", {"spark.hadoop.fs.gs.project.id": "x"}, True),
        ("gs://lake", {"spark.hadoop.google.cloud.auth.type": "x"}, True),
        ("abfss://lake@account.dfs.core.windows.net", {"spark.hadoop.fs.azure.account.key": "x"}, True),
        ("abfss://lake@account.dfs.core.windows.net", {"spark.sql.ansi.enabled": "true"}, False),
        ("hdfs://host", {"spark.hadoop.dfs.replication": "1"}, False),
    ],
)
def test_confs_of_hadoop_say_how_a_store_is_reached(place, conf, configured):
    assert is_configured(place, conf) == configured
