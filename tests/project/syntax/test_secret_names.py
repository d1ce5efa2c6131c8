"""What is secret is told by names."""

from __future__ import annotations

import pytest

from merge_runner.project.syntax.secret_names import secret_values, secret_vars


@pytest.mark.parametrize(
    "name",
    [
        *("MY_SECRET", "GITHUB_TOKEN", "DB_PASSWORD", "PASSPHRASE", "DB_PASS", "MYSQL_PWD", "AWS_SECRET_ACCESS_KEY"),
        *("API_KEY", "S3_KEY", "KEY", "key_1", "SIGNINGKEY", "fs.s3a.access.key", "fs.azure.account.key.x.net"),
        *("spark.hadoop.fs.s3a.session.token", "s3.access-key-id", "kafka.sasl.jaas.config", "GCP_CREDENTIALS"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert list(secret_values({name: "hunter2"})) == ["hunter2"]


@pytest.mark.parametrize(
    "name",
    ["PATH", "PWD", "COMPASS", "KEYBOARD", "spark.ssl.keyStore", "spark.sql.ansi.enabled", "BYPASSED", "monkeys"],
)
def test_names_of_what_is_none(name: str) -> None:
    assert list(secret_values({name: "hunter2"})) == []


@pytest.mark.parametrize("value", ["", "true", "FALSE", "auto", "3", "12345", None])
def test_a_value_that_tells_nothing_is_no_secret(value: str | None) -> None:
    assert list(secret_values({"some.key.enabled": value})) == []


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("jdbc:postgresql://db/x?user=me&password=hunter2&ssl=true", ["hunter2"]),
        ("https://me:hunter2@host/x", ["hunter2"]),
        ("wasbs://c@a.net/x?sv=1&sig=hunter2%3D", ["hunter2%3D"]),
        ("sc://host/;token=hunter2;user_id=me", ["hunter2"]),
        ("https://host:8080/x@y?monkey=1", []),
        ("data/flights.csv", []),
    ],
)
def test_secrets_in_addresses(text: str, secrets: list[str]) -> None:
    assert list(secret_values({"uri": text})) == secrets


def test_the_key_of_a_var_is_a_column_as_a_rule() -> None:
    given = {"unique_key": "order_id", "api_token": "hunter2", "days": 3, "token": ["x"]}
    assert list(secret_vars(given)) == ["hunter2"]
