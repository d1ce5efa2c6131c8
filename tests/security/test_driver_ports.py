"""The ports of a local driver, as another user of the machine reaches them: a TCP client that has no secret."""

import os
import re
import socket
import struct
from pathlib import Path

import pytest

from merge_runner.engine.spark.jvm import log_text

pytestmark = pytest.mark.spark

CHUNK_FETCH, RPC, STREAM = 0, 3, 6
FAILURES = {2, 5, 8}
"""The types of messages of Spark's network protocol that answer the ones above with a failure."""
REFUSALS = re.compile(rb"SaslRpcHandler|Unauthenticated call")
OPEN_BLOCKS, UPLOAD_BLOCK, LOCAL_DIRS = 0, 1, 14


def texts(*words):
    return b"".join(struct.pack(">i", len(word)) + word for word in words)


def short_text(word):
    return struct.pack(">H", len(word)) + word.encode()


def frame(kind, body):
    """A message of Spark's network protocol: its length, its type, and what it holds."""
    return struct.pack(">qB", 9 + len(body), kind) + body


def call(body):
    return frame(RPC, struct.pack(">qi", 7, len(body)) + body)


def answer(port, *messages):
    """The answer to the last of the messages of one connection; nothing where the other end hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, connection.makefile("rwb") as file:
        for message in messages:
            file.write(message)
            file.flush()
            head = file.read(8)
            reply = head + file.read(struct.unpack(">q", head)[0] - len(head)) if head else b""
        return reply


def is_refused(reply):
    return reply[8] in FAILURES and REFUSALS.search(reply) if reply else True


@pytest.fixture(scope="module")
def ports(spark):
    """The ports of RPC, of the block manager and of the gateway."""
    blocks = spark._jvm.org.apache.spark.SparkEnv.get().blockManager().blockManagerId().port()
    gateway = spark.sparkContext._gateway.gateway_parameters.port
    return {"rpc": int(spark.sparkContext.getConf().get("spark.driver.port")), "blocks": blocks, "gateway": gateway}


@pytest.fixture
def endpoint_call(spark, ports):
    """Give a call of an endpoint with a Scala object, as a driver's own classes write it."""

    def written(endpoint, name):
        java = spark._jvm.java
        instance = java.lang.Class.forName(f"org.apache.spark.{name}$").getField("MODULE$").get(None)
        buffer = java.io.ByteArrayOutputStream()
        java.io.ObjectOutputStream(buffer).writeObject(instance)
        no_sender, address = b"\0", b"\1" + short_text("127.0.0.1") + struct.pack(">i", ports["rpc"])
        return call(no_sender + address + short_text(endpoint) + bytes(buffer.toByteArray()))

    return written


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        ("BlockManagerMaster", "storage.BlockManagerMessages$GetMemoryStatus"),
        ("BlockManagerMaster", "storage.BlockManagerMessages$GetStorageStatus"),
        ("HeartbeatReceiver", "ExpireDeadHosts"),
        ("MapOutputTracker", "StopMapOutputTracker"),
        ("LocalSchedulerBackendEndpoint", "scheduler.local.StopExecutor"),
    ],
)
def test_an_endpoint_of_the_driver_is_not_called_without_its_secret(spark, ports, endpoint_call, endpoint, name):
    reply = answer(ports["rpc"], endpoint_call(endpoint, name))
    assert is_refused(reply), reply
    assert spark.range(10).count() == 10


def test_a_handshake_without_the_secret_opens_nothing(ports, endpoint_call):
    begin = call(b"\xea" + texts(b"sparkSaslUser", b""))
    assert b"md5-sess" in answer(ports["rpc"], begin)
    stop = endpoint_call("LocalSchedulerBackendEndpoint", "scheduler.local.StopExecutor")
    wrong = call(b"\xea" + texts(b"sparkSaslUser", b'username="x",response=0'))
    for messages in ((begin, stop), (begin, wrong), (begin, wrong, stop), (wrong, stop)):
        reply = answer(ports["rpc"], *messages)
        assert is_refused(reply), reply


@pytest.mark.parametrize("port", ["rpc", "blocks"])
@pytest.mark.parametrize(
    "message",
    [
        frame(STREAM, texts(b"/jars/x.jar")),
        frame(STREAM, texts(b"/files/x")),
        frame(CHUNK_FETCH, struct.pack(">qi", 1, 0)),
        call(b"\xac\xed\0\5t\0\5hello"),
        call(b""),
    ],
    ids=["jar", "file", "chunk", "object", "nothing"],
)
def test_no_file_chunk_or_object_is_read_without_the_secret(ports, port, message):
    reply = answer(ports[port], message)
    assert is_refused(reply), reply


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (OPEN_BLOCKS, [texts(b"driver"), struct.pack(">i", 1), texts(b"broadcast_0_piece0")]),
        (UPLOAD_BLOCK, [texts(b"driver", b"rdd_9_9", b"", b"x")]),
        (LOCAL_DIRS, [struct.pack(">i", 1), texts(b"driver")]),
    ],
    ids=["read", "write", "folders"],
)
def test_the_block_manager_gives_and_takes_no_block_without_the_secret(spark, ports, kind, parts):
    application = texts(spark.sparkContext.applicationId.encode())
    reply = answer(ports["blocks"], call(bytes([kind]) + application + b"".join(parts)))
    assert is_refused(reply), reply


@pytest.mark.parametrize("secret", [None, "", "0" * 64])
def test_the_gateway_takes_no_command_without_its_token(ports, secret):
    command = "r\nu\njava.lang.System\nrj\ne\n"
    hello = "" if secret is None else f"A\n{secret}\ne\n"
    with socket.create_connection(("127.0.0.1", ports["gateway"]), timeout=30) as connection:
        connection.sendall(f"{hello}{command}".encode())
        assert connection.recv(1 << 16)[:2] in {b"!x", b""}


def test_all_ports_of_a_local_driver_are_known_and_on_the_loopback_interface(driver, ports):
    if not Path("/proc/net/tcp6").exists():
        pytest.skip("the sockets of a process are read from /proc")
    process = Path("/proc") / str(driver.killed.__self__.process.pid)
    inodes = {match[1] for path in (process / "fd").iterdir() if (match := re.match(r"socket:\[(\d+)", link(path)))}
    listening = [
        line.split()[1].split(":")
        for name in ("tcp", "tcp6")
        for line in (process / "net" / name).read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[9] in inodes
    ]
    assert {int(port, 16) for _, port in listening} == set(ports.values())
    assert {address[-8:] for address, _ in listening} == {"0100007F"}


def link(path):
    try:
        return str(path.readlink())
    except OSError:  # it has just been closed
        return ""


def test_the_secret_is_nowhere_but_in_the_jvm(driver, spark):
    java = spark._jvm
    secret = java.org.apache.spark.SparkEnv.get().securityManager().getSecretKey()
    assert len(secret) >= 32
    jvm = driver.killed.__self__
    confs = spark.sql("set -v").collect() + spark.sql("set").collect() + spark.sparkContext.getConf().getAll()
    shown = [str(confs), str(dict(java.java.lang.System.getenv())), str(dict(java.java.lang.System.getProperties()))]
    assert secret not in "".join(shown) + log_text(jvm._log) + str(dict(os.environ))
    for name in ("cmdline", "environ"):
        path = Path("/proc") / str(jvm.process.pid) / name
        assert not path.exists() or secret.encode() not in path.read_bytes()
