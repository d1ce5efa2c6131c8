"""A REST catalog on the loopback interface that gives recorded answers, and keeps what it is asked."""

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl

RECORDED = json.loads(Path(__file__).with_name("rest_table.json").read_text())
"""What Iceberg's own REST catalog answers about a table with two snapshots."""


@dataclass
class RestServer:
    """`answers` are statuses, texts or JSON by request (`GET /v1/config`), without the query.

    Where `token` is set, the server answers 401 to what has not this value of the header Authorization.
    """

    answers: dict = field(default_factory=dict)
    token: str | None = None
    delay: float = 0.0
    """Seconds between the parts of an answer."""
    uri: str = ""
    asked: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    form: dict = field(default_factory=dict)

    def answer(self, method, path, headers, body):
        self.asked.append(f"{method} {path}")
        self.headers.append(headers)
        if method == "POST":
            self.form = dict(parse_qsl(body.decode()))
        elif self.token is not None and headers["Authorization"] != self.token:
            return 401, {"error": {"code": 401, "type": "NotAuthorizedException"}}
        found = self.answers.get(f"{method} {path.partition('?')[0]}")
        if found is None:
            return 404, {"error": {"code": 404, "type": "NoSuchTableException"}}
        return (found, {}) if isinstance(found, int) else (200, found)


@contextmanager
def rest_server(**given):
    """Start a server, for as long as the block runs."""
    server = RestServer(**given)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, found = server.answer(self.command, self.path, self.headers, body)
            text = (found if isinstance(found, str) else json.dumps(found)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Location", f"{server.uri}/v1/elsewhere")
            self.end_headers()
            parts = [text[place : place + 1] for place in range(len(text))] if server.delay else [text]
            for part in parts:
                time.sleep(server.delay)
                self.wfile.write(part)

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_):
            pass

        def handle_one_request(self):
            try:
                super().handle_one_request()
            except OSError:  # the client has gone
                self.close_connection = True

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.uri = f"http://127.0.0.1:{http.server_port}"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
