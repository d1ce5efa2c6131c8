"""profiles.yml: which output is chosen, and what it may hold."""

from __future__ import annotations

from textwrap import dedent

import pytest

from merge_runner.errors import Problems
from merge_runner.project.schema.profile import Profile, read_profile
from merge_runner.project.schema.storage import Storage
from merge_runner.text import Place


@pytest.fixture
def read(tmp_path):
    """Reads a profile of a profiles.yml in the project."""

    def read(text, name="shop", *, env=None, **arguments):
        if text is not None:
            (tmp_path / "profiles.yml").write_text(dedent(text))
        problems = Problems()
        found = read_profile(tmp_path, name, problems, env={"HOME": str(tmp_path / "home"), **(env or {})}, **arguments)
        return found, [str(problem).replace(str(tmp_path), "ROOT") for problem in problems]

    return read


def one_output(text):
    return f"shop:\n  outputs:\n    local: {text}\n"


def test_a_schema_is_enough(read):
    assert read(one_output("{schema: shop}")) == (
        Profile(
            name="shop", target="local", schema="shop", master="local[*]", warehouse="warehouse", warehouse_assumed=True
        ),
        [],
    )


@pytest.mark.parametrize("schema", ["lake.eu.shop", ".shop", "lake."])
def test_a_schema_with_more_than_a_catalog_is_refused(read, schema):
    found, [problem] = read(one_output(f"{{schema: '{schema}'}}"))
    assert found is None
    assert problem.startswith("profiles.yml:3:")
    assert "a schema, or a catalog and a schema (lake.shop): neither may have a dot in its name" in problem


def test_every_key_is_read(read):
    found, problems = read("""\
        shop:
          target: cluster
          outputs:
            local: {schema: x}
            cluster:
              master: spark://host:7077
              schema: shop
              warehouse: shared/warehouse
              threads: 8
              conf: {spark.a: 1.10, spark.b: true, spark.c: "x"}
              catalogs: {lake: {type: rest, uri: http://host, cache-enabled: false}}
              platform: databricks
              audit: shop.audit
              jvm: throughput
              reuse: off
        """)
    assert problems == []
    assert found == Profile(
        name="shop",
        target="cluster",
        schema="shop",
        master="spark://host:7077",
        warehouse="shared/warehouse",
        threads=8,
        conf={"spark.a": "1.10", "spark.b": "true", "spark.c": "x"},
        catalogs={"lake": {"type": "rest", "uri": "http://host", "cache-enabled": "false"}},
        platform="databricks",
        audit="shop.audit",
        jvm="throughput",
        reuse="off",
    )


def test_spark_connect_has_no_master_and_no_warehouse(read):
    found, _ = read(one_output("{schema: shop, remote: 'sc://host:15002/;token=hush'}"))
    assert (found.master, found.warehouse, found.where) == (None, None, "sc://host:15002")


def test_the_target_of_the_command_line_wins(read):
    text = "shop: {target: a, outputs: {a: {schema: one}, b: {schema: two}}}"
    assert read(text)[0].schema == "one"
    assert read(text, target="b")[0].schema == "two"


def test_without_a_target_default_is_meant_as_in_dbt(read):
    assert read("shop: {outputs: {a: {schema: one}, default: {schema: two}}}")[0].schema == "two"


def test_profiles_are_looked_for_in_the_project_then_in_the_home_folder(read, tmp_path):
    home = tmp_path / "home" / ".merge-runner"
    home.mkdir(parents=True)
    (home / "profiles.yml").write_text(one_output("{schema: home}"))
    assert read(None)[0].schema == "home"
    assert read(one_output("{schema: project}"))[0].schema == "project"
    assert read(None, profiles_dir=home)[0].schema == "home"


def test_a_folder_that_is_named_is_the_only_one_looked_at(read, tmp_path):
    found, problems = read(one_output("{schema: project}"), profiles_dir=tmp_path / "other")
    assert found is None
    assert problems == [
        "no profiles.yml was found in ROOT/other [no-profiles]\n"
        '    write a profiles.yml with the profile "shop", or say where it is with --profiles-dir'
    ]


def test_where_profiles_were_looked_for_is_told(read):
    assert read(None, name_place=Place("pyproject.toml", 2, 8))[1] == [
        "pyproject.toml:2:8: no profiles.yml was found in ROOT and ROOT/home/.merge-runner [no-profiles]\n"
        '    write a profiles.yml with the profile "shop", or say where it is with --profiles-dir'
    ]


def test_environment_variables_keep_the_type_that_yaml_gives_them(read):
    found, problems = read(
        one_output(
            """{schema: "{{ env_var('S') }}", threads: "{{ env_var('T', '4') | as_number }}","""
            """ warehouse: "a/{{ env_var('S') }}", conf: {v: "{{ env_var('S') }}"}}"""
        ),
        env={"S": "1.10"},
    )
    assert problems == []
    assert (found.schema, found.threads, found.warehouse, found.conf) == ("1.10", 4, "a/1.10", {"v": "1.10"})


def test_the_target_may_come_from_the_environment(read):
    text = """shop: {target: "{{ env_var('T', 'a') }}", outputs: {a: {schema: one}, b: {schema: two}}}"""
    assert read(text)[0].schema == "one"
    assert read(text, env={"T": "b"})[0].schema == "two"


def test_variables_of_other_outputs_are_not_needed(read):
    found, problems = read("""shop: {target: a, outputs: {a: {schema: one}, b: {schema: "{{ env_var('X') }}"}}}""")
    assert (found.schema, problems) == ("one", [])


@pytest.mark.parametrize(
    ("output", "messages"),
    [
        ("{schema: \"{{ env_var('SHOP_SCHEMA') }}\"}", [
            'profiles.yml:3:21: "schema" needs the environment variable SHOP_SCHEMA, which is not set '
            "[missing-env-var]\n    set it, or give a default: env_var('SHOP_SCHEMA', '…')"
        ]),
        ('{schema: "{{ var(1) }}"}', [
            'profiles.yml:3:21: "schema" uses "var", which a profile does not know [value-jinja]\n'
            "    only env_var('NAME', 'default') works in profiles.yml"
        ]),
        ("{schema: \"{{ 'hush' hush }}\"}", [
            'profiles.yml:3:21: the Jinja of "schema" cannot be parsed [value-jinja]'
        ]),
        ("{schema: \"{{ env_var('HOME', 'hush').hush() }}\"}", [
            'profiles.yml:3:21: the Jinja of "schema" uses a method, which a value may not [value-jinja]\n'
            "    a value may choose and join; move what computes or repeats to a macro"
        ]),
        ("{schema: \"{{ ''.__class__.__mro__ }}\"}", [
            'profiles.yml:3:21: the Jinja of "schema" cannot be rendered (SecurityError) [value-jinja]'
        ]),
        ("{shema: hush}", [
            'profiles.yml:3:12: output shop.local: the key "schema" is missing [missing-key]',
            'profiles.yml:3:13: output shop.local: unknown key "shema" [unknown-key]\n'
            '    did you mean "schema"?',
        ]),
        ("{schema: a, master: hush, remote: hush}", [
            'profiles.yml:3:32: output shop.local: "master" must be local[*], yarn, spark://… or k8s://… '
            "[invalid-value]",
            'profiles.yml:3:46: output shop.local: "remote" must be the address of a Spark Connect server, sc://…, or databricks '
            "[invalid-value]",
        ]),
        ("{schema: a, master: yarn, remote: 'sc://hush'}", [
            'profiles.yml:3:12: output shop.local: "master" and "remote" exclude each other: keep one of them '
            "[invalid-value]"
        ]),
        ("{schema: a, threads: 0, platform: hush, conf: {spark.password: [hush]}}", [
            'profiles.yml:3:33: output shop.local: "threads" must be "auto" or at least 1 [invalid-value]',
            'profiles.yml:3:46: output shop.local: "platform" must be "oss", "databricks" or "fabric" '
            "[invalid-value]",
            'profiles.yml:3:75: output shop.local: "conf.spark.password" must be text [invalid-value]',
        ]),
        ("{schema: a, audit: ../hush}", [
            'profiles.yml:3:31: output shop.local: "audit" must be the name of a table: schema.table, or '
            "catalog.schema.table [invalid-value]",
        ]),
        ("[hush]", ['profiles.yml:3:12: profile shop: "outputs.local" must be a mapping [invalid-value]']),
    ],
)  # fmt: skip
def test_a_problem_names_keys_and_never_values(read, output, messages):
    found, problems = read(one_output(output))
    assert found is None
    assert sorted(problems) == sorted(messages)
    assert "hush" not in "".join(problems)


def test_an_unknown_profile_is_told_where_the_project_names_it(read):
    assert read(one_output("{schema: a}"), "shopp", name_place=Place("pyproject.toml", 2, 8))[1] == [
        'pyproject.toml:2:8: the profile "shopp" is not in profiles.yml [unknown-profile]\n    did you mean "shop"?'
    ]


def test_an_unknown_output_is_told_with_the_nearest(read):
    assert read("shop: {target: locl, outputs: {local: {schema: a}}}")[1] == [
        'profiles.yml:1:16: the profile "shop" has no output "locl" [unknown-target]\n    did you mean "local"?'
    ]
    assert read(one_output("{schema: a}"), target="prod")[1] == [
        'profiles.yml:3:5: the profile "shop" has no output "prod" [unknown-target]\n    known are local'
    ]


def test_values_that_are_secret_by_name_are_known_and_never_in_the_repr(read):
    found, _ = read(
        one_output(
            """{schema: shop, conf: {s3a.secret.key: hush1, spark.x: "{{ env_var('DB_PASSWORD') }}9"},"""
            """ catalogs: {lake: {token: hush3}}, audit: plain}"""
        ),
        env={"DB_PASSWORD": "hush2"},
    )
    assert found.secrets == {"hush1", "hush2", "hush3"}
    assert "hush" not in repr(found)
    remote, _ = read(one_output("{schema: shop, remote: 'sc://host/;token=hush4;user_id=me'}"))
    assert remote.secrets == {"hush4"}
    assert "hush" not in repr(remote) + remote.where


@pytest.mark.parametrize(
    "warehouse",
    ["s3a://bucket/lake", "s3a://bucket", "abfss://box@account.dfs.core.windows.net/lake", "gs://b/l", "hdfs://h:1/l"],
)
def test_a_warehouse_may_be_in_an_object_store(read, warehouse):
    found, problems = read(one_output(f"{{schema: shop, warehouse: '{warehouse}'}}"))
    assert (problems, found.warehouse, found.storage) == ([], warehouse, Storage())


def test_how_an_object_store_is_reached(read):
    found, _ = read(
        one_output(
            "{schema: shop, warehouse: 's3a://b/l', storage: {endpoint: 'http://h:9000', path_style: true, region: eu-1}}"
        )
    )
    assert found.storage == Storage("http://h:9000", path_style=True, region="eu-1")


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("warehouse: 's3://bucket/lake'", "s3a://…"),
        ("warehouse: 'ftp://host/lake'", "s3a://…, abfss://…, gs://…, hdfs://…"),
        ("warehouse: 's3a:///lake'", "s3a://…, abfss://…, gs://…, hdfs://…"),
        ("storage: {endpoint: 'h:9000'}", "the address of a server"),
        ("storage: {end_point: x}", "end_point"),
        ("warehouse: 's3a://b/l', catalogs: {ice: {type: embedded}}", "SQLite file, and no object store holds one"),
        ("warehouse: 's3a://b/l', conf: {spark.sql.warehouse.dir: 's3a://b/m'}", "keep one of the two"),
        ("catalogs: {ice: {type: hadoop, warehouse: 's3a://b/ice'}}", "loses commits"),
        ("catalogs: {ice: {type: hadoop, warehouse: 'gs://b/ice'}}", "loses commits"),
    ],
)
def test_what_an_object_store_cannot_be_is_a_problem(read, output, problem):
    found, problems = read(one_output(f"{{schema: shop, {output}}}"))
    assert found is None or problems
    assert problem in problems[0]


@pytest.mark.parametrize(
    "output",
    [
        "warehouse: 's3a://b/l', conf: {spark.sql.warehouse.dir: 's3a://b/l/'}",
        "warehouse: 's3a://b/l', catalogs: {ice: {type: jdbc, uri: 'jdbc:postgresql://h/d', warehouse: 's3a://b/ice'}}",
        "catalogs: {ice: {type: hadoop, warehouse: 'hdfs://h/ice'}}",
    ],
)
def test_what_an_object_store_may_have_with_it(read, output):
    assert read(one_output(f"{{schema: shop, {output}}}"))[1] == []


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("{schema: s, catalogs: {ice: {type: embedded}}}", None),
        ("{schema: s, master: yarn, warehouse: /shared, catalogs: {ice: {type: embedded}}}", None),
        ("{schema: s, master: yarn, catalogs: {ice: {type: embedded}}}", 'has no "warehouse"'),
        ("{schema: s, remote: 'sc://h', catalogs: {ice: {type: embedded}}}", 'has no "warehouse"'),
        ("{schema: s, catalogs: {my-ice: {type: embedded}}}", "letters, digits and _"),
        ("{schema: s, catalogs: {ice: {type: embedded, uri: x}}}", 'has its own "uri"'),
    ],
)
def test_an_embedded_catalog_lies_in_the_warehouse(read, output, problem):
    found, problems = read(one_output(output))
    if problem is None:
        assert (problems, found.embedded_catalogs, found.iceberg_catalogs) == ([], ("ice",), ("ice",))
    else:
        assert len(problems) == 1
        assert problem in problems[0]


def test_a_catalog_is_iceberg_s_unless_its_class_is_another(read):
    found, _ = read(
        one_output("{schema: s, catalogs: {a: {class: org.apache.iceberg.spark.SparkCatalog}, b: {class: x.Y}}}")
    )
    assert found.iceberg_catalogs == ("a",)


S3 = "s3a://bucket/lake"


@pytest.mark.parametrize(
    ("output", "warehouse"),
    [
        ("", "warehouse"),
        ("conf: {spark.sql.warehouse.dir: /data/house}", "/data/house"),
        ("conf: {spark.sql.warehouse.dir: 'file:///data/the%20house'}", "/data/the%20house"),
        ("conf: {spark.sql.warehouse.dir: 'file:/data/house'}", "/data/house"),
        ("conf: {spark.sql.warehouse.dir: house}", "house"),
        ("warehouse: house, conf: {spark.sql.warehouse.dir: './house'}", "house"),
        ("warehouse: house, conf: {spark.sql.catalogImplementation: in-memory}", "house"),
        ("conf: {spark.sql.catalogImplementation: hive}", None),
        (f"conf: {{spark.sql.catalogImplementation: hive, spark.sql.warehouse.dir: '{S3}'}}", None),
        (f"conf: {{spark.sql.catalog.spark_catalog: io.unity.Catalog, spark.sql.warehouse.dir: '{S3}'}}", None),
        (
            "conf: {spark.sql.catalog.spark_catalog: org.apache.spark.sql.delta.catalog.DeltaCatalog}",
            "warehouse",
        ),
        (f"master: yarn, conf: {{spark.sql.warehouse.dir: '{S3}'}}", None),
        ("master: yarn", None),
    ],
)
def test_the_tables_of_a_local_output_are_where_its_conf_says(read, output, warehouse):
    found, problems = read(one_output(f"{{schema: s, {output}}}"))
    assert problems == []
    assert found.warehouse == warehouse
    assert found.warehouse_assumed is (output in ("",) or "DeltaCatalog" in output)


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (
            f"conf: {{spark.sql.warehouse.dir: '{S3}'}}",
            "profiles.yml:3:31: output shop.local: spark.sql.warehouse.dir is s3a://bucket/lake, and no catalog would "
            "know its tables in the next run [invalid-value]\n"
            "    name the catalog that keeps them (spark.sql.catalogImplementation: hive with its metastore, or "
            "spark.sql.catalog.spark_catalog), or write `warehouse: s3a://bucket/lake` to have them known by their folders",
        ),
        (
            f"warehouse: house, conf: {{spark.sql.warehouse.dir: '{S3}'}}",
            "profiles.yml:3:49: output shop.local: spark.sql.warehouse.dir is s3a://bucket/lake, and `warehouse` is house "
            "[invalid-value]\n    keep one of the two",
        ),
        (
            "warehouse: house, conf: {spark.sql.catalogImplementation: hive}",
            "profiles.yml:3:49: output shop.local: spark.sql.catalogImplementation: hive keeps tables in a metastore, and "
            "`warehouse` in folders [invalid-value]\n    keep one of the two",
        ),
        (
            "catalogs: {ice: {type: embedded}}, conf: {spark.sql.catalogImplementation: hive}",
            'profiles.yml:3:66: output shop.local: catalog "ice" of type embedded lies in the warehouse, and '
            "spark.sql.catalogImplementation says that there is none [invalid-value]\n"
            "    leave it out, or give the catalog another type",
        ),
        (
            "conf: {spark.master: yarn}",
            "profiles.yml:3:31: output shop.local: spark.master is yarn, and the output runs on local[*] [invalid-value]"
            "\n    write `master: yarn` instead",
        ),
    ],
)
def test_a_conf_against_a_key_of_the_output_is_a_problem(read, output, problem):
    assert read(one_output(f"{{schema: s, {output}}}"))[1] == [problem]


_HOOK = "https://hooks.example.com/T0/hush"


@pytest.mark.parametrize(
    ("notify", "told"),
    [
        (f"[{{url: '{_HOOK}'}}]", [("failure", _HOOK, None, "json")]),
        (f"[{{on: always, url: '{_HOOK}', format: teams}}]", [("always", _HOOK, None, "teams")]),
        ("[{url: 'http://localhost:80/x'}]", [("failure", "http://localhost:80/x", None, "json")]),
        ("[{url: 'http://[::1]:80/x'}]", [("failure", "http://[::1]:80/x", None, "json")]),
        ("[{command: [page, --all]}]", [("failure", None, ("page", "--all"), "json")]),
        ("[{command: 'page \"a b\" c'}]", [("failure", None, ("page", "a b", "c"), "json")]),
        ("null", []),
    ],
)
def test_who_hears_of_a_run(read, notify, told):
    found, problems = read(one_output(f"{{schema: shop, notify: {notify}}}"))
    assert problems == []
    assert [(one.on, one.url, one.command, one.format) for one in found.notify] == told
    assert found.secrets == {url for _on, url, _command, _format in told if url is not None}
    assert "hush" not in repr(found)


@pytest.mark.parametrize(
    ("notify", "problem"),
    [
        ("{}", 'one of "url" and "command" is needed'),
        (f"{{url: '{_HOOK}', command: hush}}", 'one of "url" and "command" is needed, and not both'),
        ("{command: hush, format: slack}", 'a command gets "format: json"'),
        ("{command: []}", '"command" must be a command: its program and its arguments'),
        ("{command: 'hush \"'}", '"command" must be a list of words, or a text whose quotes are closed'),
        ("{url: 'http://hush.example.com/x'}", "an address https://HOST/…, without a user"),
        ("{url: 'http://127.0.0.1.hush.com/x'}", "an address https://HOST/…"),
        ("{url: 'https://me:hush@example.com/x'}", "an address https://HOST/…"),
        ("{url: 'https://example.com:hush/x'}", "an address https://HOST/…"),
        ("{url: 'https://example.com/hush x'}", "an address https://HOST/…"),
        ("{url: 'file:///hush'}", "an address https://HOST/…"),
        ("{url: 'https:///hush'}", "an address https://HOST/…"),
        (f"{{url: '{_HOOK}', format: hush}}", '"format" must be "json", "slack" or "teams"'),
        (f"{{on: hush, url: '{_HOOK}'}}", '"on" must be "failure" or "always"'),
    ],
)
def test_who_cannot_be_told(read, notify, problem):
    found, problems = read(one_output(f"{{schema: shop, notify: [{notify}]}}"))
    assert found is None
    assert len(problems) == 1
    assert problem in problems[0]
    assert "hush" not in problems[0]


@pytest.mark.parametrize(("secrets", "url"), [(False, "withheld_secret"), (True, _HOOK)])
def test_where_nothing_runs_the_address_may_be_withheld(tmp_path, secrets, url):
    from merge_runner.project.syntax.environment import RecordingEnv

    output = "{schema: shop, notify: [{url: \"{{ env_var('HOOK_TOKEN') }}\"}]}"
    (tmp_path / "profiles.yml").write_text(one_output(output))
    problems, env = Problems(), RecordingEnv({"HOOK_TOKEN": _HOOK, "HOME": str(tmp_path)}, secrets=secrets)
    found = read_profile(tmp_path, "shop", problems, env=env)
    assert (list(problems), found.notify[0].url) == ([], url)
