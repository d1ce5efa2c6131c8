"""The port of this process by which Spark calls Python for each batch of a stream, with a token.

PySpark opens it without one. Py4J (0.10.9.9) has a token for both ends, but where the JVM is told the port
(`PythonClient.copyWith`) it drops its own, and nothing public sets the client that it calls with.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

_OPENING = threading.Lock()
"""Streams that start at the same time share one port."""


def open_callback_port(gateway: Any) -> None:
    """Open the port that PySpark would open for `foreachBatch`, so that it serves the JVM alone.

    A port that is open already stays as it is, and so does a gateway that does not keep a connection for each
    thread (PYSPARK_PIN_THREAD=false).
    """
    from py4j.clientserver import ClientServer, PythonParameters

    with _OPENING:
        if not isinstance(gateway, ClientServer) or gateway.get_callback_server() is not None:
            return
        token = secrets.token_hex(32)
        parameters = PythonParameters(port=0, daemonize=True, daemonize_connections=True, auth_token=token)
        gateway.python_parameters = parameters
        gateway.start_callback_server(parameters)
        _call_with_token(gateway, gateway.get_callback_server().get_listening_port(), token)


def _call_with_token(gateway: Any, port: int, token: str) -> None:
    """Have the JVM call Python at a port of this machine with a token."""
    from py4j.java_gateway import JavaObject

    java = gateway.jvm
    server = JavaObject("GATEWAY_SERVER", gateway._gateway_client)
    old = server.getCallbackClient()
    client = java.py4j.PythonClient(
        server.getGateway(),
        server.getCustomCommands(),
        port,
        old.getAddress(),
        java.py4j.CallbackClient.DEFAULT_MIN_CONNECTION_TIME,
        java.py4j.CallbackClient.DEFAULT_MIN_CONNECTION_TIME_UNIT,
        java.javax.net.SocketFactory.getDefault(),
        server,
        True,
        old.getReadTimeout(),
        token,
    )
    field = server.getGateway().getClass().getDeclaredField("cbClient")
    field.setAccessible(True)
    field.set(server.getGateway(), client)
    old.shutdown()
