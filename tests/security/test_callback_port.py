"""The port by which Spark calls Python for each batch of a stream, as another user of the machine reaches it."""

import itertools
import socket

import pytest

from merge_runner.engine.stream.callback_port import open_callback_port
from merge_runner.engine.stream.reader import read_stream
from merge_runner.plan.nodes.streams import StreamInput
from merge_runner.relation import Relation

pytestmark = pytest.mark.spark

NUMBERS = itertools.count()
CALL = "c\np0\ncall\ne\n"
COLLECT = "g\np0\ne\n"


@pytest.fixture
def read(spark, tmp_path):
    """Return a function that reads a stream to its end, and returns the number of rows of each batch."""

    def rows_of_batches():
        number = next(NUMBERS)
        spark.range(7).write.parquet(str(tmp_path / f"in{number}"))
        stream = StreamInput(
            unique_id=f"source.shop.s{number}",
            name=f"s{number}",
            view=Relation(f"callback_port_{number}", "global_temp"),
            format="parquet",
            checkpoint=str(tmp_path / f"checkpoint{number}"),
            application="shop",
            path=str(tmp_path / f"in{number}"),
            columns=(("id", "bigint"),),
        )
        batches = []
        running = read_stream(spark.newSession(), stream, True, lambda batch, rows: batches.append((batch, rows)))
        assert running.query.awaitTermination(120)
        assert running.error() is None
        return batches

    return rows_of_batches


def test_a_stream_is_read_through_the_port_with_a_token(spark, read):
    gateway = spark.sparkContext._gateway
    assert read() == [(0, 7)]
    server = gateway.get_callback_server()
    token = server.callback_server_parameters.auth_token
    assert len(token) == 64
    assert token != gateway.gateway_parameters.auth_token
    assert server.get_listening_address() == "127.0.0.1"
    open_callback_port(gateway)
    assert gateway.get_callback_server() is server
    assert read() == [(0, 7)]


def test_the_next_process_that_uses_a_driver_has_a_token_of_its_own(spark, read):
    gateway = spark.sparkContext._gateway
    open_callback_port(gateway)
    first = gateway.get_callback_server()
    gateway._callback_server = None  # as another process has it
    assert read() == [(0, 7)]
    tokens = {server.callback_server_parameters.auth_token for server in (first, gateway.get_callback_server())}
    assert len(tokens) == 2


@pytest.mark.parametrize("command", [CALL, COLLECT], ids=["call", "collect"])
@pytest.mark.parametrize(
    "hello", ["", "A\n\ne\n", f"A\n{'0' * 64}\ne\n", "A\n{token}\ne\n"], ids=["nothing", "empty", "wrong", "right"]
)
def test_only_a_call_with_the_token_is_served(spark, command, hello):
    gateway = spark.sparkContext._gateway
    open_callback_port(gateway)
    server, pool, calls = gateway.get_callback_server(), gateway.gateway_property.pool, []

    class Function:
        def call(self):
            calls.append(1)

    name = pool.put(Function())
    has_token = "token" in hello
    sent = hello.format(token=server.callback_server_parameters.auth_token) + command.replace("p0", name)
    with socket.create_connection(("127.0.0.1", server.get_listening_port()), 30) as connection:
        connection.sendall(sent.encode())
        answers = received(connection, 2 if has_token else 1)
    assert answers.count(b"!y") == (2 if has_token else 0)
    assert (calls, name in pool) == (([1], True) if has_token and command == CALL else ([], not has_token))


def received(connection, lines):
    """Return the first lines that come, fewer where the other end hangs up."""
    try:
        with connection.makefile("rb") as file:
            return b"".join(file.readline() for _ in range(lines))
    except ConnectionResetError:
        return b""
