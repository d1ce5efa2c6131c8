"""Places: paths of this machine, and URIs."""

from pathlib import Path

import pytest

from merge_runner.location import Uri, location, scheme


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("s3a://bucket/lake", "s3a"),
        ("ABFSS://box@account/lake", "abfss"),
        ("warehouse", None),
        ("/data/house", None),
        ("C:/data", None),
        ("a/b://c", None),
    ],
)
def test_the_scheme_of_a_place(place, expected):
    assert scheme(place) == expected


def test_a_path_is_relative_to_the_project_and_a_uri_is_not():
    assert location(Path("/shop"), "warehouse") == Path("/shop/warehouse")
    assert location(Path("/shop"), "s3a://bucket/lake/") == Uri("s3a://bucket/lake")


def test_parts_of_a_uri():
    table = Uri("s3a://bucket/lake") / "shop" / "orders"
    assert (str(table), table.name, str(table.parent), table.scheme) == (
        "s3a://bucket/lake/shop/orders",
        "orders",
        "s3a://bucket/lake/shop",
        "s3a",
    )


@pytest.mark.parametrize("store", ["s3a://bucket", "abfss://lake@acme.dfs.core.windows.net", "hdfs://host:8020"])
def test_the_store_of_a_uri_is_its_bucket_container_or_host(store):
    assert [Uri(f"{store}{path}").store for path in ("", "/lake", "/lake/shop")] == [store] * 3
