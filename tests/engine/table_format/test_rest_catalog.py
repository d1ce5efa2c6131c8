"""Tables of REST catalogs: what a catalog is asked, what it must be like, and that one that fails delays nothing."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from merge_runner.engine.table_format.iceberg.rest_catalog import RestTable, rest_catalog
from merge_runner.engine.table_format.iceberg.rest_settings import is_set_otherwise, rest_settings
from merge_runner.engine.table_format.iceberg.stored_metadata import stored_metadata
from merge_runner.engine.table_format.iceberg.stored_version import stored_versions
from merge_runner.errors import Problems
from merge_runner.project.schema.profile import read_profile
from tests.connect_server import free_port
from tests.engine.table_format.rest_server import RECORDED, rest_server
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("rest_catalog.yml"))
SETTINGS = read_yaml(Path(__file__).with_name("rest_settings.yml"))
METADATA = RECORDED["metadata"]
NEWEST = METADATA["current-snapshot-id"]
STATE = f"{METADATA['table-uuid']}/0/{NEWEST}"
LOADED = "GET /v1/namespaces/other/tables/order_rows"
CONFIG = {"GET /v1/config": {"defaults": {}, "overrides": {}}, LOADED: RECORDED}


def table(server, settings=None, name=("other", "order_rows")):
    settings = {key: text.replace("{uri}", server.uri) for key, text in (settings or {}).items()}
    return RestTable(rest_catalog({"uri": f"{server.uri}/", **settings}), *name)


def state(found):
    return next((version.identity for version in stored_versions(found)), None)


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_what_a_catalog_is_asked(case):
    answers = {"GET /v1/config": case.get("config", {})}
    if case.get("known", True):
        answers[case["asked"][-1].partition("?")[0]] = RECORDED
    given = {"POST /v1/oauth/tokens": {"access_token": "given"}, "POST /realm/token": {"access_token": "given"}}
    with rest_server(answers=given | answers | case.get("answers", {}), token=case.get("token")) as server:
        found = state(table(server, case.get("settings"), case.get("table", ("other", "order_rows"))))
    assert server.asked == case["asked"]
    assert found == (STATE if case.get("known", True) else None)
    assert server.form == case.get("form", server.form)
    for name, text in case.get("headers", {}).items():
        assert server.headers[-1].get(name) == text


@pytest.mark.parametrize("case", SETTINGS, ids=[json.dumps(case) for case in SETTINGS])
def test_which_catalogs_are_asked(case, tmp_path):
    output = {"schema": "lake.shop", "catalogs": {"lake": case["settings"]}, **case.get("output", {})}
    (tmp_path / "profiles.yml").write_text(json.dumps({"shop": {"outputs": {"dev": output}}}))
    profile = read_profile(tmp_path, "shop", Problems(), env={})
    assert (rest_settings(profile, "lake") is not None) == case["asked"]
    assert rest_settings(profile, "other") is None


def test_a_state_is_equal_only_while_nothing_has_changed():
    changed = {
        "its rows": {"current-snapshot-id": METADATA["snapshots"][0]["snapshot-id"]},
        "its columns": {"current-schema-id": 1},
        "the table": {"table-uuid": "another"},
        "all of it": {"current-snapshot-id": -1},
    }
    with rest_server(answers=dict(CONFIG)) as server:
        read = table(server)
        assert state(read) == state(read) == STATE
        seen = {STATE}
        for change in changed.values():
            server.answers[LOADED] = {"metadata": METADATA | change}
            seen.add(state(read))
        assert None not in seen
        assert len(seen) == 1 + len(changed)
        server.answers.pop(LOADED)
        assert state(read) is None
        server.answers[LOADED] = RECORDED
        assert state(read) == STATE  # a table that is not there is no failure of the catalog


def test_versions_stamps_and_columns_are_those_of_the_metadata():
    with rest_server(answers=CONFIG) as server:
        found = list(stored_versions(table(server)))
        assert [version.version for version in found] == [
            *(each["snapshot-id"] for each in reversed(METADATA["snapshots"])),
            -1,
        ]
        columns = stored_metadata(table(server)).columns
        assert [(column.name, column.data_type) for column in columns] == [("id", "bigint"), ("n", "bigint")]


def test_a_token_that_has_expired_is_renewed():
    tokens = iter(["first", "second"])
    with rest_server(answers=CONFIG, token="Bearer first") as server:
        renewed = server.answer

        def answer(method, path, headers, body):
            if method == "POST":
                server.answers["POST /v1/oauth/tokens"] = {"access_token": next(tokens)}
            return renewed(method, path, headers, body)

        server.answer = answer
        read = table(server, {"credential": "id:secret"})
        assert state(read) == STATE
        server.token = "Bearer second"
        assert state(read) == STATE
        assert [asked for asked in server.asked if asked.startswith("POST")] == ["POST /v1/oauth/tokens"] * 2
        server.token = "Bearer third"  # no other one is given: the catalog is left alone
        server.answers.pop("POST /v1/oauth/tokens")
        server.answer = renewed
        assert state(read) is None


def test_a_catalog_that_is_not_there_is_asked_once():
    begun = time.monotonic()
    settings = {"uri": f"http://127.0.0.1:{free_port()}"}
    assert [state(RestTable(rest_catalog(settings), "other", str(n))) for n in range(50)] == [None] * 50
    assert time.monotonic() - begun < 4


def test_a_catalog_that_fails_is_asked_once():
    with rest_server(answers=CONFIG | {LOADED: 500}) as server:
        assert [state(table(server)) for _ in range(50)] == [None] * 50
        assert server.asked.count(f"{LOADED}?snapshots=all") == 1


@pytest.mark.slow
def test_a_catalog_that_answers_slowly_delays_a_build_once():
    with rest_server(answers=CONFIG, delay=0.3) as server:
        begun = time.monotonic()
        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(lambda _: state(table(server)), range(50))) == [None] * 50
        assert time.monotonic() - begun < 8


class Session:
    """What a session answers to SET."""

    def __init__(self, confs):
        self._confs = confs

    def sql(self, statement):
        assert statement == "SET"
        return self

    def collect(self):
        return [{"key": key, "value": value} for key, value in self._confs.items()]


@pytest.mark.parametrize(
    ("more", "otherwise"),
    [
        ({}, False),
        ({"spark.sql.catalog.lakes.uri": "http://o", "spark.sql.catalogImplementation": "hive"}, False),
        ({"spark.sql.catalog.lake.token": "*********(redacted)"}, False),
        ({"spark.sql.catalog.lake.prefix": "p"}, True),
        ({"spark.sql.catalog.lake.uri": "http://o"}, True),
        ({"spark.sql.catalog.lake": "com.example.Catalog"}, True),
    ],
)
def test_a_session_may_have_other_settings(tmp_path, more, otherwise):
    output = {"schema": "lake.shop", "catalogs": {"lake": {"type": "rest", "uri": "http://h", "token": "t"}}}
    (tmp_path / "profiles.yml").write_text(json.dumps({"shop": {"outputs": {"dev": output}}}))
    profile = read_profile(tmp_path, "shop", Problems(), env={})
    key = "spark.sql.catalog.lake"
    confs = {key: "org.apache.iceberg.spark.SparkCatalog"}
    confs |= {f"{key}.type": "rest", f"{key}.uri": "http://h", f"{key}.token": "t"}
    assert is_set_otherwise(Session(confs | more), profile, "lake") == otherwise
