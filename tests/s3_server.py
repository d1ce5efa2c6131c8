"""A real S3 server on the loopback interface: moto's, as a process of its own. `python tests/s3_server.py PORT` serves.

What it does otherwise than Amazon's: everything is in memory and gone with the process, no key is refused, and it looks
whether an object exists before it writes it, which two requests could interleave. So requests that write come one at a
time here.
"""

import os
import socket
import subprocess
import sys
import threading
import time

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}


class S3Server:
    """A server that runs as long as the block does, with one bucket."""

    bucket = "lake"

    def __init__(self, folder):
        self._log = folder / "s3.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self._port}"

    def __enter__(self):
        with self._log.open("w") as log:
            self._process = subprocess.Popen([sys.executable, __file__, str(self._port)], stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self.client().create_bucket(Bucket=self.bucket)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def client(self):
        """Return boto3's client."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=KEYS["AWS_REGION"],
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )

    def objects(self, prefix=""):
        """Return the keys of all objects below a prefix, without the marks of folders."""
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        keys = [each["Key"] for page in pages for each in page.get("Contents", [])]
        return [key for key in keys if not key.endswith("/")]

    def text(self, key):
        """Return the text of an object."""
        return self.client().get_object(Bucket=self.bucket, Key=key)["Body"].read().decode()

    def storage(self):
        """Return the keys of a profile's output by which it is reached, as YAML."""
        return f"storage: {{endpoint: '{self.endpoint}', path_style: true, region: us-east-1}}"

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True


def serve(port):
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    application, guard = DomainDispatcherApplication(create_backend_app), threading.Lock()
    conditional = os.environ.get("S3_IGNORES_CONDITIONS") is None

    def one_writer(environ, start_response):
        if not conditional:
            environ.pop("HTTP_IF_NONE_MATCH", None)
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return application(environ, start_response)
        with guard:
            return list(application(environ, start_response))

    make_server("127.0.0.1", port, one_writer, threaded=True).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
