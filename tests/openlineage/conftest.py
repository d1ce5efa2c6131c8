"""A receiver of events, as the API of OpenLineage is one."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.openlineage.validation import errors


class _Receiver(BaseHTTPRequestHandler):
    """Takes events, and refuses those that the published schemas do not allow."""

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = errors(event)
        self.server.seen.append((self.path, event, found))
        self.send_response(422 if found else 201)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    """A server on a free port; `seen` has the path, the event and what is wrong with it of each request."""
    server = HTTPServer(("127.0.0.1", 0), _Receiver)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
