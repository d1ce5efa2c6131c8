"""A server with Google's JSON interface on the loopback interface: gcp-storage-emulator's, a process of its own.

`python tests/gcs_server.py PORT` serves, in an environment that has the emulator. It answers one request at a time, keeps
objects in memory, refuses no key, writes no text of an error, has no GET in a batch, and ignores preconditions. So
`ifGenerationMatch` of writes is checked here: the tests show that the connector sends it and what is done where it is
refused, not that Google's service refuses.
"""

import json
import logging
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request

EMULATOR = "gcp-storage-emulator==2026.7.19"


class GcsServer:
    """A server that runs as long as the block does, with one bucket. `python` has the emulator."""

    bucket = "lake"

    def __init__(self, python, folder, port):
        self._python, self._log, self._port = python, folder / "gcs.log", port
        self.endpoint = f"http://127.0.0.1:{port}"

    def __enter__(self):
        # Not what this process runs with: the environment has packages of its own.
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        with self._log.open("w") as log:
            self._process = subprocess.Popen([self._python, __file__, str(self._port)], stdout=log, stderr=log, env=env)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def objects(self, prefix=""):
        """Return the keys of all objects below a prefix, without the marks of folders."""
        query = urllib.parse.urlencode({"prefix": prefix})
        found = json.loads(self._get(f"storage/v1/b/{self.bucket}/o?{query}"))["items"]
        return sorted(each["name"] for each in found if not each["name"].endswith("/"))

    def text(self, key):
        """Return the text of an object."""
        return self._get(f"storage/v1/b/{self.bucket}/o/{urllib.parse.quote(key, safe='')}?alt=media")

    def place(self, folder):
        """Return the URI of a folder of the bucket."""
        return f"gs://{self.bucket}/{folder}"

    def conf(self):
        """Return the conf of a profile's output by which it is reached."""
        return {
            "spark.hadoop.fs.gs.storage.root.url": f"{self.endpoint}/",
            "spark.hadoop.fs.gs.auth.service.account.enable": "false",
            "spark.hadoop.fs.gs.auth.null.enable": "true",
            # The emulator answers no GET in a batch.
            "spark.hadoop.fs.gs.max.requests.per.batch": "1",
        }

    def _get(self, path):
        with urllib.request.urlopen(f"{self.endpoint}/{path}", timeout=60) as answer:
            return answer.read().decode()

    def _answers(self):
        try:
            self._get("")
        except OSError:
            return False
        return True


def serve(port):
    from functools import partial
    from http import server

    from gcp_storage_emulator import server as emulator
    from gcp_storage_emulator.handlers.buckets import create_bucket
    from gcp_storage_emulator.storage import Storage

    class PreconditionFailedError(Exception):
        pass

    class Conditional(Storage):
        """Objects that are written only in the generation that the request of the write names."""

        expected = None
        """The generation of the current request: 0 means that there is no object."""

        def create_resumable_upload(self, bucket_name, file_name, file_obj):
            upload = super().create_resumable_upload(bucket_name, file_name, file_obj)
            self.uploads = {**getattr(self, "uploads", {}), upload: self.expected}
            return upload

        def create_file(self, bucket_name, file_name, content, file_obj, file_id=None):
            expected = self.expected if file_id is None else self.uploads[file_id]
            found = self.objects.get(bucket_name, {}).get(file_name, {"generation": "0"})["generation"]
            if expected not in (None, found):
                raise PreconditionFailedError(f"{file_name} is of generation {found}, not {expected}")
            super().create_file(bucket_name, file_name, content, file_obj, file_id)

    class Explained(emulator.Response):
        """An answer whose error has a body, which the connector reads what is wrong from."""

        def close(self):
            if self.status >= 400 and not self._content:
                phrase = self.status.phrase
                details = [{"domain": "global", "reason": "notFound" if self.status == 404 else "invalid"}]
                self.json({"error": {"code": self.status.value, "message": phrase, "errors": details}})
            super().close()

    class Handler(emulator.RequestHandler):
        def handle_one_request(self):
            try:
                super().handle_one_request()
            except PreconditionFailedError as error:
                logging.info("412 %s", error)
                body = json.dumps({"error": {"code": 412, "message": str(error)}}).encode()
                self.send_response(412)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def parse_request(self):
            parsed = super().parse_request()
            query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query) if parsed else {}
            self.storage.expected = query.get("ifGenerationMatch", [None])[0]
            return parsed

    emulator.Response = Explained
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    storage = Conditional(use_memory_fs=True)
    create_bucket(GcsServer.bucket, storage)
    server.HTTPServer(("127.0.0.1", port), partial(Handler, storage)).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
